from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confined import NEEDED_BY_PYTHON, run_python

from skilleval.sandboxes.confinement import Confinement
from skilleval.sandboxes.landlock import (
    FILES_SINCE,
    SIGNALS_SINCE,
    TCP_SINCE,
    Ruleset,
    build_ruleset,
    landlock_abi,
)

# Runs each attempt and prints "ok" or the name of its error.
_ATTEMPTING = """
import ctypes, errno, json, os, socket, subprocess, sys
def attempt(what):
    try:
        what()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "ok"
def connect(family, kind, address):
    with socket.socket(family, kind) as one:
        one.connect(address)
def bind(address):
    with socket.socket() as one:
        one.bind(address)
outside, inside, port, parent = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
attempts = {ATTEMPTS}
print(json.dumps({name: attempt(what) for name, what in attempts.items()}))
"""


def _needs(abi: int) -> pytest.MarkDecorator:
    return pytest.mark.skipif(landlock_abi() < abi, reason=f"this kernel has no Landlock of version {abi}")


@pytest.fixture
def outcome(tmp_path: Path) -> Callable[..., Any]:
    """Give what tells how attempts end: some expressions in, `ok` or an error's name out."""
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    for folder in (outside, inside):
        folder.mkdir()
        (folder / "file").write_text("content")

    def run(attempts: dict[str, str], *, port: int = 1, allow_network: bool = False) -> Any:
        ruleset = build_ruleset(
            abi=landlock_abi(), reads=NEEDED_BY_PYTHON, writes=(inside,), allow_network=allow_network
        )
        table = ", ".join(f"{name!r}: lambda: {code}" for name, code in attempts.items())
        program = _ATTEMPTING.replace("ATTEMPTS", table)
        ended = run_python(
            Confinement(ruleset=ruleset), program, outside, inside, port, os.getpid(), folder=tmp_path
        )
        return ended.document

    return run


def _words(ruleset: Ruleset | None) -> tuple[int, ...]:
    assert ruleset is not None
    return struct.unpack(f"={len(ruleset.attributes) // 8}Q", ruleset.attributes)


@pytest.mark.parametrize(
    ("abi", "words"),
    [
        (1, (0x1FFF,)),
        (2, (0x3FFF,)),
        (3, (0x7FFF,)),
        (4, (0x7FFF, 3)),
        (5, (0xFFFF, 3)),
        (6, (0xFFFF, 3, 3)),
        (7, (0xFFFF, 3, 3)),
    ],
)
def test_each_version_restricts_all_it_knows(abi: int, words: tuple[int, ...]) -> None:
    """The kernel refuses rights that it does not know, so an older version is asked for fewer."""
    assert _words(build_ruleset(abi=abi, reads=(), writes=(), allow_network=False)) == words


def test_with_network_neither_tcp_nor_unix_sockets_are_restricted() -> None:
    """Files and signals stay restricted where the network is allowed."""
    assert _words(build_ruleset(abi=7, reads=(), writes=(), allow_network=True)) == (0xFFFF, 0, 2)


def test_without_landlock_there_is_no_ruleset() -> None:
    """A kernel without it is said to have none."""
    assert build_ruleset(abi=0, reads=(), writes=(), allow_network=False) is None


def test_a_path_is_granted_what_fits_it(tmp_path: Path) -> None:
    """A file gets the rights of a file, a folder those of a folder, a missing path none."""
    file = tmp_path / "file"
    file.touch()
    ruleset = build_ruleset(
        abi=7, reads=(file, tmp_path, tmp_path / "missing"), writes=(), allow_network=False
    )
    assert ruleset is not None
    granted = dict(ruleset.exceptions)
    assert (granted[str(file)], granted[str(tmp_path)]) == (0b101, 0b1101)
    assert str(tmp_path / "missing") not in granted


def test_a_path_that_is_read_and_written_is_granted_both(tmp_path: Path) -> None:
    """The order of the lists does not take rights away again."""
    ruleset = build_ruleset(abi=3, reads=(tmp_path,), writes=(tmp_path,), allow_network=False)
    assert ruleset is not None
    devices = (1 << 6) | (1 << 11)
    assert dict(ruleset.exceptions)[str(tmp_path)] == 0x7FFF & ~devices


