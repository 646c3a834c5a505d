"""`custom` runs a function of the benchmark's author apart and takes only a typed judgement."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from samples import task, trials

from skilleval.domain.attempts import Reply, Status
from skilleval.domain.scores import Verdict
from skilleval.domain.tasks import Evaluator
from skilleval.sandboxes.base import Command, Completed
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions
from skilleval.scorers.base import MISSING, Finding, ScoringRecord
from skilleval.scorers.custom import CustomOptions, CustomScorer
from skilleval.scorers.panel import Panel
from skilleval.scorers.task import TaskScorer

CUSTOM = CustomScorer(CustomOptions(timeout_ms=5000.0, pass_at=1.0), NoSandbox(NoSandboxOptions(pass_env=())))

Judge = Callable[..., Finding]


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """Judge an output by a scorer with this source, which stands in the benchmark's folder."""

    def judged(source: str, output: Any = 3, *, path: str = "judge.py", **options: Any) -> Finding:
        (tmp_path / "judge.py").write_text(source, encoding="utf-8")
        record = ScoringRecord(
            task_id="t1",
            input={"a": 1},
            expected={"customScorerPath": path, "value": 3},
            evaluator=Evaluator(kind="custom", options=options),
            output=output,
            folder=tmp_path,
        )
        (one,) = asyncio.run(CUSTOM.findings(record))
        return one

    return judged


def saying(expression: str) -> str:
    """Give the source of a scorer that always says the same."""
    return f"def score(output, expected, input):\n    return {expression}\n"


@pytest.mark.parametrize(
    ("expression", "verdict", "score"),
    [
        ("True", Verdict.PASSED, 1.0),
        ("False", Verdict.FAILED, 0.0),
        ("1", Verdict.PASSED, 1.0),
        ("0.999", Verdict.FAILED, 0.999),
        ("0", Verdict.FAILED, 0.0),
        ("{'passed': True}", Verdict.PASSED, 1.0),
        ("{'passed': True, 'score': 0.25}", Verdict.PASSED, 0.25),
        ("{'passed': False, 'score': 0.75}", Verdict.FAILED, 0.75),
        ("{'score': 1.0}", Verdict.PASSED, 1.0),
        ("output == expected['value'] and input == {'a': 1}", Verdict.PASSED, 1.0),
    ],
)
def test_a_typed_judgement_is_taken(judge: Judge, expression: str, verdict: Verdict, score: float) -> None:
    """A boolean, a number from 0 to 1 or an object of both; the function sees output, expected and input."""
    one = judge(saying(expression))
    assert (one.verdict, one.score) == (verdict, score)


def test_the_reason_of_the_scorer_is_kept(judge: Judge) -> None:
    """What the author says about a failure stands in the row."""
    assert judge(saying("{'passed': False, 'reason': 'too short'}")).reason == "too short"


def test_a_number_passes_from_the_given_score(judge: Judge) -> None:
    """`passAt` of the task decides, including its edge."""
    assert judge(saying("0.5"), pass_at=0.5).verdict is Verdict.PASSED
    assert judge(saying("0.49"), pass_at=0.5).verdict is Verdict.FAILED


@pytest.mark.parametrize(
    "expression",
    [
        *("None", "'yes'", "[True]", "1.0001", "-0.1", "float('nan')", "float('inf')", "{}", "2"),
        *("{'passed': 1}", "{'passed': True, 'score': True}", "{'score': float('nan')}", "{'score': '1'}"),
        *("{'reason': 'none'}", "{'passed': True, 'points': 3}", "{'passed': True, 'reason': 3}"),
    ],
)
def test_es15_anything_else_is_ungraded(judge: Judge, expression: str) -> None:
    """Text, lists, NaN, numbers outside [0, 1] and unknown keys are no judgement, and the reason shows them."""
    one = judge(saying(expression))
    assert (one.verdict, one.score) == (Verdict.UNGRADED, None)
    assert one.reason.startswith("the custom scorer gave ")


@pytest.mark.parametrize(
    ("source", "last_line"),
    [
        (saying("1 / 0"), "ZeroDivisionError: division by zero"),
        ("import nothing_like_it", "ModuleNotFoundError: No module named 'nothing_like_it'"),
        ("def score(:", "SyntaxError: invalid syntax"),
        (saying("object()"), "TypeError: Object of type object is not JSON serializable"),
        ("def score(output): return True", "takes 1 positional argument but 3 were given"),
        ("def judge(*given): return True", "has no function score"),
        ("score = 3", "has no function score"),
    ],
)
def test_es19_a_broken_scorer_is_ungraded(judge: Judge, source: str, last_line: str) -> None:
    """A crash says nothing about the skill; the last line of the traceback is the evidence."""
    one = judge(source)
    assert one.verdict is Verdict.UNGRADED
    assert last_line in one.evidence
    assert last_line in one.reason


