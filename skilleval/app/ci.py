"""A stored run at the gate of continuous integration: its rules, its baseline, and the files that a pipeline shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilleval.analytics.gate_changes import Rows
from skilleval.app.analyse import analyse, analysis_spec
from skilleval.app.compare import compare
from skilleval.app.diffing import earlier_run
from skilleval.app.gating import NO_BASELINE, Baseline, Gated, gate_checks, min_completion_rule, rules_of
from skilleval.app.resume import StoredRun, compose_again
from skilleval.catalog.documents import read_document
from skilleval.catalog.yaml_text import read_yaml
from skilleval.config.settings import GateRule, GateSettings
from skilleval.errors import ConfigError, Problem, ResultsError
from skilleval.outcome import ExitCode
from skilleval.report import WRITERS
from skilleval.report.comment import comment
from skilleval.report.diff_markdown import render as markdown
from skilleval.report.document import Report, to_json
from skilleval.report.gates import FAILED, GateCheck, gate_sentence, with_gate
from skilleval.report.markdown_text import escape
from skilleval.results.find import PREVIOUS, find_run
from skilleval.results.schema import SCORES, TRIALS
from skilleval.results.store import MANIFEST, compact, read_manifest, scan_table, write_text

_FILES = {"html": "report.html", "junit": "junit.xml"}
_SUMMARY = "summary.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """What the gate says of a run; `baseline` is null where there is none, and `remark` says why."""

    report: Report
    folder: Path
    baseline: Path | None
    remark: str

    @property
    def exit_code(self) -> ExitCode:
        """1 where a rule failed; 4 where nothing could be judged at all."""
        if not any(row.get("n_graded") for row in self.report.summary):
            return ExitCode.NOTHING_EVALUATED
        failed = any(check.failed for check in self.report.gates)
        return ExitCode.GATE_NOT_MET if failed else ExitCode.OK

    def facts(self) -> dict[str, Any]:
        """Give the result as JSON: the one document of `--json`."""
        return {
            "exit_code": int(self.exit_code),
            "run_id": self.folder.name,
            "run_dir": str(self.folder),
            "baseline": None if self.baseline is None else self.baseline.name,
            "remark": self.remark,
            "verdict": self.report.verdict.sentence,
            "checks": to_json(self.report).get("gates", []),
        }


def gate_run(  # noqa: PLR0913 - keywords: each is an option of the command
    reference: str,
    *,
    store: Path,
    baseline: str | None = None,
    rules: Path | None = None,
    overrides: Sequence[str] = (),
    project: Path,
) -> GateResult:
    """Hold a stored run against the rules of a file, else those it was composed with, `overrides` applied.

    Raises:
        ResultsError: there is no such run or baseline.
        ConfigError: a rule cannot be checked.
    """
    folder = find_run(reference, store)
    report = analyse(folder)
    manifest = read_manifest(folder)
    before, remark = _baseline(baseline, folder, store)
    asked = _file_rules(rules) if rules else _own_rules(folder, manifest, overrides, project)
    gated = Gated(
        rows=_rows(folder),
        spec=analysis_spec(manifest),
        baseline=None if before is None else Baseline(run_id=before.name, rows=_rows(before)),
        lacking=remark or NO_BASELINE,
    )
    checks = (*_whole(report), *gate_checks(asked, gated))
    own = rules_of(manifest["config"]["gate"], where=str(folder / MANIFEST))
    bare = _without_gate(report) if own else report
    return GateResult(
        report=with_gate(bare, checks, decides=True), folder=folder, baseline=before, remark=remark
    )


def _whole(report: Report) -> tuple[GateCheck, ...]:
    """Fail a run that was cut short: what it did not try could have failed."""
    run = report.run
    if not run.interrupted:
        return ()
    n_trials, n_planned = run.n_trials, run.n_planned
    is_known = n_trials is not None and n_planned is not None
    return (
        GateCheck(
            rule=-1,  # none of the rules: it is asked of every run
            metric="n_trials",
            is_regression=False,
            direction="at_least",
            limit=float(n_planned or 0),
            verdict=FAILED,
            value=None if n_trials is None else float(n_trials),
            margin=float(n_trials - n_planned) if n_trials is not None and n_planned is not None else None,
            reason="" if is_known else "the run was interrupted before its end",
        ),
    )


def _without_gate(report: Report) -> Report:
    """Take off what the rules of the run itself said, before others are asked."""
    said = f"{gate_sentence(report.gates)}. "
    verdict = replace(report.verdict, sentence=report.verdict.sentence.removeprefix(said))
    return replace(report, gates=(), verdict=verdict)


def _rows(folder: Path) -> Rows:
    return Rows(trials=scan_table(folder, TRIALS), scores=scan_table(folder, SCORES))


def _own_rules(
    folder: Path, manifest: Mapping[str, Any], overrides: Sequence[str], project: Path
) -> tuple[GateRule, ...]:
    gate: Mapping[str, Any] = manifest["config"]["gate"]
    if overrides:
        stored = StoredRun(folder=folder, manifest=manifest)
        gate = compose_again(stored, overrides, project=project).values["gate"]
    rules = rules_of(gate, where=str(folder / MANIFEST))
    # The oldest key is a rule where it decides anyway, and where nothing else is asked.
    is_asked = bool(gate.get("exit_on_fail") and gate["min_completion"])
    return (min_completion_rule(gate), *rules) if is_asked or not rules else rules


def _file_rules(path: Path) -> tuple[GateRule, ...]:
    """Read a file of rules: `rules:` alone, below `gate:`, or a whole gate as in `conf/gate/`.

    Raises:
        ConfigError: it holds no rules, or wrong ones.
    """
    found = read_document(path).value if path.suffix == ".json" else read_yaml(path)
    values = found.get("gate", found) if isinstance(found, Mapping) else found
    if not isinstance(values, Mapping) or not {"rules", "min_completion"} & set(values):
        problem = Problem(where=str(path), expected="a mapping with `rules`", found=type(found).__name__)
        raise ConfigError("the file holds no gate", problems=(problem,))
    whole = {"min_completion": 0.0, "exit_on_fail": True, "fail_on_error": False, "rules": [], **values}
    rules = GateSettings.parse(whole, where=str(path), prefix="gate").rules
    if not rules and "min_completion" not in values:
        problem = Problem(where=str(path), key="rules", expected="at least one rule", found="none")
        raise ConfigError("a gate that asks nothing would let everything pass", problems=(problem,))
    return (min_completion_rule(whole), *rules) if "min_completion" in values else rules


def _baseline(reference: str | None, folder: Path, store: Path) -> tuple[Path | None, str]:
    """Find the run to compare with, or say why there is none.

    A folder that holds runs, such as one restored from another branch, stands for its newest fitting one.

    Raises:
        ResultsError: a baseline is named that is not there.
    """
    if reference is None:
        return None, ""
    place = Path(reference)
    is_folder_of_runs = place.is_dir() and not (place / MANIFEST).is_file()
    if reference == PREVIOUS or is_folder_of_runs:
        try:
            found = earlier_run(folder, store if reference == PREVIOUS else place)
        except ResultsError as error:
            return None, f"no baseline: {error.message}"
    else:
        found = find_run(reference, store)
    compact(found)
    return found, ""


def write_ci(result: GateResult, folder: Path, *, store: Path) -> dict[str, Path]:
    """Write report.html, junit.xml and summary.md: verdict and rules, then what became of the baseline."""
    paths = {name: folder / file for name, file in _FILES.items()}
    for name, path in paths.items():
        write_text(path, WRITERS[name].render(result.report))
    paths["summary"] = folder / _SUMMARY
    write_text(paths["summary"], summary_text(result, store=store))
    return paths


def summary_text(result: GateResult, *, store: Path) -> str:
    """Give the Markdown for a pull request: the verdict, what became of the baseline, the rules, then all figures."""
    if result.baseline is None:
        return comment(result.report, change=f"{result.remark[:1].upper()}{result.remark[1:]}")
    labels = (result.baseline.name, result.folder.name)
    try:
        diff = compare(str(result.baseline), str(result.folder), store=store, labels=labels)
    except ResultsError as error:
        return comment(result.report, change=f"Not compared with {labels[0]}: {error.message}")
    details = f"<details><summary>Compared with {escape(labels[0])}</summary>\n\n{markdown(diff)}\n</details>"
    return f"{comment(result.report, change=diff.sentence)}\n{details}\n"


def files_of(report: Report, project: Path) -> dict[str, str]:
    """Give the file of each skill, by its id, as annotations name it: relative to the project where it is inside."""
    found = {}
    for skill in report.provenance.skills:
        folder = Path(skill.path)
        names = (folder / name for name in ("SKILL.md", "skill.json"))
        file = next((path for path in names if path.is_file()), None)
        if skill.path and file is not None:
            inside = file.resolve().is_relative_to(project.resolve())
            found[skill.id] = str(file.resolve().relative_to(project.resolve())) if inside else str(file)
    return found
