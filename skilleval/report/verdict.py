"""What a run says, in one sentence: who reaches the gate, who fails it, and what cannot be told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from skilleval.report.columns import number, tally
from skilleval.report.document import Conclusion, Row, State
from skilleval.report.numbers import count, interval, rate

_TOLERANCE = 1e-9  # a rate is a quotient of sums: the verdict must not hang on their order
_NAMED = 3


class Standing(StrEnum):
    """Where a row stands against the gate."""

    REACHED = "reached"
    MISSED = "missed"
    OPEN = "open"
    UNGRADED = "ungraded"


@dataclass(frozen=True, slots=True)
class _Named:
    label: str
    row: Row


def standing(row: Row, threshold: float) -> Standing:
    """Compare a row with the gate by its whole interval, or by its rate alone where there is no interval."""
    completion = number(row, "completion_rate")
    if completion is None:
        return Standing.UNGRADED
    low, high = number(row, "ci_low"), number(row, "ci_high")
    if low is None or high is None:
        low = high = completion
    if low >= threshold - _TOLERANCE:
        return Standing.REACHED
    return Standing.MISSED if high < threshold - _TOLERANCE else Standing.OPEN


def fails_everything(row: Row) -> bool:
    """Say whether trials were graded and none of them passed."""
    return tally(row, "n_graded") > 0 and tally(row, "n_passed") == 0


def conclusion(
    rows: Sequence[Row],
    labels: Sequence[str],
    *,
    threshold: float | None,
    interrupted: bool,
    decides: bool = False,
) -> Conclusion:
    """Sum a run up. `labels` name the rows; there is no gate where `threshold` is null.

    A gate that `decides` the exit code goes by the rates alone, and the verdict says the same as the exit code; what
    the intervals leave open is said beside it.
    """
    named = [_Named(label, row) for label, row in zip(labels, rows, strict=True)]
    if not named:
        state, parts = State.INFO if threshold is None else State.INCONCLUSIVE, ["nothing was evaluated"]
    elif threshold is None:
        state, parts = State.INFO, [_range(named), *_all_failing(named)]
    else:
        state, parts = _gated(named, threshold)
        state, parts = _decided(named, threshold, parts) if decides else (state, parts)
    if interrupted:
        state = State.INCONCLUSIVE if state is State.PASSED else state
        parts.insert(0, "interrupted before the end")
    sentence = "; ".join([*parts, *_flaky(named, said=parts), *_infrastructure(named)])
    return Conclusion(state=state, sentence=f"{sentence[:1].upper()}{sentence[1:]}.")


def _gated(named: Sequence[_Named], threshold: float) -> tuple[State, list[str]]:
    standings = {kind: [item for item in named if standing(item.row, threshold) is kind] for kind in Standing}
    reached, missed = standings[Standing.REACHED], standings[Standing.MISSED]
    undecided, ungraded = standings[Standing.OPEN], standings[Standing.UNGRADED]
    verb = "reaches" if len(reached) == 1 else "reach"
    parts = [f"{len(reached)} of {_counted(named)} {verb} {rate(threshold)} completion"]
    parts += _all_failing(missed)
    low = [item for item in missed if not fails_everything(item.row)]
    parts += _listed(low, lambda item: f"{item.label} completes only {_estimate(item.row)}", "fall short")
    parts += _listed(undecided, _inconclusive, "are inconclusive")
    parts += _listed(ungraded, lambda item: f"{item.label} could not be graded", "could not be graded")
    if missed:
        return State.FAILED, parts
    return State.INCONCLUSIVE if undecided or ungraded else State.PASSED, parts


def _decided(named: Sequence[_Named], threshold: float, parts: list[str]) -> tuple[State, list[str]]:
    """Say whether every rate meets the gate, as the exit code does; an unknown rate does not."""
    rates = [number(item.row, "completion_rate") for item in named]
    met = all(one is not None and one >= threshold - _TOLERANCE for one in rates)
    said = "the gate is met" if met else "the gate is not met"
    return (State.PASSED if met else State.FAILED), [said, *parts]


def _counted(named: Sequence[_Named]) -> str:
    """Count skills where each row is a skill, else conditions and scorers."""
    skills = {(item.row.get("skill_id"), item.row.get("skill_version")) for item in named}
    if len(skills) == len(named):
        return f"{len(named)} skill{'' if len(named) == 1 else 's'}"
    return f"{len(named)} results (condition × scorer)"


def _range(named: Sequence[_Named]) -> str:
    graded = sorted(
        (
            (completion, item)
            for item in named
            if (completion := number(item.row, "completion_rate")) is not None
        ),
        key=lambda pair: pair[0],
    )
    if not graded:
        return "no trial could be graded"
    (_, worst), (_, best) = graded[0], graded[-1]
    if len(graded) == 1:
        return f"completion of {best.label} is {_estimate(best.row)}"
    ends = f"{_estimate(worst.row)} ({worst.label}) to {_estimate(best.row)} ({best.label})"
    return f"completion of {_counted(named)} runs from {ends}"


def _estimate(row: Row) -> str:
    low, high = number(row, "ci_low"), number(row, "ci_high")
    text = rate(number(row, "completion_rate"))
    return text if low is None or high is None else f"{text} {interval(low, high)}"


def _all_failing(named: Sequence[_Named]) -> list[str]:
    failing = [item for item in named if fails_everything(item.row)]
    return _listed(failing, lambda item: f"{item.label} fails {_all_tasks(item.row)}", "fail all their tasks")


def _all_tasks(row: Row) -> str:
    n = tally(row, "n_tasks")
    return "its only task" if n == 1 else f"all {count(n)} tasks"


def _inconclusive(item: _Named) -> str:
    flaky = f" and {flaky_text(item.row)}" if tally(item.row, "n_flaky_tasks") else ""
    return f"{item.label} is inconclusive at {_estimate(item.row)}{flaky}"


def _flaky(named: Sequence[_Named], said: Sequence[str]) -> list[str]:
    """Name the flaky ones, but those that were called flaky already."""
    flaky = [item for item in named if tally(item.row, "n_flaky_tasks") and _inconclusive(item) not in said]
    return _listed(flaky, lambda item: f"{item.label} is {flaky_text(item.row)}", "are flaky")


def flaky_text(row: Row) -> str:
    """Say on how many tasks a skill is flaky."""
    n = tally(row, "n_tasks")
    return f"flaky on {count(tally(row, 'n_flaky_tasks'))} of {count(n)} task{'' if n == 1 else 's'}"


def _infrastructure(named: Sequence[_Named]) -> list[str]:
    n = sum({_trials_of(item.row): tally(item.row, "n_infrastructure") for item in named}.values())
    if not n:
        return []
    return [f"{count(n)} trial{' was' if n == 1 else 's were'} lost to infrastructure errors"]


def _trials_of(row: Row) -> tuple[object, ...]:
    """Several scorers judge the same trials: count those once."""
    return tuple(row.get(key) for key in ("benchmark_id", "benchmark_version", "condition_id"))


def _listed(named: Sequence[_Named], say: Callable[[_Named], str], of_many: str) -> list[str]:
    """Say it of each of a few; many are counted, so that the verdict stays one sentence."""
    if len(named) <= _NAMED:
        return [say(item) for item in named]
    return [f"{len(named)} {of_many}"]