def test_es19_kind_and_weight_survive_a_crash(judge: Judge, tmp_path: Path) -> None:
    """The row of a broken scorer still says which rule broke."""
    judge(saying("1 / 0"))
    named = Evaluator(kind="custom", options={"custom_scorer_path": str(tmp_path / "judge.py")})
    (trial,) = trials(task(evaluator=named))
    panel = Panel({"task": TaskScorer(fallback="custom", scorers={"custom": CUSTOM})})
    (row,) = asyncio.run(panel.hearing(trial, Reply(status=Status.COMPLETED, output="3")).scores())
    assert (row.rule, row.verdict, row.weight, row.required) == ("custom", Verdict.UNGRADED, 1.0, True)


@pytest.mark.parametrize(
    "leave", ["os._exit(0)", "sys.exit(0)", "sys.exit('so long')", "os.kill(os.getpid(), 9)"]
)
def test_es22_a_scorer_that_exits_is_ungraded(judge: Judge, leave: str) -> None:
    """Leaving is no judgement, whatever the exit code, and the run goes on."""
    started = time.monotonic()
    one = judge(f"import os, sys\ndef score(output, expected, input):\n    {leave}\n")
    assert one.verdict is Verdict.UNGRADED
    assert time.monotonic() - started < 30


def test_es22_a_scorer_that_hangs_ends_at_its_limit(judge: Judge) -> None:
    """The limit of the task wins over the config, and the reason names it."""
    started = time.monotonic()
    one = judge("import time\ndef score(*given): time.sleep(60)\n", timeout_ms=300)
    assert (one.verdict, one.reason) == (Verdict.UNGRADED, "the custom scorer took longer than 300 ms")
    assert time.monotonic() - started < 30


def test_es22_a_grandchild_that_holds_stdout_holds_up_nobody(judge: Judge, tmp_path: Path) -> None:
    """The judgement is taken at once and the process left behind is gone."""
    source = (
        "import subprocess, pathlib\n"
        "def score(output, expected, input):\n"
        "    child = subprocess.Popen(['sleep', '60'])\n"
        "    pathlib.Path(__file__).with_name('pid').write_text(str(child.pid))\n"
        "    return True\n"
    )
    started = time.monotonic()
    assert judge(source).verdict is Verdict.PASSED
    assert time.monotonic() - started < 30
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text()}/cwd").exists()


def test_a_thread_left_behind_holds_up_nobody(judge: Judge) -> None:
    """The judgement ends the process, whatever the scorer has left running."""
    source = (
        "import threading, time\n"
        "def score(*given):\n"
        "    threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "    return True\n"
    )
    assert judge(source).verdict is Verdict.PASSED


def test_what_a_scorer_prints_does_no_harm(judge: Judge) -> None:
    """Prints, also of programs it starts and before it is called, are not taken for the judgement."""
    source = (
        "import os, subprocess\nprint('false')\n"
        "def score(*given):\n"
        "    print('{\"passed\": false}', flush=True)\n"
        "    subprocess.run(['echo', 'false'], check=True)\n"
        "    os.write(1, b'false')\n"
        "    return True\n"
    )
    assert judge(source).verdict is Verdict.PASSED


def test_a_scorer_may_print_any_amount(judge: Judge) -> None:
    """Of its prints, and of those of programs it starts, the end is kept; a crash is told all the same."""
    prints = (
        "import os, subprocess, sys\n"
        "def score(output, expected, input):\n"
        "    print('x' * 2_000_000)\n"
        "    print('y' * 2_000_000, file=sys.stderr, flush=True)\n"
        "    subprocess.run([sys.executable, '-c', 'print(\"z\" * 2_000_000)'], check=True)\n"
        "    return {'passed': 1 / output > 0}\n"
    )
    assert judge(prints).verdict is Verdict.PASSED
    broken = judge(prints, 0)
    assert (broken.verdict, broken.evidence) == (Verdict.UNGRADED, "ZeroDivisionError: division by zero")


def test_a_scorer_that_prints_without_end_ends_at_its_limit(judge: Judge) -> None:
    """What it prints takes neither memory nor disk, and the time limit holds."""
    one = judge("def score(*given):\n    while True: print('x' * 9999)\n", timeout_ms=500)
    assert (one.verdict, one.reason) == (Verdict.UNGRADED, "the custom scorer took longer than 500 ms")


def test_a_judgement_that_is_too_long_is_ungraded(judge: Judge) -> None:
    """A reason of megabytes is none."""
    one = judge(saying("{'passed': True, 'reason': 'x' * 2_000_000}"))
    assert (one.verdict, one.reason) == (Verdict.UNGRADED, "the custom scorer wrote more than 1000000 bytes")


