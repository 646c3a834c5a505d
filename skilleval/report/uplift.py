"""What each skill adds, in words: from the frames of the comparison of arms to the parts of a report."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skilleval.figures.labels import row_labels
from skilleval.report.arms import Assertion, JudgeSpend, Uplift, UpliftCase
from skilleval.report.columns import number, tally, words
from skilleval.report.document import Report, Row
from skilleval.report.flags import Flag, Kind, row_flags
from skilleval.report.manifest import plain
from skilleval.report.names import short_names
from skilleval.report.numbers import (
    THIN_SPACE,
    Style,
    count,
    counted,
    money,
    p_text,
    rate,
    signed,
    signed_interval,
)
from skilleval.report.phrases import all_of

if TYPE_CHECKING:
    import polars as pl

FINDINGS = {"helps": "✓", "harms": "✕", "no_uplift": "≈", "inconclusive": "○", "ungraded": "○"}
"""The findings of analytics, each with the mark that says it without colour."""

OLD = "old_skill"
BASELINES = ("without_skill", OLD)
MAX_EXPLAINED = 3
_KEYS = ("benchmark_id", "benchmark_version", "skill_id", "adapter", "model", "sandbox", "scorer")
_FEWEST = 6  # moved cases of which all must agree before p can be 0.05 or less: 2 / 2^6
_FULL = 1 - 1e-9
_MAX_CHECK = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFrames:
    """The frames of analytics that compare arms and tell of judges.

    `uplift` and `cases` are those of `analytics.uplift`, `assertions` that of `assertion_matrix`; `remarks`, `spend`
    and `errors` are those of `judging`.
    """

    uplift: pl.DataFrame
    cases: pl.DataFrame
    assertions: pl.DataFrame
    remarks: pl.DataFrame
    spend: pl.DataFrame
    errors: pl.DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmParts:
    """The parts of a report that those frames give."""

    uplift: tuple[Uplift, ...] = ()
    cases: tuple[UpliftCase, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    judge_spend: tuple[JudgeSpend, ...] = ()


def arm_parts(frames: ArmFrames) -> ArmParts:
    """Put the parts together, the rows of each in the order of its frame."""
    rows = [plain(row) for row in frames.uplift.to_dicts()]
    names = _names(rows)
    remarks = {_key(row): row for row in frames.remarks.to_dicts()}
    return ArmParts(
        uplift=tuple(_uplift(row, names[_key(row)], remarks.get(_key(row), {})) for row in rows),
        cases=tuple(_case(plain(row), names) for row in frames.cases.to_dicts()),
        assertions=tuple(_assertion(plain(row), names) for row in frames.assertions.to_dicts()),
        judge_spend=tuple(JudgeSpend(**plain(row)) for row in frames.spend.to_dicts()),
    )


def _key(row: Row) -> tuple[str, ...]:
    return tuple(words(row, key) for key in _KEYS)


def _names(rows: Sequence[Row]) -> dict[tuple[str, ...], str]:
    """Name each skill × model × scorer as short as they can be told apart; both of its baselines share the name."""
    found = {_key(row): {key: row.get(key) for key in _KEYS} for row in rows}
    kinds = list(found.values())
    return dict(zip(found, short_names(row_labels(kinds), kinds), strict=True))


def _uplift(row: Row, name: str, remark: Row) -> Uplift:
    texts = ("skill_id", "skill_version", "baseline_version", "adapter", "model", "scorer", "baseline")
    values: dict[str, Any] = {key: words(row, key) for key in (*texts, "ci_method", "p_method", "finding")}
    for field in dataclasses.fields(Uplift):
        if field.name.startswith("n_"):
            values[field.name] = tally(row, field.name)
        elif field.default is None:
            values[field.name] = number(row, field.name)
    sentence, limits = _sentence(row, name), tuple(_caveats(row, remark))
    return Uplift(**values, name=name, sentence=sentence, caveats=limits)


def _sentence(row: Row, name: str) -> str:
    """Say what was found with its figures, e.g. `NAME adds +0.42 [+0.21, +0.63] (12 cases, 3 repeats), p = 0.002`."""
    finding, seen = words(row, "finding"), number(row, "uplift")
    if finding == "ungraded" or seen is None:
        return f"{name} could not be compared{_against(row)}: no case was graded in both arms"
    said = {
        "helps": "adds",
        "harms": "harms:",
        "no_uplift": "has no uplift:",
        "inconclusive": "is inconclusive:" if seen > 0 else "shows no uplift, but inconclusively:",
    }[finding]
    amount = f"{counted(tally(row, 'n_cases'), 'case')}, {counted(tally(row, 'n_repeats'), 'repeat')}"
    parts = [f"{name} {said} {_estimate(row)}{_against(row)} ({amount})", p_text(number(row, "p_value"))]
    return ", ".join(part for part in (*parts, _price(row)) if part)


def _against(row: Row) -> str:
    return " over its old edition" if row.get("baseline") == OLD else ""


def _estimate(row: Row) -> str:
    low, high = number(row, "uplift_low"), number(row, "uplift_high")
    text = signed(number(row, "uplift"), Style.RATE)
    return text if low is None or high is None else f"{text} {signed_interval(low, high)}"


def _price(row: Row) -> str:
    """Say what a case costs more with the skill; what is not known is left out."""
    known = [text for text in (_tokens_text(row), seconds_text(row), usd_text(row)) if text]
    if not known:
        return ""
    *first, last = known
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"for {listed} a case"


def _tokens_text(row: Row) -> str:
    value = number(row, "tokens_difference")
    return "" if value is None else f"{signed(value, Style.COUNT)} tokens"


def seconds_text(row: Row) -> str:
    """Write the difference in time a case, in ms below a second; empty where it is not known."""
    value = number(row, "seconds_difference")
    if value is None:
        return ""
    amount, unit = (value, "s") if abs(value) >= 1 else (value * 1000, "ms")
    return f"{signed(amount, Style.RATE)}{THIN_SPACE}{unit}"


def usd_text(row: Row) -> str:
    """Write the difference in money a case, empty where it is not known."""
    value = number(row, "usd_difference")
    if value is None:
        return ""
    sign = "−" if value < 0 else "+" if value > 0 else ""
    return f"{sign}${money(abs(value))}"


def _caveats(row: Row, remark: Row) -> Iterator[str]:
    """Say what limits a comparison."""
    if remark.get("is_self_judged"):
        yield "the model judged its own answers: it is no impartial judge"
    if tally(row, "n_repeats") == 1:
        yield "one repeat: what the same case would give another time is not known"
    yield from _lost(row)
    if n := tally(remark, "n_judge_errors"):
        yield f"{counted(n, 'trial')} {'has' if n == 1 else 'have'} checks that the judge could not judge"
    if n := tally(remark, "n_evidence_not_found"):
        yield f"{counted(n, 'verdict')} quote{'s' if n == 1 else ''} evidence that is not in the output"
    yield from _power(row)


def _lost(row: Row) -> Iterator[str]:
    """Say which trials and cases are missing, and which count as failures."""
    left_out = tally(row, "n_left_out")
    if left_out:
        kinds = {"n_left_out_errors": "errors", "n_left_out_ungraded": "ungraded", "n_not_tried": "not tried"}
        why = ", ".join(f"{count(n)} {kind}" for key, kind in kinds.items() if (n := tally(row, key)))
        yield f"{counted(left_out, 'case')} left out ({why})"
    for key, what in (
        ("n_errors", "lost to infrastructure errors"),
        ("n_broken", "timed out or broke and score 0"),
    ):
        arms = [
            (tally(row, f"{key}_candidate"), "with the skill"),
            (tally(row, f"{key}_baseline"), "in the baseline"),
        ]
        if any(n for n, _ in arms):
            yield f"trials {what}: {', '.join(f'{count(n)} {arm}' for n, arm in arms)}"


def _power(row: Row) -> Iterator[str]:
    """Say where the cases themselves could not show more."""
    baseline, n = number(row, "score_baseline"), tally(row, "n_cases")
    moved = tally(row, "n_wins") + tally(row, "n_losses")
    if baseline is not None and baseline >= _FULL:
        yield f"the baseline has the full score on {all_of(n, 'case')}: they cannot show an uplift"
    elif row.get("finding") == "inconclusive" and moved < _FEWEST:
        yield f"only {counted(moved, 'case')} moved: fewer than {_FEWEST} cannot tell an uplift from chance"
    always, without = tally(row, "n_always_pass"), number(row, "uplift_discriminating")
    if always and tally(row, "n_checks") > always and without is not None:
        total = counted(tally(row, "n_checks"), "assertion")
        verb, them = ("passes", "it") if always == 1 else ("pass", "them")
        rest = f"without {them} the uplift is {signed(without, Style.RATE)}"
        yield f"{count(always)} of {total} always {verb} in both arms; {rest}"


def _case(row: Row, names: Mapping[tuple[str, ...], str]) -> UpliftCase:
    return UpliftCase(
        skill=names.get(_key(row), words(row, "skill_id")),
        baseline=words(row, "baseline"),
        scorer=words(row, "scorer"),
        task_id=words(row, "task_id"),
        n_candidate=tally(row, "n_candidate"),
        n_baseline=tally(row, "n_baseline"),
        score_candidate=number(row, "score_candidate"),
        score_baseline=number(row, "score_baseline"),
        difference=number(row, "difference"),
        outcome=words(row, "outcome"),
        left_out=words(row, "left_out"),
        flags=tuple(_flags(row)),
    )


def _flags(row: Row) -> Iterator[str]:
    for side, arm in (("candidate", "with the skill"), ("baseline", "in the baseline")):
        if row.get(f"is_flaky_{side}"):
            yield f"flaky {arm}"
    if row.get("outcome") == "same":
        if (number(row, "score_baseline") or 0) >= _FULL:
            yield "full score in both arms"
        elif number(row, "score_candidate") == 0:
            yield "score 0 in both arms"


def _assertion(row: Row, names: Mapping[tuple[str, ...], str]) -> Assertion:
    texts = {
        key: words(row, key) for key in ("baseline", "scorer", "task_id", "check_id", "signal", "advice")
    }
    return Assertion(
        skill=names.get(_key(row), words(row, "skill_id")),
        **texts,
        check=words(row, "check")[:_MAX_CHECK],
        n_candidate=tally(row, "n_candidate"),
        n_baseline=tally(row, "n_baseline"),
        rate_candidate=number(row, "rate_candidate"),
        rate_baseline=number(row, "rate_baseline"),
    )


def uplift_summary(found: Sequence[Uplift]) -> str:
    """Say what the skills add in a sentence or two; many are counted."""
    if len(found) <= MAX_EXPLAINED:
        return "; ".join(one.sentence for one in found)
    said = {
        "helps": "help",
        "harms": "harm",
        "no_uplift": "have no uplift",
        "inconclusive": "are inconclusive",
        "ungraded": "could not be compared",
    }
    counts = {kind: sum(one.finding == kind for one in found) for kind in said}
    told = [f"{count(n)} {said[kind]}" for kind, n in counts.items() if n]
    return f"Of {count(len(found))} comparisons {', '.join(told)}"


def caveats_of_several(found: Sequence[Uplift]) -> list[str]:
    """Say each caveat once, with the comparisons it is about, in the order of their first mention."""
    about: dict[str, list[str]] = {}
    for one in found:
        name = f"{one.name}{' over its old edition' if one.baseline == OLD else ''}"
        for caveat in one.caveats:
            about.setdefault(caveat, []).append(name)
    return [
        f"all {count(len(found))}: {caveat}"
        if len(names) == len(found) > 1
        else f"{', '.join(names)}: {caveat}"
        for caveat, names in about.items()
    ]


def is_gated(row: Row, *, compared: bool) -> bool:
    """Say whether a gate asks of a row: where arms are compared, not of a baseline, which is hoped to fail."""
    return not compared or row.get("mode") not in BASELINES


def remarks(report: Report, row: Row) -> tuple[Flag, ...]:
    """Give the remarks on a row of the summary; that a baseline fails is no fault, where arms are compared."""
    if is_gated(row, compared=bool(report.uplift)):
        return row_flags(row, report.threshold)
    return tuple(flag for flag in row_flags(row, None) if flag.kind is not Kind.FAILING)


def rate_pair(one: UpliftCase | Assertion, side: str) -> str:
    """Write the rate of one arm with its trials, `0.67 (3)`."""
    name = "rate" if isinstance(one, Assertion) else "score"
    value, n = getattr(one, f"{name}_{side}"), getattr(one, f"n_{side}")
    return f"{rate(value)} ({count(n)})" if n else rate(value)
