from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from containers.boxes import command, completed, sandbox, used

from skilleval.errors import AdapterError
from skilleval.sandboxes.base import GUARANTEES
from skilleval.sandboxes.docker import DockerSandbox

pytestmark = pytest.mark.docker
_LOOK = """
import json, os, pathlib, socket, sys
def can(path, mode):
    try:
        open(path, mode).close()
    except OSError:
        return False
    return True
print(json.dumps({
    "cwd": os.getcwd(), "uid": os.getuid(), "home": os.environ["HOME"], "tmp": can(os.environ["TMPDIR"] + "/x", "w"),
    "own": can("new", "w"), "root": can("/new", "w"), "shm": can("/dev/shm/new", "w"),
    "env": sorted(os.environ), "net": sorted(os.listdir("/sys/class/net")),
    "seen": [name for name in sys.argv[1:] if os.path.exists(name)],
    "read": [name for name in sys.argv[1:] if os.path.isfile(name) and open(name).read()],
    "status": dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line),
}))
"""
_CALLS = """
import ctypes, json, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def refused(number, *arguments):
    ctypes.set_errno(0)
    libc.syscall(number, *arguments)
    return ctypes.get_errno()
def family(number):
    try:
        socket.socket(number, socket.SOCK_DGRAM).close()
    except OSError as error:
        return error.errno
print(json.dumps({
    "io_uring": refused(425, 8, 0), "unshare": refused(272, 0x10000000), "keyctl": refused(250, 0, 0, 0),
    "clone3": refused(435, 0, 0), "personality": refused(135, 0x0400000), "vsock": family(40), "inet": family(2),
    "unix": family(1),
}))
"""


def _look(folder: Path, *paths: Path, options: dict[str, Any] | None = None, **changes: Any) -> Any:
    words = ("python3", "-c", _LOOK, *map(str, paths))
    done = completed(folder, *words, options=options, **changes)
    assert done.exit_code == 0, done
    return json.loads(done.stdout)


def test_everything_is_promised_and_nothing_is_wanting() -> None:
    """On an engine like this one each guarantee holds."""

    async def work(made: DockerSandbox) -> tuple[frozenset[str], tuple[str, ...]]:
        return made.guarantees, made.warnings

    assert used(work) == (frozenset(GUARANTEES), ())


def test_what_is_turned_off_is_not_promised() -> None:
    """Sharing containers, network, or no limit of processors take their promises with them."""

    async def work(made: DockerSandbox) -> frozenset[str]:
        return made.guarantees

    assert GUARANTEES.keys() - used(work, reuse=True) == {"filesystem"}
    assert GUARANTEES.keys() - used(work, cpu_seconds=None) == {"cpu"}


def test_a_program_sees_its_folder_and_a_private_place_to_write(folder: Path) -> None:
    """Its folder is where it stands here, and read-only; only temporary files can be written; it is not root."""
    seen = _look(folder, options={"pass_env": ["SHELL"]}, env={"WORD": "x"})
    assert (seen["cwd"], seen["tmp"], seen["home"]) == (str(folder), True, "/tmp")  # noqa: S108 - in a container
    assert (seen["own"], seen["root"], seen["shm"]) == (False, False, False)
    assert seen["uid"] == (10001 if os.getuid() == 0 else os.getuid())
    assert seen["net"] == ["lo"]
    assert "WORD" in seen["env"]
    status = seen["status"]
    assert (status["Seccomp"], status["NoNewPrivs"], int(status["CapBnd"], 16)) == ("2", "1", 0)


def test_the_evaluators_variables_are_not_seen(folder: Path) -> None:
    """Only the named ones are handed over."""
    os.environ.update({"SKILLEVAL_TEST_KEY": "secret", "SKILLEVAL_TEST_WORD": "word"})
    try:
        seen = _look(folder, options={"pass_env": ["SKILLEVAL_TEST_WORD"]})
    finally:
        del os.environ["SKILLEVAL_TEST_KEY"], os.environ["SKILLEVAL_TEST_WORD"]
    assert {"SKILLEVAL_TEST_KEY", "SKILLEVAL_TEST_WORD"} & set(seen["env"]) == {"SKILLEVAL_TEST_WORD"}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of calls differ")
