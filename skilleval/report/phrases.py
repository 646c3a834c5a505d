"""What can be said of one row of the summary, in words; the verdict is put together from these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skilleval.report.columns import number, tally
from skilleval.report.document import Row
from skilleval.report.numbers import count, counted, interval, rate

_NAMED = 3


@dataclass(frozen=True, slots=True)
class Named:
    """A row and the name a reader knows it by."""

    label: str
    row: Row


def ends(row: Row) -> tuple[float | None, float | None]:
    """Give both ends of the interval of completion."""
    return number(row, "ci_low"), number(row, "ci_high")


def estimate(row: Row) -> str:
    """Write the completion rate, with its interval where there is one."""
    low, high = ends(row)
    text = rate(number(row, "completion_rate"))
    return text if low is None or high is None else f"{text} {interval(low, high)}"


def all_of(n: int, what: str) -> str:
    """Name all things of a kind by their number: its only task, both tasks, all 3 tasks."""
    return {1: f"its only {what}", 2: f"both {what}s"}.get(n, f"all {counted(n, what)}")


def everything(row: Row) -> str:
    """Name all that a failing skill failed: its tasks, or its graded trials where some have no verdict."""
    n_graded, n_tasks = tally(row, "n_graded"), tally(row, "n_tasks")
    if n_graded < tally(row, "n_trials"):
        return all_of(n_graded, "graded trial")
    return all_of(n_tasks, "task")


def flaky_text(row: Row) -> str:
    """Say on how many tasks a skill is flaky."""
    n, n_tasks = tally(row, "n_flaky_tasks"), tally(row, "n_tasks")
    return "flaky on its only task" if n_tasks == 1 else f"flaky on {count(n)} of {counted(n_tasks, 'task')}"


def perfect(item: Named) -> list[str]:
    """Say of a skill without a fault what that is worth."""
    n, (low, high) = tally(item.row, "n_tasks"), ends(item.row)
    if n == 1:
        return [f"{item.label} completes its only task", "that shows nothing of other tasks"]
    done = f"{item.label} completes {count(n)} of {counted(n, 'task')}"
    if low is None or high is None:
        return [done, "that few give no interval"]
    return [done, f"that many cannot show more than {interval(low, high)}"] if low < 1 else [done]


def bounds(item: Named) -> str:
    """Say between which rates the trials without a verdict leave a skill."""
    n_broken, n_ungraded = tally(item.row, "n_infrastructure"), tally(item.row, "n_ungraded")
    n = n_broken + n_ungraded
    trials = f"{counted(n, 'trial')} without a verdict"
    if not n_ungraded:
        trials = f"{counted(n, 'trial')} lost to infrastructure errors"
    low, high = (rate(number(item.row, key)) for key in ("completion_low", "completion_high"))
    return f"{trials} {'leaves' if n == 1 else 'leave'} {item.label} between {low} and {high}"


def falls_short(item: Named) -> str:
    """Say that a rate is below the gate, but not beyond doubt."""
    tasks = counted(_n_tasks(item.row), "task")
    return f"{item.label} falls short at {estimate(item.row)}, which {tasks} cannot settle"


def few_tasks(met: Sequence[Named]) -> list[str]:
    """Say that a rate above the gate rests on too few tasks to hold for others."""
    if not met:
        return []
    numbers = {_n_tasks(item.row) for item in met}
    tasks = counted(numbers.pop(), "task") if len(numbers) == 1 else "the tasks"
    whom = "; ".join(f"{item.label}: {estimate(item.row)}" for item in met)
    for_whom = f"({whom})" if len(met) <= _NAMED else f"for {len(met)} of them"
    return [f"{tasks} cannot show it for other tasks of this kind {for_whom}"]


def _n_tasks(row: Row) -> int:
    return tally(row, "n_graded_tasks") or tally(row, "n_tasks")


def listed(named: Sequence[Named], say: Callable[[Named], str], of_many: str) -> list[str]:
    """Say it of each of a few; many are counted, so that the verdict stays short."""
    if len(named) <= _NAMED:
        return [say(item) for item in named]
    return [f"{len(named)} {of_many}"]


def unjudged(n: int | None) -> str:
    """Say how many trials more await their judge, to be put behind those that are done; nothing where none does."""
    return f", {count(n)} more not judged yet" if n else ""