@_needs(FILES_SINCE)
def test_files_outside_can_be_neither_read_nor_changed(outcome: Callable[..., Any]) -> None:
    """Reading, writing, cutting, linking, removing and making of files end with a refusal."""
    refused = outcome(
        {
            "read": "open(outside + '/file').read()",
            "list": "os.listdir(outside)",
            "write": "open(outside + '/file', 'a')",
            "cut": "os.truncate(outside + '/file', 0)",
            "make": "open(outside + '/new', 'w')",
            "folder": "os.mkdir(outside + '/new')",
            "symlink": "os.symlink('x', outside + '/new')",
            "remove": "os.unlink(outside + '/file')",
            "shadow": "open('/etc/shadow')",
            "parent": "open(f'/proc/{parent}/environ').read()",
            "first": "open('/proc/1/environ').read()",
            "processes": "os.listdir('/proc')",
        }
    )
    assert refused == dict.fromkeys(refused, "EACCES")


@_needs(FILES_SINCE)
def test_what_is_granted_can_be_used(outcome: Callable[..., Any]) -> None:
    """Files below a writable folder can be made, moved and run, and programs run with what they need."""
    allowed = outcome(
        {
            "read": "open(inside + '/file').read()",
            "write": "open(inside + '/file', 'w').write('new')",
            "cut": "os.truncate(inside + '/file', 0)",
            "folder": "os.mkdir(inside + '/sub')",
            "move": "os.rename(inside + '/file', inside + '/sub/file')",
            "symlink": "os.symlink('/etc/shadow', inside + '/link')",
            "child": "subprocess.run(['/bin/true'], check=True)",
            "null": "open('/dev/null', 'w').write('x')",
            "random": "open('/dev/urandom', 'rb').read(1)",
            "own": "open('/proc/self/status').read()",
            "memory": "open('/proc/meminfo').read()",
        }
    )
    assert allowed == dict.fromkeys(allowed, "ok")


@_needs(FILES_SINCE)
def test_ways_around_a_path_lead_nowhere(outcome: Callable[..., Any]) -> None:
    """Symbolic links, `..`, hard links and the process's own root are judged by where they lead."""
    refused = outcome(
        {
            "dots": "open(inside + '/../outside/file')",
            "root": "open('/proc/self/root' + outside + '/file')",
            "link": "(os.symlink(outside + '/file', inside + '/l'), open(inside + '/l'))",
            "hard": "os.link(outside + '/file', inside + '/h')",
            "device": "os.mknod(inside + '/d', 0o600 | 0o020000, os.makedev(1, 3))",
        }
    )
    assert refused["hard"] in {"EXDEV", "EACCES"}
    assert refused["device"] in {"EPERM", "EACCES"}
    assert {refused["dots"], refused["root"], refused["link"]} == {"EACCES"}


@_needs(SIGNALS_SINCE)
def test_signals_and_nameless_sockets_reach_nobody_outside(outcome: Callable[..., Any]) -> None:
    """The evaluator can be neither ended nor talked with; the program's own children can."""
    with socket.socket(socket.AF_UNIX) as listening:
        name = f"\0skilleval-test-{os.getpid()}"
        listening.bind(name)
        listening.listen()
        said = outcome(
            {
                "parent": "os.kill(parent, 0)",
                "unix": f"connect(socket.AF_UNIX, socket.SOCK_STREAM, {name!r})",
                "child": "subprocess.Popen(['/bin/sleep', '9']).kill()",
            }
        )
    assert said["parent"] == said["unix"] == "EPERM"
    assert said["child"] == "ok"


@_needs(TCP_SINCE)
@pytest.mark.parametrize(("allow_network", "expected"), [(False, "EACCES"), (True, "ok")])
def test_tcp_is_refused_unless_the_network_is_allowed(
    outcome: Callable[..., Any], *, allow_network: bool, expected: str
) -> None:
    """A service on this machine is reached only with network."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        said = outcome(
            {
                "connect": "connect(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', port))",
                "bind": "bind(('127.0.0.1', 0))",
            },
            port=port,
            allow_network=allow_network,
        )
    assert said == {"connect": expected, "bind": expected}
