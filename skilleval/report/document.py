"""A report as pure data: what every writer reads, and what the JSON report holds.

Everything in it is JSON: texts, finite numbers, booleans, null, lists and mappings. Null means "not known". A
report read back from its JSON equals the one it was written from, so that any writer can be run later.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from skilleval.errors import Problem, ResultsError
from skilleval.report.agreement import Agreement
from skilleval.report.arms import Assertion, JudgeSpend, Uplift, UpliftCase
from skilleval.report.details import Details
from skilleval.report.distributions import Distribution, FrontPoint
from skilleval.report.excerpt import Excerpt
from skilleval.report.gates import GateCheck
from skilleval.report.numbers import Style
from skilleval.report.value_rules import value_problems

SCHEMA = "skilleval.report/1"
OF_ARMS = (
    "uplift",
    "uplift_cases",
    "assertions",
    "judge_spend",
    "gates",
    "agreement",
    "details",
    "distributions",
    "fronts",
)
"""The parts that only a comparison of arms, a judge, rules of a gate or more scorers fill: empty, they are left out."""

_CELL = 3  # depth of a value of the summary: its part, row and column

Row = Mapping[str, str | int | float | bool | None]


class State(StrEnum):
    """What the run says about the gate; `info` where there is no gate."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """The verdict of a run in a sentence or two."""

    state: State
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What was run and when; times are UTC in ISO 8601. `n_trials` of `n_planned` trials were done.

    `n_not_judged` more were called, but the run ended before their judge was asked; null where that was not counted.
    `latency` says how it was measured: `concurrent`, as the trials ran, or `serial`, one at a time in a second pass.
    `concurrency` holds the lowest and the highest one that trials had: sessions of a run may differ in it.
    """

    run_id: str
    experiment: str = ""
    started_at: str | None = None
    ended_at: str | None = None
    benchmark_id: str = ""
    benchmark_version: str = ""
    n_tasks: int | None = None
    n_repeats: int | None = None
    n_trials: int | None = None
    n_planned: int | None = None
    n_not_judged: int | None = None
    interrupted: bool = False
    latency: str = ""
    concurrency: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricColumn:
    """How one metric of the summary is shown; `low` and `high` name the columns of its interval.

    `of` names the column a share is taken of, where it is shown as a count (`3/60`). `absent` is the reason to give
    where the metric is null.
    """

    key: str
    label: str
    unit: str
    style: Style
    doc: str
    absent: str
    low: str | None = None
    high: str | None = None
    of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell:
    """How one task went under one condition for one scorer.

    `outcomes` has a letter a repeat, in their order: `p` passed, `f` failed, `e` did not complete, `u` ungraded. It
    stops at the 64th of the `n` trials.
    """

    skill_id: str
    skill_version: str
    condition_id: str
    scorer: str
    task_id: str
    n: int
    n_graded: int
    n_passed: int
    rate: float | None
    is_flaky: bool
    outcomes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedTrial:
    """One trial that did not pass, or that could not be graded, with what a reader needs to see why."""

    skill_id: str
    skill_version: str
    condition_id: str
    scorer: str
    task_id: str
    repeat: int
    status: str
    verdict: str
    failure_kind: str | None = None
    message: str | None = None
    reason: str | None = None
    evidence: Excerpt | None = None
    input: Excerpt | None = None
    expected: Excerpt | None = None
    output: Excerpt | None = None
    stdout: Excerpt | None = None
    stderr: Excerpt | None = None
    latency_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One reason why trials of a condition did not pass for a scorer; `n` counts all of them, not the shown ones."""

    condition_id: str
    scorer: str
    kind: str
    text: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TagSlice:
    """How the tasks of one tag went under one condition for one scorer."""

    condition_id: str
    scorer: str
    tag: str
    n_tasks: int
    n_graded: int
    n_passed: int
    completion_rate: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillSource:
    """Which skill exactly was evaluated."""

    id: str
    version: str = ""
    digest: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """How a kind of figure in the report was computed."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What another person needs to run the same again.

    `reused` counts the attempts that earlier runs made, by the id of the run. `isolation` names what trials had to
    themselves: a process each (`trial`), or one that served many (`worker`).
    """

    command: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    overrides: tuple[str, ...] = ()
    versions: Mapping[str, Any] = field(default_factory=dict)
    platform: Mapping[str, Any] = field(default_factory=dict)
    git: Mapping[str, Any] = field(default_factory=dict)
    skills: tuple[SkillSource, ...] = ()
    benchmark: Mapping[str, Any] = field(default_factory=dict)
    seeds: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, Any] = field(default_factory=dict)
    sandbox: str = ""
    guarantees: tuple[str, ...] = ()
    methods: tuple[Method, ...] = ()
    warnings: tuple[str, ...] = ()
    tables: Mapping[str, Any] = field(default_factory=dict)
    reused: Mapping[str, Any] = field(default_factory=dict)
    isolation: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A whole report. `n_failures` counts all failed trials, also those beyond the shown `failures`."""

    # Read by pydantic for this class and those inside it; data alone, so that nothing is imported for it.
    __pydantic_config__: ClassVar = {"extra": "forbid", "strict": True, "allow_inf_nan": False}

    title: str
    run: RunFacts
    verdict: Conclusion
    threshold: float | None
    columns: tuple[MetricColumn, ...]
    summary: tuple[Row, ...]
    matrix: tuple[MatrixCell, ...]
    failures: tuple[FailedTrial, ...]
    n_failures: int
    provenance: Provenance
    causes: tuple[Cause, ...] = ()
    slices: tuple[TagSlice, ...] = ()
    uplift: tuple[Uplift, ...] = ()
    uplift_cases: tuple[UpliftCase, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    judge_spend: tuple[JudgeSpend, ...] = ()
    gates: tuple[GateCheck, ...] = ()
    agreement: Agreement | None = None
    details: Details | None = None
    distributions: tuple[Distribution, ...] = ()
    fronts: tuple[FrontPoint, ...] = ()
    schema: str = SCHEMA


def to_json(report: Report) -> dict[str, Any]:
    """Give the report as plain JSON values, the schema first."""
    fields = dataclasses.asdict(report)
    known = {name: value for name, value in fields.items() if value or name not in OF_ARMS}
    return {"schema": known.pop("schema"), **known}


def from_json(text: str, *, where: str = "report") -> Report:
    """Read a report back from the text of a JSON report.

    Raises:
        ResultsError: the text is not such a report; names each wrong key, what was expected and what was found.
    """
    from pydantic import TypeAdapter, ValidationError

    _check_schema(text, where)
    try:
        report = TypeAdapter(Report).validate_json(text)
    except ValidationError as error:
        problems = (_problem(item, where) for item in error.errors(include_url=False))
        raise _refused(where, *dict.fromkeys(problems)) from None
    implausible = tuple(value_problems(to_json(report), where))
    if implausible:
        raise _refused(where, *implausible)
    return report


def _check_schema(text: str, where: str) -> None:
    try:
        document = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise _refused(where, Problem(where=where, expected="one JSON document", found=str(error))) from None
    found = document.get("schema") if isinstance(document, dict) else f"a {type(document).__name__}"
    if found != SCHEMA:
        hint = "give the JSON report of a run, e.g. report.json"
        problem = Problem(where=where, key="schema", expected=SCHEMA, found=repr(found)[:120], hint=hint)
        raise _refused(where, problem)


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse_constant(digits)


def _refuse_constant(name: str) -> float:
    msg = f"{name}, which is no number in JSON"
    raise ValueError(msg)


def _key(place: Sequence[str | int]) -> str:
    """Write a place as people say it: `summary[2].n_tasks`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")


def _refused(where: str, *problems: Problem) -> ResultsError:
    return ResultsError(f"{where} is not a report of skilleval", problems=problems)


def _problem(item: Any, where: str) -> Problem:
    place = item["loc"]
    if place[0] == "summary" and len(place) > _CELL:  # pydantic names each type that a cell may have
        place, expected = place[:_CELL], "one value: a text, a number, true, false or null"
        return Problem(where=where, key=_key(place), expected=expected, found=repr(item["input"])[:120])
    key = _key(place)
    if item["type"] == "unexpected_keyword_argument":
        return Problem(where=where, key=key, expected="a known key", found=str(item["loc"][-1]))
    if item["type"].startswith("missing"):
        return Problem(where=where, key=key, expected="a value", found="nothing")
    expected = str(item["msg"]).removeprefix("Input should be ")
    return Problem(where=where, key=key, expected=expected, found=repr(item["input"])[:120])
