"""Workspaces of agent-skills-eval: one chat turn a case and arm, in an iteration or flat."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilleval.domain.attempts import Status
from skilleval.results.importers.base import (
    ImportedBenchmark,
    ImportedRun,
    ImportedTrial,
    Importer,
    ImportOptions,
)
from skilleval.results.importers.files import read_json
from skilleval.results.importers.gradings import (
    as_output,
    checks_of,
    grading_of,
    latency_of,
    text_of,
    usage_of,
)
from skilleval.results.importers.node import Node
from skilleval.results.importers.workspaces import Place, iteration_of, places

BENCHMARK = "evals"
_META = "meta.json"
_ERROR = "ERROR:"
"""How the text begins that stands for the output of a call that failed; such a call has no tokens."""
_REMARKS = (
    "agent-skills-eval gives the input files to the arm with the skill only: a difference may be theirs",
    "latencies include retries and pauses between them; a judge that failed shows as failed assertions",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Skill:
    """A skill of the workspace: the folder of its cases, and what its `meta.json` says."""

    folder: Path
    id: str
    meta: Node


def read(path: Path, options: ImportOptions) -> tuple[ImportedRun, ...]:
    """Read the newest iteration of a workspace, one iteration, or a flat workspace."""
    root = iteration_of(path)
    found = places(root, options.modes)
    skills = _skills({place.case.parent for place in found}, options)
    trials = tuple(_trial(place, skills[place.case.parent], options) for place in found)
    broken = sum(trial.status is Status.PROVIDER_ERROR for trial in trials)
    failed = f"{broken} calls failed: their graded error texts are kept as scores and count for nobody"
    return (
        ImportedRun(
            benchmark=ImportedBenchmark(id=options.benchmark or BENCHMARK),
            trials=trials,
            ended_at=max(skill.meta["generated_at"].moment() for skill in skills.values()),
            published=dict(_published(skills.values())),
            remarks=(*_REMARKS, *([failed] if broken else [])),
        ),
    )


def _skills(folders: set[Path], options: ImportOptions) -> dict[Path, _Skill]:
    metas = {folder: read_json(folder / _META) for folder in sorted(folders)}
    names = Counter(meta["name"].name() for meta in metas.values())

    def own(meta: Node) -> str:
        """Give the name, or where several skills have it the path."""
        name, path = meta["name"].name(), meta.get("relPath").value
        return name if names[name] == 1 else str(path or meta["slug"].name())

    ids = {folder: own(meta) for folder, meta in metas.items()}
    if options.skill is not None and len(ids) == 1:
        ids = dict.fromkeys(ids, options.skill)
    return {folder: _Skill(folder=folder, id=ids[folder], meta=meta) for folder, meta in metas.items()}


def _trial(place: Place, skill: _Skill, options: ImportOptions) -> ImportedTrial:
    grading, text, usage = grading_of(place.attempt), text_of(place.attempt), usage_of(place.attempt)
    is_broken = text is not None and text.startswith(_ERROR) and usage.total_tokens is None
    target, asked = skill.meta.get("target"), _asked(place)
    return ImportedTrial(
        where=str(place.attempt),
        skill_id=skill.id,
        task_id=f"{skill.id}/{place.case.name.removeprefix('eval-')}",
        repeat=place.repeat,
        mode=place.mode,
        adapter="chat",
        model=options.model or (None if target.value is None else target.text()),
        input=asked,
        status=Status.PROVIDER_ERROR if is_broken else Status.COMPLETED,
        failure_kind="error_text" if is_broken else None,
        message=text if is_broken else None,
        output=None if is_broken else as_output(text),
        latency_ms=None if is_broken else latency_of(place.attempt, grading),
        usage=usage,
        tool_calls=_tool_calls(place.attempt),
        checks=checks_of(grading),
    )


def _asked(place: Place) -> dict[str, Any] | None:
    """Give the prompt of the case, which both arms share; what was sent besides is not kept there."""
    path = place.attempt / "prompts.json"
    prompt = read_json(path).get("user") if path.is_file() else Node(None, "")
    return None if prompt.value is None else {"prompt": prompt.text()}


def _tool_calls(attempt: Path) -> str | None:
    path = attempt / "tool_calls.json"
    if not path.is_file():
        return None
    calls = [
        {
            "id": call.get("id").value,
            "name": call["function"]["name"].text(),
            "arguments": call["function"].get("arguments").value,
        }
        for call in read_json(path).items()
    ]
    return json.dumps(calls, ensure_ascii=False)


def _published(skills: Iterable[_Skill]) -> Iterator[tuple[str, Any]]:
    for skill in skills:
        path = skill.folder / "benchmark.json"
        if path.is_file():
            yield skill.id, read_json(path).value


def recognises(path: Path) -> bool:
    """Say whether this is such a workspace: it has the `meta.json` of a skill, directly or one or two levels down."""
    if not path.is_dir():
        return False
    root = iteration_of(path)
    return (root / _META).is_file() or any(root.glob(f"*/{_META}"))


AGENT_SKILLS_EVAL = Importer(
    name="agent-skills-eval", what="workspace of agent-skills-eval", recognises=recognises, read=read
)
