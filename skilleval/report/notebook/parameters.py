"""Filling in what a notebook is about: its parameters cell gets the places of the runs, as literals of Python."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from skilleval.errors import ConfigError, Problem
from skilleval.report.notebook.template import PARAMETERS, Cell, Template

RUN = "run_folder"
BASELINE = "baseline_folder"
CANDIDATE = "candidate_folder"
OF_ONE = frozenset({RUN})
SWEEP = "sweep_folder"
OF_TWO = frozenset({BASELINE, CANDIDATE})
OF_SWEEP = frozenset({SWEEP})


def parameter_names(template: Template) -> frozenset[str]:
    """Name what a template lets be filled in."""
    return frozenset(_assigned(_parameters(template), template))


def with_parameters(template: Template, values: Mapping[str, str]) -> tuple[Cell, ...]:
    """Give the cells with the values in the place of the template's own; what the template lacks is left out.

    Text from anywhere is harmless here: it stands as one literal, whatever it holds.
    """
    filled = _parameters(template)
    assigned = _assigned(filled, template)
    lines = filled.source.encode().split(b"\n")  # the columns of a syntax tree count bytes
    for name, value in sorted(assigned.items(), key=lambda item: -item[1].lineno):
        if name in values:
            first, last = value.lineno - 1, (value.end_lineno or value.lineno) - 1
            before, after = lines[first][: value.col_offset], lines[last][value.end_col_offset :]
            lines[first : last + 1] = [
                before + repr(values[name]).encode("utf-8", "backslashreplace") + after
            ]
    source = b"\n".join(lines).decode()
    return tuple(replace(cell, source=source) if cell is filled else cell for cell in template.cells)


def _parameters(template: Template) -> Cell:
    tagged = [cell for cell in template.cells if PARAMETERS in cell.tags and not cell.is_text]
    if len(tagged) == 1:
        return tagged[0]
    expected = f'one cell of code with tags=["{PARAMETERS}"]'
    raise _refused(template, Problem(where=template.where, expected=expected, found=str(len(tagged))))


def _assigned(cell: Cell, template: Template) -> dict[str, ast.expr]:
    """Give the values of `name = value` in a cell, by name; what stands inside of others is no parameter."""
    try:
        tree = ast.parse(cell.source)
    except SyntaxError as error:
        line = cell.line + (error.lineno or 0)
        problem = Problem(where=f"{template.where}:{line}", expected="name = value", found=error.msg)
        raise _refused(template, problem) from None
    return {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    }


def _refused(template: Template, problem: Problem) -> ConfigError:
    return ConfigError(f"{template.where} is no template of a notebook", problems=(problem,))