def test_calls_of_the_kernel_are_refused(folder: Path) -> None:
    """EPERM for what no skill needs, ENOSYS for a call that hides its flags; ordinary sockets stay."""
    done = completed(folder, "python3", "-c", _CALLS)
    assert json.loads(done.stdout) == {
        "io_uring": 1, "unshare": 1, "keyctl": 1, "clone3": 38, "personality": 1, "vsock": 1, "inet": None,
        "unix": None,
    }  # fmt: skip


def test_what_is_named_is_shown_and_what_is_hidden_is_not(folder: Path, tmp_path: Path) -> None:
    """Reads are shown where they stand; results and answers inside the folder are empty, the rest is absent."""
    book, other = tmp_path / "book", tmp_path / "other"
    book.write_text("words")
    other.write_text("words")
    (folder / "results").mkdir()
    (folder / "results" / "r").write_text("secret")
    (folder / "answers").write_text("secret")
    (folder / "skill").write_text("words")
    paths = (book, other, folder / "results" / "r", folder / "answers", folder / "skill")
    hidden = (folder / "results", folder / "answers")
    seen = _look(folder, *paths, options={"hidden": hidden}, reads=(book,))
    assert seen["read"] == [str(book), str(folder / "skill")]
    assert seen["seen"] == [str(book), str(folder / "answers"), str(folder / "skill")]
    assert _look(folder, *paths, options={"read": [str(other)]})["read"][0] == str(other)


def test_what_is_given_to_write_can_be_written(folder: Path, tmp_path: Path) -> None:
    """A folder of ours is writable at its own path, also for a program of another user."""
    mailbox = tmp_path / "mailbox"
    mailbox.mkdir(mode=0o700)
    done = completed(folder, "sh", "-c", f"echo letter >{mailbox}/one", writes=(mailbox,))
    assert done.exit_code == 0, done.stderr
    assert (mailbox / "one").read_text() == "letter\n"


def test_a_folder_below_the_home_of_root_can_be_reached() -> None:
    """The home of root is closed to others in most images; a folder below it must be seen all the same."""
    if not os.access("/root", os.W_OK):
        pytest.skip("only root has it")
    home = Path("/root") / f"skilleval-{os.getpid()}"
    home.mkdir(mode=0o755)
    try:
        (home / "data").write_text("words")
        assert completed(home, "cat", "data").stdout == b"words"
    finally:
        (home / "data").unlink()
        home.rmdir()


def test_a_whole_home_is_never_shown() -> None:
    """It is refused before anything starts."""
    done = completed(Path.home(), "true")
    assert done.not_started == f"sandbox_failed: {Path.home()} is too much to show to a program"


def test_python_is_that_of_the_image(folder: Path) -> None:
    """No program of this machine is looked for."""

    async def work(made: DockerSandbox) -> tuple[str, str]:
        words = (made.python, "-c", "import sys; print(sys.executable, end='')")
        return made.python, (await made.run(command(folder, *words))).stdout.decode()

    assert used(work) == ("python3", "/usr/bin/python3")
    assert completed(folder, sys.executable, "-V").not_started == (
        f"program_not_found: {sys.executable} is not a program on the PATH of the image skilleval-base:py311"
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"image": "surely-no-such-image:1"}, "docker pull surely-no-such-image:1"),
        ({"runtime": "surely-no-such-runtime"}, "surely-no-such-runtime"),
    ],
)
def test_what_the_engine_lacks_is_an_error_before_the_first_trial(changes: dict[str, Any], said: str) -> None:
    """Image and runtime are tried when the sandbox is made, and the error says what to do."""
    with pytest.raises(AdapterError, match=said):
        sandbox(**changes)
