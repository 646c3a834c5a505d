from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from naps import Nap

from skilleval.errors import AdapterError, ConfigError
from skilleval.sandboxes.base import Command, Completed
from skilleval.sandboxes.bubblewrap import find_bubblewrap
from skilleval.sandboxes.cgroups import usable_hierarchies
from skilleval.sandboxes.landlock import FILES_SINCE, landlock_abi
from skilleval.sandboxes.process import ProcessOptions, ProcessSandbox
from skilleval.sandboxes.requirements import Gap
from skilleval.sandboxes.session import PipeSession

VALUES: dict[str, Any] = {
    "mechanism": "auto",
    "network": False,
    "allow_hosts": [],
    "pass_env": [],
    "read": [],
    "memory_mb": 256,
    "cpus": None,
    "cpu_seconds": 20,
    "processes": 64,
    "file_size_mb": 4,
    "open_files": 128,
    "tmp_mb": 8,
}
ENGINES = [
    pytest.param("bubblewrap", marks=pytest.mark.hostile),
    "fallback",
]

Run = Callable[..., Completed]


def _options(**changes: Any) -> ProcessOptions:
    return ProcessOptions.parse(VALUES | changes, where="test", prefix="sandbox")


def _command(folder: Path, *argv: str, **changes: Any) -> Command:
    values: dict[str, Any] = {"env": {}, "stdin": b"", "timeout_s": 20.0, "max_output_bytes": 100_000}
    return Command(argv=argv, folder=folder, **(values | changes))


@pytest.fixture(params=ENGINES)
def mechanism(request: pytest.FixtureRequest) -> str:
    """Give the name of a mechanism; bubblewrap only where it must be there."""
    return str(request.param)


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """Give a skill's folder."""
    folder = tmp_path / "skill"
    folder.mkdir()
    (folder / "data").write_text("own file\n")
    return folder


def _groups() -> set[Path]:
    """Give the control groups of this process."""
    return {path for one in usable_hierarchies() for path in one.folder.glob(f"skilleval-{os.getpid()}-*")}


@pytest.fixture
def run(mechanism: str, skill: Path) -> Iterator[Run]:
    """Give what runs a command in a new sandbox; afterwards no control group of it is left."""

    def completed(
        *argv: str,
        options: dict[str, Any] | None = None,
        hidden: tuple[Path, ...] = (),
        folder: Path | None = None,
        **changes: Any,
    ) -> Completed:
        async def once() -> Completed:
            sandbox = ProcessSandbox(_options(mechanism=mechanism, **(options or {})), hidden)
            try:
                return await sandbox.run(_command(folder or skill, *argv, **changes))
            finally:
                await sandbox.aclose()

        return asyncio.run(once())

    before = _groups()
    yield completed
    assert _groups() <= before


@pytest.mark.parametrize(
    ("changes", "key", "expected"),
    [
        ({"mechanism": "chroot"}, "sandbox.mechanism", "bubblewrap"),
        ({"memory_mb": 0}, "sandbox.memory_mb", "greater than 0"),
        ({"cpus": float("nan")}, "sandbox.cpus", "finite"),
        ({"open_files": 3}, "sandbox.open_files", "16"),
        ({"read": ["/no/such/place"]}, "sandbox.read.0", "existing"),
        ({"read": ["~"]}, "sandbox.read.0", "home folder"),
        ({"read": ["/"]}, "sandbox.read.0", "home folder"),
        ({"allow_hosts": ["https://a.example/x"]}, "sandbox.allow_hosts.0", "host:port"),
        ({"allow_hosts": ["a.example"], "network": True}, "sandbox", "every host"),
        ({"memory": 5}, "sandbox.memory", "known key"),
    ],
)
def test_options_that_cannot_work_are_refused(changes: dict[str, Any], key: str, expected: str) -> None:
    """Before anything runs, with the key and what would be right."""
    with pytest.raises(ConfigError) as caught:
        _options(**changes)
    (problem,) = caught.value.problems
    assert problem.key == key
    assert expected in f"{problem.expected} {problem.hint}"


def test_paths_of_the_user_may_begin_at_home() -> None:
    """`~` is spelt out; what is meant lies inside the home folder."""
    found = next((path for path in sorted(Path.home().iterdir())), None)
    assert found is not None
    assert _options(read=[f"~/{found.name}"]).read == (str(Path.home() / found.name),)


