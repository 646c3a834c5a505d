"""What bubblewrap is told: which namespaces a program gets, and which file system it finds in them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from skilleval.sandboxes.view import SETTINGS, SYSTEM, View

HOME = "/tmp/home"  # noqa: S108 - inside the sandbox, where /tmp is the program's alone
TMP = "/tmp"  # noqa: S108 - same

_HOST_NAME = "sandbox"
_HOSTS = f"127.0.0.1 localhost {_HOST_NAME}\n::1 localhost\n"
_NAME_SERVICES = "passwd: files\ngroup: files\nhosts: files dns\n"
_RESOLVER = Path("/etc/resolv.conf")
_MAX_COPY = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Walls:
    """What is the same for every program of a sandbox; `files` are descriptors by the path their content gets.

    `tmp_bytes` is null, and `forbids_namespaces` false, where bubblewrap is too old for them.
    """

    shares_network: bool
    tmp_bytes: int | None
    forbids_namespaces: bool
    files: Mapping[str, int]
    filter: int | None


def made_up_files(*, shares_network: bool) -> dict[str, bytes]:
    """Give the files of `/etc` that are written for the sandbox: they tell nothing of this machine."""
    own, group = os.getuid(), os.getgid()
    name = "root" if own == 0 else "skill"
    files = {
        "/etc/passwd": f"{name}:x:{own}:{group}:{name}:{HOME}:/bin/sh\n".encode(),
        "/etc/group": f"{name}:x:{group}:\n".encode(),
        "/etc/hosts": _HOSTS.encode(),
        "/etc/nsswitch.conf": _NAME_SERVICES.encode(),
    }
    if shares_network:
        with contextlib.suppress(OSError):
            files[str(_RESOLVER)] = _RESOLVER.read_bytes()
    return files


def copied_files() -> dict[str, bytes]:
    """Give the settings of this machine that are single small files: copies of them cost less than mounts."""
    files: dict[str, bytes] = {}
    for path in SETTINGS:
        with contextlib.suppress(OSError):  # what cannot be read is mounted
            if path.is_file() and path.stat().st_size <= _MAX_COPY:
                files[str(path)] = path.read_bytes()
    return files


def arguments(
    walls: Walls, view: View, *, folder: Path, environment: Mapping[str, str], status: int
) -> Iterator[str]:
    """Give the options of bubblewrap for one program, without the program itself."""
    for space in ("user", "pid", "ipc", "uts", *(() if walls.shares_network else ("net",))):
        yield f"--unshare-{space}"
    yield from ("--unshare-cgroup-try", "--die-with-parent", "--cap-drop", "ALL", "--hostname", _HOST_NAME)
    if walls.forbids_namespaces:
        yield "--disable-userns"
    if walls.filter is not None:
        yield from ("--seccomp", str(walls.filter))
    yield from ("--json-status-fd", str(status))
    yield from _file_system(walls, view)
    yield from ("--chdir", str(folder))
    for name, value in environment.items():
        yield from ("--setenv", name, value)


def _file_system(walls: Walls, view: View) -> Iterator[str]:
    # As root a program could still change settings of the machine below /proc/sys: the whole of it is read-only.
    yield from ("--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev")
    for folder in (TMP, "/dev/shm"):  # noqa: S108 - same
        yield from (*_size(walls), "--tmpfs", folder)
    yield from ("--dir", HOME, "--symlink", TMP, "/var/tmp", "--remount-ro", "/dev")  # noqa: S108 - same
    yield from _system()
    for path in map(str, SETTINGS):
        if path not in walls.files:
            yield from ("--ro-bind-try", path, path)
    for target, descriptor in walls.files.items():
        yield from ("--file", str(descriptor), target)
    yield from _shown(view)
    yield from ("--remount-ro", "/")


def _size(walls: Walls) -> tuple[str, ...]:
    return () if walls.tmp_bytes is None else ("--size", str(walls.tmp_bytes))


@cache
def _system() -> tuple[str, ...]:
    words: list[str] = []
    for path in SYSTEM:
        if path.is_symlink():
            words += ("--symlink", str(path.readlink()), str(path))
        elif path.exists():
            words += ("--ro-bind", str(path), str(path))
    return tuple(words)


def _shown(view: View) -> Iterator[str]:
    """Lay one over the other, the outer before the inner."""
    layers: list[tuple[Path, tuple[str, ...]]] = [
        (path, ("--ro-bind", str(path), str(path))) for path in view.reads
    ]
    layers += [(path, ("--bind", str(path), str(path))) for path in view.writes]
    layers += [(path, _cover(path)) for path in view.covered]
    for _, words in sorted(layers, key=lambda layer: len(layer[0].parts)):
        yield from words
    for path in view.covered:
        if path.is_dir():
            yield from ("--remount-ro", str(path))


def _cover(path: Path) -> tuple[str, ...]:
    return ("--tmpfs", str(path)) if path.is_dir() else ("--ro-bind", os.devnull, str(path))
