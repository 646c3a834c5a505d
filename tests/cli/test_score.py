"""`skilleval score`: new scorers for stored attempts, and no skill is called."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from cli.conftest import Run
from counted_skills import Counted, table
from small_skills import said


@pytest.fixture
def counted(tmp_path: Path) -> Counted:
    """Give a skill whose calls are counted."""
    return Counted(tmp_path)


def manifest(document: Any) -> Any:
    """Read the manifest of the run that a document tells of."""
    return json.loads((Path(document["run_dir"]) / "manifest.json").read_text())


def test_scoring_again_needs_neither_skill_nor_call(counted: Counted) -> None:
    """A new run beside the old one: the same attempts, new scores, reports as the run had them."""
    first = counted.evaluated("--format", "json", "csv").document
    shutil.rmtree(counted.skill)
    done = counted.scored("scorer=[exact,contains]")
    assert (done.code, counted.n_calls) == (0, 2)
    assert Path(done.document["run_dir"]).parent == Path(first["run_dir"]).parent
    assert done.document["run_id"] != first["run_id"]
    assert {path.rpartition(".")[2] for path in done.document["reports"].values()} == {"json", "csv"}
    before, after = table(first, "trials"), table(done.document, "trials")
    assert after["reused_from"].to_list() == [first["run_id"]] * 2
    same = [
        "trial_id",
        "call_key",
        "condition_id",
        "skill_digest",
        "output",
        "latency_ms",
        "started_at",
        "seed",
    ]
    assert before.select(same).sort("trial_id").equals(after.select(same).sort("trial_id"))
    assert sorted(table(done.document, "scores")["scorer"].unique()) == ["contains", "exact"]
    assert "2 of 2 attempts reused" in done.document["verdict"]


def test_latencies_of_the_run_are_shown_again(counted: Counted) -> None:
    """They are those of one run as it measured them, so the composite stays what it was."""
    first = counted.evaluated().document
    (before,), (after,) = first["summary"], counted.scored("scorer=exact").document["summary"]
    assert (after["p50_ms"], after["composite"]) == (before["p50_ms"], before["composite"])
    (without,) = counted.scored("analysis.reused_latency=false").document["summary"]
    assert without["p50_ms"] is None


def test_settings_are_those_of_the_run(counted: Counted) -> None:
    """What is not overridden stays: scorers with their options, gate, analysis."""
    counted.evaluated(
        "scorer=exact", "scorers.exact.tolerance=0.25", "gate.min_completion=0.4", "analysis.k=1"
    )
    done = counted.scored("scorers.exact.strip=false")
    config = manifest(done.document)["config"]
    assert (config["scorers"]["exact"]["tolerance"], config["scorers"]["exact"]["strip"]) == (0.25, False)
    assert (config["gate"]["min_completion"], config["analysis"]["k"]) == (0.4, 1)
    assert manifest(done.document)["skills"][0]["id"] == "counted"
    assert manifest(done.document)["privacy"]["egress"] == []


def test_a_score_of_the_same_key_is_taken_over(counted: Counted) -> None:
    """Only what would come out otherwise is judged again."""
    first = counted.evaluated("scorer=[exact,contains]").document
    scores = table(counted.scored("scorers.contains.whole_words=true").document, "scores")
    assert dict(scores.select("scorer", "reused_from").unique().rows()) == {
        "exact": first["run_id"],
        "contains": None,
    }


def test_a_changed_benchmark_is_an_error_that_says_so(counted: Counted) -> None:
    """Allowed, the tasks are judged by what they expect now; one with another input is left out and named."""
    counted.evaluated("scorer=exact")
    tasks = json.loads(counted.tasks.read_text())
    tasks[0]["expectedOutput"]["value"] = 2
    tasks[1]["inputData"] = {"other": 1}
    counted.tasks.write_text(json.dumps(tasks))
    refused = counted.scored()
    assert refused.code == 2
    assert "the benchmark has changed since the run" in refused.err
    assert "--allow-changed-benchmark" in refused.err
    done = counted.scored("--allow-changed-benchmark")
    assert done.code == 0, done.err
    (row,) = done.document["summary"]
    assert (row["n_trials"], row["n_failed"]) == (1, 1)
    assert "task t2: its input is another one now" in done.err


def test_a_task_that_is_gone_is_left_out(counted: Counted) -> None:
    """With nothing left, there is nothing to score."""
    counted.evaluated()
    tasks = json.loads(counted.tasks.read_text())
    counted.tasks.write_text(json.dumps(tasks[:1]))
    done = counted.scored("--allow-changed-benchmark")
    assert "task t2: it is not in the benchmark any more" in done.err
    counted.tasks.write_text(json.dumps([{**tasks[0], "id": "t9"}]))
    empty = counted.scored("--allow-changed-benchmark")
    assert (empty.code, "nothing to score" in empty.err) == (2, True)


@pytest.mark.parametrize(
    "override", ["runner.repeats=3", "adapter=http", "skill_set.paths=[x]", "+experiment=demo"]
)
def test_what_would_call_a_skill_otherwise_is_refused(counted: Counted, override: str) -> None:
    """Every setting that is taken has an effect."""
    counted.evaluated()
    done = counted.scored(override)
    assert done.code == 2
    assert override in done.err


def test_redacted_attempts_are_not_scored(counted: Counted) -> None:
    """They are not what the skill said."""
    counted.evaluated("privacy.redact=['result']")
    done = counted.scored()
    assert (done.code, "redacted attempts cannot be scored again" in done.err) == (2, True)


def test_a_dry_run_writes_nothing(counted: Counted) -> None:
    """It counts and checks."""
    first = counted.evaluated().document
    done = counted.scored("scorer=contains", "--dry-run")
    (facts,) = done.document["runs"]
    assert (facts["run_dir"], facts["scorers"], facts["n_trials"]) == (first["run_dir"], ["contains"], 2)
    assert len(list(Path(first["run_dir"]).parent.iterdir())) == 1


def test_several_runs_are_scored_one_by_one(counted: Counted) -> None:
    """Each becomes a run of its own; the worst exit code is that of the command."""
    first, second = counted.evaluated().document, counted.evaluated().document
    done = said("score", first["run_dir"], second["run_dir"], "scorer=regex", "--json")
    assert done.code == done.document["exit_code"] == 4
    sources = [table(one, "trials")["reused_from"][0] for one in done.document["runs"]]
    assert sources == [first["run_id"], second["run_id"]]


def test_the_gate_decides_the_exit_code(counted: Counted) -> None:
    """As with eval."""
    counted.evaluated("scorer=exact")
    tasks = json.loads(counted.tasks.read_text())
    tasks[0]["expectedOutput"]["value"] = 2
    counted.tasks.write_text(json.dumps(tasks))
    allowed = "--allow-changed-benchmark"
    assert counted.scored(allowed, "--exit-on-fail", "--min-completion", "0.9").code == 1
    assert counted.scored(allowed, "--exit-on-fail", "--min-completion", "0.4").code == 0


def test_the_installed_command_says_what_it_needs(run: Run) -> None:
    """Without a run it shows how it is called; a run that is not there is named."""
    assert run("score").code == 2
    assert run("score", "scorer=exact").code == 2
    missing = run("score", "nope")
    assert (missing.code, "no run" in missing.err) == (2, True)


def test_a_diff_with_the_scored_run_does_not_blame_the_analysis(counted: Counted) -> None:
    """All its latencies are those of the run it was scored from, and so are the formulas."""
    first = counted.evaluated().document["run_dir"]
    second = counted.scored().document["run_dir"]
    done = said("report", "diff", first, second)
    assert done.code == 0, done.err
    assert "reused_latency" not in done.out
    assert "analysed differently" not in done.out


def labels(counted: Counted, text: str) -> str:
    """Write labels; give the override that names them."""
    path = counted.root / "labels.csv"
    path.write_text(text)
    return f"scorers.labels.path={path}"


def test_scoring_by_several_ends_with_how_far_they_agree(counted: Counted) -> None:
    """Scorers of different strictness, and people whose labels the others are held against; no skill is called."""
    first = counted.evaluated("--runs", "2").document
    calls = counted.n_calls
    path = labels(
        counted, "task_id,repeat,passed,rater\nt1,,1,ann\nt1,,1,bob\nt1,,0,cy\nt2,0,0,ann\nt2,1,1,ann\n"
    )
    done = counted.scored("scorer=[exact,contains,labels]", path)
    assert (done.code, counted.n_calls) == (0, calls)
    shown = said("report", "show", done.document["run_dir"], "--view", "agreement", "--json").document
    assert shown["raters"] == ["contains", "exact", "labels"]
    pair = next(one for one in shown["pairs"] if (one["rater_a"], one["rater_b"]) == ("exact", "labels"))
    assert (pair["n_both"], pair["n_both_passed"], pair["n_only_a"], pair["kappa"]) == (4, 3, 1, 0)
    held = {one["judge"]: one for one in shown["calibration"]}
    assert (held["exact"]["sensitivity"], held["exact"]["specificity"], held["exact"]["bias"]) == (1, 0, 0.25)
    assert [(one["rater_a"], one["rater_b"]) for one in shown["people"]] == [
        ("labels:ann", "labels:bob"),
        ("labels:ann", "labels:cy"),
        ("labels:bob", "labels:cy"),
    ]
    assert [one["task_id"] for one in shown["tasks"]] == ["t2"]
    plain = said("score", first["run_dir"], "scorer=[exact,contains,labels]", path).out
    assert "How far the scorers agree:" in plain
    assert "The scorers held against the labels:" in plain
    assert "How far the people behind the labels agree:" in plain


def test_labels_of_unknown_tasks_are_refused_before_anything_is_scored(counted: Counted) -> None:
    """They are named, and no run is written."""
    counted.evaluated()
    done = counted.scored("scorer=labels", labels(counted, "task_id,passed\nt7,1\n"))
    assert done.code == 2
    assert "t7" in done.err
    assert len(list((counted.root / "out").glob("*"))) == 1
    missing = counted.scored("scorer=labels")
    assert (missing.code, "scorers.labels.path=FILE" in missing.err) == (2, True)


def test_other_labels_are_not_mistaken_for_the_old_ones(counted: Counted) -> None:
    """The same scorer on the same attempts judges anew when the file says something else."""
    counted.evaluated()
    for passed, rate in (("1", 1.0), ("0", 0.0)):
        done = counted.scored("scorer=labels", labels(counted, f"task_id,passed\nt1,{passed}\n"))
        (row,) = done.document["summary"]
        assert (row["completion_rate"], row["n_ungraded"]) == (rate, 1)


def test_a_run_of_one_scorer_has_no_agreement_to_show(counted: Counted) -> None:
    """The message says how to get one."""
    counted.evaluated("scorer=exact")
    done = said("report", "show", "latest", "--store", counted.root / "out", "--view", "agreement")
    assert done.code == 2
    assert "skilleval score RUN" in done.err


def test_a_run_that_does_not_say_its_modes_is_one_clear_error(counted: Counted) -> None:
    """Rows of older versions lack what newer ones need; that is told, and is no fault of the program."""
    folder = Path(counted.evaluated().document["run_dir"])
    for part in (folder / "trials").glob("*.parquet"):
        pl.read_parquet(part).drop("mode").write_parquet(part)
    done = said("score", folder, "scorer=contains")
    assert done.code == 2, done.err
    assert "does not say in which mode" in done.err