def test_what_is_claimed_and_what_is_missing_are_apart(mechanism: str) -> None:
    """A guarantee is given or has a gap with reason and remedy; one warning names all gaps."""
    sandbox = ProcessSandbox(_options(mechanism=mechanism))
    assert not sandbox.guarantees & sandbox.gaps.keys()
    assert all(gap.reason and gap.fix for gap in sandbox.gaps.values())
    assert len(sandbox.warnings) == bool(sandbox.gaps)
    assert all(name in warning for warning in sandbox.warnings for name in sandbox.gaps)
    assert {"file_size", "open_files", "cpu"} <= sandbox.guarantees


def test_the_fallback_says_that_it_is_one() -> None:
    """The warning names what is not enforced and how to get it."""
    (warning,) = ProcessSandbox(_options(mechanism="fallback")).warnings
    assert "tmp_size" in warning
    assert "sandbox.mechanism=auto" in warning


@pytest.mark.hostile
def test_bubblewrap_and_groups_enforce_everything() -> None:
    """With bubblewrap and control groups nothing is missing, and nothing needs a warning."""
    sandbox = ProcessSandbox(_options(mechanism="auto"))
    assert (sandbox.mechanism, sandbox.warnings) == ("bubblewrap", ())
    assert sandbox.guarantees == {
        "environment", "processes_end", "filesystem", "network", "system_calls", "memory", "cpu",
        "processes", "file_size", "open_files", "tmp_size",
    }  # fmt: skip


def test_limits_that_are_turned_off_are_not_promised() -> None:
    """A shared network and endless CPU time are choices: neither promised nor warned of."""
    sandbox = ProcessSandbox(_options(mechanism="fallback", network=True, cpu_seconds=None))
    assert not {"network", "cpu"} & (sandbox.guarantees | sandbox.gaps.keys())
    assert sandbox.shares_network


def test_bubblewrap_that_is_asked_for_and_missing_is_an_error() -> None:
    """Nobody gets a weaker sandbox than the one named; where it works it is the one used."""
    if isinstance(find_bubblewrap(), Gap):
        with pytest.raises(AdapterError, match="bubblewrap"):
            ProcessSandbox(_options(mechanism="bubblewrap"))
    else:
        assert ProcessSandbox(_options(mechanism="bubblewrap")).mechanism == "bubblewrap"


def test_a_program_runs_in_its_own_folder_and_cannot_change_it(run: Run, skill: Path) -> None:
    """The folder is the working folder, at the same path, and read-only."""
    done = run("sh", "-c", "pwd; cat data; rm -r ../skill; echo x > new; cat data; exit 3")
    assert done.stdout.decode() == f"{skill}\nown file\nown file\n"
    assert done.exit_code == 3
    assert [path.name for path in skill.iterdir()] == ["data"]


def test_a_program_sees_nothing_of_others(run: Run, tmp_path: Path) -> None:
    """Neighbours, the home folder and the settings of the machine are not there or cannot be read."""
    neighbour = tmp_path / "neighbour"
    neighbour.mkdir()
    (neighbour / "secret").write_text("secret")
    script = 'cat "$1/neighbour/secret" /etc/shadow; for place in / /root "$2" "$1"; do ls "$place"; done'
    seen = run("sh", "-c", script, "sh", str(tmp_path), str(Path.home())).stdout.decode().split()
    assert set(seen) <= {
        "skill",
        "bin",
        "dev",
        "etc",
        "proc",
        "tmp",
        "usr",
        "var",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "sbin",
    }


def test_a_program_sees_no_variable_of_the_evaluator(run: Run) -> None:
    """Neither in its own environment nor in that of another process."""
    assert "PYTEST_CURRENT_TEST" in os.environ
    done = run("sh", "-c", "env; cat /proc/[0-9]*/environ")
    assert b"PYTHONUNBUFFERED=1" in done.stdout
    assert b"PYTEST_CURRENT_TEST" not in done.stdout


def test_variables_are_handed_over_by_name(run: Run) -> None:
    """`pass_env` hands over, and the command has the last word."""
    options = {"pass_env": ["PYTEST_CURRENT_TEST"]}
    done = run(
        "sh", "-c", 'echo "$PYTEST_CURRENT_TEST|$HOME|$W"', options=options, env={"HOME": "/h", "W": "$w"}
    )
    assert done.stdout.decode() == f"{os.environ['PYTEST_CURRENT_TEST']}|/h|$w\n"


