"""The templates that come with skilleval, and which of them fits a run."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from skilleval.report.notebook.template import Template, read_template

if TYPE_CHECKING:
    from skilleval.report.document import Report

COMPARE = "compare"
SWEEP_TEMPLATE = "sweep"
SHIPPED = ("run", "scorers", "uplift", "paper", COMPARE, SWEEP_TEMPLATE)
SUFFIX = ".py"


def shipped_template(name: str) -> Template:
    """Read a template of ours."""
    file = f"{name}{SUFFIX}.template"
    text = files("skilleval.report").joinpath("templates", "notebooks", file).read_text(encoding="utf-8")
    return read_template(text, name=name, where=file)


def fitting_template(report: Report) -> str:
    """Name the template for what a run holds: arms of skills, several scorers, or neither."""
    if report.uplift:
        return "uplift"
    return "run" if report.agreement is None else "scorers"
