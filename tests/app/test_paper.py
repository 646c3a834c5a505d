from __future__ import annotations

import hashlib
import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from stored_runs import TASKS, Runs, rewrite_manifest

from skilleval.app.analyse import analyse
from skilleval.app.paper import Written, write_paper
from skilleval.app.verify import verify
from skilleval.errors import ResultsError, UsageError, WriteError
from skilleval.report.numbers import rate
from skilleval.report.paper.document import Options


def write(runs: Runs, out: Path, *folders: Path, **options: Any) -> Written:
    """Write a paper of some runs."""
    return write_paper(
        [str(folder) for folder in folders], store=runs.store, out=out, options=Options(**options)
    )


def facts(out: Path) -> Any:
    """Read what a kit says of itself."""
    return json.loads((out / "paper.json").read_text(encoding="utf-8"))


def numbers(out: Path) -> dict[str, Any]:
    """Give the values of a kit by macro."""
    return {one["macro"]: one["value"] for one in facts(out)["numbers"]}


def test_a_kit_has_all_its_parts(tmp_path: Path) -> None:
    """Tables, figures in three forms, macros, methods, bibliography, script, article and rows."""
    runs = Runs(tmp_path / "w")
    out = tmp_path / "paper"
    written = write(runs, out, runs.run(wrong=["t5"]))
    assert {
        "tables/skills.tex",
        "tables/costs.tex",
        "figures/completion.pdf",
        "figures/completion.svg",
        "figures/completion.vl.json",
        "numbers.tex",
        "methods.tex",
        "references.bib",
        "reproduce.sh",
        "paper.json",
    } <= set(written.files)
    assert (out / "main.tex").is_file()
    assert (out / "Makefile").is_file()
    assert all((out / name).is_file() for name in written.files)
    assert os.access(out / "reproduce.sh", os.X_OK)


def test_numbers_are_those_of_the_report(tmp_path: Path) -> None:
    """Of one run a paper says what its report says, to the last bit."""
    runs = Runs(tmp_path / "w")
    folder = runs.run(wrong=["t5", "t6"])
    write(runs, tmp_path / "paper", folder)
    (row,) = analyse(folder).summary
    found = numbers(tmp_path / "paper")
    assert found["evalRecordedCompletion"] == row["completion_rate"] == 0.75
    assert found["evalRecordedCompletionLow"] == row["ci_low"]
    assert found["evalRecordedMedianLatency"] == row["p50_ms"]
    text = (tmp_path / "paper" / "numbers.tex").read_text(encoding="utf-8")
    assert rf"\newcommand{{\evalRecordedCompletion}}{{{rate(0.75)}}}" in text


def test_runs_on_one_benchmark_count_together(tmp_path: Path) -> None:
    """Two seeds are more repeats of one condition, in one table."""
    runs = Runs(tmp_path / "w")
    write(runs, tmp_path / "paper", runs.run(wrong=["t5"]), runs.run("runner.seed=1", wrong=["t5", "t6"]))
    found = numbers(tmp_path / "paper")
    assert found["evalRecordedGraded"] == 2 * len(TASKS)
    assert found["evalRecordedCompletion"] == 13 / 16
    assert found["evalAllRuns"] == 2
    assert len(facts(tmp_path / "paper")["runs"]) == 2


def test_a_baseline_run_is_held_against_the_others(tmp_path: Path) -> None:
    """A run as the baseline has tables of its own, and differences are those of `diff`."""
    runs = Runs(tmp_path / "w")
    first, second = runs.run(wrong=TASKS[:7]), runs.run()
    write(runs, tmp_path / "paper", second, baseline=str(first))
    found = numbers(tmp_path / "paper")
    (difference,) = [macro for macro in found if macro.endswith("Difference")]
    assert found[difference] == 7 / 8
    (p,) = [macro for macro in found if macro.endswith("PHolm")]
    assert found[p] == 2 / 2**7
    assert "†" not in (tmp_path / "paper" / "tables" / "baseline-on-custom-skills.tex").read_text(
        encoding="utf-8"
    )
    stems = sorted(path.name for path in (tmp_path / "paper" / "tables").glob("*skills.tex"))
    marked = [
        name for name in stems if "textdagger" in (tmp_path / "paper" / "tables" / name).read_text("utf-8")
    ]
    assert len(stems) == 2
    assert len(marked) == 1


def test_states_of_a_benchmark_are_kept_apart(tmp_path: Path) -> None:
    """Runs on other tasks get tables of their own, and are never counted together."""
    runs = Runs(tmp_path / "w")
    first, second = runs.run(), runs.run()
    manifest = json.loads((second / "manifest.json").read_text(encoding="utf-8"))
    rewrite_manifest(second, benchmark={**manifest["benchmark"], "digest": "f" * 64})
    write(runs, tmp_path / "paper", first, second)
    assert len(list((tmp_path / "paper" / "tables").glob("*skills.tex"))) == 2
    assert {value for name, value in numbers(tmp_path / "paper").items() if name.endswith("Graded")} == {8}


