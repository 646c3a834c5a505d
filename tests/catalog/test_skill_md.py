from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from skilleval.catalog.skill_md import read_instruction_skill
from skilleval.domain.files import FileKind
from skilleval.domain.skills import Skill
from skilleval.errors import CatalogError, Problem

Writer = Callable[..., Path]


def frontmatter(text: str) -> str:
    """Give a `SKILL.md` with a body and with the lines between its two bars."""
    return f"---\n{text}\n---\nBody.\n"


def problems(folder: Path, *, strict: bool = False) -> tuple[Problem, ...]:
    """Read a skill that cannot be used, and give why."""
    with pytest.raises(CatalogError) as caught:
        read_instruction_skill(folder, strict=strict)
    return caught.value.problems


def roles(skill: Skill) -> dict[str, tuple[str, str | None]]:
    """Give role and text of each file of a skill."""
    assert skill.instructions is not None
    return {file.path: (file.role, file.text) for file in skill.instructions.files}


def test_a_skill_is_read_with_its_body_and_frontmatter(write_skill_md: Writer) -> None:
    """The id is the name, and file and folder name the same skill."""
    folder = write_skill_md()
    skill = read_instruction_skill(folder).skill
    assert skill == read_instruction_skill(folder / "SKILL.md").skill
    assert (skill.id, skill.name, skill.adapter, skill.entrypoint) == ("tide", "tide", "chat", "SKILL.md")
    assert skill.instructions is not None
    assert skill.instructions.body == "Look it up."
    assert skill.instructions.frontmatter == {"name": "tide", "description": "Reads tide tables."}
    assert skill.version == f"@{skill.digest[:8]}"


def test_scalars_are_kept_as_written(write_skill_md: Writer) -> None:
    """What YAML would make a number, a truth value or a date is a text, and the version comes from metadata."""
    text = (
        "name: tide\ndescription: on\nlicense: 2\nmetadata:\n  version: 1.10\n  day: 2024-01-31\n  ok: true"
    )
    skill = read_instruction_skill(write_skill_md(text=frontmatter(text)), strict=True).skill
    assert skill.instructions is not None
    assert skill.instructions.frontmatter == {
        "name": "tide",
        "description": "on",
        "license": "2",
        "metadata": {"version": "1.10", "day": "2024-01-31", "ok": "true"},
    }
    assert (skill.version, skill.description) == ("1.10", "on")


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf---\nname: tide\ndescription: Flut\n---\nBody",
        b"---\r\nname: tide\r\ndescription: Flut\r\n---\r\nBody",
        b"--- \nname: tide\ndescription: 'Flut'\n---\t\nBody",
        b'---\nname: "tide"\ndescription: >\n  Flut\n---\nBody\n\n',
    ],
    ids=["bom", "crlf", "blanks", "folded"],
)
def test_the_edges_of_frontmatter_may_be_untidy(data: bytes, write_skill_md: Writer) -> None:
    """Byte order marks, CRLF, blanks behind the bars and quotes change nothing, for strict readers too."""
    skill = read_instruction_skill(write_skill_md(text=data), strict=True).skill
    assert skill.instructions is not None
    assert (skill.description, skill.instructions.body) == ("Flut", "Body")


def test_unicode_is_kept(write_skill_md: Writer) -> None:
    """Names and descriptions may be in any script."""
    text = frontmatter("name: 潮汐\ndescription: Gezeiten für Ærø 🌊")
    skill = read_instruction_skill(write_skill_md("潮汐", text=text), strict=True).skill
    assert (skill.id, skill.description) == ("潮汐", "Gezeiten für Ærø 🌊")


@pytest.mark.parametrize(
    ("text", "key", "expected", "found"),
    [
        ("", "line 1", "a line ---", "an empty file"),
        ("# Tide\n", "line 1", "a line ---", '"# Tide"'),
        ("---\nname: tide\n", "line 3", "a second line ---", "the end of the file"),
        (frontmatter("- a"), "line 2", "keys with values", '["a"]'),
        (frontmatter("name: tide"), "description", "a description", "nothing"),
        (frontmatter("name: tide\ndescription: ' '"), "description", "a description", "nothing"),
        (frontmatter("name: tide\ndescription: [1"), "line 4, column 1", "YAML", ""),
    ],
    ids=["empty", "none", "unclosed", "list", "no-description", "blank-description", "no-yaml"],
)
def test_what_no_client_can_load_is_a_problem(
    text: str, key: str, expected: str, found: str, write_skill_md: Writer
) -> None:
    """A file without usable frontmatter is refused with file, place, what was expected and what was found."""
    folder = write_skill_md(text=text)
    (problem,) = problems(folder)
    assert (problem.where, problem.key, problem.expected) == (str(folder / "SKILL.md"), key, expected)
    assert found in problem.found


