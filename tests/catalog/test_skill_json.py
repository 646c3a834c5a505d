from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skilleval.catalog.documents import read_document
from skilleval.catalog.skill_json import folder_digest, read_skill, skill_reading
from skilleval.errors import CatalogError, Problem

Writer = Callable[..., Path]


def problems_of(path: Path) -> tuple[Problem, ...]:
    """Give the problems of reading a skill."""
    with pytest.raises(CatalogError) as caught:
        read_skill(path)
    return caught.value.problems


def test_a_manifest_becomes_a_skill(write_skill: Writer) -> None:
    """Every key of a manifest has its place in the skill."""
    folder = write_skill(
        tags=["math"],
        inputSchema={"type": "object"},
        outputSchema={"type": "array"},
        metadata={"author": "A", "toolName": "add", "ours": 1},
    )
    skill = read_skill(folder)
    assert (skill.id, skill.name, skill.version) == ("adder", "Adder", "1.0.0")
    assert (skill.adapter, skill.entrypoint, skill.tags) == ("subprocess", "python3 skill.py", ("math",))
    assert (skill.input_schema, skill.output_schema) == ({"type": "object"}, {"type": "array"})
    assert skill.metadata == {"author": "A", "toolName": "add", "ours": 1}
    assert skill.digest == folder_digest(folder)


def test_es01_file_and_folder_give_the_same_skill(write_skill: Writer) -> None:
    """The skill's folder is that of its manifest, whether the file or the folder was named."""
    folder = write_skill()
    skill = read_skill(folder)
    assert skill == read_skill(folder / "skill.json")
    assert skill.folder == folder.resolve()
    assert skill.source == folder.resolve() / "skill.json"


def test_es01_a_relative_path_gives_an_absolute_folder(write_skill: Writer) -> None:
    """However the path is written, the folder is absolute and free of links."""
    folder = write_skill()
    (folder.parent / "link").symlink_to(folder)
    assert read_skill(Path(os.path.relpath(folder))).folder == folder.resolve()
    assert read_skill(folder.parent / "link" / ".." / "link").folder == folder.resolve()


def test_the_least_manifest_is_enough(write_skill: Writer) -> None:
    """Description, tags, schemas and metadata may be left out."""
    skill = read_skill(write_skill(description=None))
    assert (skill.description, skill.tags, skill.input_schema, skill.metadata) == ("", (), {}, {})


@pytest.mark.parametrize("kind", ["http", "subprocess", "mcp", "python", "langchain", "custom"])
def test_the_six_adapter_types_are_known(kind: str, write_skill: Writer) -> None:
    """http, subprocess, mcp, python, langchain and custom are accepted."""
    assert read_skill(write_skill(adapterType=kind)).adapter == kind


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"id": ""}, "id"),
        ({"id": "Adder"}, "id"),
        ({"id": "a b"}, "id"),
        ({"id": "adder\n"}, "id"),
        ({"id": 3}, "id"),
        ({"name": " "}, "name"),
        ({"version": "1.0"}, "version"),
        ({"version": "1.0.0-beta"}, "version"),
        ({"version": "1.0.0\n"}, "version"),
        ({"version": "1.0.٣"}, "version"),
        ({"description": 3}, "description"),
        ({"tags": "math"}, "tags"),
        ({"tags": ["a", 3]}, "tags[1]"),
        ({"inputSchema": []}, "inputSchema"),
        ({"outputSchema": "text"}, "outputSchema"),
        ({"adapterType": "lang_chain"}, "adapterType"),
        ({"adapterType": 1}, "adapterType"),
        ({"entrypoint": ""}, "entrypoint"),
        ({"entrypoint": 'python3 "skill.py'}, "entrypoint"),
        ({"metadata": []}, "metadata"),
        ({"metadata": {"author": 3}}, "metadata.author"),
        (
            {"metadata": {"benchmarkResults": [{"benchmarkId": "b"}]}},
            "metadata.benchmarkResults[0].completionRate",
        ),
    ],
)
def test_each_rule_of_a_manifest_is_applied(changes: dict[str, Any], key: str, write_skill: Writer) -> None:
    """A value that breaks a rule is a problem with its key, what was expected and what was found."""
    problem = problems_of(write_skill(**changes))[0]
    assert problem.key == key
    assert problem.expected
    assert problem.found


def test_only_a_command_line_needs_balanced_quotes(write_skill: Writer) -> None:
    """An address may hold a lone quote."""
    address = "http://localhost:3000/it's"
    assert read_skill(write_skill(adapterType="http", entrypoint=address)).entrypoint == address


