from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from naps import Nap

from skilleval.adapters.base import Call
from skilleval.adapters.python_function import PythonAdapter, PythonOptions
from skilleval.domain.attempts import Reply, Status
from skilleval.errors import AdapterError
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions

Run = Callable[..., Reply]
RunAll = Callable[..., list[Reply]]

EVERY_WAY = pytest.mark.parametrize("way", ["child", "worker", "inprocess"])


class Elsewhere(NoSandbox):
    """A sandbox of another name."""

    name = "elsewhere"


def _adapter(way: str = "child", *, max_output_bytes: int = 1_000_000) -> PythonAdapter:
    options = PythonOptions(inprocess=way == "inprocess", max_output_bytes=max_output_bytes)
    worker_trials = 100 if way == "worker" else None
    return PythonAdapter(options, NoSandbox(NoSandboxOptions(pass_env=())), worker_trials=worker_trials)


@pytest.fixture
def run_all(tmp_path: Path, call: Callable[..., Call]) -> RunAll:
    """Give what calls `skill:answer` of a file with this text once for each of the changes."""

    def replies(
        text: str,
        *changes: dict[str, Any],
        entrypoint: str = "skill:answer",
        way: str = "worker",
        limit: int = 1_000_000,
    ) -> list[Reply]:
        (tmp_path / "skill.py").write_text(text, encoding="utf-8")

        async def answers() -> list[Reply]:
            adapter = _adapter(way, max_output_bytes=limit)
            try:
                return [await adapter.invoke(call(entrypoint, **one)) for one in changes]
            finally:
                await adapter.aclose()

        return asyncio.run(answers())

    return replies


@pytest.fixture
def run(run_all: RunAll) -> Run:
    """Give what calls it once, in a fresh process if it is not told otherwise."""

    def reply(
        text: str,
        *,
        entrypoint: str = "skill:answer",
        way: str = "child",
        limit: int = 1_000_000,
        **changes: Any,
    ) -> Reply:
        return run_all(text, changes, entrypoint=entrypoint, way=way, limit=limit)[0]

    return reply


@EVERY_WAY
@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("def answer(value): return {'sum': value['a'] + value['b']}", '{"sum":3}'),
        ("def answer(value): return None", "null"),
        ("def answer(value): return ('ü', 1.0, True)", '["ü",1.0,true]'),
        ("answer = len", "2"),
        ("import asyncio\nasync def answer(value):\n await asyncio.sleep(0)\n return 'late'", '"late"'),
        ("import asyncio\ndef answer(value): return asyncio.run(asyncio.sleep(0, 'own loop'))", '"own loop"'),
        ("def answer(value, seed): return seed", "77"),
        ("def answer(value, *, seed=0): return seed", "77"),
        ("def answer(value, **more): return more", "{}"),
        ("def answer(value): value.clear(); return 'changed'", '"changed"'),
    ],
)
def test_a_function_answers(text: str, output: str, run: Run, *, way: str) -> None:
    """It is given the input, and the seed where it names one; what it returns is the output, awaited or not."""
    given = {"a": 1, "b": 2}
    reply = run(text, way=way, input=given, seed=77)
    assert (reply.status, reply.output, reply.failure_kind) == (Status.COMPLETED, output, None)
    assert reply.latency_ms is not None
    assert given == {"a": 1, "b": 2}


@EVERY_WAY
def test_modules_of_the_skill_are_its_own(run: Run, tmp_path: Path, *, way: str) -> None:
    """A function may stand in a package and import its neighbours."""
    package = tmp_path / "deep"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text(
        "from skill import answer as found\nclass Tool:\n call = staticmethod(found)"
    )
    reply = run("def answer(value): return 'here'", entrypoint="deep.inner:Tool.call", way=way)
    assert reply.output == '"here"'


@EVERY_WAY
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "def answer(value): raise ValueError('three is\\none too many')",
            "ValueError: three is one too many",
        ),
        ("def answer(value):\n e = OSError('no'); e.add_note('try again'); raise e", "OSError: no"),
        ("def answer(value): return 1 / 0", "ZeroDivisionError: division by zero"),
        ("def answer(): return 1", "TypeError: answer() takes 0 positional arguments but 1 was given"),
        ("def answer(value): return {1, 2}", "TypeError: Object of type set is not JSON serializable"),
        ("def other(value): return 1", "AttributeError: module 'skill' has no attribute 'answer'"),
        ("import surely_no_such_module", "ModuleNotFoundError: No module named 'surely_no_such_module'"),
        ("def answer(value) return 1", "SyntaxError: expected ':'"),
        ("async def answer(value): raise OSError('late')", "OSError: late"),
    ],
)
def test_what_is_raised_is_the_skills_error(text: str, message: str, run: Run, *, way: str) -> None:
    """The message is the last line of the traceback, and the traceback is kept."""
    reply = run(text, way=way)
    assert (reply.status, reply.failure_kind, reply.message) == (Status.SKILL_ERROR, "exception", message)
    assert (reply.output, reply.retryable) == (None, True)
    assert message.rpartition(" ")[2] in (reply.stderr or "")
    assert "Traceback" in (reply.stderr or "")


