from __future__ import annotations

from collections.abc import Mapping

import pytest

from skilleval.errors import AdapterError, ConfigError
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions
from skilleval.sandboxes.requirements import Gap, check_guarantees


class Weak(NoSandbox):
    """A sandbox that gives two guarantees and knows why it does not give a third."""

    guarantees = frozenset({"network", "memory"})
    gaps: Mapping[str, Gap] = {"filesystem": Gap(reason="no bubblewrap", fix="install it")}


def _weak() -> Weak:
    return Weak(NoSandboxOptions(pass_env=()))


@pytest.mark.parametrize("required", [(), ("network",), ("memory", "network", "memory")])
def test_what_is_enforced_may_be_required(required: tuple[str, ...]) -> None:
    """Nothing happens where all that is asked for is there."""
    check_guarantees(required, _weak())


def test_what_is_missing_is_named_with_its_reason_and_its_remedy() -> None:
    """One problem a missing guarantee, and none for those that hold."""
    with pytest.raises(AdapterError) as caught:
        check_guarantees(("network", "filesystem", "cpu"), _weak())
    found = {problem.expected.split()[0]: (problem.found, problem.hint) for problem in caught.value.problems}
    assert found == {
        "filesystem": ("no bubblewrap", "install it"),
        "cpu": ("a setting of the sandbox that turns it off", "leave cpu out or turn it on"),
    }
    assert caught.value.exit_code == 3


def test_a_sandbox_without_guarantees_can_be_asked_too() -> None:
    """`sandbox=none` enforces nothing, and another one is named."""
    with pytest.raises(AdapterError, match="sandbox=process"):
        check_guarantees(("network",), NoSandbox(NoSandboxOptions(pass_env=())))


def test_a_guarantee_that_does_not_exist_is_a_mistake_in_the_config() -> None:
    """A misspelt name is not taken for a promise; the nearest one is offered."""
    with pytest.raises(ConfigError, match="did you mean network"):
        check_guarantees(("netwrk",), _weak())
