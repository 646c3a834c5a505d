from __future__ import annotations

from skilleval.app.diagnosis import State, diagnose
from skilleval.sandboxes.base import GUARANTEES


def test_the_process_sandbox_says_what_it_enforces_and_what_to_do_for_the_rest() -> None:
    """Every guarantee is either found or has a remedy, never both."""
    (check,) = [check for check in diagnose() if (check.area, check.name) == ("sandbox", "process")]
    found = set(check.found.partition(" enforces ")[2].split(", "))
    wanting = {name for part in check.fix.split("for ")[1:] for name in part.partition(":")[0].split(", ")}
    assert found <= GUARANTEES.keys()
    assert found | (wanting & GUARANTEES.keys()) == GUARANTEES.keys()
    assert not found & wanting
    assert check.state == (State.MISSING if wanting else State.OK)
    assert check.found.split()[0] in {"bubblewrap", "fallback"}


def test_the_doctor_goes_by_the_limits_that_a_run_has() -> None:
    """CPU time is limited for each process without any control group, as the shipped settings ask for it."""
    (check,) = [check for check in diagnose() if (check.area, check.name) == ("sandbox", "process")]
    assert "cpu" in check.found.partition(" enforces ")[2].split(", ")
