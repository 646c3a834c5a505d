"""Makes tasks of the cases of a skill."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from skilleval.catalog.evals.assertions import is_number
from skilleval.catalog.evals.cases import EvalCase, EvalsFile
from skilleval.catalog.evals.expectations import expected_of
from skilleval.catalog.evals.files import input_files
from skilleval.catalog.evals.findings import Findings, Said
from skilleval.catalog.evals.tool_checks import tools_of
from skilleval.catalog.skill_md import NAMES
from skilleval.domain.files import TaskFile
from skilleval.domain.skills import Skill
from skilleval.domain.tasks import Evaluator, Task

KIND = "evals"
_SLUG_LENGTH = 64
_NOT_SLUG = re.compile(r"[^a-z0-9]+")
_TIMEOUTS = ("timeoutMs", "timeout_ms")


def build_tasks(skill: Skill, file: EvalsFile) -> tuple[Task, ...]:
    """Make the tasks of a skill; cases that only ask whether it is used are left to `read_triggers`."""
    cases = [case for case in file.cases if not case.is_trigger_only]
    ids = case_ids(cases, file.findings)
    return tuple(_task(skill, file, case, case_id) for case, case_id in zip(cases, ids, strict=True))


def case_ids(cases: list[EvalCase], findings: Findings) -> list[str]:
    """Give each case an id: its own, else one of its name or position that no other case has.

    1 and "1" are one id, because rows hold texts.
    """
    places: dict[str, EvalCase] = {}
    for case in cases:
        if case.id is not None and case.id in places:
            first = places[case.id]
            found = Said(f"{_written(case)} at {first.place} ({_written(first)}) and {case.place}")
            findings.problem(f"{case.place}.id", expected="an id of its own", found=found)
        elif case.id is not None:
            places[case.id] = case
    taken = set(places)
    ids = []
    for position, case in enumerate(cases, start=1):
        ids.append(case.id if case.id is not None else _free(case, position, taken))
        if case.id is None:
            findings.notices.filled_in(f"{case.place}.id", ids[-1])
        taken.add(ids[-1])
    return ids


def _written(case: EvalCase) -> str:
    written = case.raw["id"]
    return f'"{written}"' if isinstance(written, str) else str(written)


def _free(case: EvalCase, position: int, taken: set[str]) -> str:
    name = case.raw.get("name")
    slug = (
        _NOT_SLUG.sub("-", name.lower()).strip("-")[:_SLUG_LENGTH].strip("-") if isinstance(name, str) else ""
    )
    return next(one for one in _proposals(slug, position) if one not in taken)


def _proposals(slug: str, position: int) -> Iterator[str]:
    if slug and not slug.isdigit():
        yield slug
    yield f"case-{position}"
    number = 2
    while True:
        yield f"case-{position}-{number}"
        number += 1


def _task(skill: Skill, file: EvalsFile, case: EvalCase, case_id: str) -> Task:
    findings, place = file.findings, case.place
    files = input_files(place, findings.entries(place, case.raw, "files"), skill.folder, findings)
    if any(one.source == skill.folder / name for one in files for name in NAMES):
        findings.notices.add(
            f"{place}.files", "the skill itself is given as a file, in the arm without it too"
        )
    return Task(
        id=f"{skill.id}/{case_id}",
        input=_input(file, case, files),
        expected=expected_of(case, findings),
        description=findings.text(place, case.raw, "name") or "",
        evaluator=Evaluator(kind=KIND),
        timeout_ms=_timeout(case, findings),
        tags=_tags(case, findings),
        weight=_weight(case, findings),
        skill_id=skill.id,
        files=files,
        folder=file.path.parent,
    )


def _input(file: EvalsFile, case: EvalCase, files: tuple[TaskFile, ...]) -> Mapping[str, Any]:
    findings = file.findings
    if case.prompt is None:
        found = Said("nothing" if not case.raw.get("prompt") else "another value")
        findings.problem(f"{case.place}.prompt", expected="a text that is not empty", found=found)
    given: dict[str, Any] = {"prompt": case.prompt or ""}
    if files:
        given["files"] = [{"name": one.name, "sha256": one.digest, "kind": one.kind.value} for one in files]
    params = {**_default_params(file), **_object(case.place, case.raw, "params", findings)}
    if params:
        given["params"] = params
    return {**given, **tools_of(case.place, case.raw, file.defaults, findings)}


def _default_params(file: EvalsFile) -> Mapping[str, Any]:
    target = file.defaults.get("target")
    return _object("defaults.target", target, "params", file.findings) if isinstance(target, dict) else {}


def _object(place: str, holder: Mapping[str, Any], key: str, findings: Findings) -> Mapping[str, Any]:
    value = holder.get(key)
    if value is None or isinstance(value, dict):
        return value or {}
    findings.problem(f"{place}.{key}", expected="an object", found=value)
    return {}


def _timeout(case: EvalCase, findings: Findings) -> float | None:
    given = [key for key in _TIMEOUTS if case.raw.get(key) is not None]
    if len(given) > 1:
        findings.problem(
            f"{case.place}.{given[1]}", expected="one limit", found=Said(f"{given[0]} beside it")
        )
    for key in given:
        value = case.raw[key]
        if is_number(value) and value > 0:
            return float(value)
        findings.problem(f"{case.place}.{key}", expected="a number of milliseconds above 0", found=value)
    return None


def _tags(case: EvalCase, findings: Findings) -> tuple[str, ...]:
    tags = findings.entries(case.place, case.raw, "tags")
    if all(isinstance(tag, str) and tag for tag in tags):
        return tuple(tags)
    findings.problem(f"{case.place}.tags", expected="texts", found=tags)
    return ()


def _weight(case: EvalCase, findings: Findings) -> float:
    weight = case.raw.get("weight")
    if weight is None:
        return 1.0
    if is_number(weight) and weight > 0:
        return float(weight)
    findings.problem(f"{case.place}.weight", expected="a number above 0", found=weight)
    return 1.0
