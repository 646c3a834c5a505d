"""What a run comes to: one exit code, by a documented precedence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from skilleval.domain.attempts import Status

_TOLERANCE = 1e-9


class ExitCode(IntEnum):
    """The exit codes of every command. Where several apply, `PRECEDENCE` decides."""

    OK = 0
    GATE_NOT_MET = 1
    USAGE = 2
    INFRASTRUCTURE = 3
    NOTHING_EVALUATED = 4
    BUDGET_SPENT = 5
    INTERRUPTED = 130


PRECEDENCE = (
    ExitCode.INTERRUPTED,
    ExitCode.USAGE,
    ExitCode.BUDGET_SPENT,
    ExitCode.INFRASTRUCTURE,
    ExitCode.NOTHING_EVALUATED,
    ExitCode.GATE_NOT_MET,
    ExitCode.OK,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """When a run fails although it ran: `min_completion`, like the rules, counts only with `exit_on_fail`.

    The rates that it is asked about count trials that could not be judged as not passed.
    """

    min_completion: float
    exit_on_fail: bool
    fail_on_error: bool

    def is_met(self, completion_rates: Iterable[float | None]) -> bool:
        """Say whether every rate reaches the threshold; an unknown rate does not."""
        if not self.exit_on_fail:
            return True
        return all(rate is not None and rate >= self.min_completion - _TOLERANCE for rate in completion_rates)


def first_of(codes: Iterable[int]) -> ExitCode:
    """Combine exit codes, e.g. of the runs of a sweep, by precedence; none at all is `OK`."""
    present = set(codes)
    return next((code for code in PRECEDENCE if code in present), ExitCode.OK)


def run_exit_code(  # noqa: PLR0913 - keywords: each is a fact of its own
    *,
    statuses: Mapping[str, int],
    n_graded: int,
    completion_rates: Iterable[float | None],
    gate: Gate,
    interrupted: bool,
    n_judge_errors: int = 0,
    is_spent: bool = False,
    n_failed_checks: int = 0,
    is_share: bool = False,
) -> ExitCode:
    """Give the exit code of a run from the number of trials by status and the completion rates by scorer.

    `n_judge_errors` checks have no verdict because the judge failed; `is_spent` says that a budget ended the run;
    `n_failed_checks` counts the rows that a rule of the gate refused. `is_share` says that these are but a part of the
    trials of a plan, so that nothing follows for the whole: then only what kept trials from running counts.
    """
    n_trials = sum(statuses.values())
    n_infrastructure = sum(n for status, n in statuses.items() if Status(status).is_infrastructure)
    n_skill_errors = statuses.get(Status.SKILL_ERROR, 0) + statuses.get(Status.TIMEOUT, 0)
    nothing_ran = n_trials > 0 and statuses.get(Status.COMPLETED, 0) == 0
    codes = {
        ExitCode.INTERRUPTED: interrupted and not is_spent,
        ExitCode.BUDGET_SPENT: is_spent,
        ExitCode.INFRASTRUCTURE: n_infrastructure > 0
        or n_judge_errors > 0
        or (not is_share and (nothing_ran or (gate.fail_on_error and n_skill_errors > 0))),
        ExitCode.NOTHING_EVALUATED: not is_share and n_graded == 0,
        ExitCode.GATE_NOT_MET: not is_share
        and (not gate.is_met(completion_rates) or (gate.exit_on_fail and n_failed_checks > 0)),
    }
    return first_of(code for code, applies in codes.items() if applies)
