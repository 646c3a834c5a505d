"""`replay`: answers with recorded attempts instead of running anything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field

from skilleval.adapters.base import Call
from skilleval.adapters.text import compact_json, parsed_json
from skilleval.domain.attempts import NO_USAGE, Reply, Status, Usage
from skilleval.errors import CatalogError, ConfigError, Problem
from skilleval.sandboxes.base import Sandbox
from skilleval.strict import StrictModel

_Count = Annotated[int, Field(ge=0)]
_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Key = tuple[str | None, str, int | None]

_MAX_PROBLEMS = 20


class ReplayOptions(StrictModel):
    """`conf/adapter/replay.yaml`. `path` is a JSON-lines file of recorded attempts."""

    path: Annotated[str, Field(min_length=1)]


class _UsageLine(StrictModel):
    input_tokens: _Count | None = None
    output_tokens: _Count | None = None
    total_tokens: _Count | None = None
    cost_usd: _Amount | None = None


class _Line(StrictModel):
    """One line of the file. An `output` that is null is a null output, none at all is no output."""

    task_id: Annotated[str, Field(min_length=1)]
    skill_id: str | None = None
    repeat: _Count | None = None
    output: Any = None
    status: Annotated[Status, Field(strict=False)] = Status.COMPLETED
    failure_kind: str | None = None
    message: str | None = None
    latency_ms: _Amount | None = None
    usage: _UsageLine | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A recorded attempt and what it answers: every skill or repeat where that is null."""

    task_id: str
    reply: Reply
    skill_id: str | None = None
    repeat: int | None = None

    @property
    def key(self) -> _Key:
        """What it answers, as one value."""
        return (self.skill_id, self.task_id, self.repeat)


class ReplayAdapter:
    """Looks replies up; the most specific record wins, and a named skill is more specific than a repeat."""

    Options = ReplayOptions
    kind = "replay"
    places = ("path",)

    def __init__(self, options: ReplayOptions, _sandbox: Sandbox | None = None) -> None:
        # All adapters are built alike; this one starts nothing.
        self._replies = _indexed(read_recorded(Path(options.path)))

    @classmethod
    def of(cls, records: Iterable[Recorded]) -> Self:
        """Build an adapter from attempts that are in memory already."""
        adapter = cls.__new__(cls)
        adapter._replies = _indexed(records)  # noqa: SLF001 - a constructor of the same class
        return adapter

    async def invoke(self, call: Call) -> Reply:
        """Give the recorded reply, or say that there is none."""
        return self.recall(call)

    def recall(self, call: Call) -> Reply:
        """Give the same at once: nothing is waited for."""
        skill_id, task_id, repeat = call.skill.id, call.task_id, call.repeat
        replies = self._replies
        return (
            replies.get((skill_id, task_id, repeat))
            or replies.get((skill_id, task_id, None))
            or replies.get((None, task_id, repeat))
            or replies.get((None, task_id, None))
            or _not_recorded(call)
        )

    async def aclose(self) -> None:
        """Nothing is held."""


def read_recorded(path: Path) -> tuple[Recorded, ...]:
    """Read a JSON-lines file of recorded attempts; empty lines do not count.

    Raises:
        CatalogError: the file cannot be read, or lines of it are wrong or answer the same call.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        problem = Problem(where=str(path), expected="a readable JSON-lines file in UTF-8", found=str(error))
        raise CatalogError("recorded attempts cannot be read", problems=(problem,)) from None
    records: dict[_Key, Recorded] = {}
    problems: list[Problem] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            problems += _added(records, line, where=f"{path}:{number}")
    if problems:
        said = f"{len(problems)} problem{'s' if len(problems) > 1 else ''} in recorded attempts"
        raise CatalogError(said, problems=tuple(problems[:_MAX_PROBLEMS]))
    return tuple(records.values())


def _added(records: dict[_Key, Recorded], line: str, *, where: str) -> tuple[Problem, ...]:
    try:
        values = parsed_json(line)
        if not isinstance(values, dict):
            return (Problem(where=where, expected="a JSON object", found=line[:80]),)
        record = _recorded(_Line.parse(values, where=where))
    except ConfigError as error:
        return error.problems
    except (ValueError, RecursionError) as error:
        return (Problem(where=where, expected="JSON", found=str(error)),)
    if record.key in records:
        found = f"a second answer to {record.key}"
        return (Problem(where=where, expected="one record a skill, task and repeat", found=found),)
    records[record.key] = record
    return ()


def _recorded(line: _Line) -> Recorded:
    text, n_replaced = compact_json(line.output)
    has_output = "output" in line.model_fields_set
    reply = Reply(
        status=line.status,
        output=text if has_output else None,
        failure_kind=line.failure_kind,
        message=line.message,
        latency_ms=line.latency_ms,
        output_bytes=len(text.encode()) if has_output else None,
        output_encoding_errors=n_replaced,
        usage=NO_USAGE if line.usage is None else Usage(**line.usage.model_dump()),
    )
    return Recorded(task_id=line.task_id, skill_id=line.skill_id, repeat=line.repeat, reply=reply)


def _indexed(records: Iterable[Recorded]) -> dict[_Key, Reply]:
    return {record.key: record.reply for record in records}


def _not_recorded(call: Call) -> Reply:
    place = f"task {call.task_id} of skill {call.skill.id}, repeat {call.repeat}"
    return Reply(
        status=Status.UNSUPPORTED, failure_kind="not_recorded", message=f"nothing is recorded for {place}"
    )
