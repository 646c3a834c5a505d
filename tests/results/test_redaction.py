"""What must not be stored is taken out before a row is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from records import record_of

from skilleval.clock import Clock
from skilleval.domain import Reply, Status
from skilleval.errors import ConfigError
from skilleval.results.journal import Journal
from skilleval.results.redaction import MARK, Redactor
from skilleval.results.rows import RowBuilder
from skilleval.results.schema import TABLES
from skilleval.results.store import compact, create_run, journal_path, scan_table

ADDRESS = "jane@example.org"


def test_no_table_holds_what_a_pattern_matches(tmp_path: Path) -> None:
    """An address in output, stderr, message and reason is gone from every column; the JSON around it is whole."""
    reply = Reply(
        status=Status.COMPLETED,
        output=json.dumps({"result": f'mail "{ADDRESS}"', ADDRESS: [ADDRESS]}),
        stderr=f"sent to {ADDRESS}",
        message=ADDRESS,
    )
    redactor = Redactor([r"\w+@[\w.]+"])
    folder = create_run(tmp_path, "r1")
    journal = Journal(
        journal_path(folder), RowBuilder(run_id="r1", sweep_id=None, redactor=redactor), Clock()
    )
    journal.write(record_of([reply], 0))
    journal.close()
    assert ADDRESS.encode() not in journal.path.read_bytes()
    compact(folder)
    for table in TABLES.values():
        assert ADDRESS not in str(scan_table(folder, table).collect().to_dicts())
    output = scan_table(folder, TABLES["trials"]).collect()["output"].item()
    assert json.loads(output) == {"result": f'mail "{MARK}"', MARK: [MARK]}
    assert redactor.n_redacted >= 5


def test_without_patterns_nothing_is_touched() -> None:
    """The line is given as it is."""
    line: dict[str, Any] = {"trial": {}, "tries": [], "scores": []}
    assert Redactor([]).line(line) is line


@pytest.mark.parametrize("pattern", ["(", "a*", ""])
def test_a_pattern_that_cannot_be_meant_is_refused(pattern: str) -> None:
    """A broken pattern and one that matches everywhere are errors before the run."""
    with pytest.raises(ConfigError, match=r"privacy\.redact\[0\]"):
        Redactor([pattern])
