"""One exit code a run, by the documented precedence."""

from __future__ import annotations

import itertools

import pytest

from skilleval.outcome import PRECEDENCE, ExitCode, Gate, first_of, run_exit_code

OPEN = Gate(min_completion=0.7, exit_on_fail=False, fail_on_error=False)
CLOSED = Gate(min_completion=0.7, exit_on_fail=True, fail_on_error=False)


def code(
    statuses: dict[str, int],
    rates: tuple[float | None, ...] = (1.0,),
    *,
    gate: Gate = OPEN,
    n_graded: int = 1,
    interrupted: bool = False,
) -> ExitCode:
    """Give the exit code of a run."""
    return run_exit_code(
        statuses=statuses, n_graded=n_graded, completion_rates=rates, gate=gate, interrupted=interrupted
    )


def test_c55_failures_of_any_number_are_one_code() -> None:
    """0 all passed, 1 the gate is not met however many failed, 3 where the infrastructure broke."""
    assert code({"completed": 300}, (1.0,), gate=CLOSED) is ExitCode.OK
    assert code({"completed": 300}, (0.0,), gate=CLOSED) is ExitCode.GATE_NOT_MET
    assert code({"completed": 299, "sandbox_error": 1}, gate=CLOSED) is ExitCode.INFRASTRUCTURE


def test_a_gate_that_was_not_asked_for_never_closes() -> None:
    """Without --exit-on-fail a low rate is reported, not punished."""
    assert code({"completed": 3}, (0.0,)) is ExitCode.OK


def test_every_skill_must_reach_the_gate() -> None:
    """One skill below the threshold, or with an unknown rate, is enough."""
    assert code({"completed": 3}, (1.0, 0.69), gate=CLOSED) is ExitCode.GATE_NOT_MET
    assert code({"completed": 3}, (1.0, None), gate=CLOSED) is ExitCode.GATE_NOT_MET


def test_the_gate_does_not_depend_on_the_order_of_a_sum() -> None:
    """A rate that is the threshold but for rounding meets it."""
    assert code(
        {"completed": 3}, (0.1 + 0.2,), gate=Gate(min_completion=0.3, exit_on_fail=True, fail_on_error=False)
    ) is (ExitCode.OK)
    tight = Gate(min_completion=0.1 + 0.2, exit_on_fail=True, fail_on_error=False)
    assert code({"completed": 3}, (0.3,), gate=tight) is ExitCode.OK


def test_es31_a_run_in_which_nothing_could_run_is_not_ok() -> None:
    """Every trial errored, or no trial at all."""
    assert code({"skill_error": 2, "timeout": 1}, (0.0,)) is ExitCode.INFRASTRUCTURE
    assert code({}, (), n_graded=0) is ExitCode.NOTHING_EVALUATED
    assert code({"completed": 3}, (None,), n_graded=0) is ExitCode.NOTHING_EVALUATED


def test_fail_on_error_counts_errors_of_skills_too() -> None:
    """Some skill errors are no exit code by themselves, but are one on request."""
    strict = Gate(min_completion=0.7, exit_on_fail=False, fail_on_error=True)
    assert code({"completed": 9, "timeout": 1}) is ExitCode.OK
    assert code({"completed": 9, "timeout": 1}, gate=strict) is ExitCode.INFRASTRUCTURE


def test_an_interrupted_run_says_so_before_anything_else() -> None:
    """130 wins over all other codes."""
    assert code({"sandbox_error": 3}, (), n_graded=0, interrupted=True) is ExitCode.INTERRUPTED


@pytest.mark.parametrize(("stronger", "weaker"), tuple(itertools.pairwise(PRECEDENCE)))
def test_precedence_is_130_2_5_3_4_1_0(stronger: ExitCode, weaker: ExitCode) -> None:
    """The codes of several runs combine by precedence, in whatever order they come."""
    assert first_of([weaker, stronger]) is stronger
    assert first_of([stronger, weaker]) is stronger
    assert [int(one) for one in PRECEDENCE] == [130, 2, 5, 3, 4, 1, 0]


def test_a_failed_rule_closes_a_gate_that_decides() -> None:
    """Rules count with exit_on_fail, as the threshold does, and never before an infrastructure error."""

    def ended(gate: Gate, n_failed_checks: int, **more: int) -> ExitCode:
        return run_exit_code(
            statuses={"completed": 2, **more},
            n_graded=2,
            completion_rates=[1.0],
            gate=gate,
            interrupted=False,
            n_failed_checks=n_failed_checks,
        )

    assert ended(CLOSED, 1) is ExitCode.GATE_NOT_MET
    assert ended(CLOSED, 0) is ExitCode.OK
    assert ended(OPEN, 1) is ExitCode.OK
    assert ended(CLOSED, 1, provider_error=1) is ExitCode.INFRASTRUCTURE


def test_a_share_of_a_plan_says_nothing_of_the_whole() -> None:
    """Gates, and that nothing ran or could be graded, are about all trials; what kept trials from running is not."""
    gate = Gate(min_completion=1.0, exit_on_fail=True, fail_on_error=True)

    def code(statuses: dict[str, int], **more: bool) -> ExitCode:
        return run_exit_code(
            statuses=statuses,
            n_graded=0,
            completion_rates=[0.0],
            gate=gate,
            interrupted=more.get("interrupted", False),
            n_failed_checks=1,
            is_share=True,
        )

    assert code({}) is code({"timeout": 2}) is ExitCode.OK
    assert code({"completed": 1, "provider_error": 1}) is ExitCode.INFRASTRUCTURE
    assert code({"completed": 1}, interrupted=True) is ExitCode.INTERRUPTED
