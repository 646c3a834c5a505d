"""Real SKILL.md files and evals from public repositories, held against the verdicts and counts of their index.

Run with `SKILLEVAL_CORPORA=<folder> pytest -m corpora`. The files are read, never run, and no prompt is followed.
"""

from __future__ import annotations

import csv
import hashlib
import os
import shutil
from pathlib import Path

import pytest

from skilleval.catalog.evals.cases import EvalsFile, read_evals_file
from skilleval.catalog.evals.tasks import build_tasks
from skilleval.catalog.frontmatter import read_skill_text
from skilleval.catalog.read import read_catalog
from skilleval.catalog.skill_md import read_instruction_skill, skill_file
from skilleval.domain.skills import Instructions, Skill
from skilleval.errors import CatalogError

pytestmark = pytest.mark.corpora

Row = dict[str, str]
LINK = ".link-target.txt"
COUNTS = (
    "kind",
    "n_cases",
    "n_assertions",
    "other_criteria",
    "n_trigger",
    "n_trigger_true",
    "n_trigger_false",
    "n_expected_output_only",
    "n_ungraded",
    "n_file_refs",
)
# What no client can load: the others are loaded with notices by those that are lenient.
UNLOADABLE = {
    "encoding",
    "file-missing",
    "frontmatter-missing",
    "frontmatter-unclosed",
    "frontmatter-not-mapping",
    "description-missing",
}
MENDABLE = {"16-alvinecarn/SKILL.md", "65-sophiaashi/SKILL.md"}
"""Frontmatter that can be read once its values are quoted."""


@pytest.fixture(scope="module")
def corpora() -> Path:
    """The folder of the corpora; asking for these tests without it is a failure."""
    folder = os.environ.get("SKILLEVAL_CORPORA")
    if not folder:
        pytest.fail("set SKILLEVAL_CORPORA to the folder of the corpora, or leave out -m corpora")
    return Path(folder)