def test_all_mistakes_are_reported_together(write_skill: Writer) -> None:
    """One reading names every wrong and every missing key, each once."""
    problems = problems_of(write_skill(id="A", version="1", name=None, entrypoint=None))
    assert sorted(problem.key for problem in problems) == ["entrypoint", "id", "name", "version"]


def test_a_misspelt_value_gets_a_hint(write_skill: Writer) -> None:
    """An unknown adapter type names the nearest known one."""
    problem = problems_of(write_skill(adapterType="subproces"))[0]
    assert (problem.found, problem.hint) == ('"subproces"', "did you mean subprocess?")


@pytest.mark.parametrize("wrong", ["adapter_type", "adaptertype", "adapter"])
def test_a_misspelt_required_key_gets_a_hint(wrong: str, write_skill: Writer) -> None:
    """A missing key names the key that was probably meant."""
    problem = problems_of(write_skill(adapterType=None, **{wrong: "http"}))[0]
    assert (problem.key, problem.found, problem.hint) == (
        "adapterType",
        "nothing",
        f"rename {wrong} to adapterType",
    )


def test_unknown_keys_are_noticed_and_harmless(write_skill: Writer) -> None:
    """A key nobody knows is named in a notice, with the key that may have been meant."""
    folder = write_skill(tag=["x"], colour="red")
    notices = skill_reading(read_document(folder / "skill.json")).notices
    assert [notice.split(": ", 1)[1] for notice in notices] == [
        "tag: unknown key, without effect (did you mean tags?)",
        "colour: unknown key, without effect",
    ]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ([], "a list of 0 items"),
        ([{"a": 1}], "a list of 1 item, the first with the key a"),
        ({}, "an object with no keys"),
        ({"name": "x", "endpoints": {}}, "an object with the keys name, endpoints"),
        ("skill", "a text"),
        (3, "a number"),
        (True, "true or false"),
        (None, "null"),
        ({"evals": []}, "an evals file: prompts with expectations in words"),
        (
            {"tasks": [{"rubric": []}]},
            "a rubric of another tool: criteria for a human or a judge, no expected output",
        ),
    ],
)
def test_json_of_another_kind_is_reported_by_its_shape(value: object, found: str, write_json: Writer) -> None:
    """What is no manifest is said to be what it is, whatever the file is called."""
    (problem,) = problems_of(write_json(value, "skill.json"))
    assert (problem.expected, problem.found) == ("a skill manifest", found)


def test_a_manifest_may_have_any_name(write_json: Writer) -> None:
    """A manifest is recognised by its shape, not by its name."""
    manifest = {
        "id": "a",
        "name": "A",
        "version": "0.1.0",
        "adapterType": "http",
        "entrypoint": "http://localhost",
    }
    assert read_skill(write_json(manifest, "other.json")).id == "a"


@pytest.mark.parametrize("value", [{"id": "a", "entrypoint": "b"}, {"inputSchema": {}, "outputSchema": {}}])
def test_a_manifest_without_adapter_type_is_a_broken_manifest(
    value: dict[str, object], write_json: Writer
) -> None:
    """A manifest that only lacks its adapter type is told so."""
    assert "adapterType" in {problem.key for problem in problems_of(write_json(value, "skill.json"))}


def fill(folder: Path) -> Path:
    """Write a small skill-like folder."""
    (folder / "data").mkdir(parents=True)
    (folder / "skill.json").write_bytes(b"{}")
    (folder / "data" / "a.txt").write_bytes(b"alpha")
    (folder / "data" / "b.txt").write_bytes(b"")
    (folder / "link").symlink_to("data")
    return folder


def test_equal_folders_have_equal_digests(tmp_path: Path) -> None:
    """The place, the times and the modes of files do not count; 64 hexadecimal digits come out."""
    one, two = fill(tmp_path / "one"), fill(tmp_path / "deep" / "two")
    (two / "skill.json").chmod(0o755)
    os.utime(two / "skill.json", (0, 0))
    assert folder_digest(one) == folder_digest(two)
    assert len(folder_digest(one)) == 64


@pytest.mark.parametrize(
    "left_out",
    [
        "__pycache__/skill.cpython-311.pyc",
        "outputs/default/run/manifest.json",
        "data/old.pyc",
        ".git/HEAD",
        ".git",
        ".venv/bin/python",
        "data/node_modules/x.js",
    ],
)
def test_leftovers_do_not_count(left_out: str, tmp_path: Path) -> None:
    """Byte code, git, virtual environments and node modules leave the digest as it was."""
    folder = fill(tmp_path / "one")
    before = folder_digest(folder)
    (folder / left_out).parent.mkdir(parents=True, exist_ok=True)
    (folder / left_out).write_bytes(b"x")
    assert folder_digest(folder) == before


