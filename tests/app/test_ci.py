"""Stored runs at the gate: rules from a file, from the run or by override, baselines, and the files for a pipeline."""

from __future__ import annotations

import json
import shutil
import time
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from stored_runs import rewrite_manifest

from skilleval.app.ci import GateResult, files_of, gate_run, summary_text, write_ci
from skilleval.app.evaluate import Outcome, evaluate
from skilleval.app.prepare import prepare
from skilleval.cli import run as command
from skilleval.config.compose import compose_settings
from skilleval.errors import ConfigError, ResultsError
from skilleval.outcome import ExitCode
from skilleval.report.document import State

RIGHT: Mapping[str, Any] = {"output": 1, "latency_ms": 10.0}
WRONG: Mapping[str, Any] = {"output": "##[add-mask]x\n::error::owned</testcase>", "latency_ms": 20.0}


@dataclass(frozen=True, slots=True)
class Project:
    """A folder with a recorded skill and a store of runs."""

    folder: Path

    @property
    def store(self) -> Path:
        """Where runs are stored."""
        return self.folder / "outputs"

    def evaluate(self, *overrides: str, t2: Mapping[str, Any] = RIGHT) -> Outcome:
        """Evaluate the recorded skill; its first task is always right."""
        lines = [json.dumps({"task_id": name, **line}) for name, line in (("t1", RIGHT), ("t2", t2))]
        (self.folder / "recorded.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        settings = [
            f"skill_set.paths=[{self.folder / 'skill'}]",
            f"benchmark.tasks={self.folder / 'tasks.json'}",
            f"paths.output_dir={self.store / 'runs'}",
            f"paths.cache={self.folder / 'cache'}",
            *("adapter=replay", f"adapter.path={self.folder / 'recorded.jsonl'}"),
            *("sandbox=none", "scorer=exact", "report.formats=[]"),
            *overrides,
        ]
        nobody = self.folder / "nobody.yaml"
        prepared = prepare(compose_settings(settings, project=self.folder, user_file=nobody))
        return evaluate(prepared, observe=lambda _: None)

    def rules(self, *lines: str) -> Path:
        """Write a file of rules."""
        path = self.folder / "rules.yaml"
        path.write_text("rules:\n" + "".join(f"  - {line}\n" for line in lines), encoding="utf-8")
        return path

    def gate(self, reference: str | Path, **options: Any) -> GateResult:
        """Hold a run against its gate."""
        return gate_run(str(reference), store=self.store, project=self.folder, **options)


def made(folder: Path) -> Project:
    """Write the skill and its two tasks."""
    manifest = {"id": "recorded", "name": "Recorded", "version": "1.0.0", "description": ""}
    manifest |= {"adapterType": "subprocess", "entrypoint": "never run"}
    (folder / "skill").mkdir()
    (folder / "skill" / "skill.json").write_text(json.dumps(manifest))
    expected = {"type": "exact", "value": 1}
    tasks = [{"id": i, "description": "", "inputData": {}, "expectedOutput": expected} for i in ("t1", "t2")]
    (folder / "tasks.json").write_text(json.dumps(tasks))
    return Project(folder)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give a project with two runs: all right, then one of two tasks wrong."""
    found = made(tmp_path_factory.mktemp("project"))
    found.evaluate()
    time.sleep(1.1 - time.time() % 1)  # ids of runs begin with the second of their start
    found.evaluate(t2=WRONG)
    return found


@pytest.fixture(scope="module")
def runs(project: Project) -> tuple[Path, Path]:
    """Give the folders of both runs, the older one first."""
    older, newer = sorted(path.parent for path in project.store.glob("runs/*/manifest.json"))
    return older, newer


def told(result: GateResult) -> list[tuple[str, Any, str]]:
    """Give verdict, margin and reason of each check."""
    return [(check.verdict, check.margin, check.reason) for check in result.report.gates]


def test_a_run_without_rules_is_held_against_its_completion(project: Project) -> None:
    """The oldest key is the first rule; an override changes it."""
    result = project.gate("latest")
    assert result.exit_code is ExitCode.GATE_NOT_MET
    assert told(result) == [("failed", pytest.approx(-0.2), "")]
    kept = project.gate("latest", overrides=["gate.min_completion=0.5"])
    assert (kept.exit_code, kept.report.verdict.state) == (ExitCode.OK, State.PASSED)


def test_every_rule_says_by_how_much(project: Project) -> None:
    """A file of rules replaces those of the run; what is not known, or means no row, fails unless it is skipped."""
    path = project.rules(
        "{metric: completion_rate, at_least: 0.5}",
        "{metric: p95_ms, at_most: 15}",
        "{metric: completion_rate, at_least: 1, slice: {task_id: t1}}",
        "{metric: cost_usd, at_most: 1, missing: skip}",
        "{metric: usd_per_trial, at_most: 1}",
        "{regression: completion_rate, at_most: 0}",
        "{metric: completion_rate, at_least: 0.5, tag: none}",
    )
    assert told(project.gate("latest", rules=path)) == [
        ("passed", 0.0, ""),
        ("failed", -5.0, ""),
        ("passed", 0.0, ""),
        ("skipped", None, "cost_usd is not known"),
        ("failed", None, "usd_per_trial is not known"),
        ("skipped", None, "no baseline to compare with: name one with --baseline"),
        ("failed", None, "no row of the run is meant by it"),
    ]


def test_a_rule_may_ask_for_an_end_of_any_interval(project: Project, runs: tuple[Path, Path]) -> None:
    """Scores and percentiles have ends as completion has; without an interval the reason is its method's."""
    path = project.rules(
        "{metric: partial_score, at_least: 0.2, bound: low}",
        "{metric: error_rate, at_most: 0.5, bound: high}",
        "{metric: p95_ms, at_most: 15, bound: high}",
    )
    few = "no interval: p95 needs 72 values at level 0.95, there are 2"
    score, errors, p95 = told(project.gate(runs[0], rules=path))
    # Two of two: the exact one-sided bound is the square root of 0.05.
    assert score == ("passed", pytest.approx(0.05**0.5 - 0.2), "")
    assert (errors[0], p95) == ("failed", ("failed", None, few))
    with pytest.raises(ConfigError) as refused:
        project.gate(runs[0], rules=project.rules("{metric: composite, at_least: 0.1, bound: low}"))
    assert "composite has no interval" in refused.value.problems[0].expected


