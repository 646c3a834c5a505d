"""What a run says, in a sentence or two: first what was observed, then what that cannot prove."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skilleval.report.columns import TRIALS_OF, number, tally
from skilleval.report.document import Conclusion, Row, State
from skilleval.report.numbers import count, counted, interval, rate
from skilleval.report.phrases import (
    Named,
    bounds,
    ends,
    estimate,
    everything,
    falls_short,
    few_tasks,
    flaky_text,
    listed,
    perfect,
    unjudged,
)
from skilleval.report.standing import (
    Doubt,
    Standing,
    doubt,
    fails_everything,
    gate_rate,
    meets,
    passes_everything,
    passes_gate,
    standing,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The completion that is asked for; one that `decides` the exit code goes by the rates alone.

    There a trial that could not be judged counts as not passed.
    """

    threshold: float
    decides: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """A run that was cut short after some of its trials; null where the numbers are not known.

    `n_not_judged` trials more have only their judge to wait for.
    """

    n_trials: int | None = None
    n_planned: int | None = None
    n_not_judged: int | None = None

    def __str__(self) -> str:
        if self.n_trials is None or self.n_planned is None:
            return "interrupted before the end"
        done = f"{count(self.n_trials)} of {counted(self.n_planned, 'trial')}"
        return f"interrupted after {done}{unjudged(self.n_not_judged)}"


def conclusion(
    rows: Sequence[Row],
    labels: Sequence[str],
    *,
    gate: Gate | None = None,
    interruption: Interruption | None = None,
) -> Conclusion:
    """Sum a run up. `labels` name the rows.

    Where the gate decides, the verdict says the same as the exit code; what the rates do not prove is said beside it.
    """
    named = [Named(label, row) for label, row in zip(labels, rows, strict=True)]
    if not named:
        state, parts = State.INFO if gate is None else State.INCONCLUSIVE, ["nothing was evaluated"]
    elif gate is None:
        state, parts = State.INFO, _told(named)
    else:
        state, parts = _state(named, gate), _gated(named, gate, so_far=interruption is not None)
    if interruption is not None:
        state = State.INCONCLUSIVE if state is State.PASSED else state
        parts.insert(0, str(interruption))
    sentence = "; ".join([*parts, *_flaky(named), *_infrastructure(named, gate), *_reused(named)])
    return Conclusion(state=state, sentence=f"{_beginning(sentence, labels)}.")


def _beginning(sentence: str, labels: Sequence[str]) -> str:
    """Begin with a capital, but leave a name as it is."""
    is_name = any(label and sentence.startswith(label) for label in labels)
    return sentence if is_name else f"{sentence[:1].upper()}{sentence[1:]}"


def _state(named: Sequence[Named], gate: Gate) -> State:
    stands = {standing(item.row, gate.threshold) for item in named}
    if gate.decides:
        if not all(passes_gate(item.row, gate.threshold) for item in named):
            return State.FAILED
        return State.INCONCLUSIVE if _lost(named, gate) else State.PASSED
    if Standing.MISSED in stands:
        return State.FAILED
    return State.PASSED if stands == {Standing.REACHED} else State.INCONCLUSIVE


def _lost(named: Sequence[Named], gate: Gate) -> list[Named]:
    """Give the rows that trials without a verdict could turn."""
    return [
        item
        for item in named
        if standing(item.row, gate.threshold) is Standing.OPEN
        and doubt(item.row, gate.threshold) is Doubt.LOST
    ]


def _gated(named: Sequence[Named], gate: Gate, *, so_far: bool) -> list[str]:
    standings = {
        kind: [item for item in named if standing(item.row, gate.threshold) is kind] for kind in Standing
    }
    ungraded, undecided = standings[Standing.UNGRADED], standings[Standing.OPEN]
    only = named[0].row
    if len(named) == 1 and undecided and passes_everything(only) and not gate.decides:
        return perfect(named[0])
    parts = [f"{_gate_said(named, gate, so_far=so_far)}{_observed(named, gate)}"]
    turned = _turned(named, gate)
    parts += listed(turned, _without_ungraded, "fall below it with their ungraded trials as not passed")
    undecided = [item for item in undecided if item not in turned]
    missed = [item for item in standings[Standing.MISSED] if item not in turned]
    parts += _all_failing(missed)
    low = [item for item in missed if not fails_everything(item.row)]
    if len(named) == 1:
        parts += [f"all of {interval(*ends(only))} lies below" for _ in low]
    else:
        parts += listed(low, lambda item: f"{item.label} completes only {estimate(item.row)}", "fall short")
    parts += _unproven(undecided, gate)
    return parts + listed(ungraded, lambda item: f"{item.label} could not be graded", "could not be graded")


def _turned(named: Sequence[Named], gate: Gate) -> list[Named]:
    """Give the rows that meet the gate by their graded trials and are kept from it by the others."""
    if not gate.decides:
        return []
    return [
        item
        for item in named
        if meets(item.row, gate.threshold) and not passes_gate(item.row, gate.threshold)
    ]