def test_temporary_files_are_private_and_gone_afterwards(run: Run) -> None:
    """HOME and TMPDIR can be written to; what a program leaves there is removed, rights or not."""
    script = (
        'mkdir -p "$TMPDIR/a/b" && echo x > "$TMPDIR/a/b/c" && chmod 0 "$TMPDIR/a"; ls -d "$TMPDIR" "$HOME"'
    )
    done = run("sh", "-c", script, "sh")
    places = [Path(line) for line in done.stdout.decode().splitlines()]
    assert len(places) == 2
    assert not any(place.exists() for place in places if place != Path("/tmp"))  # noqa: S108 - the sandbox's own
    assert not Path("/tmp/a").exists()  # noqa: S108 - same


def test_a_folder_to_write_to_is_written_to(run: Run, tmp_path: Path) -> None:
    """What a command may write arrives here, and what it may read can be read, both at the same paths."""
    work, data = tmp_path / "work", tmp_path / "data.txt"
    work.mkdir()
    data.write_text("given")
    done = run("cp", str(data), str(work / "copy"), writes=(work,), reads=(data,))
    assert (done.exit_code, (work / "copy").read_text()) == (0, "given")


def test_the_settings_show_further_paths(run: Run, tmp_path: Path) -> None:
    """`sandbox.read` opens a file or folder to all programs."""
    data = tmp_path / "data.txt"
    data.write_text("given")
    assert run("cat", str(data), options={"read": [str(data)]}).stdout == b"given"


def test_an_interpreter_outside_the_system_works(run: Run) -> None:
    """The very Python that runs the tests starts, with its standard library and its environment."""
    done = run(sys.executable, "-c", "import json, pytest; print(json.dumps(1))", timeout_s=30.0)
    assert (done.stdout, done.exit_code) == (b"1\n", 0)


def test_no_descriptor_of_ours_is_inherited(run: Run) -> None:
    """A program has its three pipes and what it opens itself."""
    script = "import os; print([fd for fd in range(3, 64) if os.path.exists(f'/proc/self/fd/{fd}')])"
    assert run("python3", "-I", "-S", "-c", script).stdout == b"[]\n"


def test_who_is_killed_by_a_signal_is_seen_as_such(run: Run) -> None:
    """Exit codes and signals come through the walls."""
    assert run("sh", "-c", "kill -TERM $$").exit_code == -15
    assert run("sh", "-c", "exit 125").exit_code == 125


def test_exit_codes_of_signals_mean_the_same_in_every_mechanism(run: Run) -> None:
    """A program that says 137 itself, as shells do for their children, is seen as killed."""
    assert run("sh", "-c", "exit 137").exit_code == -9


def test_a_folder_may_have_a_name_that_is_no_text(run: Run, tmp_path: Path) -> None:
    """Names of files are bytes: those that are not UTF-8 are shown and entered like others."""
    folder = tmp_path / os.fsdecode(b"inv\xff")
    folder.mkdir()
    (folder / "data").write_text("own file\n")
    done = run("cat", "data", folder=folder)
    assert (done.stdout, done.not_started) == (b"own file\n", None)


def test_programs_that_are_not_there_are_told_apart(run: Run) -> None:
    """As in the sandbox `none`: nothing on the PATH, no such file, no such folder."""
    kinds = [
        run("surely-no-such-program").not_started,
        run("./absent").not_started,
        run("sh", folder=Path("/no/such/folder")).not_started,
    ]
    assert [str(kind).partition(":")[0] for kind in kinds] == [
        "program_not_found", "program_missing", "folder_not_found",
    ]  # fmt: skip


def test_a_home_folder_is_not_shown_even_if_it_is_the_skill(run: Run) -> None:
    """That would show everything a person has."""
    done = run("sh", "-c", "ls", folder=Path.home())
    assert str(done.not_started).startswith("sandbox_failed: ")
    assert done.stdout == b""


def test_a_program_of_the_skill_is_never_run_outside_to_ask_it_something(run: Run, skill: Path) -> None:
    """A script of its own that is named like an interpreter is asked nothing."""
    (skill / "python3").write_text(f"#!/bin/sh\ntouch {skill}/escaped\necho inside\n")
    (skill / "python3").chmod(0o755)
    assert run("./python3").stdout == b"inside\n"
    assert not (skill / "escaped").exists()


