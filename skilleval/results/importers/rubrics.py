"""Rubric results as evos-skills publishes them: scenarios of weighted criteria, a file a skill and arm."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from skilleval.domain.attempts import Status
from skilleval.domain.scores import Verdict
from skilleval.domain.trials import Mode
from skilleval.results.importers.base import (
    ImportedBenchmark,
    ImportedCheck,
    ImportedRun,
    ImportedTrial,
    Importer,
    ImportOptions,
    verdict_of,
)
from skilleval.results.importers.files import glimpse, read_json
from skilleval.results.importers.node import Node, naive_times, unusable

BENCHMARK = "evos-skills"
PASS_MARK = 0.7
"""A scenario passes from this weighted score on."""
SCORER = "rubric"
_TOLERANCE = 1e-9
_KEYS = {"capability", "scenario_results"}
_MODES = {
    "with_skill": Mode.WITH_SKILL,
    "without_skill": Mode.WITHOUT_SKILL,
    "old_skill": Mode.OLD_SKILL,
    "eval_results": Mode.WITH_SKILL,
    "baseline_results": Mode.WITHOUT_SKILL,
}
_WORDS = re.compile(r"[\w-]+")
_VERDICTS = {"pass": Verdict.PASSED, "partial": Verdict.FAILED, "fail": Verdict.FAILED}


def read(path: Path, options: ImportOptions) -> tuple[ImportedRun, ...]:
    """Read one such file, or all of those in and below a folder, as one run."""
    documents = [read_json(file) for file in _files(path)]
    trials = tuple(trial for one in documents for trial in _trials(one, options))
    return (
        ImportedRun(
            benchmark=ImportedBenchmark(id=options.benchmark or BENCHMARK),
            trials=trials,
            started_at=min(one["timestamp"].moment() for one in documents),
            ended_at=max(one["timestamp"].moment() for one in documents),
            published={Path(one.where).name: one.get("statistics").value for one in documents},
            remarks=tuple(told for one in documents for told in naive_times(one, ("timestamp",))),
        ),
    )


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return [file for file in sorted(path.rglob("*.json")) if recognises(file)]


def _trials(document: Node, options: ImportOptions) -> Iterator[ImportedTrial]:
    mode, model = _mode(Path(document.where), options.modes), document.get("model")
    version = document.get("version")
    for scenario in document["scenario_results"].items():
        error = scenario.get("error")
        is_broken = error.value not in (None, "")
        answer = scenario.get("agent_response")
        yield ImportedTrial(
            where=f"{document.where}: {scenario.key}",
            skill_id=options.skill or document["capability"].name(),
            skill_version=None if version.value is None else version.name(),
            task_id=scenario["scenario_id"].name(),
            task_tags=tuple(_tags(scenario)),
            repeat=0,
            mode=mode,
            model=options.model or (None if model.value is None else model.text()),
            status=Status.PROVIDER_ERROR if is_broken else Status.COMPLETED,
            message=error.text() if is_broken else None,
            output=None if answer.value is None else json.dumps(answer.text(), ensure_ascii=False),
            checks=() if is_broken else _checks(scenario),
        )


def _tags(scenario: Node) -> Iterator[str]:
    for key in ("difficulty", "category"):
        found = scenario.get(key)
        if found.value is not None:
            yield f"{key}:{found.name()}"


def _checks(scenario: Node) -> tuple[ImportedCheck, ...]:
    """Give a check for each criterion, and one of weight 0 that has to pass: the mark of the whole scenario."""
    criteria = tuple(_criterion(one) for one in scenario["criteria_results"].items())
    if not criteria:
        return ()
    weight = sum(one.weight for one in criteria)
    if not weight:
        scenario["criteria_results"].refuse("criteria with weights above 0")
    score = sum(one.weight * (one.score or 0.0) for one in criteria) / weight
    passed = score >= PASS_MARK - _TOLERANCE
    mark = ImportedCheck(
        scorer=SCORER,
        rule="pass_mark",
        check_id="pass_mark",
        check=f"weighted score of {PASS_MARK:g} or more",
        weight=0.0,
        verdict=verdict_of(passed),
        score=float(passed),
        reason=f"{score:.6g} of 1",
    )
    return (*criteria, mark)


def _criterion(one: Node) -> ImportedCheck:
    rating = one["rating"].text()
    if rating not in _VERDICTS:
        one["rating"].refuse(f"one of {', '.join(_VERDICTS)}")
    name, reasoning = one["criterion"].name(), one.get("reasoning")
    return ImportedCheck(
        scorer=SCORER,
        rule="rubric",
        check_id=name,
        check=name,
        weight=one["weight"].amount(),
        required=False,
        verdict=_VERDICTS[rating],
        score=one["score"].share(),
        reason=f"{rating}: {reasoning.value}" if reasoning.value else rating,
    )


def _mode(file: Path, modes: Mapping[str, Mode]) -> Mode:
    """Read the arm from the name of the file: the record itself does not say it.

    Raises:
        ResultsError: the name has no word that means an arm.
    """
    known = {**_MODES, **modes}
    for word in reversed(_WORDS.findall(file.name.removesuffix(".json"))):
        if word in known:
            return known[word]
    stem = file.stem
    hint = f"say it with --mode {stem}=with_skill, =without_skill or =old_skill"
    raise unusable(str(file), "", f"the arm in the name of the file: {', '.join(known)}", stem, hint)


def recognises(path: Path) -> bool:
    """Say whether this is such a file, or a folder that has one in it or below."""
    if path.is_dir():
        return any(recognises(file) for file in sorted(path.rglob("*.json")))
    found = glimpse(path)
    return found is not None and isinstance(found.value, dict) and found.value.keys() >= _KEYS


RUBRICS = Importer(
    name="evos-skills", what="rubric results as evos-skills has them", recognises=recognises, read=read
)
