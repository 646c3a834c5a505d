"""The contract between the half that runs and the half that reads: the tables of a run, column by column.

A new column is added here (with its unit in the name) and where it is filled; then `SCHEMA_VERSION` rises.
The columns are plain data, so that reading this module is free; `checked` builds the pandera models from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

from skilleval.domain.attempts import Status
from skilleval.domain.scores import Verdict
from skilleval.domain.trials import Mode
from skilleval.errors import ResultsError

if TYPE_CHECKING:
    import pandera.polars as pa
    import polars as pl

SCHEMA_VERSION = "3"


class Kind(StrEnum):
    """The type of a column. `json` is text that holds one JSON value; `time` is UTC with microseconds."""

    TEXT = "text"
    JSON = "json"
    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    TIME = "time"
    TEXTS = "texts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: its type, whether it may be null (= not known), its range, and what it means."""

    name: str
    kind: Kind
    doc: str
    nullable: bool = False
    low: float | None = None
    high: float | None = None
    allowed: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table: its name, what one row is, what makes a row unique, and its columns.

    `since` is the schema version it came with: runs of older ones have no such rows.
    """

    name: str
    grain: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    since: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.name for column in self.columns)


def _text(name: str, doc: str, *, nullable: bool = False, allowed: tuple[str, ...] | None = None) -> Column:
    return Column(name=name, kind=Kind.TEXT, doc=doc, nullable=nullable, allowed=allowed)


def _json(name: str, doc: str, *, nullable: bool = False) -> Column:
    return Column(name=name, kind=Kind.JSON, doc=doc, nullable=nullable)


def _int(name: str, doc: str, *, nullable: bool = False, low: float | None = 0) -> Column:
    return Column(name=name, kind=Kind.INT, doc=doc, nullable=nullable, low=low)


def _float(
    name: str, doc: str, *, nullable: bool = False, low: float | None = 0, high: float | None = None
) -> Column:
    return Column(name=name, kind=Kind.FLOAT, doc=doc, nullable=nullable, low=low, high=high)


def _bool(name: str, doc: str, *, nullable: bool = False) -> Column:
    return Column(name=name, kind=Kind.BOOL, doc=doc, nullable=nullable)


def _time(name: str, doc: str, *, nullable: bool = False) -> Column:
    return Column(name=name, kind=Kind.TIME, doc=doc, nullable=nullable)


_STATUSES = tuple(status.value for status in Status)
_RUN = _text("run_id", "the run that wrote the row")
_TRIAL = _text("trial_id", "content hash of the trial, equal in every run")
_STATUS = _text("status", "did it run? never whether it passed", allowed=_STATUSES)
_FAILURE = _text("failure_kind", "cause in one word, e.g. no_reply, output_limit, exit_code", nullable=True)
_MESSAGE = _text("message", "cause in one sentence", nullable=True)
_EXIT = _int("exit_code", "exit code of the process, negative for a signal", nullable=True, low=None)
_USAGE = (
    _int("input_tokens", "tokens in, as reported", nullable=True),
    _int("output_tokens", "tokens out, as reported", nullable=True),
    _int("total_tokens", "tokens in total, as reported", nullable=True),
    _int("cached_tokens", "tokens in that the provider had cached", nullable=True),
    _float("cost_usd", "price, as reported or by the price table", nullable=True),
)
_ATTEMPT = (
    _json(
        "output",
        "output of the skill; null where there is none, the text null where it is null",
        nullable=True,
    ),
    _int("output_bytes", "size of what the skill wrote, also beyond the cap", nullable=True),
    _int(
        "output_encoding_errors",
        "places where the output was not UTF-8 and was replaced; null where it was imported",
        nullable=True,
    ),
    _text("stdout", "raw stdout where no output could be read from it, capped", nullable=True),
    _text("stderr", "stderr of the skill, capped", nullable=True),
    _EXIT,
    _float("latency_ms", "time of the skill alone (monotonic); until the cut for a timeout", nullable=True),
    _float("spawn_ms", "time to start its process", nullable=True),
    *_USAGE,
    _time("started_at", "start, UTC", nullable=True),
    _json("request", "what a model was sent, as sent; null where none was asked", nullable=True),
    _json("tool_calls", "list of the calls a model made: id, name, arguments as written", nullable=True),
    _text("response_model", "model that says it answered", nullable=True),
    Column(
        name="notes",
        kind=Kind.TEXTS,
        doc="what was done otherwise than asked, e.g. system_as_user",
        nullable=True,
    ),
)

TRIALS = Table(
    name="trials",
    grain="one trial: one repeat of one task under one condition",
    key=("run_id", "trial_id"),
    columns=(
        _RUN,
        _text("sweep_id", "the sweep the run belongs to", nullable=True),
        _TRIAL,
        _text(
            "call_key",
            "content hash of what was asked and how; equal keys may share an attempt; null in runs older than it",
            nullable=True,
        ),
        _text("condition_id", "content hash of skill × adapter × model × sandbox × mode × isolation"),
        _text("skill_id", "id of the skill"),
        _text("skill_version", "version of the skill; empty where it is not known"),
        _text("skill_digest", "SHA-256 of the skill's folder; empty where it is not known"),
        _text("adapter", "how the skill was driven", nullable=True),
        _text("model", "the model behind it", nullable=True),
        _text("sandbox", "where it ran", nullable=True),
        _text("isolation", "trial: a process a trial; worker: one serves many", allowed=("trial", "worker")),
        _text("mode", "part the skill takes", allowed=tuple(mode.value for mode in Mode)),
        _text("benchmark_id", "id of the benchmark"),
        _text("benchmark_version", "version of the benchmark; empty where it is not known"),
        _text("task_id", "id of the task within the benchmark"),
        Column(name="task_tags", kind=Kind.TEXTS, doc="tags of the task"),
        _float("task_weight", "weight of the task"),
        _int("repeat", "0-based index of the repeat"),
        _int("seed", "seed handed to the skill", nullable=True),
        _json("input", "task input", nullable=True),
        _json("expected", "what the task expects", nullable=True),
        _STATUS,
        _FAILURE,
        _MESSAGE,
        *_ATTEMPT,
        _time("ended_at", "end of the last try, UTC", nullable=True),
        _int("n_tries", "executions inside the trial", low=1),
        _float("timeout_ms", "limit that was in force", nullable=True),
        _int("concurrency", "trials that were allowed at once", nullable=True, low=1),
        _int(
            "in_flight",
            "calls under way when the last try began, itself included; null in runs older than it",
            nullable=True,
            low=1,
        ),
        _text("reused_from", "run that made the attempt, where it is not this one", nullable=True),
        _float(
            "serial_latency_ms",
            "latency of a further call that had the machine to itself (runner.latency=serial)",
            nullable=True,
        ),
        _text(
            "serial_status", "how that call ended; null where none was made", nullable=True, allowed=_STATUSES
        ),
        _float("queue_ms", "time from the start of the run until a worker took the trial", nullable=True),
        _float("scoring_ms", "time of all scorers together", nullable=True),
        _float("write_ms", "time to make the row durable; null if the run was interrupted", nullable=True),
    ),
)

TRIES = Table(
    name="tries",
    grain="one try: one execution inside a trial; the last one is the attempt",
    key=("run_id", "trial_id", "try_index"),
    columns=(
        _RUN,
        _TRIAL,
        _int("try_index", "0-based index of the try"),
        _STATUS,
        _FAILURE,
        _MESSAGE,
        *_ATTEMPT,
        _float("backoff_ms", "pause before this try; 0 for the first"),
    ),
)

SCORES = Table(
    name="scores",
    grain="one check of one scorer on one trial",
    key=("run_id", "trial_id", "scorer", "check_id"),
    columns=(
        _RUN,
        _TRIAL,
        _text("scorer", "name of the scorer in the config"),
        _text("rule", "kind of scorer that judged, e.g. exact"),
        _text("scorer_version", "version of that kind; empty where it is not known"),
        _text("check_id", "id of the check within the scorer"),
        _text("check", "what was looked at"),
        _float("weight", "weight of the check"),
        _bool("required", "must it pass for the trial to pass?"),
        _float("score", "value in [0, 1]; null when ungraded", nullable=True, high=1),
        _text("verdict", "passed, failed or ungraded", allowed=tuple(v.value for v in Verdict)),
        _bool("passed", "the verdict as a boolean; null when ungraded", nullable=True),
        _text("reason", "why"),
        _text("evidence", "what it was seen in, capped"),
        _text(
            "score_key",
            "content hash of call, scorer, version, options, its own files and what is expected; null where not all "
            "of that is known",
            nullable=True,
        ),
        _text("reused_from", "run that made the score, where it is not this one", nullable=True),
        _text(
            "failure_kind",
            "why there is no verdict: judge_error (the judge is to blame) or not_judged (the run ended before)",
            nullable=True,
        ),
    ),
)

JUDGEMENTS = Table(
    name="judgements",
    grain="one call of a judge model; reused scores have none",
    key=("run_id", "trial_id", "scorer", "check_id", "call_index"),
    since=3,
    columns=(
        _RUN,
        _TRIAL,
        _text("scorer", "name of the scorer in the config"),
        _text("check_id", "the check it led to, the first one of several"),
        _int("call_index", "0-based index of the call within that check"),
        _text("purpose", "which call it was, e.g. assertions, assertions:again, rubric:swapped"),
        _text("model", "the judge"),
        _time("started_at", "start, UTC"),
        _json("request", "what the judge was sent, as sent"),
        _text("reply", "what it said; null where nothing came", nullable=True),
        _text("failure_kind", "why the reply could not be used, in one word", nullable=True),
        _MESSAGE,
        _float("latency_ms", "time of the call", nullable=True),
        *_USAGE,
    ),
)

TABLES: dict[str, Table] = {table.name: table for table in (TRIALS, TRIES, SCORES, JUDGEMENTS)}


@cache
def _types(table: Table) -> pl.Schema:
    return polars_schema(table)


def polars_schema(table: Table) -> pl.Schema:
    """Give the Polars types of a table."""
    import polars as pl

    types = {
        Kind.TEXT: pl.String(),
        Kind.JSON: pl.String(),
        Kind.INT: pl.Int64(),
        Kind.FLOAT: pl.Float64(),
        Kind.BOOL: pl.Boolean(),
        Kind.TIME: pl.Datetime("us", "UTC"),
        Kind.TEXTS: pl.List(pl.String()),
    }
    return pl.Schema({column.name: types[column.kind] for column in table.columns})


@cache
def _contract(table: Table) -> pl.Expr:
    """Give one expression that is true of a frame of the right types whose every value keeps the contract.

    It says the same as `_pandera_schema`, at once for all columns; which value breaks it only pandera tells.
    """
    import polars as pl

    said = [one for column in table.columns for one in _rules(column, pl.col(column.name))]
    return pl.all_horizontal(one.all() for one in said)


def _rules(column: Column, values: pl.Expr) -> Iterator[pl.Expr]:
    """Give what must be true of each value; null where a value is not known, which breaks no rule but its own."""
    yield values.is_not_null() | column.nullable
    if column.allowed is not None:
        yield values.is_in(list(column.allowed))
    if column.low is not None:
        yield values >= column.low
    if column.high is not None:
        yield values <= column.high
    if column.kind is Kind.FLOAT:
        yield values.is_finite()


@cache
def _pandera_schema(name: str) -> pa.DataFrameSchema:
    import pandera.polars as pa
    import polars as pl

    table = TABLES[name]
    columns = {}
    for column, (_, dtype) in zip(table.columns, polars_schema(table).items(), strict=True):
        checks = []
        if column.allowed is not None:
            checks.append(pa.Check.isin(list(column.allowed)))
        if column.low is not None:
            checks.append(pa.Check.ge(column.low))
        if column.high is not None:
            checks.append(pa.Check.le(column.high))
        if column.kind is Kind.FLOAT:
            checks.append(
                pa.Check(lambda data: data.lazyframe.select(pl.col(data.key).is_finite()), name="is_finite")
            )
        columns[column.name] = pa.Column(dtype, checks, nullable=column.nullable)
    return pa.DataFrameSchema(columns, strict=True, ordered=True, name=name)


def checked(table: Table, frame: pl.DataFrame) -> pl.DataFrame:
    """Give the frame back if every value keeps the contract.

    Raises:
        ResultsError: names the table and each column, rule and value that broke it.
    """
    if frame.schema == _types(table) and frame.select(_contract(table)).item():
        return frame
    from pandera.errors import SchemaErrors

    try:
        return _pandera_schema(table.name).validate(frame, lazy=True)
    except SchemaErrors as error:
        cases = error.failure_cases.select("column", "check", "failure_case").head(5).rows()
        said = "; ".join(f"{column}: {check}, found {found!r}" for column, check, found in cases)
        msg = f"table {table.name} breaks its contract: {said}"
        raise ResultsError(msg) from None