def test_a_program_beside_the_skill_is_neither_run_nor_asked(run: Run, skill: Path) -> None:
    """A path or a link out of the folder is the skill's failure, and no script behind it runs outside."""
    (skill.parent / "helpers").mkdir()
    (skill.parent / "helpers" / "python3").write_text(f"#!/bin/sh\ntouch {skill}/escaped\n")
    (skill.parent / "helpers" / "python3").chmod(0o755)
    (skill.parent / "helpers" / "root").symlink_to("/")
    (skill / "link").symlink_to("../helpers")
    for word in ("../helpers/python3", "./link/python3", "../helpers/root/bin/sh", "/proc/self/root/bin/sh"):
        assert str(run(word, "-c", "cat /etc/shadow").not_started).startswith("program_missing: ")
    assert not (skill / "escaped").exists()


def test_a_script_that_a_skill_names_by_its_path_is_asked_nothing(run: Run, skill: Path) -> None:
    """A file of another skill that is called like an interpreter never runs outside, wherever it lies."""
    script = skill.parent / "other" / "python3"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\ntouch {skill}/escaped\necho inside\n")
    script.chmod(0o755)
    assert run(str(script)).stdout == b"inside\n"
    assert not (skill / "escaped").exists()


def test_a_shim_on_the_path_is_asked_also_where_it_is_named_by_its_path(
    mechanism: str, skill: Path, tmp_path: Path
) -> None:
    """What the user put on the PATH is trusted, and is not started anew for each trial."""
    shim = tmp_path / "shims" / "python3"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\necho /bin/sh\n")
    shim.chmod(0o755)
    path = {"PATH": f"{shim.parent}:/usr/bin:/bin"}

    async def said() -> bytes:
        sandbox = ProcessSandbox(_options(mechanism=mechanism))
        try:
            return (await sandbox.run(_command(skill, str(shim), "-c", "echo shell", env=path))).stdout
        finally:
            await sandbox.aclose()

    assert asyncio.run(said()) == b"shell\n"


def test_no_socket_of_this_machine_is_reached_through_a_pair(run: Run, tmp_path: Path) -> None:
    """One end of a pair could be sent elsewhere: by the name of a file that cannot even be seen."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as service:
        service.bind(str(tmp_path / "service"))
        service.setblocking(False)
        program = (
            "import socket, sys\n"
            "try:\n"
            "    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
            "    one.sendto(b'from inside', sys.argv[1])\n"
            "except OSError: print('refused')\n"
        )
        done = run("python3", "-I", "-c", program, str(tmp_path / "service"))
        assert (done.stdout, done.exit_code) == (b"refused\n", 0)
        with pytest.raises(BlockingIOError):
            service.recv(100)


@pytest.mark.parametrize("mechanism", ["fallback"])
def test_a_program_ends_with_the_evaluator_whether_it_wants_or_not(run: Run) -> None:
    """The signal that the kernel sends it when its parent dies cannot be called off."""
    program = (
        "import ctypes\n"
        "libc, signal = ctypes.CDLL(None), ctypes.c_int()\n"
        "libc.prctl(1, 0, 0, 0, 0)\n"
        "libc.prctl(2, ctypes.byref(signal), 0, 0, 0)\n"
        "print(signal.value)\n"
    )
    assert run("python3", "-I", "-c", program).stdout == b"9\n"


def test_nobody_has_to_wait_for_a_file_that_a_program_reads(run: Run) -> None:
    """A lease of a file would stop everybody on the machine who opens it."""
    program = (
        "import fcntl, os\n"
        "try: fcntl.fcntl(os.open('data', os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_WRLCK)\n"
        "except PermissionError: print('refused')\n"
    )
    assert run("python3", "-I", "-c", program).stdout == b"refused\n"


def test_attributes_of_files_that_may_not_be_read_are_not_told(run: Run, tmp_path: Path) -> None:
    """What a browser or a person noted beside a file is as private as the file."""
    (tmp_path / "private").touch()
    try:
        os.setxattr(tmp_path / "private", "user.note", b"secret")
    except OSError:
        pytest.skip("this file system keeps no attributes")
    program = (
        "import os, sys\n"
        "try: print(os.getxattr(sys.argv[1], 'user.note'))\n"
        "except OSError: print('refused')\n"
    )
    assert run("python3", "-I", "-c", program, str(tmp_path / "private")).stdout == b"refused\n"


def test_what_may_only_be_read_keeps_its_rights_and_times(run: Run, skill: Path) -> None:
    """Neither rights nor times nor attributes of the skill's files change, and who copies files is not held up."""
    before = (skill / "data").stat()
    program = (
        "import os, shutil\n"
        "for act in (lambda: os.chmod('data', 0o777), lambda: os.utime('data', (1, 1)),\n"
        "            lambda: os.fchmod(os.open('data', os.O_RDONLY), 0o777),\n"
        "            lambda: os.setxattr('data', 'user.mark', b'x'), lambda: os.chown('data', 0, 0)):\n"
        "    try: act()\n"
        "    except OSError: pass\n"
        "print(open(shutil.copy2('data', os.environ['TMPDIR'])).read(), end='')\n"
    )
    done = run("python3", "-I", "-c", program)
    assert (done.stdout, done.exit_code) == (b"own file\n", 0)
    after = (skill / "data").stat()
    assert (after.st_mode, after.st_mtime, after.st_ctime) == (
        before.st_mode,
        before.st_mtime,
        before.st_ctime,
    )
    assert os.listxattr(skill / "data") == []


