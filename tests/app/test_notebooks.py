from __future__ import annotations

import ast
import json
import logging
import math
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import pytest
from hostile_run import SAYINGS
from recorded_runs import RIGHT
from results.importers.foreign import agent_skills_eval
from stored_runs import TASKS, Runs

from skilleval.app.analyse import analyse
from skilleval.app.convert import convert_report
from skilleval.app.evaluate import evaluate
from skilleval.app.importing import find_source, import_results
from skilleval.app.notebooks import (
    NotebookOptions,
    check_kernel,
    check_notebooks,
    find_template,
    write_diff_notebook,
    write_notebook,
)
from skilleval.config.compose import compose_settings
from skilleval.errors import ConfigError, NotebookError, UsageError
from skilleval.outcome import ExitCode
from skilleval.report.notebook.shipped import SHIPPED
from skilleval.results.importers.base import ImportOptions

UNEXECUTED = NotebookOptions(execute=False)
SMALL = '# %% id="p" tags=["parameters"]\nrun_folder = "."\n\n# %% id="end"\n{}\n'


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Give two runs by two scorers, of which the second one is better; they part on answers that begin right."""
    made = Runs(tmp_path_factory.mktemp("notebooks"))

    def run(wrong: Sequence[str]) -> Path:
        answers = {
            name: {**RIGHT, **({"output": {"result": "1?"}} if name in wrong else {})} for name in TASKS
        }
        made.workload.record(answers)
        return evaluate(made.workload.prepared("scorer=[exact,contains]"), observe=lambda _: None).folder

    return run(TASKS[:3]), run(())


def cells(path: Path) -> dict[str, dict[str, Any]]:
    """Read the cells of a notebook by their ids."""
    return {cell["id"]: cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]}


def parameters(path: Path) -> dict[str, Any]:
    """Read what the parameters cell of a notebook assigns."""
    tree = ast.parse("".join(cells(path)["parameters"]["source"]))
    return {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


def template(folder: Path, code: str, name: str = "mine") -> NotebookOptions:
    """Write a small template of a user; give the options that name it."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(SMALL.format(code), encoding="utf-8")
    return NotebookOptions(template=name, folders=(folder,))


def values(path: Path, **given: str) -> Iterator[tuple[str, Any]]:
    """Run the cells of a notebook in this process; give what each one shows, by its id."""
    names: dict[str, Any] = {"print": lambda *_: None}
    with pl.Config():
        for name, cell in cells(path).items():
            if cell["cell_type"] == "code":
                tree = ast.parse("".join(cell["source"]))
                last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
                exec(compile(tree, name, "exec"), names)  # noqa: S102 - the cells of our own notebooks
                names |= given if name == "parameters" else {}
                if isinstance(last, ast.Expr):
                    yield name, eval(compile(ast.Expression(last.value), name, "eval"), names)  # noqa: S307 - same


