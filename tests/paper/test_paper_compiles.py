"""Real LaTeX: what is written compiles with a small TeX and shows what it should."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hostile_run import SAYINGS, hostile_run
from reports import CALCULATOR, FLAKY, HOSTILE, demo_report, report_of

from skilleval.app.convert import read_report
from skilleval.app.paper import write_paper
from skilleval.report.document import Report
from skilleval.report.latex_text import escape
from skilleval.report.latex_writer import render
from skilleval.report.paper.document import Options

pytestmark = pytest.mark.paper

PDFLATEX = ("pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error")


def compiled(folder: Path, name: str = "main") -> str:
    """Set a document in its folder, and give the text of the PDF."""
    for _ in range(2):
        ran = subprocess.run(
            [*PDFLATEX, f"{name}.tex"], cwd=folder, capture_output=True, timeout=120, check=False
        )
        assert ran.returncode == 0, ran.stdout.decode("utf-8", "replace")[-3000:]
    return text_of(folder / f"{name}.pdf")


def done(command: Sequence[str], folder: Path) -> str:
    """Run a program that must succeed, and give what it says."""
    ran = subprocess.run(command, cwd=folder, capture_output=True, timeout=300, check=True)
    return ran.stdout.decode("utf-8")


def text_of(pdf: Path) -> str:
    """Read the text of a PDF."""
    shown = subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, timeout=60, check=True)
    return shown.stdout.decode("utf-8")


def test_the_paper_of_the_demo_compiles(tmp_path: Path) -> None:
    """The kit of the demo is set by its own Makefile, with citations, figures and all numbers, and verifies."""
    program = [sys.executable, "-m", "skilleval"]
    done([*program, "demo"], tmp_path)
    done([*program, "paper", "latest", "--baseline", "calculator"], tmp_path)
    done(["make", "pdf"], tmp_path / "paper")
    text = text_of(tmp_path / "paper" / "main.pdf")
    for said in ("flaky-calculator", "reference", "Agresti", "Holm", "† differs from calculator", "Figure 1"):
        assert said in text
    assert "??" not in text
    assert "[?]" not in text
    log = (tmp_path / "paper" / "main.log").read_text(encoding="latin-1")
    assert "Overfull" not in log
    assert "undefined" not in log.lower()
    assert "numbers are what the rows give" in done([*program, "verify", "paper"], tmp_path)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose skill says what could break out."""
    return hostile_run(tmp_path_factory.mktemp("hostile"))


def test_the_paper_of_a_hostile_run_compiles(hostile: Path, tmp_path: Path) -> None:
    """What the skill says is set as text; nothing is read, run or ended by it."""
    out = tmp_path / "paper"
    options = Options(
        title=f"{SAYINGS['latex']} {SAYINGS['control']} {SAYINGS['direction']} \u4e2d\u6587 \U0001f600"
    )
    write_paper([str(hostile)], store=tmp_path, out=out, options=options)
    text = compiled(out)
    assert "\\input{/etc/passwd}" in text.replace("\n", "")
    assert "root:" not in text
    assert "Methods" in text


def test_the_report_of_a_hostile_run_compiles(hostile: Path, tmp_path: Path) -> None:
    """The document of the writer, too, with the tasks that failed."""
    report, _ = read_report(str(hostile), tmp_path)
    (tmp_path / "report.tex").write_text(render(report), encoding="utf-8")
    text = compiled(tmp_path, "report")
    assert "t-latex" in text
    assert "root:" not in text


@pytest.mark.parametrize(
    "report",
    [
        demo_report(),
        report_of(),
        report_of(
            CALCULATOR | {"skill_id": HOSTILE, "scorer": SAYINGS["latex"], "model": SAYINGS["markdown"]}
        ),
        report_of(*(FLAKY | {"skill_id": f"skill_{n}" * 9, "condition_id": str(n)} for n in range(80))),
    ],
    ids=["demo", "empty", "hostile names", "eighty long names"],
)
def test_every_report_compiles(report: Report, tmp_path: Path) -> None:
    """Whatever a report holds, its LaTeX is set."""
    (tmp_path / "report.tex").write_text(render(report), encoding="utf-8")
    assert "Provenance" in compiled(tmp_path, "report") or not report.provenance.command


def test_every_character_is_set(tmp_path: Path) -> None:
    """Each letter, sign and symbol of the first two planes that we name, and some of all others, has a form."""
    points = [*range(0x20, 0x250), *range(0x2000, 0x2100), 0x4E2D, 0x5D0, 0x627, 0x1F600, 0xE0041, 0x10FFFF]
    said = ["".join(map(chr, points[at : at + 40])) for at in range(0, len(points), 40)]
    greek = "αβκμρσωτ Δ ✓✕○◐▲≈≤≥≠→²×−†‡…"
    lines = render(demo_report()).replace("\\end{document}", "")
    body = "\n\n".join(escape(line) for line in [*said, greek])
    (tmp_path / "all.tex").write_text(f"{lines}\n{body}\n\\end{{document}}\n", encoding="utf-8")
    assert "u4e2d" in compiled(tmp_path, "all")
