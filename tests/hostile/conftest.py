from __future__ import annotations

import pytest
from hostile.field import FOUGHT
from hostile.table import fought_table


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what came of every program in every sandbox."""
    if FOUGHT:
        terminalreporter.section("hostile programs")
        terminalreporter.write(fought_table(FOUGHT))
