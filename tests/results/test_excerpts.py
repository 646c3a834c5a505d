"""Texts are cut when everything else is done with them."""

from __future__ import annotations

from typing import Any

import pytest
from records import record_of

from skilleval.domain.attempts import Reply, Status
from skilleval.results.excerpts import shorten
from skilleval.results.redaction import MARK, Redactor
from skilleval.results.rows import RowBuilder

WHOLE = "SECRET-0123456789"


@pytest.mark.parametrize(
    ("name", "text", "kept"),
    [
        ("stdout", "y" + "x" * 4096, "…" + "x" * 4096),
        ("stderr", "x" * 4096, "x" * 4096),
        ("stderr", "…" + "x" * 4096, "…" + "x" * 4096),
        ("stderr", "ü" * 2049 + "x", "…" + "ü" * 2047 + "x"),
        ("message", "x" * 501, "x" * 499 + "…"),
        ("message", "x" * 500, "x" * 500),
        ("reason", "x" * 2001, "x" * 1999 + "…"),
        ("evidence", "x" * 5000, "x" * 4095 + "…"),
        ("output", "x" * 9999, "x" * 9999),
        ("stdout", None, None),
    ],
)
def test_a_text_is_cut_where_it_says_least(name: str, text: str | None, kept: str | None) -> None:
    """Of prints the end stays, of everything else the beginning; cutting again changes nothing."""
    row: dict[str, Any] = {name: text, "status": "completed"}
    for _ in range(2):
        shorten(row)
        assert row == {name: kept, "status": "completed"}


@pytest.mark.parametrize("n_before", range(480, 501))
def test_a_secret_at_the_place_of_a_cut_is_taken_out_before(n_before: int) -> None:
    """No part of it survives in a message, whether or not it stands whole anywhere else."""
    reply = Reply(status=Status.SKILL_ERROR, message=f"{'z' * n_before}{WHOLE} and more")
    rows = RowBuilder(run_id="r1", sweep_id=None, redactor=Redactor([r"SECRET-\d+"]))
    message = rows.line(record_of([reply], 0))["tries"][0]["message"]
    assert len(message) <= 500
    assert not set("SECRT0123456789") & set(message.replace(MARK, ""))


@pytest.mark.parametrize("n_after", range(4080, 4097))
def test_a_secret_at_the_beginning_of_what_is_kept_is_taken_out_before(n_after: int) -> None:
    """The same for the end of what was printed."""
    reply = Reply(status=Status.SKILL_ERROR, stderr=f"{WHOLE}{'z' * n_after}", message="m")
    rows = RowBuilder(run_id="r1", sweep_id=None, redactor=Redactor([r"SECRET-\d+"]))
    stderr = rows.line(record_of([reply], 0))["tries"][0]["stderr"]
    assert not set("SECRT0123456789") & set(stderr)
