"""Joining shards and runs: eight shards are the unsharded run, and what cannot be joined is told beforehand."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from joined_rows import findings, rows, same_numbers
from recorded_runs import BROKEN, DOWN, NULL, RIGHT, TIMEOUT, WRONG, Workload, write_workload
from stored_runs import rewrite_manifest

from skilleval.app.evaluate import Outcome, evaluate
from skilleval.app.merging import Merging, merge, prepare_merging
from skilleval.app.resume import check_plan, find_stored
from skilleval.app.scoring import prepare_scoring
from skilleval.clock import Clock
from skilleval.domain.records import TrialRecord
from skilleval.errors import ResultsError, SkillevalError, UsageError
from skilleval.outcome import ExitCode

ENDINGS = (RIGHT, WRONG, TIMEOUT, BROKEN, NULL, RIGHT, RIGHT)
Prepare = Callable[..., Merging]


def _nobody(record: TrialRecord) -> None:
    assert record.tries


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    """Give tasks that end in every way."""
    return write_workload(tmp_path, {f"t{n}": ENDINGS[n % len(ENDINGS)] for n in range(14)})


@pytest.fixture
def ready(tmp_path: Path) -> Prepare:
    """Find runs and check that they can be joined."""

    def call(*references: Path, overrides: tuple[str, ...] = (), allow_missing: bool = False) -> Merging:
        return prepare_merging(
            [str(one) for one in references],
            overrides,
            store=tmp_path / "out",
            output_dir=tmp_path / "joined",
            allow_missing=allow_missing,
        )

    return call


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Make two shards once, for tests that change copies of them."""
    folder = tmp_path_factory.mktemp("made")
    workload = write_workload(folder, {f"t{n}": ENDINGS[n % len(ENDINGS)] for n in range(14)})
    return _shards(workload, 2, "gate.exit_on_fail=true", "gate.min_completion=0.9")


@pytest.fixture
def pair(made: list[Path], tmp_path: Path) -> tuple[Path, Path]:
    """Give copies of the two shards."""
    one, two = (Path(shutil.copytree(folder, tmp_path / "pair" / folder.name)) for folder in made)
    return one, two


def _run(workload: Workload, *overrides: str) -> Path:
    return evaluate(workload.prepared(*overrides), observe=_nobody).folder


def _shards(workload: Workload, n: int, *overrides: str, of: range | None = None) -> list[Path]:
    split = (f"plan.shards={n}",)
    return [_run(workload, *split, f"plan.shard={shard}", *overrides) for shard in of or range(n)]


def _joined(merging: Merging) -> Outcome:
    return merge(merging, command=["merge"], now=Clock().utc())


def _manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return found


def test_eight_shards_joined_are_the_unsharded_run(
    workload: Workload, ready: Prepare, tmp_path: Path
) -> None:
    """All rows but ids and times are identical, and all metrics, verdicts and details of the report are equal."""
    settings = ("runner.repeats=2", "scorer=[exact,contains]", "analysis.interval=bootstrap")
    whole = _run(workload, *settings)
    shards = _shards(workload, 8, *settings)
    joined = _joined(ready(*shards))
    assert rows(joined.folder) == rows(whole)
    assert same_numbers(findings(joined.folder), findings(whole))
    assert joined.folder.parent == tmp_path / "joined"
    before, after = _manifest(whole), _manifest(joined.folder)
    for key in ("counts", "n_planned", "skills", "benchmark", "scorers", "exit_code", "interrupted", "plan"):
        assert after[key] == before[key], key
    assert after["plan_digest"] is None
    assert after["warnings"] == before["warnings"]
    assert [(one["run_id"], one["shard"]) for one in after["merged_from"]] == [
        (folder.name, shard) for shard, folder in enumerate(shards)
    ]


def test_a_folder_is_joined_whatever_else_is_in_it(
    workload: Workload, pair: tuple[Path, Path], ready: Prepare
) -> None:
    """Its shards count, whole runs and what was joined before do not; the order of rows is that of the shards."""
    pair[0].rename(pair[0].with_name("9-made-later"))
    whole = _run(workload)
    whole.rename(pair[0].parent / whole.name)
    joined = _joined(ready(pair[0].parent))
    joined.folder.rename(pair[0].parent / joined.run_id)
    again = ready(pair[0].parent)
    assert [run.folder.name for run in again.runs] == ["9-made-later", pair[1].name]