def test_limits_of_the_evaluator_cannot_be_narrowed(run: Run) -> None:
    """What would end us is refused."""
    program = (
        "import os, resource\n"
        "try: resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 0))\n"
        "except (PermissionError, ProcessLookupError): print('refused')\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
    )
    done = run("python3", "-I", "-c", program)
    assert (done.stdout, done.exit_code) == (b"refused\n", 0)


def test_no_memory_outlives_a_program(run: Run) -> None:
    """Shared memory of System V is gone with its maker, or was never there."""
    program = "import ctypes; ctypes.CDLL(None).shmget(0x51e77, 4096, 0o1666)"
    run("python3", "-I", "-c", program)
    assert "335479" not in Path("/proc/sysvipc/shm").read_text(encoding="ascii").split()


def test_no_socket_leads_to_another_machine_past_the_network(run: Run) -> None:
    """Sockets of the hypervisor's family are refused: no namespace parts them."""
    program = (
        "import socket\n"
        "try: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)\n"
        "except PermissionError: print('refused')\n"
    )
    assert run("python3", "-I", "-c", program).stdout == b"refused\n"


def test_a_file_may_not_grow_beyond_its_limit(run: Run) -> None:
    """The signal that ends the program names the limit."""
    done = run("sh", "-c", 'exec dd if=/dev/zero of="$TMPDIR/big" bs=1M count=6')
    assert (done.limit, done.limit_value) == ("file_size", "4 MB a file")


def test_cpu_time_runs_out(run: Run) -> None:
    """A program that burns its time is ended with the reason, long before the time-out."""
    done = run("sh", "-c", "while :; do :; done", options={"cpu_seconds": 1})
    assert (done.limit, done.exit_code) == ("cpu", -24)


@pytest.mark.hostile
def test_memory_of_all_processes_together_runs_out(run: Run) -> None:
    """A hog is ended, with the reason."""
    done = run("python3", "-I", "-S", "-c", "bytearray(1 << 30)", options={"memory_mb": 64})
    assert (done.limit, done.limit_value, done.exit_code) == ("memory", "64 MB", -9)


def test_grandchildren_end_with_the_trial(run: Run, nap: Nap) -> None:
    """A process in a session of its own that ignores signals and holds the pipes does not stay, nor hold us up."""
    script = f"trap '' TERM HUP; setsid sh -c 'setsid sleep {nap.seconds} &' & sleep 0.3; echo done"
    done = run("sh", "-c", script, timeout_s=10.0)
    assert (done.stdout, done.timed_out) == (b"done\n", False)


def test_a_program_that_kills_whom_it_can_see_hits_only_itself(run: Run) -> None:
    """We are alive afterwards, and the end of the program is seen."""
    done = run("sh", "-c", "kill -9 -1; kill -9 1; kill -9 $PPID; echo alive; kill -9 $$", timeout_s=10.0)
    assert done.timed_out is False
    assert done.exit_code in {-9, 0, 137}


def test_a_time_out_ends_all_inside(run: Run, nap: Nap) -> None:
    """Nothing is alive when the result is there."""
    done = run("sh", "-c", f"sleep {nap.seconds} & sleep {nap.seconds}", timeout_s=0.5)
    assert (done.timed_out, done.limit, done.not_started) == (True, None, None)


def test_trials_side_by_side_do_not_meet(mechanism: str, skill: Path) -> None:
    """Many at once in one sandbox: each has its own output, and none is lost."""

    async def all_() -> list[Completed]:
        sandbox = ProcessSandbox(_options(mechanism=mechanism))
        try:
            return await asyncio.gather(
                *(
                    sandbox.run(_command(skill, "sh", "-c", f"echo {n} > $TMPDIR/n; cat $TMPDIR/n"))
                    for n in range(8)
                )
            )
        finally:
            await sandbox.aclose()

    assert [done.stdout for done in asyncio.run(all_())] == [f"{n}\n".encode() for n in range(8)]