def test_a_run_counts_once(tmp_path: Path) -> None:
    """A run that is named twice, also as a copy, is refused before anything is written."""
    runs = Runs(tmp_path / "w")
    folder = runs.run()
    with pytest.raises(UsageError, match="counted twice"):
        write(runs, tmp_path / "paper", folder, folder)
    assert not (tmp_path / "paper").exists()


@pytest.mark.parametrize("options", [{"baseline": "nobody"}, {"scorer": "nobody"}])
def test_what_is_not_there_is_refused(tmp_path: Path, options: dict[str, str]) -> None:
    """A baseline or scorer that no run has is named, and nothing is written."""
    runs = Runs(tmp_path / "w")
    with pytest.raises(UsageError):
        write(runs, tmp_path / "paper", runs.run(), **options)
    assert not (tmp_path / "paper").exists()


def test_no_other_folder_is_written_to(tmp_path: Path) -> None:
    """A folder that holds something else is left alone."""
    runs = Runs(tmp_path / "w")
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "thesis.tex").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="something else"):
        write(runs, tmp_path / "paper", runs.run())
    assert [path.name for path in (tmp_path / "paper").iterdir()] == ["thesis.tex"]


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file of this process grow beyond a kilobyte."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_kit_that_could_not_be_written_can_be_written_again(tmp_path: Path) -> None:
    """A full disk leaves no half of a new kit, and takes no rows from one that was there."""
    runs, out = Runs(tmp_path / "w"), tmp_path / "paper"
    folder = runs.run()
    with full_disk(), pytest.raises(WriteError):
        write(runs, out, folder)
    assert not out.exists()
    write(runs, out, folder)
    before = sorted(out.rglob("*"))
    with full_disk(), pytest.raises(WriteError):
        write(runs, out, folder)
    assert sorted(out.rglob("*")) == before


def test_a_run_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A reference that fits no run is an error in words."""
    runs = Runs(tmp_path / "w")
    runs.run()
    with pytest.raises(ResultsError, match="no run"):
        write(runs, tmp_path / "paper", Path("nothing-like-this"))


def test_the_article_is_kept_and_the_rest_written_anew(tmp_path: Path) -> None:
    """The author's text outlives a new kit; tables that it has no more are removed."""
    runs = Runs(tmp_path / "w")
    out = tmp_path / "paper"
    first, second = runs.run(wrong=["t5"]), runs.run(wrong=["t6"])
    write(runs, out, first, baseline=str(second))
    (out / "main.tex").write_text("mine", encoding="utf-8")
    written = write(runs, out, first)
    assert written.placed.kept == ("main.tex", "Makefile")
    assert (out / "main.tex").read_text(encoding="utf-8") == "mine"
    assert [path.name for path in (out / "tables").glob("*skills.tex")] == ["skills.tex"]


def test_a_kit_of_fewer_runs_keeps_no_rows_of_the_others(tmp_path: Path) -> None:
    """Rows of a run that is left out go, and the kit verifies; those of the author's own runs stay where they are."""
    runs, out = Runs(tmp_path / "w"), tmp_path / "paper"
    first, second = runs.run(), runs.run("runner.seed=1")
    write(runs, out, first, second)
    written = write(runs, out, first)
    assert [path.name for path in (out / "data").iterdir()] == [first.name]
    assert f"data/{second.name}/manifest.json" in written.placed.removed
    assert (second / "manifest.json").is_file()
    assert verify(out, store=runs.store).differences == ()


def test_rows_of_a_kit_can_be_its_source(tmp_path: Path) -> None:
    """A kit that is written anew of its own rows keeps them, copied or pointed to."""
    runs, out = Runs(tmp_path / "w"), tmp_path / "paper"
    folder = runs.run()
    write(runs, out, folder)
    own = out / "data" / folder.name
    before = sorted(own.rglob("*"))
    for linked in (False, True):
        assert write(runs, out, own, linked=linked).placed.removed == ()
        assert sorted(own.rglob("*")) == before


def test_rows_are_copied_or_pointed_to(tmp_path: Path) -> None:
    """Copies have the digests of the rows; a link is a relative path."""
    runs = Runs(tmp_path / "w")
    folder = runs.run()
    write(runs, tmp_path / "paper", folder)
    (run,) = facts(tmp_path / "paper")["runs"]
    assert run["folder"] == f"data/{folder.name}"
    for name, digest in run["digests"].items():
        copied = (tmp_path / "paper" / run["folder"] / name).read_bytes()
        assert hashlib.sha256(copied).hexdigest() == digest
        assert copied == (folder / name).read_bytes()
    write(runs, tmp_path / "linked", folder, linked=True)
    (run,) = facts(tmp_path / "linked")["runs"]
    assert run["folder"] == f"../w/out/{folder.name}"
    assert not (tmp_path / "linked" / "data").exists()
