"""Workspaces of skill-creator, and of the guide it follows: iterations, cases, arms, runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skilleval.results.importers.base import (
    ImportedBenchmark,
    ImportedRun,
    ImportedTrial,
    Importer,
    ImportOptions,
)
from skilleval.results.importers.files import glimpse, read_json
from skilleval.results.importers.gradings import (
    as_output,
    checks_of,
    grading_of,
    latency_of,
    text_of,
    usage_of,
)
from skilleval.results.importers.node import Node, naive_times, unusable
from skilleval.results.importers.workspaces import Place, arms, iteration_of, places

BENCHMARK = "evals"
_WORKSPACE = "-workspace"


def read(path: Path, options: ImportOptions) -> tuple[ImportedRun, ...]:
    """Read the newest iteration of a workspace, or one iteration.

    The aggregate beside the attempts is kept as published and never read for numbers: it may be empty or stale.
    """
    root = iteration_of(path)
    found = places(root, options.modes)
    file = root / "benchmark.json"
    told = read_json(file) if file.is_file() else Node({}, str(file))
    about = Node({}, "") if told.get("metadata").value is None else told["metadata"]
    skill = options.skill or _skill(root, about)
    trials = tuple(_trial(place, skill, about, options) for place in found)
    moment = about.get("timestamp")
    bare = [str(place.attempt) for place, trial in zip(found, trials, strict=True) if not trial.checks]
    return (
        ImportedRun(
            benchmark=ImportedBenchmark(id=options.benchmark or BENCHMARK),
            trials=trials,
            ended_at=None if moment.value is None else moment.moment(),
            published=told.get("run_summary").value,
            remarks=(
                *(f"{one}: no assertion was graded" for one in bare),
                *naive_times(about, ("timestamp",)),
            ),
        ),
    )


def _skill(root: Path, about: Node) -> str:
    """Give the skill that the aggregate names, else that of the workspace's folder."""
    named = about.get("skill_name")
    if named.value is not None:
        return named.name()
    for folder in (root.resolve(), root.resolve().parent):
        if folder.name.endswith(_WORKSPACE):
            return folder.name.removesuffix(_WORKSPACE)
    hint = "say which skill it is with --skill NAME"
    raise unusable(str(root), "benchmark.json: metadata.skill_name", "the name of the skill", "none", hint)


def _trial(place: Place, skill: str, about: Node, options: ImportOptions) -> ImportedTrial:
    grading, case = grading_of(place.attempt), _case(place)
    model = about.get("executor_model")
    return ImportedTrial(
        where=str(place.attempt),
        skill_id=skill,
        task_id=f"{skill}/{_case_id(case, place)}",
        repeat=place.repeat,
        mode=place.mode,
        adapter="agent",
        model=options.model or (None if model.value is None else model.text()),
        input=_input(case),
        expected=_expected(case),
        output=as_output(text_of(place.attempt)),
        latency_ms=latency_of(place.attempt, grading),
        usage=usage_of(place.attempt),
        checks=checks_of(grading),
    )


def _case(place: Place) -> Node:
    path = place.case / "eval_metadata.json"
    return read_json(path) if path.is_file() else Node({}, str(path))


def _case_id(case: Node, place: Place) -> str:
    known = case.get("eval_id")
    return place.case.name.removeprefix("eval-") if known.value is None else known.name()


def _input(case: Node) -> dict[str, Any] | None:
    prompt = case.get("prompt")
    return None if prompt.value is None else {"prompt": prompt.text()}


def _expected(case: Node) -> dict[str, Any] | None:
    asserted = case.get("assertions")
    return None if asserted.value is None else {"assertions": [one.value for one in asserted.items()]}


def recognises(path: Path) -> bool:
    """Say whether this is such a workspace: attempts are there, or the folders and files that it would have."""
    if not path.is_dir():
        return False
    root = iteration_of(path)
    about = glimpse(root / "benchmark.json")
    named = isinstance(about.value, dict) and "run_summary" in about.value if about else False
    return named or root != path or path.name.endswith(_WORKSPACE) or next(arms(root), None) is not None


SKILL_CREATOR = Importer(
    name="skill-creator",
    what="workspace of skill-creator or of the evaluation guide",
    recognises=recognises,
    read=read,
)