def test_the_gate_is_decided_by_the_whole(pair: tuple[Path, Path], ready: Prepare) -> None:
    """Shards exit 0 whatever they miss; joined, the gate they were composed with says no, unless another is given."""
    assert [_manifest(folder)["exit_code"] for folder in pair] == [0, 0]
    assert _joined(ready(*pair)).exit_code is ExitCode.GATE_NOT_MET
    assert _joined(ready(*pair, overrides=("gate.min_completion=0.1",))).exit_code is ExitCode.OK


def test_runs_of_other_skills_are_joined(workload: Workload, ready: Prepare, tmp_path: Path) -> None:
    """Whole runs that share their settings become one, with the skills of all."""
    other = tmp_path / "skill2"
    other.mkdir()
    text = (tmp_path / "skill" / "skill.json").read_text(encoding="utf-8").replace('"recorded"', '"second"')
    (other / "skill.json").write_text(text, encoding="utf-8")
    one, two = _run(workload), _run(workload, f"skill_set.paths=[{other}]")
    joined = _joined(ready(one, two))
    manifest = _manifest(joined.folder)
    assert [skill["id"] for skill in manifest["skills"]] == ["recorded", "second"]
    assert {row["skill_id"] for row in joined.report.summary} == {"recorded", "second"}
    assert (manifest["n_planned"], manifest["plan"]) == (28, None)


def test_one_whole_run_is_not_joined(workload: Workload, ready: Prepare) -> None:
    """A copy of a run under another id would count as a second run."""
    with pytest.raises(UsageError, match="is a whole run: there is nothing to join it with"):
        ready(_run(workload))


def test_a_trial_in_two_runs_is_refused(workload: Workload, ready: Prepare) -> None:
    """The trials are named, with the runs that hold them; nothing is written."""
    one, two = _run(workload), _run(workload)
    with pytest.raises(UsageError, match="14 trials stand in more than one") as refused:
        ready(one, two)
    ids = sorted(row["trial_id"] for row in rows(one)["trials"])
    assert [problem.where for problem in refused.value.problems] == [f"trial {name}" for name in ids[:10]]
    assert refused.value.problems[0].found == f"{one.name} and {two.name}"


def test_a_shard_that_is_there_twice_is_named(
    pair: tuple[Path, Path], ready: Prepare, tmp_path: Path
) -> None:
    """Which of the two counts is for the user to say."""
    again = tmp_path / "again"
    shutil.copytree(pair[0], again)
    with pytest.raises(UsageError, match="more than once") as refused:
        ready(*pair, again)
    assert refused.value.problems[0].where == "shard 0"
    assert again.name in refused.value.problems[0].found


def _refused(ready: Prepare, *folders: Path, expected: type[SkillevalError] = UsageError) -> SkillevalError:
    with pytest.raises(expected) as refused:
        ready(*folders)
    return refused.value


def test_other_settings_are_refused_by_name(pair: tuple[Path, Path], ready: Prepare) -> None:
    """What decides rows or numbers must be the same; how fast they were made need not."""
    one, two = pair
    config = _manifest(two)["config"]
    config["runner"] |= {"retries": 1, "concurrency": 2}
    rewrite_manifest(two, config=config)
    error = _refused(ready, one, two)
    assert [problem.key for problem in error.problems] == ["runner.retries"]
    assert "runner.retries" in error.message


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"sandbox": {"guarantees": ["network"]}}, "sandbox.guarantees"),
        ({"plan": {"shards": 2, "shard": 1, "digest": "another", "n_trials": 14}}, "plan.digest"),
        ({"scorers": {"task": {"version": "0"}}}, "scorers.task.version"),
        ({"skills": [{"id": "edited", "digest": "another"}]}, "skills.edited.digest"),
    ],
)
def test_what_machines_and_versions_change_is_refused(
    pair: tuple[Path, Path], ready: Prepare, changes: dict[str, Any], key: str
) -> None:
    """Shards of another plan or skill, of a weaker sandbox, or judged by another scorer do not belong together."""
    assert ready(*pair).gaps == ()
    rewrite_manifest(pair[1], **changes)
    assert key in {problem.key for problem in _refused(ready, *pair).problems}


def test_tables_of_other_versions_are_refused(pair: tuple[Path, Path], ready: Prepare) -> None:
    """Columns that one of them lacks would be null for half of the trials."""
    rewrite_manifest(pair[1], schema_version="2")
    error = _refused(ready, *pair)
    assert [(problem.where, problem.found) for problem in error.problems] == [(str(pair[1]), "2")]


def test_shards_and_whole_runs_are_refused(pair: tuple[Path, Path], ready: Prepare) -> None:
    """The plan of a whole run is no part of the plan of a shard."""
    rewrite_manifest(pair[1], plan=None)
    assert "cannot be joined" in _refused(ready, *pair).message


