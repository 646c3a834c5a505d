"""The example notebooks and the script that keeps them current; `make notebooks-current` executes them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from skilleval.report.notebook.shipped import shipped_template

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from write_notebooks import MAX_BYTES, NOTEBOOKS, RECORDED, differing, mended

EXAMPLES = ("run", "scorers", "uplift", "paper", "compare")


def read(name: str) -> dict[str, Any]:
    """Read an example."""
    found: dict[str, Any] = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_what_its_template_gives(name: str) -> None:
    """Its cells are those of the template, but for the folders of the runs; all are executed, and none failed."""
    cells, template = read(name)["cells"], shipped_template(name).cells
    assert [cell["id"] for cell in cells] == [cell.id for cell in template]
    for cell, asked in zip(cells, template, strict=True):
        source = "".join(cell["source"])
        assert source == asked.source or asked.tags == ("parameters",)
        if cell["cell_type"] == "code":
            assert cell["execution_count"] is not None
            assert not [output for output in cell["outputs"] if output["output_type"] == "error"]
            assert "no figure" not in json.dumps(cell["outputs"])


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_small_and_names_no_machine(name: str) -> None:
    """It can be read on a page, and says nothing of where it was made."""
    text = (NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8")
    assert len(text.encode()) < MAX_BYTES
    assert not [folder for folder in ("/home/", "/tmp/", "/root/", str(NOTEBOOKS.parent)) if folder in text]  # noqa: S108 - no file is opened


def test_only_what_a_run_cannot_repeat_is_left_out_of_the_comparison(tmp_path: Path) -> None:
    """Another id, time or picture is no difference; another number, cell or no picture is one."""

    def written(text: str, name: str = "n.ipynb") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    old = written((NOTEBOOKS / "run.ipynb").read_text(encoding="utf-8"))
    text = old.read_text(encoding="utf-8")
    run_id = read("run")["metadata"]["skilleval"]["run_id"]
    same = text.replace(run_id, "20200101T000000Z-aaaaaa").replace("<svg ", "<svg data-x='1' ")
    assert differing(old, written(same, "same.ipynb")) is None
    assert differing(old, written(text.replace("0.65<", "0.66<"), "other.ipynb")) == "differs in skills"
    pictureless = text.replace('"image/svg+xml"', '"text/x-nothing"')
    assert str(differing(old, written(pictureless, "less.ipynb"))).startswith("differs in completion")
    assert differing(tmp_path / "nothing.ipynb", old) == "is missing"
    assert "larger" in str(differing(written(" " * MAX_BYTES + text, "large.ipynb"), old))


def test_the_mended_skill_answers_as_the_right_one_does() -> None:
    """Every attempt of the flaky skill is that of the right one, and nothing else changes."""
    lines = RECORDED.read_text(encoding="utf-8").splitlines()
    before, after = ([json.loads(line) for line in some] for some in (lines, mended(lines)))
    right = {
        (one["task_id"], one["repeat"]): one["output"] for one in before if one["skill_id"] == "calculator"
    }
    assert len(after) == len(before)
    for one, other in zip(before, after, strict=True):
        if one["skill_id"] == "flaky-calculator":
            assert other == {
                **other,
                "skill_id": one["skill_id"],
                "output": right[one["task_id"], one["repeat"]],
            }
        else:
            assert other == one
