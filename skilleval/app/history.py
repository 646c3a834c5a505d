"""What stored runs say of skills: the newest finished run counts, and only of the very same skill."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilleval.app.analyse import analyse
from skilleval.domain import Skill
from skilleval.errors import Problem, ResultsError
from skilleval.report.columns import number, words
from skilleval.report.document import SCHEMA, Report, Row, from_json
from skilleval.results.find import runs
from skilleval.results.store import read_manifest

_HEAD = 200
"""A JSON report says what it is in its first characters."""

SkillKey = tuple[str, str, str]
"""Id, version and digest: the very same skill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one finished run says of one skill. `figures` is its row of the summary.

    Where several scorers or conditions stand for one skill, the row with the lowest completion rate counts.
    """

    key: SkillKey
    run_id: str
    benchmark_id: str
    benchmark_version: str
    benchmark_digest: str
    figures: Row

    @property
    def benchmark(self) -> tuple[str, str, str]:
        """Id, version and digest of the benchmark: only figures on the very same one can be compared."""
        return (self.benchmark_id, self.benchmark_version, self.benchmark_digest)


@dataclass(frozen=True, slots=True)
class History:
    """Stored measurements, newest first, and what is worth saying about runs that do not count."""

    measured: tuple[Measured, ...]
    notices: tuple[str, ...] = ()


def skill_key(skill: Skill) -> SkillKey:
    """Give what makes a skill the very same skill."""
    return (skill.id, skill.version, skill.digest)


def newest(skills: Iterable[Skill], store: Path) -> tuple[dict[SkillKey, Measured], tuple[str, ...]]:
    """Give the newest measurement of each skill below a folder of runs, on whatever benchmark, and notices.

    Runs are read from the newest on, until every skill is found.
    """
    wanted = {skill_key(skill) for skill in skills}
    found: dict[SkillKey, Measured] = {}
    notices: list[str] = []
    for report in _stored(store, {key[0] for key in wanted}, notices):
        for measured in measurements(report):
            if measured.key in wanted:
                found.setdefault(measured.key, measured)
        if found.keys() >= wanted:
            break
    return found, tuple(notices)


def read_store(store: Path, skills: Iterable[Skill]) -> History:
    """Read everything that finished runs below a folder say of skills with these ids."""
    notices: list[str] = []
    reports = _stored(store, {skill.id for skill in skills}, notices)
    measured = tuple(one for report in reports for one in measurements(report))
    return History(measured, tuple(notices))


def read_reports(path: Path) -> History:
    """Read everything that the JSON reports in and below a folder say; a single report works too.

    Raises:
        ResultsError: there is no report.
    """
    files = [path] if path.is_file() else sorted(path.rglob("*.json"))
    notices: list[str] = []
    reports = [report for file in files if (report := _report(file, notices)) is not None]
    if not reports and not notices:
        hint = "name the folder of JSON reports, or stored runs with --store"
        problem = Problem(where=str(path), expected="JSON reports in or below it", found="none", hint=hint)
        raise ResultsError("no report was found", problems=(problem,))
    newest_first = sorted(reports, key=lambda report: (report.run.started_at or "", report.run.run_id))
    measured = tuple(one for report in reversed(newest_first) for one in measurements(report))
    return History(measured, tuple(notices))


def measurements(report: Report) -> tuple[Measured, ...]:
    """Give what a report says of each skill."""
    rows: dict[SkillKey, list[Row]] = {}
    for row in report.summary:
        key = (words(row, "skill_id"), words(row, "skill_version"), words(row, "skill_digest"))
        rows.setdefault(key, []).append(row)
    return tuple(
        Measured(
            key=key,
            run_id=report.run.run_id,
            benchmark_id=report.run.benchmark_id,
            benchmark_version=report.run.benchmark_version,
            benchmark_digest=str(report.provenance.benchmark.get("digest", "")),
            figures=min(group, key=_rate),
        )
        for key, group in rows.items()
    )


def _rate(row: Row) -> float:
    rate = number(row, "completion_rate")
    return 2.0 if rate is None else rate  # above any rate: what is not known is not the lowest


def _stored(store: Path, skill_ids: set[str], notices: list[str]) -> Iterator[Report]:
    """Give the reports of finished runs that evaluated any of these skills, newest first."""
    for folder in reversed(runs(store)):
        try:
            manifest = read_manifest(folder)
            if not skill_ids & _skill_ids(manifest):
                continue
            if manifest.get("ended_at") is None or manifest.get("interrupted"):
                notices.append(f"{folder} does not count: the run did not come to its end")
                continue
            report = analyse(folder)
        except ResultsError as error:
            notices.append(f"{folder} does not count: {error}")
            continue
        yield report


def _skill_ids(manifest: Mapping[str, Any]) -> set[str]:
    skills = manifest.get("skills")
    return (
        {str(one.get("id")) for one in skills if isinstance(one, Mapping)}
        if isinstance(skills, list)
        else set()
    )


def _report(file: Path, notices: list[str]) -> Report | None:
    """Read a JSON report; null where a file is something else, or its run was cut short."""
    try:
        text = file.read_text(encoding="utf-8")
        if f'"{SCHEMA}"' not in text[:_HEAD]:
            return None
        report = from_json(text, where=str(file))
    except (OSError, UnicodeDecodeError):
        return None
    except ResultsError as error:
        notices.append(f"{file} does not count: {error}")
        return None
    if report.run.interrupted:
        notices.append(f"{file} does not count: the run did not come to its end")
        return None
    return report
