from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stored_runs import Runs

from skilleval.app.paper import write_paper
from skilleval.app.verify import Verification, verify
from skilleval.errors import ResultsError
from skilleval.report.paper.differences import Kind
from skilleval.report.paper.document import Options


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kit of two runs; tests change copies of it."""
    folder = tmp_path_factory.mktemp("kit")
    runs = Runs(folder / "w")
    named = [str(runs.run(wrong=["t5"])), str(runs.run(wrong=["t5", "t6"]))]
    write_paper(named, store=runs.store, out=folder / "paper", options=Options(title="A & B"))
    return folder / "paper"


@pytest.fixture
def copy(kit: Path, tmp_path: Path) -> Path:
    """The same kit at another place, as on another machine."""
    return Path(shutil.copytree(kit, tmp_path / "elsewhere"))


def check(folder: Path, **options: Any) -> Verification:
    """Verify a kit, without a store to fall back on."""
    return verify(folder, store=folder / "nowhere", **options)


def replaced(path: Path, old: str, new: str) -> None:
    """Change a file by hand."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_kit_holds_at_another_place(copy: Path) -> None:
    """Everything that is needed lies in the folder."""
    found = check(copy)
    assert found.differences == ()
    assert found.sentence.startswith(f"all {found.n_files} files and {found.n_numbers} numbers")


def test_a_number_that_was_changed_is_named(copy: Path) -> None:
    """File, line, what stands there and what the rows give."""
    replaced(copy / "tables" / "skills.tex", "0.812", "0.912")
    (one,) = check(copy).differences
    assert (one.file, one.kind) == ("tables/skills.tex", Kind.NUMBER)
    assert one.line is not None
    assert "0.912" in one.found
    assert "0.812" in one.expected


def test_a_macro_that_was_changed_is_named(copy: Path) -> None:
    """A number for the text is held against the rows as well."""
    replaced(copy / "numbers.tex", "{0.812}", "{0.9}")
    found = check(copy)
    assert [(one.file, one.kind) for one in found.differences] == [("numbers.tex", Kind.NUMBER)]
    assert not found.numbers_equal


def test_other_words_are_told_apart(copy: Path) -> None:
    """Where only words differ, all numbers are said to be equal; it is a difference all the same."""
    replaced(copy / "methods.tex", "We evaluated", "We have evaluated")
    found = check(copy)
    assert [one.kind for one in found.differences] == [Kind.WORDING]
    assert found.sentence == "wording differs; numbers equal"


def test_rows_that_were_changed_are_named(copy: Path) -> None:
    """Another run's rows under the name of a run are other data, and give other numbers."""
    first, second = sorted((copy / "data").iterdir())
    for name in ("scores", "trials"):
        shutil.copyfile(second / name / "part-00000.parquet", first / name / "part-00000.parquet")
    kinds = {one.kind for one in check(copy).differences}
    assert Kind.DATA in kinds
    assert Kind.NUMBER in kinds


def test_rows_that_cannot_be_read_are_named(copy: Path) -> None:
    """A broken table is a difference, not a fault of ours."""
    first, _ = sorted((copy / "data").iterdir())
    (first / "trials" / "part-00000.parquet").write_bytes(b"no table")
    found = check(copy)
    assert found.differences[0].file.endswith("trials/part-00000.parquet")
    assert found.differences[-1].what == "nothing can be recomputed"


@pytest.mark.parametrize("name", ["numbers.tex", "figures/completion.svg", "figures/completion.pdf"])
def test_a_file_that_is_missing_is_named(copy: Path, name: str) -> None:
    """Each file of the kit must be there."""
    (copy / name).unlink()
    assert [(one.file, one.kind) for one in check(copy).differences] == [(name, Kind.MISSING)]


@pytest.mark.parametrize("suffix", ["svg", "pdf"])
def test_a_drawing_that_was_changed_is_named(copy: Path, suffix: str) -> None:
    """A figure is what was drawn from the rows, in either format."""
    path = copy / "figures" / f"completion.{suffix}"
    path.write_bytes(path.read_bytes() + b"\n% more\n")
    found = check(copy)
    assert [(one.file, one.kind) for one in found.differences] == [
        (f"figures/completion.{suffix}", Kind.CHANGED)
    ]
    assert not found.numbers_equal


def test_what_the_kit_says_of_itself_is_checked(copy: Path) -> None:
    """A value in `paper.json` that no row gives is named by its macro."""
    facts = json.loads((copy / "paper.json").read_text(encoding="utf-8"))
    facts["numbers"][-1]["value"] = 12345
    (copy / "paper.json").write_text(json.dumps(facts), encoding="utf-8")
    (one,) = check(copy).differences
    assert (one.kind, one.what, one.found) == (Kind.NUMBER, f"\\{facts['numbers'][-1]['macro']}", "12345")


def test_other_versions_are_named(copy: Path) -> None:
    """A kit of another version of the tool says which, so that other words have a reason."""
    replaced(copy / "paper.json", '"skilleval": "', '"skilleval": "9.')
    assert check(copy).versions[0].startswith("skilleval 9.")


def test_the_article_is_the_authors_but_its_macros(copy: Path) -> None:
    """Any text may stand in main.tex; a macro that no number stands behind is found, unless in a comment."""
    (copy / "main.tex").write_text("Mine: \\evalAllTasks{}\n% \\evalOld\n\\evalNoSuch{}\n", encoding="utf-8")
    (one,) = [one for one in check(copy).differences if one.file == "main.tex"]
    assert (one.line, one.found) == (3, "\\evalNoSuch")


def test_a_percent_sign_hides_no_macro(copy: Path) -> None:
    """What stands behind an escaped percent sign is text, not a comment."""
    (copy / "main.tex").write_text("100\\% \\evalNoSuch{} \\\\% \\evalOld\n", encoding="utf-8")
    (one,) = check(copy).differences
    assert one.found == "\\evalNoSuch"


def test_cells_of_the_kit_s_own_tables_are_data(copy: Path) -> None:
    """In `paper.json` a name or mark in another cell is a number under another name; a header is wording."""
    facts = json.loads((copy / "paper.json").read_text(encoding="utf-8"))
    facts["tables"][0]["rows"][0][0] = "somebody"
    (copy / "paper.json").write_text(json.dumps(facts), encoding="utf-8")
    assert {one.kind for one in check(copy).differences} == {Kind.NUMBER}


def test_a_run_made_again_is_held_against_that_of_the_kit(copy: Path, tmp_path: Path) -> None:
    """Other files of a skill are found by their digest; the same skill, tasks and scorers are no difference."""
    runs = Runs(tmp_path / "again")
    assert check(copy, again=[str(runs.run())]).differences == ()
    runs.change_skill("more")
    names = {one.what for one in check(copy, again=[str(runs.run())]).differences}
    assert names == {"skill recorded 1.0.0"}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: (folder / "paper.json").unlink(),
        lambda folder: (folder / "paper.json").write_text("no JSON", encoding="utf-8"),
        lambda folder: (folder / "paper.json").write_text("[]", encoding="utf-8"),
        lambda folder: (folder / "paper.json").write_text(
            '{"schema": "skilleval.paper/1"}', encoding="utf-8"
        ),
    ],
)
def test_what_is_no_kit_is_said(copy: Path, spoil: Callable[[Path], object]) -> None:
    """A folder without a kit is an error in words."""
    spoil(copy)
    with pytest.raises(ResultsError, match="no paper kit"):
        check(copy)
