"""`eval --plan-only` and `merge`, as a user meets them."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import ROOT, Run

RIGHT = {"output": 1}
Replayed = Callable[[Mapping[str, Any]], list[str]]


@pytest.fixture
def arguments(replayed: Replayed) -> list[str]:
    """Give arguments that evaluate two tasks by recorded attempts."""
    return [*replayed({"t1": RIGHT, "t2": {"output": 2}}), "sandbox=none"]


def test_a_swept_plan_is_joined_by_the_id_of_its_sweep(run: Run, arguments: list[str]) -> None:
    """Shards are swept like any setting; what they leave open, the joined run decides."""
    swept = run("eval", "-m", *arguments, "plan.shards=2", "plan.shard=range(2)", "--exit-on-fail", "--json")
    assert swept.code == 0, swept.err
    assert swept.document["next"] == f"skilleval merge {swept.document['sweep_dir']} --format html"
    joined = run("merge", swept.document["sweep_id"], "--json")
    assert joined.code == 1, joined.err
    assert joined.document["statuses"] == {"completed": 2}
    assert len(joined.document["merged_from"]) == 2
    shown = run("merge", swept.document["sweep_id"], "--dry-run")
    assert shown.out.count("run: ") == 2
    assert "nothing was written" in shown.out


def test_the_latest_shard_of_a_sweep_stands_for_all(run: Run, arguments: list[str]) -> None:
    """Right after a sweep over shards `latest` joins the sweep, not the one shard that ended last."""
    assert run("eval", "-m", *arguments, "plan.shards=2", "plan.shard=range(2)").code == 0
    joined = run("merge", "latest", "--json")
    assert joined.code == 0, joined.err
    assert len(joined.document["merged_from"]) == 2


def test_what_is_missing_is_told_by_the_installed_script(
    run: Run, run_script: Run, arguments: list[str]
) -> None:
    """A shard alone is no whole: exit 2, with what is missing and what to do."""
    run("eval", *arguments, "plan.shards=2", "--output-dir", "out")
    refused = run_script("merge", "out")
    assert refused.code == 2
    assert "shard 1 of 2" in refused.err
    assert "--allow-missing" in refused.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gate.min_completion=1"], "no run is named"),
        (["nowhere"], "no run is stored"),
        (["-c", "x.yaml", "a"], "files"),
    ],
)
def test_mistakes_are_told(run: Run, words: list[str], said: str) -> None:
    """Nothing to join, or what has no say, is exit 2 in plain words."""
    refused = run("merge", *words)
    assert refused.code == 2
    assert said in refused.err


def test_the_plan_is_printed_and_nothing_is_written(run: Run, arguments: list[str], folder: Path) -> None:
    """As text, as one document, as a table; the hash is that of the run that follows."""
    text = run("eval", *arguments, "plan.shards=2", "--plan-only")
    document = run("eval", *arguments, "plan.shards=2", "--plan-only", "--json").document
    table = run("eval", *arguments, "plan.shards=2", "--plan-only", "--format", "csv")
    listed = list(csv.DictReader(io.StringIO(table.out)))
    assert not (folder / "outputs").exists()
    assert document["digest"] in text.out
    assert "shards:     2 (the first is 0): shards 0-1 have 1 trial each\n" in text.out
    assert text.err == ""  # nothing runs, so nothing is to be warned of
    assert [(row["task_id"], row["shard"]) for row in listed] == [
        (one["task_id"], str(one["shard"])) for one in document["trials"]
    ]
    assert {row["shard"] for row in listed} == {"0", "1"}
    done = run("eval", *arguments, "plan.shards=2", "--json")
    manifest = json.loads((done.run_folder() / "manifest.json").read_text())
    assert manifest["plan"]["digest"] == document["digest"]


@pytest.mark.parametrize(
    ("n_shards", "said"),
    [(1, None), (3, "shards 0-1 have 1 trial each, shard 2 has no trial"), (5, "shards 2-4 have none")],
)
def test_the_sizes_of_shards_are_told_in_words(
    run: Run, arguments: list[str], n_shards: int, said: str | None
) -> None:
    """Which shard has how many trials; a plan in one piece has none to tell of."""
    text = run("eval", *arguments, f"plan.shards={n_shards}", "--plan-only").out
    assert "trials:     2 (" in text
    assert ("shards:" not in text) if said is None else (said in text)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--format", "html"], "not written as html"),
        (["--dry-run"], "leave one of them out"),
        (["-m"], "leave -m out"),
    ],
)
def test_a_plan_is_only_shown(run: Run, arguments: list[str], words: list[str], said: str) -> None:
    """What would run something, or has no form for a plan, is refused."""
    refused = run("eval", *arguments, "--plan-only", *words)
    assert refused.code == 2
    assert said in refused.err


_PRINT = """
import sys
from skilleval.cli import run
sys.exit(run(sys.argv[1:]))
"""


def _plan(folder: Path, skills: Path, tasks: str, **environment: str) -> str:
    command = ["eval", "--skills", str(skills), "--tasks", tasks, "--plan-only", "--json", "plan.shards=3"]
    done = subprocess.run(
        [sys.executable, "-c", _PRINT, *command, "runner.repeats=2", "sandbox=none"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(folder / "xdg"), **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    return json.dumps([document["digest"], document["trials"]], sort_keys=True)


def _write(folder: Path, names: list[str]) -> Path:
    """Write skills and tasks; `names` is the order in which the files of each skill come to the disk."""
    for skill in sorted(("b", "a"), reverse=names[0] > names[-1]):
        (folder / "skills" / skill).mkdir(parents=True)
        manifest = {
            "id": skill,
            "name": skill,
            "version": "1.0.0",
            "adapterType": "subprocess",
            "entrypoint": "cat",
        }
        contents = {"skill.json": json.dumps(manifest), "ä.txt": "ä", "Z.txt": "z", "a.txt": "a"}
        for name in names:
            (folder / "skills" / skill / name).write_text(contents[name], encoding="utf-8")
    tasks = [
        {"id": f"t{n}", "inputData": {"b": n, "a": "ä"}, "expectedOutput": {"type": "exact", "value": n}}
        for n in range(4)
    ]
    (folder / "tasks.json").write_text(json.dumps(tasks))
    return folder


def test_the_plan_is_the_same_on_every_machine(tmp_path: Path) -> None:
    """Folders, order of files, times, modes, hash seed, locale, relative paths: all of them give the same trials."""
    names = ["skill.json", "ä.txt", "Z.txt", "a.txt"]
    here = _write(tmp_path / "here", names)
    there = _write(tmp_path / "far" / "away" / "there", names[::-1])
    for path in (there / "skills").rglob("*.txt"):
        path.chmod(0o755)
        os.utime(path, (1, 1))
    elsewhere = tmp_path / "cwd"
    elsewhere.mkdir()
    first = _plan(here, Path("skills"), "tasks.json", PYTHONHASHSEED="1", LC_ALL="C.UTF-8")
    second = _plan(elsewhere, there / "skills", str(there / "tasks.json"), PYTHONHASHSEED="2", LC_ALL="C")
    assert first == second
    shutil.copytree(here, tmp_path / "copy")
    (tmp_path / "copy" / "skills" / "a" / "a.txt").write_text("b")
    assert _plan(tmp_path / "copy", Path("skills"), "tasks.json") != first