class Page(HTMLParser):
    """The elements and handlers of HTML, and its cells of tables as rows of text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: set[str] = set()
        self.handlers: list[str] = []
        self.rows: list[list[str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the element, and begin rows and cells."""
        self.elements.add(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        """Add to the cell."""
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def frame(cell: dict[str, Any]) -> list[dict[str, str]]:
    """Read the table that a cell shows."""
    (output,) = cell["outputs"]
    rows = Page("".join(output["data"]["text/html"])).rows
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


def test_an_executed_notebook_has_the_numbers_of_the_report(tmp_path: Path) -> None:
    """What a cell works out from the tables is what the JSON report says; what a skill says is markup in no output."""
    made = Runs(tmp_path / "r")
    sayings = list(SAYINGS.values())
    made.workload.record({name: {"output": sayings[n], "latency_ms": 12.5} for n, name in enumerate(TASKS)})
    run = evaluate(made.workload.prepared(), observe=lambda _: None).folder
    report = analyse(run)
    write_notebook(report, tmp_path / "n" / "a.ipynb", rows=run, options=NotebookOptions(template="run"))
    done = cells(tmp_path / "n" / "a.ipynb")
    shown = {(row["skill_id"], row["scorer"]): row for row in frame(done["skills"])}
    assert len(shown) == len(report.summary) == 1
    for row in report.summary:
        found = shown[f'"{row["skill_id"]}"', f'"{row["scorer"]}"']
        for name, text in found.items():
            if isinstance(value := row[name], int | float):
                assert math.isclose(float(text), value, rel_tol=1e-5, abs_tol=1e-6), name
    assert "onerror=alert(1)" in "".join(done["reasons"]["outputs"][0]["data"]["text/html"])
    pictures = 0
    for cell in done.values():
        for output in cell.get("outputs", ()):
            assert output["data"].keys() <= {"text/plain", "text/html", "image/svg+xml"}
            pictures += "image/svg+xml" in output["data"]
            for kind in output["data"].keys() & {"text/html", "image/svg+xml"}:
                page = Page("".join(output["data"][kind]))
                assert not page.elements & {"script", "img", "iframe", "foreignobject", "details", "a"}
                assert page.handlers == []
    assert pictures == 3


@pytest.mark.parametrize("name", sorted({*SHIPPED} - {"compare", "sweep", "uplift"}))
def test_every_cell_of_a_shipped_template_shows_something(
    tmp_path: Path, pair: tuple[Path, Path], name: str
) -> None:
    """Tables have rows, charts are drawn."""
    path = tmp_path / "n.ipynb"
    options = NotebookOptions(execute=False, template=name)
    write_notebook(analyse(pair[0]), path, rows=pair[0], options=options)
    check_values(dict(values(path, run_folder=str(pair[0]))))


def test_every_cell_of_the_comparison_shows_something(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    """So do those of two runs; the flips are those that changed, and runs alike are no cause for a warning."""
    path = tmp_path / "n.ipynb"
    write_diff_notebook(path, baseline=pair[0], candidate=pair[1], options=UNEXECUTED)
    folders = {"baseline_folder": str(pair[0]), "candidate_folder": str(pair[1])}
    shown = dict(values(path, **folders))
    assert shown.pop("warnings").height == 0
    check_values(shown)
    assert set(shown["flips"]["task_id"]) == set(TASKS[:3])


def test_every_cell_of_the_uplift_shows_something(tmp_path: Path) -> None:
    """So do those of a run in two arms."""
    found = agent_skills_eval(tmp_path / "w" / "iteration-1").parent
    settings = ["skill_set.paths=[s]", "benchmark.name=imported", f"paths.output_dir={tmp_path / 'out'}"]
    composed = compose_settings(settings, project=tmp_path)
    (imported,) = import_results(
        find_source(found), ImportOptions(), composed=composed, command="", skills=None
    )
    run = imported.folder
    path = tmp_path / "n.ipynb"
    write_notebook(analyse(run), path, rows=run, options=UNEXECUTED)
    assert json.loads(path.read_text())["metadata"]["skilleval"]["template"] == "uplift"
    check_values(dict(values(path, run_folder=str(run))))


def check_values(shown: dict[str, Any]) -> None:
    """A frame has rows and is not the one that stands for a missing figure; everything else is a chart."""
    frames = {name: one for name, one in shown.items() if isinstance(one, pl.DataFrame)}
    assert frames
    for name, one in frames.items():
        assert one.height, name
        assert one.columns != ["no figure"], (name, one.to_dicts())
    for name in shown.keys() - frames.keys() - {"setup", "latex"}:
        assert isinstance(shown[name], alt.TopLevelMixin), name
        assert shown[name].to_dict()


def test_the_run_is_named_as_seen_from_the_notebook(pair: tuple[Path, Path]) -> None:
    """A folder that moves as a whole still works; beside its tables it is this folder."""
    report = analyse(pair[0])
    write_notebook(report, pair[0] / "r.ipynb", rows=pair[0], options=UNEXECUTED)
    assert parameters(pair[0] / "r.ipynb") == {"run_folder": "."}
    write_notebook(report, pair[1] / "r.ipynb", rows=pair[0], options=UNEXECUTED)
    assert parameters(pair[1] / "r.ipynb") == {"run_folder": f"../{pair[0].name}"}
    first = (pair[0] / "r.ipynb").read_bytes()
    write_notebook(report, pair[0] / "r.ipynb", rows=pair[0], options=UNEXECUTED)
    assert (pair[0] / "r.ipynb").read_bytes() == first


def test_converting_takes_template_and_place(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    """A stored run becomes a notebook in another folder or under another name."""
    options = NotebookOptions(execute=False, template="paper")
    places: list[Path] = [tmp_path, tmp_path / "mine.ipynb"]
    for output in places:
        written = convert_report(
            str(pair[0]), formats=["notebook"], output=output, store=pair[0].parent, notebook=options
        )
        assert "latex" in cells(written["notebook"])
        place = (written["notebook"].parent / parameters(written["notebook"])["run_folder"]).resolve()
        assert place == pair[0].resolve()
    assert (tmp_path / "report.ipynb").is_file()


def test_a_json_report_alone_has_no_rows(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    """A notebook of it is refused, in plain words."""
    alone = tmp_path / "report.json"
    alone.write_bytes((pair[0] / "report.json").read_bytes())
    with pytest.raises(UsageError, match=r"no manifest\.json"):
        convert_report(str(alone), formats=["notebook"], output=None, store=tmp_path, notebook=UNEXECUTED)
    with pytest.raises(UsageError, match=r"no manifest\.json"):
        write_diff_notebook(tmp_path / "d.ipynb", baseline=alone, candidate=pair[0], options=UNEXECUTED)


def test_a_template_of_the_user_comes_before_ours(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    """The folders are searched in their order; a file in one of them replaces a shipped template of its name."""
    template(tmp_path / "a", "1 + 1", name="run")
    template(tmp_path / "b", "2 + 2", name="run")
    options = NotebookOptions(execute=False, template="run", folders=(tmp_path / "b", tmp_path / "a"))
    write_notebook(analyse(pair[0]), tmp_path / "n.ipynb", rows=pair[0], options=options)
    assert cells(tmp_path / "n.ipynb")["end"]["source"] == ["2 + 2"]


@pytest.mark.parametrize(
    ("name", "folders", "said"),
    [
        ("upflit", (), "expected one of compare, paper, run, scorers, sweep, uplift, found upflit"),
        ("mine", (), "--templates or report.templates: none is named"),
        ("mine", ("broken",), "--templates or report.templates: "),
        ("run", ("nowhere",), "expected a folder with templates, found nowhere"),
        ("broken", ("broken",), "broken.py:1"),
        ("binary", ("broken",), "expected a text file"),
        ("compare", (), "it is for `skilleval diff A B --format notebook`"),
        ("sweep", (), "it is for `skilleval sweep report SWEEP --format notebook`"),
    ],
)
def test_a_template_that_does_not_fit_is_refused_before_a_run(
    tmp_path: Path, name: str, folders: tuple[str, ...], said: str
) -> None:
    """Unknown names list what there is; files that cannot be used say where."""
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "broken.py").write_text("import os\n", encoding="utf-8")
    (tmp_path / "broken" / "binary.py").write_bytes(b"\xff\xfe\x00")
    places = tuple(tmp_path / one if one == "broken" else Path(one) for one in folders)
    options = NotebookOptions(execute=False, template=name, folders=places)
    with pytest.raises(ConfigError) as refused:
        check_notebooks(["json", "notebook"], options)
    assert said in str(refused.value)
    check_notebooks(["json"], options)  # nobody asked for a notebook


def test_a_template_without_a_notebook_is_told_to_do_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """A setting may stand in a file for other runs, so it is a warning; where there is a notebook, nothing is said."""
    check_notebooks(["json", "html"], NotebookOptions(template="run"))
    assert "report.template=run does nothing" in caplog.text
    caplog.clear()
    check_notebooks(["json", "notebook"], NotebookOptions(template="run", execute=False))
    check_notebooks(["json"], NotebookOptions(execute=False))
    assert not caplog.records


def test_a_missing_kernel_is_told_before_a_run() -> None:
    """Both ways out are named; unexecuted notebooks need none."""
    with pytest.raises(NotebookError) as refused:
        check_kernel(NotebookOptions(), lacking=("nbclient",))
    assert "without nbclient" in str(refused.value)
    assert "skilleval[notebook]" in str(refused.value)
    assert "report.execute=false" in str(refused.value)
    check_kernel(UNEXECUTED, lacking=("nbclient",))


def test_every_shipped_name_is_found() -> None:
    """The list of names is the list of files."""
    assert [find_template(name, ()).name for name in SHIPPED] == list(SHIPPED)


def test_settings_reach_the_notebook_of_a_run(tmp_path: Path) -> None:
    """`report.execute`, `.template` and `.templates` do what they say, wherever the tables are."""
    made = Runs(tmp_path / "r")
    template(tmp_path / "mine", "6 * 7")
    made.workload.record({name: {"output": {"result": 1}} for name in TASKS})
    prepared = made.workload.prepared(
        "report.formats=[notebook,json]",
        "report.execute=false",
        "report.template=mine",
        f"report.templates=[{tmp_path / 'mine'}]",
        f"paths.store={tmp_path / 'rows'}",
    )
    outcome = evaluate(prepared, observe=lambda _: None)
    assert outcome.exit_code is ExitCode.OK
    made_cells = cells(outcome.reports["notebook"])
    assert made_cells["end"]["outputs"] == []
    assert f"../../../rows/{outcome.run_id}" in "".join(made_cells["p"]["source"])


def test_a_cell_that_fails_costs_a_run_nothing_but_its_exit_code(tmp_path: Path) -> None:
    """Rows, other reports and the notebook without outputs are there; what went wrong is told; the exit code is 3."""
    made = Runs(tmp_path / "r")
    options = template(tmp_path / "mine", "1 / 0")
    made.workload.record({name: {"output": {"result": 1}} for name in TASKS})
    prepared = made.workload.prepared(
        "report.formats=[notebook,json]", "report.template=mine", f"report.templates=[{options.folders[0]}]"
    )
    handler = logging.Handler(logging.ERROR)
    told: list[str] = []
    handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("skilleval.app.evaluate").addHandler(handler)
    try:
        outcome = evaluate(prepared, observe=lambda _: None)
    finally:
        logging.getLogger("skilleval.app.evaluate").removeHandler(handler)
    assert outcome.exit_code is ExitCode.INFRASTRUCTURE
    assert json.loads((outcome.folder / "manifest.json").read_text())["exit_code"] == 3
    assert outcome.reports["json"].is_file()
    assert cells(outcome.reports["notebook"])["end"]["outputs"] == []
    (said,) = told
    assert "ZeroDivisionError" in said
    assert "is there, without outputs" in said
