from __future__ import annotations

from reports import CALCULATOR, HOSTILE, demo_report, report_of

from skilleval.report.latex_text import escape
from skilleval.report.latex_writer import render
from skilleval.report.tables import report_tables


def test_the_document_has_every_table_of_the_report() -> None:
    """Same numbers everywhere: each cell of each table stands in the LaTeX."""
    report = demo_report()
    found = render(report)
    for table in report_tables(report):
        assert rf"\label{{tab:{table.name}}}" in found
        for row in table.rows:
            assert " & ".join(escape(cell, limit=160) for cell in row) in found


def test_the_document_stands_alone() -> None:
    """It begins with a class, ends with the document, and is ASCII."""
    found = render(demo_report())
    assert found.startswith("\\documentclass")
    assert found.endswith("\\end{document}\n")
    assert found.isascii()


def test_foreign_text_opens_nothing() -> None:
    """A skill cannot end the document, read a file or run a program."""
    id_ = r"\input{/etc/passwd}\write18{id}\end{document}" + HOSTILE
    found = render(report_of(CALCULATOR | {"skill_id": id_}))
    assert found.count(r"\end{document}") == 1
    assert r"\write18" not in found
    assert r"\input" not in found
