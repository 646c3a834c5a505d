from __future__ import annotations

import pytest

from skilleval.errors import ConfigError
from skilleval.report.notebook.template import Cell, read_template

TEXT = """# What it is for.

# %% [markdown] id="title"
# # A title
#
# *Text* with # in it

# %% id="parameters" tags=["parameters"]
run_folder = "."

# %%
x = 1

# a comment of the code
x
"""


def cells(text: str) -> tuple[Cell, ...]:
    """Read the cells of a template."""
    return read_template(text, name="mine", where="mine.py").cells


def problem(text: str) -> str:
    """Give what is said of a template that is refused."""
    with pytest.raises(ConfigError) as refused:
        cells(text)
    return str(refused.value)


def test_a_plain_file_becomes_cells() -> None:
    """Comments of a text cell are its text, a cell without an id is called after its place, code stays as it is."""
    title, parameters, code = cells(TEXT)
    assert (title.id, title.is_text, title.source) == ("title", True, "# A title\n\n*Text* with # in it")
    assert (parameters.id, parameters.tags, parameters.source) == (
        "parameters",
        ("parameters",),
        'run_folder = "."',
    )
    assert (code.id, code.is_text, code.source) == ("cell-3", False, "x = 1\n\n# a comment of the code\nx")
    assert code.line == 11


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected cells"),
        ("# only a comment\n", "expected cells"),
        ("import os\n# %%\n1\n", "mine.py:1: expected a cell above it"),
        ('# %% id="a"\n1\n# %% id="a"\n2\n', "id=a: expected once, found 2 times"),
        ('# %% id="a b"\n1\n', "mine.py:1: id: expected an id of at most 64"),
        ("# %% id=4\n1\n", "mine.py:1: id: expected an id of at most 64"),
        ("# %% id=a\n1\n", 'mine.py:1: expected id="name" or tags=["name"], found id=a'),
        ("# %%\n1\n# %% title\n", "mine.py:3: expected id="),
    ],
)
def test_what_is_no_template_is_refused(text: str, said: str) -> None:
    """The error names the file, the line where there is one, and what was expected."""
    assert said in problem(text)
