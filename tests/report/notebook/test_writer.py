from __future__ import annotations

import json
import re
import time
from dataclasses import replace

import nbformat
import pytest
from arm_frames import arm_report
from reports import CALCULATOR, HOSTILE, demo_report, report_of

from skilleval.report import WRITERS
from skilleval.report.agreement import Agreement
from skilleval.report.notebook.document import text_of
from skilleval.report.notebook.shipped import SHIPPED, fitting_template, shipped_template
from skilleval.report.notebook.writer import render, render_with

AGREEMENT = Agreement(raters=("a", "b"), n_trials=1, n_left_out=0)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_notebook_is_valid_and_the_same_each_time(name: str) -> None:
    """Every shipped template gives a notebook of the format, with its own ids, byte for byte."""
    report = demo_report()
    text = render_with(report, shipped_template(name), folder="../run")
    assert text == render_with(report, shipped_template(name), folder="../run")
    notebook = json.loads(text)
    nbformat.validate(notebook)
    assert [cell["id"] for cell in notebook["cells"]] == [cell.id for cell in shipped_template(name).cells]
    assert not [cell for cell in notebook["cells"] if cell["id"].startswith("cell-")]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook["cells"])


def test_the_template_fits_what_the_run_holds() -> None:
    """Arms are compared first, then scorers; a plain run has the plain template."""
    assert fitting_template(demo_report()) == "run"
    assert fitting_template(replace(demo_report(), agreement=AGREEMENT)) == "scorers"
    assert fitting_template(replace(arm_report(), agreement=AGREEMENT)) == "uplift"


def test_beside_its_tables_a_notebook_names_this_folder() -> None:
    """What the registry of writers writes reads the tables where it lies."""
    notebook = json.loads(render(demo_report()))
    (parameters,) = (cell for cell in notebook["cells"] if cell["metadata"].get("tags") == ["parameters"])
    assert "".join(parameters["source"]) == "run_folder = '.'"
    assert [name for name, writer in WRITERS.items() if writer.reads_rows] == ["notebook"]


def test_no_foreign_text_is_in_a_cell() -> None:
    """Names of skills, models and tasks stand in the metadata alone, with hidden characters spelled out."""
    hostile = report_of(
        CALCULATOR | {"skill_id": HOSTILE, "model": HOSTILE}, manifest={"run_id": HOSTILE + "\u202e\ud800"}
    )
    plain, notebook = json.loads(render(report_of(CALCULATOR))), json.loads(render(hostile))
    assert notebook["cells"] == plain["cells"]
    assert not re.search("[\u202e\ud800]", json.dumps(notebook["metadata"], ensure_ascii=False))


def test_what_executing_adds_and_machines_differ_in_is_left_out() -> None:
    """Times of cells and the version of Python are no part of a notebook."""
    node = nbformat.from_dict(json.loads(render(demo_report())))  # type: ignore[no-untyped-call]
    before = text_of(node)
    node.metadata.language_info = {"name": "python", "version": "3.99"}
    node.cells[1].metadata["execution"] = {"iopub.execute_input": "2026-01-01T00:00:00Z"}
    assert text_of(node) == before


def test_writing_is_quick() -> None:
    """Beyond imports, a notebook takes far less than a second of this process."""
    render(demo_report())
    start = time.process_time()
    render(demo_report())
    assert time.process_time() - start < 1