def test_a_file_may_be_a_whole_gate(project: Project) -> None:
    """Rules stand alone or below `gate`, and `min_completion` is a rule where the file names it."""
    path = project.folder / "gate.json"
    path.write_text(json.dumps({"gate": {"min_completion": 0.6, "rules": []}}))
    assert told(project.gate("latest", rules=path)) == [("failed", pytest.approx(-0.1), "")]


def test_a_run_that_was_cut_short_opens_no_gate(
    project: Project, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    """Its rules are kept so far, but what it did not try could have failed: the check says how many trials lack."""
    folder = tmp_path / runs[0].name
    shutil.copytree(runs[0], folder)
    rewrite_manifest(folder, interrupted=True, n_planned=10)
    result = project.gate(folder, rules=project.rules("{metric: completion_rate, at_least: 0.5}"))
    assert result.exit_code is ExitCode.GATE_NOT_MET
    assert [(check.metric, check.verdict) for check in result.report.gates] == [
        ("n_trials", "failed"),
        ("completion_rate", "passed"),
    ]
    assert result.report.verdict.sentence.startswith("1 of 2 checks of the gate failed: n_trials ≥ 10")


def test_a_file_without_a_rule_opens_no_gate(project: Project, runs: tuple[Path, Path]) -> None:
    """A gate that asks nothing is a mistake, not a pass."""
    path = project.folder / "nothing.yaml"
    path.write_text("rules: []\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="asks nothing"):
        project.gate(runs[0], rules=path)


@pytest.mark.parametrize("baseline", ["previous", "id", "folder of runs"])
def test_a_baseline_is_named_in_many_ways(project: Project, runs: tuple[Path, Path], baseline: str) -> None:
    """`previous` is the newest earlier run; a folder of runs stands for its newest fitting one."""
    older, newer = runs
    said = {"id": older.name, "folder of runs": str(project.store)}
    result = project.gate(newer, baseline=said.get(baseline, baseline), overrides=["gate=no_regression"])
    check = result.report.gates[0]
    assert result.baseline is not None
    assert result.baseline.name == older.name == check.baseline
    assert (check.value, check.before, check.after, check.n_tasks) == (0.5, 1.0, 0.5, 2)
    assert result.exit_code is ExitCode.GATE_NOT_MET


def test_the_first_run_has_no_baseline(project: Project, runs: tuple[Path, Path]) -> None:
    """That is said, and is no failure; a baseline that is named and not there is an error."""
    first = project.gate(runs[0], baseline="previous", overrides=["gate=no_regression"])
    assert (first.baseline, first.exit_code) == (None, ExitCode.OK)
    assert first.remark.startswith("no baseline: no earlier run of ")
    assert {check.verdict for check in first.report.gates} == {"skipped"}
    (project.folder / "restored").mkdir()
    restored = project.gate(runs[0], baseline=str(project.folder / "restored"))
    assert (restored.baseline, restored.remark.partition(":")[0]) == (None, "no baseline")
    with pytest.raises(ResultsError, match="no run"):
        project.gate(runs[0], baseline="nowhere")


def test_the_files_for_a_pipeline(project: Project, runs: tuple[Path, Path], tmp_path: Path) -> None:
    """report.html, junit.xml and summary.md, with the comparison behind the verdict."""
    result = project.gate(runs[1], baseline="previous", overrides=["gate=no_regression"])
    paths = write_ci(result, tmp_path / "ci", store=project.store)
    assert sorted(path.name for path in paths.values()) == ["junit.xml", "report.html", "summary.md"]
    summary = paths["summary"].read_text(encoding="utf-8")
    assert summary.startswith("### ✕ FAILED")
    assert f"<details><summary>Compared with {runs[0].name}" in summary
    suites = ET.parse(paths["junit"]).getroot()  # noqa: S314 - our own document
    assert [suite.attrib["name"] for suite in suites] == ["recorded", "gate"]
    assert [case.attrib["name"] for case in suites[0].findall("testcase[failure]")] == ["t2"]
    alone = project.gate(runs[0], baseline="previous")
    assert "No baseline: no earlier run of " in summary_text(alone, store=project.store)


def test_annotations_name_the_file_of_a_skill(project: Project, runs: tuple[Path, Path]) -> None:
    """Relative to the project where it is inside it, else as it is."""
    report = project.gate(runs[1]).report
    assert files_of(report, project.folder) == {"recorded": "skill/skill.json"}
    assert files_of(report, project.folder / "skill" / "x") == {
        "recorded": str(project.folder / "skill" / "skill.json")
    }


def test_rules_decide_in_eval_too(tmp_path: Path) -> None:
    """With exit_on_fail a failed rule is exit code 1, without it is only told; `gate` then says the same."""
    project = made(tmp_path)
    rule = "gate.rules=[{metric: p95_ms, at_most: 15}]"
    only_told = project.evaluate(rule, t2=WRONG)
    assert only_told.exit_code is ExitCode.OK
    assert only_told.report.verdict.sentence.startswith("1 of 1 check of the gate failed: p95_ms ≤ 15")
    decided = project.evaluate(rule, "gate.exit_on_fail=true", "gate.min_completion=0", t2=WRONG)
    assert decided.exit_code is ExitCode.GATE_NOT_MET
    result = project.gate(decided.folder)
    assert (result.exit_code, told(result)) == (ExitCode.GATE_NOT_MET, [("failed", -5.0, "")])
    assert result.report.verdict.sentence.count("of the gate failed") == 1


def test_a_mistake_in_a_rule_is_found_before_the_first_trial(tmp_path: Path) -> None:
    """A metric that there is not stops the run with what was meant, and nothing is written."""
    project = made(tmp_path)
    with pytest.raises(ConfigError) as caught:
        project.evaluate("gate.rules=[{metric: p95_ms, at_most: 1}, {metric: complation_rate, at_least: 1}]")
    (problem,) = caught.value.problems
    assert (problem.key, problem.hint) == ("[1].metric", "did you mean completion_rate?")
    assert not project.store.exists()


@pytest.mark.parametrize(
    ("rule", "key", "hint"),
    [
        ("{metric: completion_rate, at_least: 90}", "[0].at_least", "90 % is 0.9"),
        ("{metric: error_rate, at_most: 5}", "[0].at_most", "5 % is 0.05"),
        ("{regression: completion_rate, at_most: 2}", "[0].at_most", "2 % is 0.02"),
    ],
)
def test_a_percentage_is_no_limit_of_a_share(
    project: Project, runs: tuple[Path, Path], rule: str, key: str, hint: str
) -> None:
    """A limit that no share can come to is refused with the number that was meant."""
    with pytest.raises(ConfigError) as refused:
        project.gate(runs[0], rules=project.rules(rule))
    (problem,) = refused.value.problems
    assert (problem.key, problem.hint) == (key, hint)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["latest", "other"], "gate takes one run, but got 2"),
        (["latest", "runner.repeats=2"], "says nothing of the gate"),
        (["latest", "--rules", "rules.yaml", "gate.min_completion=0"], "two gates"),
        (["latest", "--rules", "none.yaml"], "none.yaml"),
        (["latest", "--rules", "other.yaml"], "expected a mapping with `rules`"),
        (["latest", "--rules", "wrong.yaml"], "gate.rules.0.metrik"),
        (["nothing"], "no run"),
    ],
)
def test_mistakes_are_one_clear_error(
    project: Project, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    """What cannot be meant exits 2 and says what is wrong."""
    project.rules("{metric: p95_ms, at_most: 1}")
    (project.folder / "other.yaml").write_text("gates: 1\n")
    (project.folder / "wrong.yaml").write_text("rules: [{metrik: p95_ms, at_most: 1}]\n")
    words = [str(project.folder / word) if word.endswith(".yaml") else word for word in arguments]
    assert command(["gate", *words, "--store", str(project.store)]) == 2
    assert said in capsys.readouterr().err


def test_what_skills_say_gives_no_commands(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Of all lines on stdout only those of the gate begin with `::`, and none holds a legacy command."""
    assert command(["gate", "latest", "--annotate", "--store", str(project.store)]) == 1
    lines = capsys.readouterr().out.splitlines()
    commands = [line for line in lines if line.lstrip().startswith("::")]
    assert [line.partition(" ")[0] for line in commands] == ["::error", "::warning"]
    assert not any("##[" in line for line in lines)
    assert lines[2].startswith("FAILED: 1 of 1 check of the gate failed: completion_rate ≥ 0.7")


def test_json_is_one_document(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Annotations stand inside it, and nothing beside it."""
    assert command(["gate", "latest", "--annotate", "--json", "--store", str(project.store)]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["exit_code"], document["baseline"], len(document["annotations"])) == (1, None, 2)
    assert document["checks"][0]["margin"] == pytest.approx(-0.2)
