from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from skilleval.catalog.benchmarks import BenchmarkReading
from skilleval.catalog.evals import read_evals
from skilleval.domain.files import FileKind, TaskFile
from skilleval.domain.skills import Skill
from skilleval.domain.tasks import Task
from skilleval.errors import Problem

CASE = {"id": 1, "prompt": "p", "assertions": ["a"]}
CaseReader = Callable[..., Task]
Finder = Callable[..., tuple[Problem, ...]]


def test_c16_paths_start_at_the_skill_or_at_its_evals(problems_of: Finder) -> None:
    """What leads elsewhere is refused, and what is missing is told before any model is called."""
    files = ["files/a.csv", "evals/files/a.csv", "../../../etc/hostname", "missing.bin"]
    escaping, missing = problems_of({"assertions": ["a"], "files": files}, **{"evals/files/a.csv": "1"})
    assert (escaping.key, escaping.expected) == ("evals[0].files[2]", "a file in the folder of the skill")
    assert (missing.key, missing.expected) == ("evals[0].files[3]", "a file that is there")


def test_c16_one_file_named_twice_is_given_once(read: Callable[..., BenchmarkReading]) -> None:
    """Both spellings are the same file, whose name for the subject has no evals/ in it."""
    case = {**CASE, "files": ["files/a.csv", "evals/files/a.csv"]}
    reading = read([case], **{"evals/files/a.csv": "a,b\n"})
    (task,) = reading.benchmark.tasks
    digest = hashlib.sha256(b"a,b\n").hexdigest()
    assert task.input["files"] == [{"name": "files/a.csv", "sha256": digest, "kind": "text"}]
    (file,) = task.files
    assert (file.name, file.text, file.n_bytes, file.digest) == ("files/a.csv", "a,b\n", 4, digest)
    assert reading.remarks[0].endswith("evals/files/a.csv is the same file as another one here")


def test_the_root_of_the_skill_comes_first(read_case: CaseReader) -> None:
    """Two files of one path are told apart by their whole paths."""
    files = ["files/a.csv", "evals/files/a.csv"]
    contents = {"files/a.csv": "root", "evals/files/a.csv": "evals"}
    task = read_case({"assertions": ["a"], "files": files}, **contents)
    assert [(file.name, file.text) for file in task.files] == [
        ("files/a.csv", "root"),
        ("evals/files/a.csv", "evals"),
    ]


def test_no_two_inputs_take_one_place(read_case: CaseReader) -> None:
    """Whichever is named first: neither replaces the other, and none is a folder of the other."""
    twice = read_case(
        {"assertions": ["a"], "files": ["evals/a.csv", "a.csv"]}, **{"a.csv": "root", "evals/a.csv": "evals"}
    )
    assert [file.name for file in twice.files] == ["evals/a.csv", "a.csv"]
    nested = read_case({"assertions": ["a"], "files": ["evals/b/c", "b"]}, **{"b": "root", "evals/b/c": "x"})
    assert [file.name for file in nested.files] == ["evals/b/c", "b"]


def test_a_path_may_lead_from_the_evals_into_the_skill(read_case: CaseReader) -> None:
    """It is the target that has to be in the skill."""
    task = read_case({"assertions": ["a"], "files": ["../assets/a.csv"]}, **{"assets/a.csv": "x"})
    assert [file.name for file in task.files] == ["assets/a.csv"]


def test_ae16_a_link_out_of_the_skill_is_no_input(
    write_evals: Callable[..., Skill], problems_of: Finder, tmp_path: Path
) -> None:
    """Links are resolved before they are believed, for files and for the folders above them."""
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "key").write_text("k")
    skill = write_evals()
    (skill.folder / "evals").mkdir()
    (skill.folder / "evals" / "key").symlink_to(tmp_path / "secrets" / "key")
    (skill.folder / "evals" / "room").symlink_to(tmp_path / "secrets")
    found = problems_of({"assertions": ["a"], "files": ["evals/key", "room/key"]})
    assert [problem.expected for problem in found] == ["a file in the folder of the skill"] * 2
    assert str(tmp_path / "secrets" / "key") in found[0].found


def test_ae17_cut_and_binary_inputs_are_said(read: Callable[..., BenchmarkReading]) -> None:
    """What a model cannot see whole is noticed; sizes and digests are those of the whole file."""
    files: dict[str, str | bytes] = {"evals/long.txt": "x" * 70_000, "evals/logo.png": b"\x89PNG\0\1"}
    reading = read([{**CASE, "files": ["long.txt", "logo.png"]}], **files)
    long, logo = reading.benchmark.tasks[0].files
    assert (long.kind, len(long.text or ""), long.n_bytes) == (FileKind.CUT, 65_536, 70_000)
    assert (logo.kind, logo.text, logo.n_bytes) == (FileKind.BINARY, None, 6)
    assert [remark.partition("]: ")[2] for remark in reading.remarks] == [
        "long.txt (70000 bytes) is cut",
        "logo.png (6 bytes) is binary: only its name is shown",
    ]


def test_folders_and_other_values_are_no_files(problems_of: Finder) -> None:
    """Files are named one by one."""
    found = problems_of({"assertions": ["a"], "files": ["files", 3, ""]}, **{"evals/files/a.csv": "1"})
    assert [problem.found for problem in found] == ["the folder files", "3", '""']


def test_the_skill_as_an_input_is_noticed(read: Callable[..., BenchmarkReading]) -> None:
    """With SKILL.md among its inputs the baseline would have the skill too."""
    reading = read([{**CASE, "files": ["SKILL.md"]}])
    assert "in the arm without it too" in reading.remarks[0]


def test_inputs_are_read_once(write_evals: Callable[..., Skill]) -> None:
    """What changes on disk afterwards changes no arm."""
    skill = write_evals([{**CASE, "files": ["a.txt"]}], **{"evals/a.txt": "before"})
    (task,) = read_evals([skill]).benchmark.tasks
    (skill.folder / "evals" / "a.txt").write_text("after")
    (file,) = task.files
    assert isinstance(file, TaskFile)
    assert file.text == "before"
