from __future__ import annotations

from pathlib import Path

import pytest

from skilleval.app.parts import build_sandbox
from skilleval.config.settings import PartSettings
from skilleval.errors import AdapterError, ConfigError


def _settings(**options: object) -> PartSettings:
    return PartSettings(kind="none", options={"pass_env": [], **options})


@pytest.mark.parametrize("options", [{}, {"require": []}])
def test_a_sandbox_of_which_nothing_is_required_is_built(options: dict[str, object]) -> None:
    """`require` is asked of every kind and may be left out; it is no option of the sandbox itself."""
    assert build_sandbox(_settings(**options), (Path("results"),)).name == "none"


def test_a_guarantee_that_is_missing_stops_the_run() -> None:
    """The error names what is missing, and what gives it."""
    with pytest.raises(AdapterError, match=r"network .*sandbox=process"):
        build_sandbox(_settings(require=["network"]))


@pytest.mark.parametrize("required", ["network", ["netwrk"], [3]])
def test_what_is_required_must_be_a_list_of_guarantees(required: object) -> None:
    """A text, an unknown name or a number is a mistake in the config."""
    with pytest.raises(ConfigError, match=r"sandbox\.require"):
        build_sandbox(_settings(require=required))