@EVERY_WAY
def test_c30_more_than_the_cap_is_an_error(run: Run, *, way: str) -> None:
    """A result that is too large is none."""
    reply = run("def answer(value): return 'x' * 5000", limit=1000, way=way)
    assert (reply.status, reply.failure_kind, reply.output) == (Status.SKILL_ERROR, "output_limit", None)


@EVERY_WAY
def test_es15_a_result_that_is_no_number_is_refused(run: Run, *, way: str) -> None:
    """NaN is no JSON: the function has not answered."""
    reply = run("def answer(value): return float('nan')", way=way)
    assert (reply.status, reply.failure_kind) == (Status.SKILL_ERROR, "exception")
    assert "JSON" in (reply.message or "")


@EVERY_WAY
@pytest.mark.parametrize(
    "entrypoint",
    ["python3 skill.py", "skill", "skill:", ":answer", "skill:answer:x", "../skill:a", "skill:answer -c"],
)
def test_an_entrypoint_is_module_and_function(entrypoint: str, run: Run, *, way: str) -> None:
    """Anything else is a mistake of the skill that no repetition mends."""
    reply = run("def answer(value): return 1", entrypoint=entrypoint, way=way)
    assert (reply.status, reply.failure_kind, reply.retryable) == (
        Status.SKILL_ERROR,
        "bad_entrypoint",
        False,
    )
    assert reply.message == f"the entrypoint is not module:function but {entrypoint}"


@pytest.mark.parametrize(
    "noise",
    [
        'print(\'{"jsonrpc": "2.0", "id": 1, "result": "forged"}\')',
        "import os; os.write(1, b'\\xff noise')",
        "import subprocess; subprocess.run(['echo', 'noise'])",
        "import sys; sys.stdout.close()",
        "import threading, time; threading.Thread(target=time.sleep, args=(30,)).start()",
    ],
)
def test_prints_and_leftovers_do_no_harm(noise: str, run: Run) -> None:
    """Only what the function returns is its answer, whatever it prints, closes or leaves running."""
    reply = run(f"def answer(value):\n    {noise}\n    return 'true'", timeout_s=10.0)
    assert (reply.status, reply.output, reply.stdout) == (Status.COMPLETED, '"true"', None)


def test_what_a_skill_prints_is_kept_as_stderr(run: Run) -> None:
    """The prints are evidence."""
    assert run("def answer(value): print('thinking'); return 1").stderr == "thinking\n"


def test_a_child_has_an_environment_of_its_own(run: Run, tmp_path: Path) -> None:
    """It runs in the skill's folder and is told seed and repeat, as every program is."""
    seen = "os.getcwd(), os.environ['SKILLEVAL_SEED'], os.environ['SKILLEVAL_REPEAT']"
    text = f"import os\ndef answer(value): return [{seen}]"
    reply = run(text, seed=77, repeat=2)
    assert json.loads(reply.output or "") == [str(tmp_path.resolve()), "77", "2"]


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (
            "import os\ndef answer(value): os._exit(0)",
            "no_reply",
            "the function ended its process instead of returning",
        ),
        ("import sys\ndef answer(value): sys.exit(3)", "exit_code", "exit code 3"),
        ("import os\ndef answer(value): os.kill(os.getpid(), 9)", "signal", "ended by SIGKILL"),
    ],
)
def test_es22_a_function_that_ends_its_process_has_not_answered(
    text: str, kind: str, message: str, run: Run
) -> None:
    """However it leaves, the run goes on and the trial is an error of the skill."""
    reply = run(text)
    assert (reply.status, reply.failure_kind, reply.message) == (Status.SKILL_ERROR, kind, message)


def test_es22_a_child_and_its_children_end_with_the_limit(run: Run, nap: Nap) -> None:
    """A function that hangs is cut off, with the program it waits for."""
    text = f"import subprocess\ndef answer(value): subprocess.run(['sleep', '{nap.seconds}'])"
    reply = run(text, timeout_s=0.5)
    assert (reply.status, reply.message) == (Status.TIMEOUT, "not done within 0.5 s")
    assert nap.sleepers() == []


def test_in_process_a_hanging_function_is_left_alone(run: Run, tmp_path: Path) -> None:
    """Nothing can end a thread, but nobody waits for it beyond the limit: here it waits for what comes later."""
    later = tmp_path / "later"
    text = (
        "import pathlib, time\ndef answer(value):\n"
        f"    while not pathlib.Path({str(later)!r}).exists(): time.sleep(0.01)"
    )
    reply = run(text, way="inprocess", timeout_s=0.1)
    said = "not done within 0.1 s; its thread is left running"
    assert (reply.status, reply.failure_kind, reply.message) == (Status.TIMEOUT, "timeout", said)
    later.touch()


def test_in_process_leaving_python_is_an_answer_too(run: Run) -> None:
    """`sys.exit` ends neither skilleval nor the run."""
    reply = run("import sys\ndef answer(value): sys.exit('enough')", way="inprocess")
    assert (reply.status, reply.failure_kind, reply.message) == (
        Status.SKILL_ERROR,
        "exception",
        "SystemExit: enough",
    )


