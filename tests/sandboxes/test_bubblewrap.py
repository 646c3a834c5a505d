from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from skilleval.sandboxes.base import Command, Completed
from skilleval.sandboxes.bubblewrap import Bubblewrap, BubblewrapMechanism, find_bubblewrap
from skilleval.sandboxes.mechanism import Hold, Start
from skilleval.sandboxes.requirements import Gap
from skilleval.sandboxes.resources import Resources
from skilleval.sandboxes.running import execute
from skilleval.sandboxes.view import SETTINGS, View
from skilleval.sandboxes.walls import Walls, arguments, copied_files, made_up_files

NOTHING = View(reads=(), writes=(), covered=())
RESOURCES = Resources(
    memory_mb=64, cpus=None, cpu_seconds=None, processes=8, file_size_mb=1, open_files=64, tmp_mb=1
)


def _words(
    view: View = NOTHING,
    *,
    shares_network: bool = False,
    tmp_bytes: int | None = 1024,
    forbids_namespaces: bool = False,
    filter_: int | None = 7,
) -> list[str]:
    walls = Walls(
        shares_network=shares_network,
        tmp_bytes=tmp_bytes,
        forbids_namespaces=forbids_namespaces,
        files={"/etc/hosts": 8},
        filter=filter_,
    )
    return list(arguments(walls, view, folder=Path("/skill"), environment={"WORD": "a b"}, status=9))


def _has(words: list[str], *part: str) -> bool:
    return any(tuple(words[at : at + len(part)]) == part for at in range(len(words)))


def _place(words: list[str], *part: str) -> int:
    return next(at for at in range(len(words)) if tuple(words[at : at + len(part)]) == part)


def test_a_program_gets_namespaces_of_its_own() -> None:
    """Users, processes, network, messages and host name are its own; it dies with us and has no capability."""
    words = _words()
    spaces = {word for word in words if word.startswith("--unshare-")}
    assert spaces == {f"--unshare-{name}" for name in ("user", "pid", "net", "ipc", "uts", "cgroup-try")}
    assert "--die-with-parent" in words
    assert _has(words, "--cap-drop", "ALL")
    assert _has(words, "--hostname", "sandbox")


def test_a_network_is_shared_only_if_it_is_asked_for() -> None:
    """All other walls stay."""
    assert {"--unshare-net"} == set(_words()) - set(_words(shares_network=True))


def test_descriptors_are_named() -> None:
    """The filter, the report and the made-up files come from descriptors."""
    words = _words()
    assert _has(words, "--seccomp", "7")
    assert _has(words, "--json-status-fd", "9")
    assert _has(words, "--file", "8", "/etc/hosts")


def test_without_a_filter_user_namespaces_are_forbidden_by_bubblewrap() -> None:
    """It costs more than the filter, which refuses them as well."""
    words = _words(filter_=None, forbids_namespaces=True)
    assert "--disable-userns" in words
    assert "--seccomp" not in words


def test_an_old_bubblewrap_is_not_asked_to_limit_temporary_files() -> None:
    """Where the size can be limited it is, for both places that can be written to."""
    sized = _words()
    assert _has(sized, "--size", "1024", "--tmpfs", "/tmp")  # noqa: S108 - inside the sandbox
    assert _has(sized, "--size", "1024", "--tmpfs", "/dev/shm")  # noqa: S108 - same
    assert "--size" not in _words(tmp_bytes=None)


def test_what_is_shown_is_read_only_but_for_what_may_be_written() -> None:
    """The root itself is closed last; settings of the machine below /proc cannot be changed."""
    words = _words(View(reads=(Path("/skill"),), writes=(Path("/work"),), covered=()))
    assert _has(words, "--ro-bind", "/skill", "/skill")
    assert _has(words, "--bind", "/work", "/work")
    assert [words[at + 1] for at, word in enumerate(words) if word == "--bind"] == ["/work"]
    assert _place(words, "--proc", "/proc") < _place(words, "--remount-ro", "/proc")
    assert _place(words, "--bind", "/work", "/work") < _place(words, "--remount-ro", "/")


def test_covers_come_over_what_they_cover_and_below_what_is_shown_in_them(tmp_path: Path) -> None:
    """Outer before inner; a file is covered by an empty one, a folder by an empty read-only one."""
    folder = tmp_path / "outputs"
    folder.mkdir()
    file = tmp_path / "expected.json"
    file.touch()
    inner = folder / "work"
    words = _words(View(reads=(tmp_path,), writes=(inner,), covered=(folder, file)))
    outer, cover, within = (
        _place(words, "--ro-bind", str(tmp_path), str(tmp_path)),
        _place(words, "--tmpfs", str(folder)),
        _place(words, "--bind", str(inner), str(inner)),
    )
    assert outer < cover < within < _place(words, "--remount-ro", str(folder))
    assert outer < _place(words, "--ro-bind", "/dev/null", str(file))


def test_home_and_temporary_folders_of_this_machine_are_not_shown() -> None:
    """Only the system, and what the view names, is bound."""
    bound = {_words()[at + 2] for at, word in enumerate(_words()) if word in {"--ro-bind", "--bind"}}
    assert bound <= {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}