def rows_of(folder: Path) -> list[Row]:
    """Read the index of a corpus: tabs between fields, no quoting."""
    with (folder / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def words(text: str, between: str) -> set[str]:
    """Split a field of the index; an empty one has no words."""
    return set(text.split(between)) - {""}


def counts(file: EvalsFile) -> Row:
    """Count what the index counts."""
    cases = file.cases
    plain = [case for case in cases if not (case.criteria or file.shape.about.get("dimensions"))]
    numbers = {
        "n_cases": len(cases),
        "n_assertions": sum(len(case.assertions) for case in cases),
        "n_trigger": sum(case.trigger is not None for case in cases),
        "n_trigger_true": sum(case.trigger is True for case in cases),
        "n_trigger_false": sum(case.trigger is False for case in cases),
        "n_expected_output_only": sum(
            case.expected_output is not None and not case.assertions for case in plain
        ),
        "n_ungraded": sum(not case.has_checks and case.trigger is None for case in plain),
        "n_file_refs": sum(len(case.raw.get("files", [])) for case in cases),
    }
    criteria = ";".join(f"{key}={count}" for key, count in sorted(file.criteria.items()))
    return {"kind": file.kind, "other_criteria": criteria} | {
        key: str(value) for key, value in numbers.items()
    }


def test_each_file_of_evals_has_the_counts_of_its_index(corpora: Path) -> None:
    """Cases, assertions, criteria, triggers and files are all found, whatever the shape."""
    folder = corpora / "evals_json"
    rows = rows_of(folder)
    assert len(rows) == 41
    for row in rows:
        path = folder / row["file"]
        assert hashlib.sha256(path.read_bytes()).hexdigest() == row["sha256"]
        assert counts(read_evals_file(path)) == {key: row[key] for key in COUNTS}, row["file"]


def test_each_file_of_evals_gets_the_warnings_of_its_index(corpora: Path) -> None:
    """Unknown keys, comments, doubtful triggers and cases elsewhere are told."""
    folder = corpora / "evals_json"
    for row in rows_of(folder):
        file = read_evals_file(folder / row["file"])
        warnings = words(row["warnings"], ";")
        said = " ".join(file.findings.notices.remarks)
        unknown = {f"unknown-key:{key}:{count}" for key, count in file.findings.unknown.items()}
        if row["file"].endswith(".json"):
            assert unknown == {warning for warning in warnings if warning.startswith("unknown-key")}
        assert ("one-sided-triggers" in warnings) is ("nothing can be told apart" in said), row["file"]
        assert any(word.startswith("assertions-on-negative") for word in warnings) is (
            "meant to fail" in said
        )
        assert any(word.startswith("line-not-json") for word in warnings) is ("not JSON" in said)
        assert any(word.startswith("cases-in-other-files:7") for word in warnings) is (
            "7 lists of cases" in said
        )
        strangers = [problem.found for problem in file.findings.problems]
        assert strangers == (["a JSON Schema"] if row["kind"] == "not-evals" else []), row["file"]


def test_each_file_of_evals_gives_its_tasks(corpora: Path, tmp_path: Path) -> None:
    """A case is a task unless it only triggers; what is refused are prompts and files that are not there."""
    folder = corpora / "evals_json"
    skill = Skill(
        id="s",
        version="1",
        name="s",
        adapter="chat",
        entrypoint="SKILL.md",
        folder=tmp_path,
        source=tmp_path / "SKILL.md",
        digest="",
        instructions=Instructions(body=""),
    )
    for row in rows_of(folder):
        file = read_evals_file(folder / row["file"])
        n_before = len(file.findings.problems)
        tasks = build_tasks(skill, file)
        only = sum(case.is_trigger_only for case in file.cases)
        assert len({task.id for task in tasks}) == int(row["n_cases"]) - only
        found = [problem.expected for problem in file.findings.problems[n_before:]]
        n_files = sum(expected.startswith("a file") for expected in found)
        n_prompts = found.count("a text that is not empty")
        assert n_files == int(row["n_file_refs"]), row["file"]
        assert n_prompts == (5 if "no-prompt:5" in row["warnings"] else 0), row["file"]
        assert len(found) == n_files + n_prompts


def placed(row: Row, corpora: Path, root: Path) -> Path:
    """Copy a `SKILL.md` into a folder of the name it had; the one that is a link becomes one."""
    source = corpora / "skill_md" / row["file"]
    folder = root / Path(row["file"]).parent / row["orig_dir"]
    folder.mkdir(parents=True)
    if source.name.endswith(LINK):
        (folder / "SKILL.md").symlink_to(source.read_text(encoding="utf-8").strip())
    else:
        shutil.copyfile(source, folder / source.name)
    return folder


def test_each_skill_breaks_the_rules_of_its_index(corpora: Path, tmp_path: Path) -> None:
    """By the specification each file is valid or breaks just the rules that it is known to break."""
    rows = rows_of(corpora / "skill_md")
    assert len(rows) == 48
    for row in rows:
        folder = placed(row, corpora, tmp_path)
        file = skill_file(folder)
        rules = {fault.rule for fault in read_skill_text(file).faults} if file.is_file() else {"file-missing"}
        assert rules == words(row["rules"], ","), row["file"]
        if row["verdict"] == "valid":
            assert read_instruction_skill(folder, strict=True).skill.name == row["orig_dir"]
        else:
            with pytest.raises(CatalogError):
                read_instruction_skill(folder, strict=True)


def test_lenient_readers_load_all_that_clients_load(corpora: Path, tmp_path: Path) -> None:
    """Without strictness only files without usable frontmatter are left out, and one bad file stops no search."""
    for row in rows_of(corpora / "skill_md"):
        folder = placed(row, corpora, tmp_path)
        rules = words(row["rules"], ",")
        is_unreadable = "frontmatter-unparsable" in rules and row["file"] not in MENDABLE
        if rules & UNLOADABLE or is_unreadable:
            with pytest.raises(CatalogError):
                read_instruction_skill(folder)
        else:
            assert read_instruction_skill(folder).skill.description
    catalog = read_catalog([tmp_path], form="instruction")
    assert len(catalog.skills) == 34
    assert len({skill.id for skill in catalog.skills}) == 34