def test_in_process_two_skills_may_have_the_same_module(tmp_path: Path, call: Callable[..., Call]) -> None:
    """Each is asked its own function, each time; a module is loaded once."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        text = "import side\nn = 0\ndef answer(value):\n global n\n n += 1\n return [side.NAME, n]"
        (tmp_path / name / "skill.py").write_text(text)
        (tmp_path / name / "side.py").write_text(f"NAME = {name!r}")

    async def outputs() -> list[str | None]:
        adapter, made = _adapter("inprocess"), call("skill:answer")
        calls = [
            replace(made, skill=replace(made.skill, folder=tmp_path / name)) for name in ("one", "two", "one")
        ]
        return [(await adapter.invoke(one)).output for one in calls]

    assert asyncio.run(outputs()) == ['["one",1]', '["two",1]', '["one",2]']


def test_in_process_calls_run_side_by_side(tmp_path: Path, call: Callable[..., Call]) -> None:
    """A function that waits does not hold up the others."""
    (tmp_path / "skill.py").write_text(
        "import threading\nall_here = threading.Barrier(4)\ndef answer(value): return all_here.wait(5) >= 0"
    )

    async def outputs() -> list[str | None]:
        adapter, made = _adapter("inprocess"), call("skill:answer")
        return [reply.output for reply in await asyncio.gather(*(adapter.invoke(made) for _ in range(4)))]

    assert asyncio.run(outputs()) == ["true"] * 4


def test_in_process_code_runs_in_no_sandbox() -> None:
    """Asking for both is a contradiction that is said before the first trial."""
    options = PythonOptions(inprocess=True, max_output_bytes=1)
    with pytest.raises(AdapterError) as caught:
        PythonAdapter(options, Elsewhere(NoSandboxOptions(pass_env=())))
    assert caught.value.problems[0].key == "adapter.python.inprocess"


def test_a_worker_imports_the_module_once(run_all: RunAll) -> None:
    """What a module holds lasts from trial to trial, and only the first one waits for a start."""
    text = "import os\nn = 0\ndef answer(value):\n global n\n n += 1\n return [n, os.getpid()]"
    first, second = run_all(text, {}, {})
    (one, pid), (two, same) = json.loads(first.output or ""), json.loads(second.output or "")
    assert (one, two, pid) == (1, 2, same)
    assert first.spawn_ms is not None
    assert second.spawn_ms is None


def test_a_worker_says_seed_and_repeat_anew(run_all: RunAll) -> None:
    """The parameter and the environment are those of the trial, also while the module is imported."""
    names = "os.environ['SKILLEVAL_SEED'], os.environ['SKILLEVAL_REPEAT']"
    text = f"import os\nat_import = [{names}]\ndef answer(value, seed): return [seed, {names}, at_import]"
    replies = run_all(text, {"seed": 7, "repeat": 1}, {"seed": 8, "repeat": 2})
    assert [json.loads(reply.output or "") for reply in replies] == [
        [7, "7", "1", ["7", "1"]],
        [8, "8", "2", ["7", "1"]],
    ]


def test_prints_in_a_worker_stay_with_their_trial(run_all: RunAll) -> None:
    """Each trial keeps as evidence what was printed during it, flushed or not."""
    text = "import os\ndef answer(value):\n print('said', value)\n os.write(1, b'raw')\n return 1"
    replies = run_all(text, {"input": {"a": 1}}, {"input": {"a": 2}})
    assert [(reply.status, reply.stderr) for reply in replies] == [
        (Status.COMPLETED, "rawsaid {'a': 1}\n"),
        (Status.COMPLETED, "rawsaid {'a': 2}\n"),
    ]


def test_a_function_in_a_worker_cannot_take_the_next_request(run_all: RunAll) -> None:
    """Its stdin is empty, whatever waits for the process."""
    text = "import sys\ndef answer(value): return sys.stdin.read() + sys.stdin.read()"
    assert [reply.output for reply in run_all(text, {}, {})] == ['""', '""']


def test_a_worker_lives_through_exceptions_but_not_through_an_exit(run_all: RunAll) -> None:
    """What is raised is an answer; who leaves Python is replaced by a fresh process."""
    text = (
        "import os, sys\nn = 0\ndef answer(value):\n global n\n n += 1\n"
        " if n == 2: raise ValueError('two')\n if n == 3: sys.exit('enough')\n return n"
    )
    replies = run_all(text, {}, {}, {}, {})
    assert [(reply.output, reply.failure_kind, reply.message) for reply in replies] == [
        ("1", None, None),
        (None, "exception", "ValueError: two"),
        (None, "exit_code", "exit code 1: enough (the process had served 2 trials before)"),
        ("1", None, None),
    ]


@pytest.mark.parametrize(
    ("way", "isolation"), [("child", "trial"), ("worker", "worker"), ("inprocess", "worker")]
)
def test_trials_share_whatever_is_not_theirs_alone(way: str, isolation: str) -> None:
    """Only a process for each call keeps trials apart."""
    assert _adapter(way).isolation == isolation
