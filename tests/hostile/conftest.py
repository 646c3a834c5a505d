from __future__ import annotations

import pytest
from hostile.field import FOUGHT
from hostile.table import fought_table


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs a Docker engine unless the marker `docker` was asked for."""
    if "docker" in config.option.markexpr:
        return
    unasked = [item for item in items if item.get_closest_marker("docker") is not None]
    config.hook.pytest_deselected(items=unasked)
    items[:] = [item for item in items if item not in unasked]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what came of every program in every sandbox."""
    if FOUGHT:
        terminalreporter.section("hostile programs")
        terminalreporter.write(fought_table(FOUGHT))
