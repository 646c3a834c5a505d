from __future__ import annotations

import re
from pathlib import Path

from cli.conftest import Run
from small_skills import said


def test_a_project_is_made_with_its_folder_and_kept_the_second_time(run: Run, folder: Path) -> None:
    """Every file is told with what became of it."""
    first = run("init", "--dir", "new/project")
    assert first.code == 0, first.err
    assert "made:     new/project/skilleval.yaml" in first.out
    assert {path.name for path in (folder / "new" / "project").iterdir()} == {
        "skilleval.yaml", "skills", "benchmarks", "conf", ".gitignore",
    }  # fmt: skip
    again = run("init", "--dir", "new/project", "--json")
    assert set(again.document["files"].values()) == {"kept"}


def test_the_settings_file_says_nothing_and_every_line_of_it_is_a_setting(folder: Path) -> None:
    """As it is, it changes nothing; with the marks taken away, it is a valid file with the shipped values."""
    assert said("init", "--dir", folder).code == 0
    path = folder / "skilleval.yaml"
    listed = ["config", "list", "skill_set.paths=[skills]", "--json"]
    before = said(*listed).document
    assert said(*listed, "-c", path).document == before
    head, _, settings = path.read_text().partition("\n\n")
    assert head.startswith("# ")
    path.write_text(re.sub(r"^# ", "", settings, flags=re.MULTILINE))
    done = said("config", "list", "-c", path, "--json")
    assert done.code == 0, done.err
    from_file = [one for one in done.document if one["layer"] == "project file"]
    assert len(from_file) == 11
    shipped = {one["key"]: one["value"] for one in before}
    assert {one["key"]: one["value"] for one in from_file} == {
        one["key"]: shipped[one["key"]] for one in from_file
    }


def test_a_place_that_is_a_file_is_refused(folder: Path) -> None:
    """Exit 2 with the place, and the file stays."""
    (folder / "file").write_text("mine")
    done = said("init", "--dir", folder / "file")
    assert done.code == 2
    assert "file" in done.err
    assert (folder / "file").read_text() == "mine"


def test_the_folder_may_stand_alone_and_the_next_step_begins_there(run: Run, folder: Path) -> None:
    """`init DIR` is `init --dir DIR`; two folders are an error that names both."""
    done = run("init", "study")
    assert done.code == 0, done.err
    assert (folder / "study" / "skilleval.yaml").is_file()
    assert "next:     cd study && skilleval create" in done.out
    both = run("init", "study", "--dir", "other")
    assert (both.code, (folder / "other").exists()) == (2, False)
    assert "expected one folder, found study and other" in both.err