@pytest.mark.parametrize("expression", ["{'passed': True, 'score': 0.0}", "{'passed': False, 'score': 1}"])
def test_a_judgement_that_contradicts_itself_is_ungraded(judge: Judge, expression: str) -> None:
    """Passed with nothing reached, or failed with everything: nobody knows which of both is meant."""
    one = judge(saying(expression))
    assert one.verdict is Verdict.UNGRADED
    assert "passed and score contradict each other" in one.reason


def test_a_scorer_may_be_asynchronous_and_import_its_neighbours(judge: Judge, tmp_path: Path) -> None:
    """Modules beside the file are found, and an awaitable is awaited."""
    (tmp_path / "neighbour.py").write_text("LIMIT = 2\n")
    source = "import neighbour\nasync def score(output, *more): return output > neighbour.LIMIT\n"
    assert judge(source).verdict is Verdict.PASSED
    assert judge(source, 2).verdict is Verdict.FAILED


def test_a_function_can_be_named(judge: Judge) -> None:
    """`file.py:function` and `module:function`, the module from the benchmark's folder or installed."""
    source = "def strict(output, expected, input): return output == 3\n"
    assert judge(source, path="judge.py:strict").verdict is Verdict.PASSED
    assert judge(source, path="judge:strict").verdict is Verdict.PASSED
    assert judge(source, 4, path="judge:strict").verdict is Verdict.FAILED
    assert "no function score" in judge(source).reason
    assert "No module named 'absent'" in judge(source, path="absent:score").reason


def test_the_file_is_sought_from_the_benchmark_unless_it_is_absolute(judge: Judge, tmp_path: Path) -> None:
    """A missing file is ungraded with the path that was tried; the evaluator's own path wins."""
    missing = judge("", path="lost/judge.py")
    assert missing.verdict is Verdict.UNGRADED
    assert str(tmp_path / "lost" / "judge.py") in missing.reason
    given = {"custom_scorer_path": str(tmp_path / "judge.py")}
    assert judge(saying("True"), path="lost/judge.py", **given).verdict is Verdict.PASSED


def test_no_output_fails_without_asking(judge: Judge) -> None:
    """A skill without an answer fails, also for a scorer that passes everything."""
    assert judge(saying("True"), MISSING).verdict is Verdict.FAILED


def test_depth_of_an_output_cannot_break_it(judge: Judge) -> None:
    """An output that cannot be handed over is ungraded with the reason."""
    deep: Any = 1
    for _ in range(50_000):
        deep = [deep]
    assert judge(saying("True"), deep).reason == "the output is nested too deeply to be handed over"


def seen_in(folder: Path, path: str) -> ScoringRecord:
    """Give a record of a task that names a scorer."""
    return ScoringRecord(
        task_id="t1",
        input={},
        expected={"customScorerPath": path},
        evaluator=Evaluator(kind="custom"),
        output=1,
        folder=folder,
    )


def test_the_fingerprint_is_that_of_the_scorers_own_file(tmp_path: Path) -> None:
    """Editing the file gives another one, whichever way the function is named."""
    file = tmp_path / "judge.py"
    file.write_text(saying("True"))
    before = [
        CUSTOM.fingerprint(seen_in(tmp_path, name)) for name in ("judge.py", "judge.py:score", "judge:score")
    ]
    assert len(set(before)) == 1
    assert len(str(before[0])) == 64
    file.write_text(saying("False"))
    assert CUSTOM.fingerprint(seen_in(tmp_path, "judge.py")) not in before


def test_what_python_has_to_look_for_has_no_fingerprint(tmp_path: Path) -> None:
    """An installed module may change unseen; the task scorer says the same of its tasks."""
    elsewhere = seen_in(tmp_path, "somewhere.judge:score")
    assert CUSTOM.fingerprint(elsewhere) is None
    assert TaskScorer(fallback="exact", scorers={"custom": CUSTOM}).fingerprint(elsewhere) is None


class Noting(NoSandbox):
    """A sandbox that notes its commands and starts nothing."""

    def __init__(self) -> None:
        self.commands: list[Command] = []

    async def run(self, command: Command) -> Completed:
        """Note it."""
        self.commands.append(command)
        return Completed(exit_code=0, stdout=b"true", stderr=b"", duration_ms=1.0, spawn_ms=1.0)


def test_a_sandbox_is_asked_to_show_what_the_scorer_needs(tmp_path: Path) -> None:
    """The program that calls it, the folder of its file and that of the benchmark: all whole paths."""
    (tmp_path / "judges").mkdir()
    (tmp_path / "judges" / "judge.py").write_text(saying("True"))
    sandbox = Noting()
    scorer = CustomScorer(CustomOptions(timeout_ms=5000.0, pass_at=1.0), sandbox)
    asyncio.run(scorer.findings(seen_in(tmp_path, "judges/judge.py")))
    (command,) = sandbox.commands
    assert set(command.reads) >= {tmp_path / "judges", tmp_path}
    assert Path(command.argv[-1]) in command.reads
    assert all(path.is_absolute() for path in command.reads)
