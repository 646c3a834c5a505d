"""Reads the evals of skills into one benchmark, `evals`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skilleval.catalog.benchmarks import BenchmarkReading
from skilleval.catalog.bundle import EVALS
from skilleval.catalog.evals.cases import EvalsFile, read_evals_file
from skilleval.catalog.evals.places import evals_files, is_outside, script_digests
from skilleval.catalog.evals.tasks import build_tasks
from skilleval.catalog.evals.triggers import read_triggers
from skilleval.domain.hashes import canonical_json
from skilleval.domain.skills import Skill
from skilleval.domain.tasks import Benchmark, Task
from skilleval.errors import CatalogError, Problem

_VERSION_LENGTH = 12
_DOMAIN = "instructions"


@dataclass(slots=True)
class _Evals:
    """What the skills have brought so far."""

    tasks: list[Task] = field(default_factory=list)
    digests: list[tuple[str, str]] = field(default_factory=list)
    sources: list[Path] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def remark(self, text: str) -> None:
        """Say something that matters without being asked for."""
        self.notices.append(text)
        self.remarks.append(text)

    def skill(self, skill: Skill, *, strict: bool) -> None:
        """Read the evals of one skill."""
        files = evals_files(skill.folder)
        if len(files) > 1:
            others = ", ".join(str(other) for other in files[1:])
            self.remark(f"{files[0]}: used as the evals of {skill.id}; not used: {others}")
        n_before = len(self.tasks)
        if files:
            self._file(skill, files[0], strict=strict)
        else:
            self.remark(f"{skill.source}: has no evals ({EVALS}/evals.json)")
        self._triggers(skill)
        if files and len(self.tasks) == n_before and not self.problems:
            self.remark(f"{files[0]}: no case of it is a task")

    def _file(self, skill: Skill, path: Path, *, strict: bool) -> None:
        if is_outside(path, skill.folder):
            expected, found = "a link that stays in the folder of the skill", f"a link to {path.resolve()}"
            self.problems.append(Problem(where=str(path), expected=expected, found=found))
            return
        try:
            file = read_evals_file(path, strict=strict)
        except CatalogError as error:
            self.problems += error.problems
            return
        tasks = build_tasks(skill, file)
        _note_name(skill, file)
        _note_judge(file)
        self.problems += file.findings.problems
        self.notices += file.findings.notices.texts
        self.remarks += file.findings.notices.remarks
        self.tasks += tasks
        self.digests.append((skill.id, file.digest))
        self.digests += script_digests(skill, tasks)
        self.sources.append(path)

    def _triggers(self, skill: Skill) -> None:
        reading = read_triggers(skill)
        self.remarks += [f"not readable: {problem}" for problem in reading.problems]
        self.notices += [f"not readable: {problem}" for problem in reading.problems]
        if reading.queries:
            positive = sum(query.should_trigger for query in reading.queries)
            count = len(reading.queries)
            self.notices.append(
                f"{skill.source}: {count} trigger queries ({positive} must trigger, {count - positive} must not), "
                "which are no tasks"
            )


def read_evals(skills: Sequence[Skill], *, strict: bool = False) -> BenchmarkReading:
    """Read what the folders of skills ask about them: `evals/evals.json`, or `.yaml`, `.yml`, `.jsonl`.

    `strict` makes problems of unknown keys.

    Raises:
        CatalogError: the problems of all skills together, or no skill has a task.
    """
    evals = _Evals()
    for skill in skills:
        evals.skill(skill, strict=strict)
    problems = (*evals.problems, *_shared_ids(evals.tasks))
    if problems:
        count = len(problems)
        msg = f"{count} problem{'s' if count > 1 else ''} with the evals"
        raise CatalogError(msg, problems=problems)
    if not evals.tasks:
        hint = "\n".join(evals.remarks) or "an instruction skill has its evals in evals/evals.json"
        msg = "no skill has evals that could be run"
        raise CatalogError(msg, hint=hint)
    return BenchmarkReading(
        benchmark=_benchmark(evals), notices=tuple(evals.notices), remarks=tuple(evals.remarks)
    )


def _benchmark(evals: _Evals) -> Benchmark:
    files = sorted((task.id, file.name, file.digest) for task in evals.tasks for file in task.files)
    content = canonical_json([sorted(evals.digests), files])
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    return Benchmark(
        id=EVALS,
        version=digest[:_VERSION_LENGTH],
        name=EVALS,
        tasks=tuple(evals.tasks),
        source=_source(evals.sources),
        digest=digest,
        domain=_DOMAIN,
    )


def _source(paths: list[Path]) -> Path:
    return paths[0] if len(paths) == 1 else Path(os.path.commonpath(paths))


def _shared_ids(tasks: Sequence[Task]) -> Iterator[Problem]:
    """Refuse task ids that two skills make between them, e.g. `a` with `b/c` and `a/b` with `c`."""
    owners: dict[str, str | None] = {}
    for task in tasks:
        owner = owners.setdefault(task.id, task.skill_id)
        if owner != task.skill_id:
            found = f"it for the skills {owner} and {task.skill_id}"
            yield Problem(where=task.id, expected="a task id of one skill", found=found)


def _note_name(skill: Skill, file: EvalsFile) -> None:
    name = file.skill_name
    if name is not None and name not in {skill.name, skill.id}:
        file.findings.notices.add("skill_name", f"says {name}, but the skill is {skill.name}")


def _note_judge(file: EvalsFile) -> None:
    if file.defaults.get("judge"):
        hint = "give parameters of the judge as scorers.task.evals.llm_judge.params"
        file.findings.notices.add("defaults.judge", f"without effect: {hint}")