def _edit(folder: Path) -> None:
    (folder / "data" / "a.txt").write_bytes(b"alphA")


def _rename(folder: Path) -> None:
    (folder / "data" / "a.txt").rename(folder / "data" / "c.txt")


def _move(folder: Path) -> None:
    (folder / "data" / "a.txt").rename(folder / "a.txt")


def _add_empty(folder: Path) -> None:
    (folder / "new").write_bytes(b"")


def _remove(folder: Path) -> None:
    (folder / "data" / "b.txt").unlink()


def _swap(folder: Path) -> None:
    (folder / "data" / "a.txt").write_bytes(b"")
    (folder / "data" / "b.txt").write_bytes(b"alpha")


def _retarget(folder: Path) -> None:
    (folder / "link").unlink()
    (folder / "link").symlink_to("..")


def _unlink(folder: Path) -> None:
    (folder / "link").unlink()
    (folder / "link").write_bytes(b"data")


def _hide(folder: Path) -> None:
    (folder / ".env").write_bytes(b"x")


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe")


@pytest.mark.parametrize(
    "change", [_edit, _rename, _move, _add_empty, _remove, _swap, _retarget, _unlink, _hide, _pipe]
)
def test_any_change_of_content_or_name_changes_the_digest(
    change: Callable[[Path], None], tmp_path: Path
) -> None:
    """A byte, a name, a place, a link's target, a new or missing file: each gives another digest."""
    folder = fill(tmp_path / "one")
    before = folder_digest(folder)
    change(folder)
    assert folder_digest(folder) != before


def test_names_and_contents_cannot_be_confused(tmp_path: Path) -> None:
    """Moving bytes between name and content never gives the same digest."""
    for name, content in (("ab", b"c"), ("a", b"bc"), ("abc", b"")):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_bytes(content)
    assert len({folder_digest(tmp_path / name) for name in ("ab", "a", "abc")}) == 3


def test_links_are_not_followed_out_of_the_folder(tmp_path: Path) -> None:
    """A link counts by its text alone: a loop ends, and what it points to may change or be missing."""
    folder = fill(tmp_path / "one")
    (folder / "up").symlink_to("..")
    (folder / "gone").symlink_to("nowhere")
    before = folder_digest(folder)
    (tmp_path / "neighbour").write_bytes(b"x")
    assert folder_digest(folder) == before


def test_names_that_are_not_utf8_are_counted(tmp_path: Path) -> None:
    """A file name of any bytes is part of the digest."""
    folder = fill(tmp_path / "one")
    before = folder_digest(folder)
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff")).write_bytes(b"")
    assert folder_digest(folder) != before


def test_a_folder_that_is_gone_is_a_problem(tmp_path: Path) -> None:
    """A folder that cannot be read has no digest."""
    folder = fill(tmp_path / "one")
    shutil.rmtree(folder)
    with pytest.raises(CatalogError, match="cannot be fingerprinted"):
        folder_digest(folder)


@pytest.mark.parametrize(
    ("script", "entrypoint", "hint"),
    [
        ("skill.py", "skill.py --fast", "write `python3 skill.py --fast`"),
        ("skill.mjs", "skill.mjs", "write `node skill.mjs`"),
        ("skill.py", "./skill.py", "write `python3 ./skill.py`"),
        ("answer", "answer", "put its interpreter in front"),
    ],
)
def test_a_script_without_its_interpreter_is_refused(
    write_skill: Writer, script: str, entrypoint: str, hint: str
) -> None:
    """A file of the skill that no shell would find or start is told before the first trial, with what to write."""
    folder = write_skill(entrypoint=entrypoint)
    (folder / script).write_text("")
    (problem,) = problems_of(folder)
    assert (problem.key, problem.hint) == ("entrypoint", hint)


def test_a_script_that_may_be_executed_needs_no_interpreter(write_skill: Writer) -> None:
    """Neither does one that is named behind a program, nor a program that is only missing on this machine."""
    folder = write_skill(entrypoint="./skill.py")
    (folder / "skill.py").write_text("#!/usr/bin/env python3\n")
    (folder / "skill.py").chmod(0o755)
    assert read_skill(folder).entrypoint == "./skill.py"
    assert read_skill(write_skill("other", entrypoint="no-such-program skill.py")).id == "adder"


def test_the_command_of_the_adapter_config_is_checked_in_place_of_the_entrypoint(write_skill: Writer) -> None:
    """What would really be started counts."""
    folder = write_skill(entrypoint="skill.py")
    (folder / "skill.py").write_text("")
    (folder / "adapter.config.json").write_text('{"command": "python3", "args": ["skill.py"]}')
    assert read_skill(folder).entrypoint == "python3 skill.py"
