"""Old editions of instruction skills: from git or from a folder."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from skilleval.catalog.editions import old_editions
from skilleval.catalog.skill_md import read_instruction_skill
from skilleval.domain.skills import Skill
from skilleval.errors import CatalogError


def _write(folder: Path, body: str) -> Skill:
    folder.mkdir(parents=True, exist_ok=True)
    text = f"---\nname: {folder.name}\ndescription: Counts. Use when counting.\n---\n{body}\n"
    (folder / "SKILL.md").write_text(text)
    return read_instruction_skill(folder).skill


def _git(folder: Path, *arguments: str) -> None:
    own = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *own, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Give a repository whose skill has an old edition in its only commit."""
    folder = tmp_path / "repo"
    _write(folder / "skills" / "counting", "Count by hand.")
    (folder / "skills" / "counting" / "references").mkdir()
    (folder / "skills" / "counting" / "references" / "a.md").write_text("old reference")
    _git(folder, "init", "-q")
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", "first")
    return folder


def _body(skill: Skill) -> str:
    assert skill.instructions is not None
    return skill.instructions.body.strip()


def test_a_git_ref_gives_the_skill_as_it_was(repository: Path) -> None:
    """Body and references are those of the commit; the work tree stays as it is."""
    folder = repository / "skills" / "counting"
    now = _write(folder, "Use a machine.")
    (folder / "references" / "a.md").write_text("new reference")
    old = old_editions([now], "HEAD")["counting"]
    assert (_body(old), _body(now)) == ("Count by hand.", "Use a machine.")
    assert old.instructions is not None
    assert [one.text for one in old.instructions.files] == ["old reference"]
    assert old.digest != now.digest
    assert (folder / "references" / "a.md").read_text() == "new reference"


def test_a_folder_gives_the_skill_of_the_same_name(tmp_path: Path) -> None:
    """Several skills are found by their folder names; a single one also in the folder itself."""
    skills = [_write(tmp_path / "now" / name, "new") for name in ("one", "two")]
    for name in ("one", "two"):
        _write(tmp_path / "then" / name, f"old {name}")
    found = old_editions(skills, str(tmp_path / "then"))
    assert {name: _body(skill) for name, skill in found.items()} == {"one": "old one", "two": "old two"}
    alone = old_editions(skills[:1], str(tmp_path / "then" / "two"))
    assert (alone["one"].id, _body(alone["one"])) == ("one", "old two")


def test_an_edition_with_a_link_out_of_it_is_refused(repository: Path) -> None:
    """What a commit holds is unpacked into a folder of its own and nowhere else; the error names the ref."""
    folder = repository / "skills" / "counting"
    (folder / "elsewhere").symlink_to("/etc")
    _git(repository, "add", "-A")
    _git(repository, "commit", "-q", "-m", "second")
    (folder / "elsewhere").unlink()
    with pytest.raises(CatalogError) as raised:
        old_editions([read_instruction_skill(folder).skill], "HEAD")
    (problem,) = raised.value.problems
    assert (problem.key, problem.found.startswith("HEAD: ")) == ("skill_set.old", True)


@pytest.mark.parametrize("old", ["no-such-ref", "--output=x", "nowhere/at/all", "x" * 5000, "a\0b"])
def test_what_is_no_edition_is_told(repository: Path, old: str) -> None:
    """A ref that git does not know, or that looks like an option, is an error that names skill and ref."""
    now = _write(repository / "skills" / "counting", "new")
    with pytest.raises(CatalogError, match="no old edition of the skill counting") as told:
        old_editions([now], old)
    assert old[:200] in str(told.value)


def test_a_skill_that_git_does_not_have_is_told(repository: Path) -> None:
    """A skill that came after the commit has no old edition in it."""
    now = _write(repository / "skills" / "sorting", "new")
    with pytest.raises(CatalogError, match="no old edition of the skill sorting"):
        old_editions([now], "HEAD")