def _without_ungraded(item: Named) -> str:
    n = tally(item.row, "n_ungraded")
    trials = f"{counted(n, 'ungraded trial')} {'counts' if n == 1 else 'count'} as not passed at a gate"
    return f"{trials}, which leaves {item.label} at {rate(gate_rate(item.row))}"


def _gate_said(named: Sequence[Named], gate: Gate, *, so_far: bool) -> str:
    """Say what the exit code says, where the gate decides it."""
    if not gate.decides:
        return ""
    if not all(passes_gate(item.row, gate.threshold) for item in named):
        return "gate not met: "
    by_graded = " by the graded trials" if _lost(named, gate) else ""
    return f"gate met{' so far' if so_far else by_graded}: "


def _observed(named: Sequence[Named], gate: Gate) -> str:
    """Say how many meet the gate by what was seen, and whether their intervals say so too."""
    n_met = sum(meets(item.row, gate.threshold) for item in named)
    threshold = rate(gate.threshold)
    reached = all(standing(item.row, gate.threshold) is Standing.REACHED for item in named)
    completion = number(named[0].row, "completion_rate")
    proof = " by the graded trials" if _turned(named, gate) else ""
    if len(named) > 1 or completion is None:
        proof = ", intervals included" if reached else proof
        return f"completion ≥ {threshold} for {n_met} of {_counted(named)}{proof}"
    proof = f", interval {interval(*ends(named[0].row))} included" if reached and not proof else proof
    shown = rate(completion)
    compared = f"{shown} {'≥' if n_met else '<'} {threshold}"
    close = f"just below {threshold}" if not n_met and shown == threshold else compared
    return f"completion {close} for 1 of {_counted(named)}{proof}"


def _counted(named: Sequence[Named]) -> str:
    """Count skills where each row is a skill, else conditions and scorers."""
    skills = {(item.row.get("skill_id"), item.row.get("skill_version")) for item in named}
    return f"{len(named)} {'skills' if len(skills) == len(named) else 'results (condition × scorer)'}"


def _unproven(undecided: Sequence[Named], gate: Gate) -> list[str]:
    """Say of rates that nothing certain follows from, and why."""
    lost = [item for item in undecided if doubt(item.row, gate.threshold) is Doubt.LOST]
    others = [item for item in undecided if item not in lost]
    met = [item for item in others if meets(item.row, gate.threshold)]
    short = [item for item in others if item not in met]
    open_beyond = [*few_tasks(met), *listed(short, falls_short, "fall short, but not beyond doubt")]
    if gate.decides and open_beyond:
        # The heading says what the gate says, so that this is the place for the word that stands with the rows.
        open_beyond[0] = f"inconclusive beyond these tasks: {open_beyond[0]}"
    return [*listed(lost, bounds, "hang on trials without a verdict"), *open_beyond]


def _told(named: Sequence[Named]) -> list[str]:
    """Say how a run without a gate went."""
    if len(named) == 1 and passes_everything(named[0].row):
        return perfect(named[0])
    return [_range(named), *_all_failing(named)]


def _range(named: Sequence[Named]) -> str:
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
    (lowest, worst), (highest, best) = graded[0], graded[-1]
    if len(graded) == 1:
        return f"completion of {best.label} is {estimate(best.row)}"
    if lowest == highest:
        return f"completion is {rate(highest)} for all of {_counted([item for _, item in graded])}"
    ends = f"{estimate(worst.row)} ({worst.label}) to {estimate(best.row)} ({best.label})"
    return f"completion of {_counted(named)} runs from {ends}"


def _all_failing(named: Sequence[Named]) -> list[str]:
    failing = [item for item in named if fails_everything(item.row)]
    return listed(failing, lambda item: f"{item.label} fails {everything(item.row)}", "fail everything")


def _flaky(named: Sequence[Named]) -> list[str]:
    flaky = [item for item in named if tally(item.row, "n_flaky_tasks")]
    return listed(flaky, lambda item: f"{item.label} is {flaky_text(item.row)}", "are flaky")


def _trials(named: Sequence[Named], count_of: str) -> int:
    """Add up a count of trials; several scorers judge the same ones."""
    counts = {tuple(item.row.get(key) for key in TRIALS_OF): tally(item.row, count_of) for item in named}
    return sum(counts.values())


def _reused(named: Sequence[Named]) -> list[str]:
    n, n_trials = _trials(named, "n_reused"), _trials(named, "n_trials")
    return [f"{count(n)} of {counted(n_trials, 'attempt')} reused from earlier runs"] if n else []


def _infrastructure(named: Sequence[Named], gate: Gate | None) -> list[str]:
    n = _trials(named, "n_infrastructure")
    if not n or (gate is not None and _lost(named, gate)):
        return []
    return [f"{counted(n, 'trial')} {'was' if n == 1 else 'were'} lost to infrastructure errors"]