def test_missing_shards_are_listed(workload: Workload, ready: Prepare) -> None:
    """Each one with how to run it; allowed to be missing, they make an interrupted run that says so."""
    (one,) = _shards(workload, 3, of=range(1, 2))
    error = _refused(ready, one, expected=ResultsError)
    assert [problem.where for problem in error.problems] == ["shard 0 of 3", "shard 2 of 3"]
    assert error.problems[0].hint == "run it with plan.shards=3 plan.shard=0"
    joined = _joined(ready(one, allow_missing=True))
    manifest = _manifest(joined.folder)
    assert joined.exit_code is ExitCode.INTERRUPTED
    assert (manifest["interrupted"], manifest["n_planned"], manifest["counts"]["trials"]) == (True, 14, 5)
    assert manifest["warnings"][-2:] == [
        "missing: shard 0 of 3: no run of it",
        "missing: shard 2 of 3: no run of it",
    ]


def test_a_shard_that_was_cut_short_is_missing_too(pair: tuple[Path, Path], ready: Prepare) -> None:
    """It is told how to go on with it."""
    rewrite_manifest(pair[1], interrupted=True, counts={"trials": 3, "by_status": {"completed": 3}})
    (problem,) = _refused(ready, *pair, expected=ResultsError).problems
    assert problem.found == "3 of 7 trials"
    assert problem.hint.endswith(f"skilleval eval --resume {pair[1]}")


def test_what_the_infrastructure_lost_is_not_missing(workload: Workload, ready: Prepare) -> None:
    """Its trials are rows, and the joined run exits as one whose infrastructure failed."""
    workload.record({f"t{n}": DOWN if n == 3 else RIGHT for n in range(14)})
    joined = _joined(ready(*_shards(workload, 2)))
    assert joined.exit_code is ExitCode.INFRASTRUCTURE
    assert joined.statuses == {"completed": 13, "provider_error": 1}


def test_an_empty_shard_is_joined_as_any_other(ready: Prepare, tmp_path: Path) -> None:
    """More shards than trials lack nothing."""
    workload = write_workload(tmp_path, {"t1": RIGHT, "t2": RIGHT})
    joined = _joined(ready(*_shards(workload, 3)))
    assert (joined.exit_code, joined.statuses) == (ExitCode.OK, {"completed": 2})


def test_a_setting_without_effect_is_refused(pair: tuple[Path, Path], ready: Prepare) -> None:
    """No skill is called and nothing is scored: only gate, report and analysis may change."""
    with pytest.raises(UsageError, match="no effect") as refused:
        ready(*pair, overrides=("runner.repeats=2", "report.title=x"))
    assert [problem.key for problem in refused.value.problems] == ["runner.repeats=2"]


def test_a_failure_leaves_nothing_behind(pair: tuple[Path, Path], ready: Prepare, tmp_path: Path) -> None:
    """A part that cannot be read stops it with its name, and no half run is there."""
    merging = ready(*pair)
    part = pair[1] / "scores" / "part-00000.parquet"
    part.write_bytes(part.read_bytes()[:-20])
    with pytest.raises(ResultsError, match="part-00000"):
        _joined(merging)
    assert list((tmp_path / "joined").iterdir()) == []


def test_a_joined_run_can_be_scored_but_not_gone_on_with(
    workload: Workload, pair: tuple[Path, Path], ready: Prepare
) -> None:
    """It is a run like any other, only that nobody planned it: its shards are what can be completed."""
    joined = _joined(ready(*pair))
    stored = find_stored(str(joined.folder), joined.folder.parent, to_write=False)
    with pytest.raises(UsageError, match="cannot be gone on with"):
        check_plan(workload.prepared(), stored)
    scoring = prepare_scoring(
        str(joined.folder),
        ["scorer=contains"],
        store=joined.folder.parent,
        project=workload.folder,
        allow_changed_benchmark=False,
    )
    assert len(scoring.prepared.trials) == 14
    assert scoring.prepared.settings.plan.shards == 1


def test_paths_of_other_machines_do_not_matter(
    workload: Workload, pair: tuple[Path, Path], ready: Prepare
) -> None:
    """Shards that found skill, tasks and recording in other folders are shards of one plan."""
    gate = ("gate.exit_on_fail=true", "gate.min_completion=0.9")
    (two,) = _shards(workload, 2, *gate, of=range(1, 2))
    joined = _joined(ready(pair[0], two))
    assert joined.statuses == {"completed": 10, "skill_error": 2, "timeout": 2}