def test_a_program_can_be_talked_with(mechanism: str, skill: Path) -> None:
    """A session works like a run: inside the walls, and over with all it started."""

    async def talk() -> tuple[bytes, Completed]:
        sandbox = ProcessSandbox(_options(mechanism=mechanism))
        session = await sandbox.open(_command(skill, "cat", stdin=b"first"))
        assert isinstance(session, PipeSession)
        heard = await session.receive()
        await session.send(b" second")
        heard += await session.receive()
        ended = await session.aclose()
        await sandbox.aclose()
        return heard, ended

    heard, ended = asyncio.run(talk())
    assert (heard, ended.not_started) == (b"first second", None)


@pytest.mark.skipif(landlock_abi() < FILES_SINCE, reason="this kernel restricts no files")
@pytest.mark.parametrize("mechanism", ["fallback"])
def test_the_fallback_hides_what_lies_in_hidden_places(run: Run, skill: Path, tmp_path: Path) -> None:
    """Everything around them can be read, nothing in them, and a link is no way around."""
    secret = skill / "inner" / "outputs" / "secret"
    secret.parent.mkdir(parents=True)
    secret.write_text("expected")
    (tmp_path / "elsewhere").write_text("other secret")
    (skill / "inner" / "beside").write_text("fine\n")
    (skill / "link").symlink_to(secret)
    (skill / "way-out").symlink_to(tmp_path / "elsewhere")
    hidden = (secret.parent,)
    assert run("cat", "data", "inner/beside", hidden=hidden).stdout == b"own file\nfine\n"
    listed = run("ls", hidden=hidden)
    assert (listed.exit_code, listed.stdout) == (0, b"data\ninner\nlink\nway-out\n")
    for name in ("inner/outputs/secret", "link", "way-out"):
        refused = run("cat", name, hidden=hidden)
        assert (refused.exit_code, refused.stdout) == (1, b"")


@pytest.mark.hostile
@pytest.mark.parametrize("mechanism", ["bubblewrap"])
def test_hidden_places_inside_the_folder_are_empty(run: Run, skill: Path) -> None:
    """Results and expected answers that lie in the skill's folder are neither read nor written by it."""
    (skill / "outputs").mkdir()
    (skill / "outputs" / "secret").touch()
    (skill / "expected.json").write_text("answer")
    hidden = (skill / "outputs", skill / "expected.json")
    done = run("sh", "-c", "ls outputs; cat expected.json; echo x > outputs/x; cat data", hidden=hidden)
    assert done.stdout == b"own file\n"
    assert [path.name for path in (skill / "outputs").iterdir()] == ["secret"]


@pytest.mark.hostile
@pytest.mark.parametrize("mechanism", ["bubblewrap"])
def test_settings_of_the_machine_cannot_be_opened_for_writing(run: Run) -> None:
    """Even for root: nothing below /proc and no device but the harmless ones can be written to."""
    script = (
        "import os\n"
        "for path in ('/proc/sys/kernel/core_pattern', '/proc/self/oom_score_adj', '/proc/sysrq-trigger', '/dev/x'):\n"
        "    try: os.close(os.open(path, os.O_WRONLY | (os.O_CREAT if path == '/dev/x' else 0))); print(path)\n"
        "    except OSError: pass\n"
    )
    done = run("python3", "-I", "-S", "-c", script)
    assert (done.stdout, done.exit_code) == (b"", 0)


@pytest.mark.hostile
@pytest.mark.parametrize("mechanism", ["bubblewrap"])
def test_temporary_files_together_have_a_limit(run: Run) -> None:
    """Many small files fill the private folder and nothing else; the program is told that it is full."""
    filling = "n=0; while dd if=/dev/zero of=$place/$n bs=1M count=3; do n=$((n+1)); done; echo $n"
    script = f"exec 2>/dev/null; for place in /tmp /dev/shm; do {filling}; done"
    assert run("sh", "-c", script).stdout == b"2\n2\n"


@pytest.mark.hostile
@pytest.mark.parametrize("mechanism", ["bubblewrap"])
def test_the_only_interface_is_a_loop_of_its_own(run: Run) -> None:
    """There is a loopback interface, which leads nowhere, and no other."""
    names = "import socket; print([name for _, name in socket.if_nameindex()])"
    assert run("python3", "-I", "-S", "-c", names).stdout == b"['lo']\n"
