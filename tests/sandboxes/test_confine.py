from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from confined import PYTHON, run_confined, run_python

from skilleval.sandboxes import confine
from skilleval.sandboxes.confinement import LIMITS, Answers, Confinement

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the launcher takes rights of Linux away")
_FREE = Confinement()
_PATHS = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def test_the_program_runs_as_if_started_directly(tmp_path: Path) -> None:
    """Arguments, environment, folder and exit code are the program's own, and the sandbox has nothing to tell."""
    script = 'printf "%s|" "$@"; pwd; env | grep -v ^_= | grep -v ^PWD= | sort; exit 3'
    words = ("a b", "", "new\nline", "-c")
    ended = run_confined(
        _FREE, "/bin/sh", "-c", script, "sh", *words, folder=tmp_path, env={"WORD": "ä", "PYTHONPATH": "/x"}
    )
    assert ended.out == f"a b||new\nline|-c|{tmp_path}\nPYTHONPATH=/x\nWORD=ä\n"
    assert (ended.code, ended.verdict.exit_code, ended.verdict.not_started) == (3, 3, None)


def test_a_locale_of_the_program_is_kept(tmp_path: Path) -> None:
    """Only what Python itself puts into the environment is taken out again."""
    ended = run_confined(_FREE, "/usr/bin/env", folder=tmp_path, env={"LC_CTYPE": "C.UTF-8"})
    assert ended.out == "LC_CTYPE=C.UTF-8\n"


def test_limits_hold_for_the_program(tmp_path: Path) -> None:
    """Each limit is set, and can be raised no more."""
    wanted = {"core": 0, "cpu": 7, "data": 1 << 30, "fsize": 4096, "nofile": 40, "stack": 1 << 22}
    program = (
        "import json, resource, sys\n"
        "print(json.dumps([resource.getrlimit(int(one)) for one in sys.argv[1:]]))\n"
    )
    kinds = [LIMITS[name] for name in wanted]
    said = run_python(Confinement(limits=wanted), program, *kinds, folder=tmp_path).document
    assert said == [[value, value] for value in wanted.values()]


def test_a_limit_above_the_own_one_is_the_own_one(tmp_path: Path) -> None:
    """What this process may not have, it cannot give."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    program = "import json, resource; print(json.dumps(resource.getrlimit(resource.RLIMIT_NOFILE)))"
    limits = {"nofile": hard + 1}
    assert run_python(Confinement(limits=limits), program, folder=tmp_path).document == [hard, hard]


def test_a_file_that_grows_too_large_ends_the_program(tmp_path: Path) -> None:
    """Signals that Python ignores for itself mean to the program what they mean everywhere."""
    limits = {"fsize": 4096}
    ended = run_confined(
        Confinement(limits=limits), "/bin/sh", "-c", "exec head -c 9999 /dev/zero >big", folder=tmp_path
    )
    assert ended.code == -signal.SIGXFSZ
    assert (tmp_path / "big").stat().st_size == 4096


def test_no_rights_are_left_and_none_can_be_gained(tmp_path: Path) -> None:
    """All sets of capabilities that count are empty, also for root, and no program brings new ones."""
    program = "import json; print(json.dumps(dict(l.split(':', 1) for l in open('/proc/self/status'))))"
    status = run_python(_FREE, program, folder=tmp_path).document
    assert {int(status[name], 16) for name in ("CapPrm", "CapEff", "CapAmb")} == {0}
    assert int(status["NoNewPrivs"]) == 1


def test_the_program_inherits_no_descriptor(tmp_path: Path) -> None:
    """The program cannot forge the launcher's answer: it holds stdin, stdout and stderr only."""
    ended = run_confined(_FREE, "/bin/ls", "/proc/self/fd", folder=tmp_path)
    assert ended.out.split() == ["0", "1", "2", "3"]  # the last one is the folder that is listed


def test_a_program_that_cannot_be_run_never_ran(tmp_path: Path) -> None:
    """What is no program is told apart from a program that fails."""
    (tmp_path / "plain").write_text("no program")
    ended = run_confined(_FREE, str(tmp_path / "plain"), folder=tmp_path)
    assert ended.verdict.not_started == f"not_started: {tmp_path / 'plain'}: Permission denied"
    assert ended.verdict.exit_code is None
    assert ended.code == confine.EXIT_CODE


def test_a_step_that_fails_is_the_sandbox_s_fault(tmp_path: Path) -> None:
    """A filter the kernel does not take keeps the program from starting, and is named."""
    ended = run_confined(Confinement(filter_program=b"\0" * 8), "/bin/echo", "ran", folder=tmp_path)
    assert ended.verdict.not_started == "sandbox_failed: seccomp: Invalid argument"
    assert ended.err == "the sandbox could not start the program: seccomp: Invalid argument\n"
    assert ended.out == ""


def test_a_program_cannot_pretend_that_it_never_ran(tmp_path: Path) -> None:
    """The launcher's exit code and words mean nothing when a program gives them."""
    script = f"echo 'the sandbox could not start the program: x' >&2; exit {confine.EXIT_CODE}"
    ended = run_confined(_FREE, "/bin/sh", "-c", script, folder=tmp_path)
    assert (ended.verdict.exit_code, ended.verdict.not_started) == (125, None)


def test_a_launcher_that_breaks_down_silently_is_noticed(tmp_path: Path) -> None:
    """Without an answer the program did not run."""
    ended = run_confined(_FREE, "/bin/false", folder=tmp_path)
    silent = Answers()
    silent.close()
    reason = "sandbox_failed: the launcher ended before the program could start"
    assert silent.verdict(ended.verdict).not_started == reason


def test_the_program_dies_with_its_evaluator(tmp_path: Path) -> None:
    """Killed by force, the evaluator takes the running program with it."""
    evaluator = (
        "import os, subprocess, sys\n"
        "from skilleval.sandboxes.confinement import Answers, Confinement\n"
        "answers = Answers()\n"
        "line = Confinement().command_line(('/bin/sh', '-c', 'echo $$; exec sleep 60'), env={},\n"
        "    answers=answers.descriptor)\n"
        "subprocess.Popen(line, env={}, pass_fds=(answers.descriptor,)).wait()\n"
    )
    with subprocess.Popen(
        [PYTHON, "-c", evaluator], cwd=tmp_path, stdout=subprocess.PIPE, env=os.environ | _PATHS
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 40
    while Path(f"/proc/{pid}/exe").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not Path(f"/proc/{pid}/exe").exists()


def test_answers_of_a_killed_launcher_change_nothing(tmp_path: Path) -> None:
    """A program that was cut off before it ran is not called the sandbox's fault."""
    ended = run_confined(_FREE, "/bin/sh", "-c", "kill -9 $$", folder=tmp_path)
    silent = Answers()
    silent.close()
    assert silent.verdict(ended.verdict) == ended.verdict
