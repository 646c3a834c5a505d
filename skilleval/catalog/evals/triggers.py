"""Reads the queries that must, or must not, make a client use a skill."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from skilleval.catalog.evals.cases import EvalsFile, parsed_or_none
from skilleval.catalog.evals.findings import Findings, Said
from skilleval.catalog.evals.places import evals_files, is_outside, trigger_files
from skilleval.domain.skills import Skill
from skilleval.errors import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerQuery:
    """What a user says, and whether the skill is to be used then."""

    query: str
    should_trigger: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerReading:
    """The queries of a skill, each once, and what is wrong with the files they come from."""

    queries: tuple[TriggerQuery, ...]
    problems: tuple[Problem, ...] = ()
    notices: tuple[str, ...] = ()


def read_triggers(skill: Skill) -> TriggerReading:
    """Read the trigger queries of a skill: those of its evals, and those of files like `evals/eval_queries.json`.

    Queries that come twice are kept once, so that none can be in two parts of a split.
    """
    findings = Findings(str(skill.folder))
    queries: dict[str, bool] = {}
    for file in _files(skill, findings):
        for query in file_queries(file):
            known = queries.setdefault(query.query, query.should_trigger)
            if known is not query.should_trigger:
                found = Said(f"it both as one that must trigger and as one that must not: {query.query[:80]}")
                file.findings.problem("should_trigger", expected="each query with one verdict", found=found)
        findings.problems += file.findings.problems
    return TriggerReading(
        queries=tuple(TriggerQuery(query=text, should_trigger=verdict) for text, verdict in queries.items()),
        problems=tuple(findings.problems),
        notices=findings.notices.texts,
    )


def _files(skill: Skill, findings: Findings) -> Iterator[EvalsFile]:
    for path in evals_files(skill.folder)[:1]:
        # Its mistakes are told by who reads the evals.
        file = None if is_outside(path, skill.folder) else parsed_or_none(path, Findings(str(path)))
        if file is not None:
            file.findings.problems.clear()
            yield file
    for path in trigger_files(skill.folder):
        if is_outside(path, skill.folder):
            found = Said(f"a link to {path.resolve()}")
            findings.problem(path.name, expected="a link that stays in the folder of the skill", found=found)
            continue
        file = parsed_or_none(path, findings)
        if file is not None:
            _check_verdicts(file)
            yield file


def _check_verdicts(file: EvalsFile) -> None:
    for case in file.cases:
        if case.trigger is None:
            expected = "should_trigger, true or false"
            file.findings.problem(case.place, expected=expected, found=Said("neither"))
        elif case.prompt is None:
            file.findings.problem(case.place, expected="a query that is not empty", found=Said("nothing"))


def file_queries(file: EvalsFile) -> Iterator[TriggerQuery]:
    """Give the queries of one file."""
    for case in file.cases:
        if case.trigger is not None and case.prompt is not None:
            yield TriggerQuery(query=case.prompt, should_trigger=case.trigger)