def test_bytes_that_are_no_text_are_refused_with_their_line(write_skill_md: Writer) -> None:
    """A file in another encoding is not guessed at."""
    (problem,) = problems(write_skill_md(text=b"---\nname: tide\ndescription: caf\xe9\n---\n"))
    assert (problem.key, problem.found) == ("line 3", "byte 0xe9")


def test_an_unquoted_colon_is_read_as_if_it_were_quoted(write_skill_md: Writer) -> None:
    """The commonest mistake is mended with a notice; strictly it is an error."""
    folder = write_skill_md(text=frontmatter("name: tide\ndescription: Use when: it's asked"))
    reading = read_instruction_skill(folder)
    assert reading.skill.description == "Use when: it's asked"
    assert "quote them" in reading.notices[0]
    (problem,) = problems(folder, strict=True)
    assert problem.key == "line 3, column 22"


LENIENT = [
    ("name: Tide\ndescription: d", "name", '"Tide"'),
    ("description: d", "name", "nothing"),
    ("name: [a]\ndescription: d", "name", '["a"]'),
    (f"name: tide\ndescription: {'d' * 1025}", "description", "1025 characters"),
    ("name: tide\ndescription: d\nauthor: me", "author", '"author"'),
    ("name: tide\ndescription: d\nlicence: MIT", "licence", '"licence"'),
    ("name: tide\ndescription: d\ncompatibility: ''", "compatibility", "0 characters"),
    ("name: tide\ndescription: d\nmetadata:\n  a: [b]", "metadata.a", '["b"]'),
    ("name: tide\ndescription: d\nallowed-tools: [Read]", "allowed-tools", '["Read"]'),
    ("name: tide\ndescription: d\ndescription: d", "line 4", "description again, and the last counts"),
]


@pytest.mark.parametrize(("text", "key", "found"), LENIENT, ids=[each[1] for each in LENIENT])
def test_what_clients_forgive_is_a_notice_and_strictly_a_problem(
    text: str, key: str, found: str, write_skill_md: Writer
) -> None:
    """The skill is loaded all the same, under the name of its folder where it has none."""
    folder = write_skill_md(text=frontmatter(text))
    reading = read_instruction_skill(folder)
    strictly = problems(folder, strict=True)
    assert (key, found) in {(problem.key, problem.found) for problem in strictly}
    assert reading.notices == tuple(str(problem) for problem in strictly)
    assert reading.skill.id in {"tide", "Tide"}


@pytest.mark.parametrize("name", ["-tide", "tide-", "ti--de", "ti_de", "TIDE", "ti de"])
def test_a_name_has_letters_digits_and_single_hyphens(name: str, write_skill_md: Writer) -> None:
    """Strictly, whatever else a name has is refused even where the folder has the same name."""
    folder = write_skill_md(name, text=frontmatter(f"name: {name}\ndescription: d"))
    (problem,) = problems(folder, strict=True)
    assert problem.expected == "lower-case letters, digits and single hyphens between them"


def test_a_name_may_have_64_characters(write_skill_md: Writer) -> None:
    """One more is one too many."""
    assert read_instruction_skill(write_skill_md("a" * 64), strict=True).skill.id == "a" * 64
    (problem,) = problems(write_skill_md("a" * 65), strict=True)
    assert (problem.expected, problem.found) == ("at most 64 characters", "65 characters")


def test_ae15_all_problems_of_a_skill_are_told_at_once(write_skill_md: Writer) -> None:
    """Frontmatter and files are looked at whatever is wrong with the other."""
    folder = write_skill_md(text=frontmatter("name: Tide\nauthor: me"))
    (folder / "leak.md").symlink_to("/etc/hostname")
    keys = [problem.key or Path(problem.where).name for problem in problems(folder, strict=True)]
    assert keys == ["author", "name", "name", "description", "leak.md"]


