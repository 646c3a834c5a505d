from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skilleval.adapters.base import Call
from skilleval.adapters.replay import Recorded, ReplayAdapter, ReplayOptions, read_recorded
from skilleval.domain.attempts import NO_USAGE, Reply, Status, Usage
from skilleval.errors import CatalogError

MakeCall = Callable[..., Call]


def _file(tmp_path: Path, *lines: Any) -> Path:
    file = tmp_path / "recorded.jsonl"
    file.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return file


def _only(tmp_path: Path, line: dict[str, Any] | str) -> Reply:
    (record,) = read_recorded(_file(tmp_path, line))
    return record.reply


def _reply(output: str) -> Reply:
    return Reply(status=Status.COMPLETED, output=output)


def test_what_is_recalled_is_what_is_answered(call: MakeCall) -> None:
    """Both ways to ask give the same, also where nothing is recorded."""
    adapter = ReplayAdapter.of([Recorded(task_id="t1", reply=_reply("1"))])
    for asked in (call(task_id="t1"), call(task_id="other")):
        assert asyncio.run(adapter.invoke(asked)) == adapter.recall(asked)


def test_a_file_answers_as_it_was_recorded(tmp_path: Path, call: MakeCall) -> None:
    """Every key of a line arrives in the reply."""
    file = _file(
        tmp_path,
        {
            "task_id": "t1",
            "skill_id": "adder",
            "repeat": 2,
            "output": {"b": "ü", "a": 2**70},
            "status": "timeout",
            "failure_kind": "timeout",
            "message": "slow",
            "latency_ms": 12,
            "usage": {"input_tokens": 3, "cost_usd": 0.5},
        },
    )
    adapter = ReplayAdapter(ReplayOptions(path=str(file)))
    assert asyncio.run(adapter.invoke(call(repeat=2))) == Reply(
        status=Status.TIMEOUT,
        output='{"b":"ü","a":1180591620717411303424}',
        failure_kind="timeout",
        message="slow",
        latency_ms=12.0,
        output_bytes=len('{"b":"ü","a":1180591620717411303424}'.encode()),
        usage=Usage(input_tokens=3, cost_usd=0.5),
    )


def test_a_line_with_a_task_only_is_a_completed_attempt_without_output(tmp_path: Path) -> None:
    """What a line leaves out is not known, and never zero."""
    assert _only(tmp_path, {"task_id": "t1"}) == Reply(status=Status.COMPLETED, usage=NO_USAGE)


def test_a_null_output_is_an_output(tmp_path: Path) -> None:
    """`null` was answered, an absent output was not."""
    assert _only(tmp_path, {"task_id": "t1", "output": None}).output == "null"


def test_separators_of_other_alphabets_do_not_end_a_line(tmp_path: Path) -> None:
    """Only a line feed ends a record; surrogates from escapes are mended and counted."""
    reply = _only(tmp_path, '{"task_id":"t1","output":"\u2028\x85\\ud800"}\n\n')
    assert (reply.output, reply.output_encoding_errors) == ('"\u2028\x85\ufffd"', 1)


SPECIFIC = ("skill and repeat", "skill", "repeat", "any")


@pytest.mark.parametrize("n_missing", range(4))
def test_the_most_specific_record_wins(call: MakeCall, n_missing: int) -> None:
    """Skill and repeat, then the skill, then the repeat, then the task alone."""
    records = [
        Recorded(task_id="t1", skill_id="adder", repeat=1, reply=_reply("skill and repeat")),
        Recorded(task_id="t1", skill_id="adder", reply=_reply("skill")),
        Recorded(task_id="t1", repeat=1, reply=_reply("repeat")),
        Recorded(task_id="t1", reply=_reply("any")),
    ]
    adapter = ReplayAdapter.of(records[n_missing:])
    assert asyncio.run(adapter.invoke(call(repeat=1))).output == SPECIFIC[n_missing]


@pytest.mark.parametrize("changes", [{"task_id": "t2"}, {"repeat": 0}, {"skill_id": "other"}])
def test_what_is_not_recorded_is_unsupported(call: MakeCall, changes: dict[str, Any]) -> None:
    """No neighbour answers for a task, repeat or skill that was not recorded."""
    adapter = ReplayAdapter.of([Recorded(task_id="t1", skill_id="adder", repeat=1, reply=_reply("1"))])
    reply = asyncio.run(adapter.invoke(call(**({"repeat": 1} | changes))))
    assert (reply.status, reply.failure_kind, reply.output) == (Status.UNSUPPORTED, "not_recorded", None)
    assert "nothing is recorded for task" in (reply.message or "")
    assert not reply.retryable


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", ":2: expected JSON, found Expecting property name"),
        ("[1]", ":2: expected a JSON object, found [1]"),
        ('{"task_id":"t9","output":NaN}', ":2: expected JSON, found NaN is not JSON"),
        ('{"task_id":"t9","output":1e999}', ":2: expected JSON, found Out of range"),
        ("[" * 100_000, ":2: expected JSON, found maximum recursion depth"),
        ("{}", ":2: task_id: expected a value, found nothing"),
        ({"task_id": 3}, ":2: task_id: expected a text, found 3"),
        (
            {"task_id": "t9", "repeat": -1},
            ":2: repeat: expected a number greater than or equal to 0, found -1",
        ),
        ({"task_id": "t9", "latency_ms": "fast"}, ':2: latency_ms: expected a number, found "fast"'),
        ({"task_id": "t9", "status": "done"}, ":2: status: expected completed, timeout"),
        ({"task_id": "t9", "outputs": 1}, "did you mean output?"),
        ({"task_id": "t9", "usage": {"tokens": 1}}, ":2: usage.tokens: expected a known key, found tokens"),
        ({"task_id": "t1"}, ":2: expected one record a skill, task and repeat, found a second answer"),
    ],
)
def test_a_wrong_line_is_named_with_its_number(tmp_path: Path, line: Any, said: str) -> None:
    """A mistake in the file is told before the first trial: line, key, what was expected and found."""
    file = _file(tmp_path, {"task_id": "t1"}, line)
    with pytest.raises(CatalogError) as caught:
        ReplayAdapter(ReplayOptions(path=str(file)))
    assert said in str(caught.value)
    assert str(caught.value).startswith("1 problem in recorded attempts\n")


def test_all_wrong_lines_are_told_at_once(tmp_path: Path) -> None:
    """One mistake does not hide the others, and a hopeless file does not flood the terminal."""
    with pytest.raises(CatalogError, match="30 problems in recorded attempts") as caught:
        read_recorded(_file(tmp_path, *["{"] * 30))
    assert len(caught.value.problems) == 20


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, content: bytes | None) -> None:
    """A missing file and one that is no UTF-8 are errors that name it."""
    file = tmp_path / "recorded.jsonl"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(CatalogError, match="recorded attempts cannot be read") as caught:
        read_recorded(file)
    assert str(file) in str(caught.value)


def test_a_replayed_call_costs_next_to_nothing(call: MakeCall) -> None:
    """A call stays below 10 µs, so that the runner and not its double is what a benchmark measures."""
    n_calls = 2000
    adapter = ReplayAdapter.of(Recorded(task_id=f"t{i}", reply=_reply("1")) for i in range(100))
    one = call(task_id="t99")

    async def many() -> None:
        for _ in range(n_calls):
            await adapter.invoke(one)

    durations = []
    for _ in range(5):
        started = time.process_time()
        asyncio.run(many())
        durations.append(time.process_time() - started)
    assert min(durations) / n_calls < 10e-6
