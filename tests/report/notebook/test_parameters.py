from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports import HOSTILE

from skilleval.errors import ConfigError
from skilleval.report.notebook.parameters import RUN, parameter_names, with_parameters
from skilleval.report.notebook.template import Template, read_template


def template(source: str) -> Template:
    """Give a template with this cell of parameters, and one that follows."""
    text = f'# %% id="p" tags=["parameters"]\n{source}\n\n# %% id="next"\nrun_folder = "untouched"\n'
    return read_template(text, name="mine", where="mine.py")


def filled(source: str, value: str) -> dict[str, Any]:
    """Run the cell of parameters after the run was filled in; give its names."""
    cell = with_parameters(template(source), {RUN: value})[0]
    tree = ast.parse(cell.source)
    assert all(isinstance(node, ast.Assign) for node in tree.body)
    return {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


def test_only_the_value_is_replaced() -> None:
    """Comments, other names and other cells stay as the template has them."""
    first, second = with_parameters(
        template('é = "ä"; run_folder = "."  # where it is\nn = 2'), {RUN: "../a b"}
    )
    assert first.source == "é = \"ä\"; run_folder = '../a b'  # where it is\nn = 2"
    assert second.source == 'run_folder = "untouched"'


def test_a_value_of_several_lines_is_replaced_whole() -> None:
    """What stands in brackets over lines leaves nothing behind."""
    assert filled('run_folder = (\n    "a"\n    "b"\n)\nn = 2', "x") == {RUN: "x", "n": 2}


@given(st.text())
def test_any_text_is_one_literal(value: str) -> None:
    """Whatever a path holds, the cell assigns it and does nothing else."""
    assert filled('run_folder = "."', value) == {RUN: value}


def test_a_hostile_path_is_one_literal() -> None:
    """Quotes, markup and direction marks cannot end the literal."""
    assert filled('run_folder = "."', HOSTILE + "\"'\\\n#\u202e") == {RUN: HOSTILE + "\"'\\\n#\u202e"}


def test_the_parameters_are_what_the_cell_assigns() -> None:
    """Names of other cells, and those inside of blocks, are none."""
    assert parameter_names(template("a = 1\nif a:\n    b = 2")) == {"a"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# %%\n1\n", 'expected one cell of code with tags=["parameters"], found 0'),
        ('# %% tags=["parameters"]\na = 1\n# %% tags=["parameters"]\nb = 2\n', "found 2"),
        ('# above\n# %% tags=["parameters"]\na = 1\nb = = 2\n', "mine.py:4: expected name = value"),
    ],
)
def test_a_template_needs_one_cell_of_parameters(text: str, said: str) -> None:
    """The error says what is there instead, and where code cannot be read."""
    with pytest.raises(ConfigError, match="no template") as refused:
        parameter_names(read_template(text, name="mine", where="mine.py"))
    assert said in str(refused.value)
