from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skilleval.catalog.benchmarks import read_tasks

Writer = Callable[..., Path]


def task(reference: str, *, as_option: bool = False) -> dict[str, Any]:
    """Give a task that a custom scorer judges."""
    named = {"customScorerPath": reference}
    return {
        "id": "t",
        "inputData": {},
        "expectedOutput": {} if as_option else named,
        "evaluator": {"type": "custom", **(named if as_option else {})},
    }


@pytest.mark.parametrize("as_option", [True, False])
@pytest.mark.parametrize(
    ("reference", "file"),
    [
        ("judge.py", "judge.py"),
        ("judge.py:strict", "judge.py"),
        ("rules/judge.py", "rules/judge.py"),
        ("judge:strict", "judge.py"),
        ("rules.judge:strict", "rules/judge.py"),
        ("rules:strict", "rules/__init__.py"),
    ],
)
def test_a_changed_custom_scorer_makes_another_benchmark(
    write_json: Writer, tmp_path: Path, reference: str, file: str, as_option: bool
) -> None:
    """However the scorer is named, its content is part of the digest; the same content gives the same digest."""
    scorer = tmp_path / file
    scorer.parent.mkdir(exist_ok=True)
    path = write_json([task(reference, as_option=as_option)])
    digests = []
    for text in ("def score(): ...", "def score(): 1", "def score(): ..."):
        scorer.write_text(text)
        digests.append(read_tasks(path).benchmark.digest)
    assert digests[0] == digests[2] != digests[1]
    assert hashlib.sha256(path.read_bytes()).hexdigest() not in digests


def test_a_benchmark_without_companions_has_the_digest_of_its_file(write_json: Writer) -> None:
    """A scorer that only Python's import finds, or a file in an input that is no attachment, changes nothing."""
    asked = task("json:loads") | {"inputData": {"file": {"name": "a", "sha256": 5}}}
    path = write_json([asked, task("no\0name:score") | {"id": "u"}])
    assert read_tasks(path).benchmark.digest == hashlib.sha256(path.read_bytes()).hexdigest()


def test_two_scorers_cannot_swap_their_contents(write_json: Writer, tmp_path: Path) -> None:
    """Which content stands under which name is part of the digest."""
    tasks = [task("a.py"), task("b.py") | {"id": "u"}]
    path = write_json(tasks)
    digests = set()
    for one, other in (("1", "2"), ("2", "1")):
        (tmp_path / "a.py").write_text(one)
        (tmp_path / "b.py").write_text(other)
        digests.add(read_tasks(path).benchmark.digest)
    assert len(digests) == 2