def test_files_have_roles(write_skill_md: Writer) -> None:
    """References have a text, scripts their first line, assets only a name; what is not content is not there."""
    files = {
        "references/api.md": "# API",
        "references/deep/x.txt": "x",
        "references/data.csv": "1,2",
        "reference/old.mdx": "old",
        "NOTES.md": "notes",
        "LICENSE.txt": "MIT",
        "scripts/run.sh": "#!/bin/sh\necho",
        "scripts/lib/a.py": "import os",
        "assets/logo.png": b"\x89PNG\0",
        "evals/evals.json": "[]",
        "evals.json": "[]",
        ".hidden/x.md": "x",
        "node_modules/x/README.md": "x",
        "__pycache__/a.pyc": b"",
    }
    assert roles(read_instruction_skill(write_skill_md(**files)).skill) == {
        "LICENSE.txt": ("asset", None),
        "NOTES.md": ("reference", "notes"),
        "assets/logo.png": ("asset", None),
        "reference/old.mdx": ("reference", "old"),
        "references/api.md": ("reference", "# API"),
        "references/data.csv": ("asset", None),
        "references/deep/x.txt": ("reference", "x"),
        "scripts/lib/a.py": ("script", ""),
        "scripts/run.sh": ("script", "#!/bin/sh"),
    }


def test_a_long_reference_is_cut_between_characters(write_skill_md: Writer) -> None:
    """64 KiB are kept, and size and digest are those of the whole file."""
    data = ("a" * 65_535 + "é" * 10).encode()
    skill = read_instruction_skill(write_skill_md(**{"references/long.md": data, "NUL.md": b"a\0b"})).skill
    assert skill.instructions is not None
    binary, long = skill.instructions.files
    assert (long.kind, long.text, long.n_bytes) == (FileKind.CUT, "a" * 65_535, 65_555)
    assert long.digest == hashlib.sha256(data).hexdigest()
    assert (binary.kind, binary.text) == (FileKind.BINARY, None)


@pytest.mark.parametrize("link", ["references/x.md", "assets", "SKILL.md"])
def test_ae16_a_link_that_leaves_the_skill_is_refused(
    link: str, write_skill_md: Writer, tmp_path: Path
) -> None:
    """Link and target are named, whether a file or a folder would be shown."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("---\nname: tide\ndescription: d\n---\n")
    folder = write_skill_md(**{"references/a.md": "a"})
    target = outside if link == "assets" else outside / "x"
    (folder / link).unlink(missing_ok=True)
    (folder / link).symlink_to(target)
    (problem,) = problems(folder)
    assert (problem.where, problem.found) == (str(folder / link), f"a link to {target}")


def test_links_inside_the_skill_are_read_but_none_shows_its_evals(write_skill_md: Writer) -> None:
    """A link to a neighbour is that file, circles end, and evals have no second name."""
    folder = write_skill_md(**{"AGENTS.md": "same", "evals/answers.md": "42"})
    (folder / "CLAUDE.md").symlink_to("AGENTS.md")
    (folder / "loop").symlink_to(".")
    (folder / "gone.md").symlink_to("nothing.md")
    reading = read_instruction_skill(folder)
    assert roles(reading.skill) == {"AGENTS.md": ("reference", "same"), "CLAUDE.md": ("reference", "same")}
    assert "which is not there" in reading.notices[0]
    (folder / "hint.md").symlink_to("evals/answers.md")
    (problem,) = problems(folder)
    assert problem.expected == "a link that does not show the evals"


def test_the_digest_is_that_of_the_skill_without_its_evals(write_skill_md: Writer) -> None:
    """Evals, caches and results do not change a skill; any other file does, a hidden one too."""
    folder = write_skill_md(**{"scripts/a.py": "1"})
    before = read_instruction_skill(folder).skill.digest
    for name in ("evals/evals.json", "outputs/run/x", "__pycache__/a.pyc", "evals.yaml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    assert read_instruction_skill(folder).skill.digest == before
    (folder / ".env").write_text("x")
    with_hidden = read_instruction_skill(folder).skill.digest
    (folder / "scripts" / "a.py").write_text("2")
    assert len({before, with_hidden, read_instruction_skill(folder).skill.digest}) == 3


def test_the_file_may_be_called_skill_md_in_small_letters(write_skill_md: Writer) -> None:
    """It is read with a notice; other spellings are not found."""
    folder = write_skill_md()
    (folder / "SKILL.md").rename(folder / "skill.md")
    assert "other clients look for SKILL.md" in read_instruction_skill(folder).notices[0]
    (folder / "skill.md").rename(folder / "SKILL.MD")
    (problem,) = problems(folder)
    assert (problem.expected, problem.found) == ("a file SKILL.md", "nothing there")