def test_made_up_files_tell_nothing_of_this_machine() -> None:
    """One user, one group, one host; name servers only where there is a network."""
    files = made_up_files(shares_network=False)
    assert set(files) == {"/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf"}
    assert len(files["/etc/passwd"].splitlines()) == len(files["/etc/group"].splitlines()) == 1
    assert b"127.0.0.1 localhost sandbox" in files["/etc/hosts"]
    assert Path("/etc/resolv.conf").exists() == ("/etc/resolv.conf" in made_up_files(shares_network=True))


def test_single_files_of_the_settings_are_copied_and_folders_mounted() -> None:
    """A copy holds what the file holds, and nothing is laid over it; what is no small file is mounted as it is."""
    files = copied_files()
    assert {path: Path(path).read_bytes() for path in files} == files
    assert set(files) == {str(path) for path in SETTINGS if path.is_file()}
    walls = Walls(
        shares_network=False,
        tmp_bytes=None,
        forbids_namespaces=False,
        files=dict.fromkeys(files, 8),
        filter=None,
    )
    words = list(arguments(walls, NOTHING, folder=Path("/skill"), environment={}, status=9))
    mounted = {words[at + 1] for at, word in enumerate(words) if word == "--ro-bind-try"}
    assert mounted == {str(path) for path in SETTINGS} - set(files)


def test_where_there_is_no_bubblewrap_the_remedy_is_named(tmp_path: Path) -> None:
    """A PATH without it: installing it is what to do."""
    assert find_bubblewrap(str(tmp_path)) == Gap(
        reason="bubblewrap is not installed", fix="install bubblewrap, e.g. apt-get install bubblewrap"
    )


def _fake(folder: Path, *lines: str) -> Bubblewrap:
    """Make a program that behaves like bubblewrap at its end; `report` writes to the descriptor for reports."""
    program = folder / "bwrap"
    options = "tr '\\0' '\\n' < /proc/self/fd/$given"
    report = f'report() {{ echo "$1" > /proc/self/fd/$({options} | grep -A1 json-status-fd | tail -n1); }}'
    program.write_text("\n".join(["#!/bin/sh", "given=$2", report, *lines, ""]))
    program.chmod(0o755)
    return Bubblewrap(program=program, limits_tmp=False, forbids_namespaces=False)


def test_a_bubblewrap_that_may_not_make_namespaces_is_not_used(tmp_path: Path) -> None:
    """It is tried for real, and what it complained of is the reason."""
    _fake(tmp_path, 'echo "bwrap: No permissions to create new namespace" >&2; exit 1')
    found = find_bubblewrap(str(tmp_path))
    assert isinstance(found, Gap)
    assert found.reason == "bubblewrap does not work here: bwrap: No permissions to create new namespace"
    assert "user namespaces" in found.fix


def test_what_an_old_bubblewrap_cannot_do_is_not_promised(tmp_path: Path) -> None:
    """Temporary files without a limit are a gap with a remedy."""
    mechanism = BubblewrapMechanism(_fake(tmp_path, ""), shares_network=False, tmp_bytes=1024)
    assert "tmp_size" not in mechanism.guarantees
    assert mechanism.gaps["tmp_size"].fix == "install bubblewrap 0.8 or newer"
    assert {"environment", "processes_end", "filesystem", "network"} <= mechanism.guarantees


def test_a_shared_network_is_not_promised_to_be_closed(tmp_path: Path) -> None:
    """That is a choice and no gap."""
    mechanism = BubblewrapMechanism(_fake(tmp_path, ""), shares_network=True, tmp_bytes=1024)
    assert "network" not in mechanism.guarantees
    assert "network" not in mechanism.gaps


@pytest.mark.parametrize(
    ("lines", "exit_code", "not_started"),
    [
        ("report '{ \"child-pid\": 1 }'; report '{ \"exit-code\": 7 }'; exit 7", 7, None),
        ("report '{ \"exit-code\": 0 }'; exit 3", 0, None),
        ("report '{ \"exit-code\": 137 }'; exit 137", -9, None),
        ("report '{ \"exit-code\": 128 }'; exit 128", 128, None),
        ("report '{ \"exit-code\": 193 }'; exit 193", 193, None),
        ("report '{ \"child-pid\": 1 }'; kill -9 $$", -9, None),
        ("echo 'bwrap: execvp /x: No such file' >&2; exit 1", None, "not_started: /x: No such file"),
        ("echo 'bwrap: no namespace' >&2; exit 1", None, "sandbox_failed: bwrap: no namespace"),
        ("report 'no report'; exit 4", None, "sandbox_failed: exit code 4"),
    ],
)
def test_how_the_program_ended_is_what_is_reported(
    tmp_path: Path, lines: str, exit_code: int | None, not_started: str | None
) -> None:
    """A program that ran is told from one for which there was no sandbox, whatever it wrote to stderr."""
    mechanism = BubblewrapMechanism(_fake(tmp_path, lines), shares_network=False, tmp_bytes=1024)
    command = Command(
        argv=("/bin/true",), folder=tmp_path, env={}, stdin=b"", timeout_s=20.0, max_output_bytes=1000
    )
    hold = Hold(RESOURCES, {}, None)
    start = Start(argv=command.argv, folder=tmp_path, environment={}, view=NOTHING, hold=hold)

    async def run() -> Completed:
        return await execute(command, mechanism.launch(start))

    done = asyncio.run(run())
    mechanism.close()
    assert (done.exit_code, done.not_started) == (exit_code, not_started)
