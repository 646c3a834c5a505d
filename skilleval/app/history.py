"""What stored runs say of skills: the newest finished run counts, and only of the very same skill.

Figures are compared only where one scorer with one set of settings gave them, and the same formulas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilleval.app.analyse import analyse
from skilleval.app.finished import Uncounted, finished_runs
from skilleval.domain.hashes import content_hash
from skilleval.domain.skills import Skill
from skilleval.errors import Problem, ResultsError
from skilleval.report.columns import number, words
from skilleval.report.document import SCHEMA, MatrixCell, Report, Row, from_json
from skilleval.results.find import runs
from skilleval.sharding import is_shard

USUAL_SCORER = "task"
"""Whose verdicts count where nobody asks for others: each task is judged as it says itself."""
DEFAULT_PRESET = "default"
_REPLAY = "replay"
_HEAD = 200
"""A JSON report says what it is in its first characters."""

SkillKey = tuple[str, str, str]
"""Id, version and digest: the very same skill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one finished run says of one skill by one scorer. `figures` is its row of the summary.

    Where several conditions stand for one skill, the row with the lowest completion rate counts. `scorer_settings`
    and `analysis_settings` are content hashes of what the run was composed with; `adapter` is how the run drove it.
    `tasks` says how each task went, `concurrency` the lowest and the highest one that trials of the run had.
    """

    key: SkillKey
    run_id: str
    benchmark_id: str
    benchmark_version: str
    benchmark_digest: str
    scorer: str
    scorer_settings: str = ""
    preset: str = DEFAULT_PRESET
    analysis_settings: str = ""
    adapter: str = ""
    tasks: tuple[MatrixCell, ...] = ()
    concurrency: tuple[int, ...] = ()
    figures: Row

    @property
    def benchmark(self) -> tuple[str, str, str]:
        """Id, version and digest of the benchmark: only figures on the very same one can be compared."""
        return (self.benchmark_id, self.benchmark_version, self.benchmark_digest)

    @property
    def method(self) -> tuple[str, str, str]:
        """Who judged, by which settings, and how rows became numbers: other figures cannot be compared."""
        return (self.scorer, self.scorer_settings, self.analysis_settings)


@dataclass(frozen=True, slots=True)
class History:
    """Stored measurements, newest first, and what is worth saying about runs that do not count.

    `replayed` are skills of which runs spoke that replayed recordings: those measure nothing.
    """

    measured: tuple[Measured, ...]
    notices: tuple[str, ...] = ()
    replayed: frozenset[SkillKey] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Newest:
    """The newest measurement of each skill that was judged as the others were, and who else judged them."""

    by_skill: Mapping[SkillKey, Measured]
    scorer: str
    other_scorers: tuple[str, ...]
    notices: tuple[str, ...]


def skill_key(skill: Skill) -> SkillKey:
    """Give what makes a skill the very same skill."""
    return (skill.id, skill.version, skill.digest)


def chosen_scorer(measured: Sequence[Measured], wish: str | None = None) -> str:
    """Say whose verdicts count: as wished, else those of `task`, else of the newest run's strictest scorer."""
    if wish is not None:
        return wish
    if not measured or any(one.scorer == USUAL_SCORER for one in measured):
        return USUAL_SCORER
    rates: dict[str, list[float]] = {}
    for one in measured:
        if one.run_id == measured[0].run_id:
            rates.setdefault(one.scorer, []).append(_rate(one.figures))
    return min(rates, key=lambda name: (sum(rates[name]), name))


def reference(measured: Sequence[Measured], scorer: str) -> Measured | None:
    """Give the measurement that others must be like to be compared: the newest of a scorer by the usual formulas."""
    by_it = [one for one in measured if one.scorer == scorer]
    usual = [one for one in by_it if one.preset == DEFAULT_PRESET]
    return next(iter(usual or by_it), None)


def newest(skills: Iterable[Skill], store: Path, *, scorer: str | None = None) -> Newest:
    """Give the newest measurement of each skill below a folder of runs, on whatever benchmark.

    All of them are judged by one scorer with the same settings. Runs are read from the newest on, until every skill
    is found.
    """
    wanted = {skill_key(skill) for skill in skills}
    uncounted = Uncounted()
    seen: list[Measured] = []
    played: list[Measured] = []
    for report in _stored(store, {key[0] for key in wanted}, uncounted):
        found = [one for one in measurements(report) if one.key in wanted]
        seen += [one for one in found if one.adapter != _REPLAY]
        played += [one for one in found if one.adapter == _REPLAY]
        if _alike(seen, scorer or USUAL_SCORER).keys() >= wanted:
            break
    chosen = chosen_scorer(seen, scorer)
    return Newest(
        by_skill=_alike(seen, chosen),
        scorer=chosen,
        other_scorers=other_scorers(seen, chosen),
        notices=(*uncounted.notices(), *_replay_notices(played)),
    )


def other_scorers(measured: Iterable[Measured], chosen: str) -> tuple[str, ...]:
    """Name the scorers whose verdicts are there and do not count."""
    return tuple(sorted({one.scorer for one in measured} - {chosen}))


def _alike(measured: Sequence[Measured], scorer: str) -> dict[SkillKey, Measured]:
    like = reference(measured, scorer)
    found: dict[SkillKey, Measured] = {}
    for one in measured:
        if like is not None and one.method == like.method:
            found.setdefault(one.key, one)
    return found


def read_store(store: Path, skills: Iterable[Skill]) -> History:
    """Read everything that finished runs below a folder say of skills with these ids."""
    uncounted = Uncounted()
    return _history(_stored(store, {skill.id for skill in skills}, uncounted), uncounted)


def read_reports(path: Path) -> History:
    """Read everything that the JSON reports in and below a folder say; a single report works too.

    Raises:
        ResultsError: there is no report.
    """
    files = [path] if path.is_file() else sorted(path.rglob("*.json"))
    uncounted = Uncounted()
    reports = [report for file in files if (report := _report(file, uncounted)) is not None]
    if not reports and not uncounted.texts:
        hint = "name the folder of JSON reports, or stored runs with --store"
        problem = Problem(where=str(path), expected="JSON reports in or below it", found="none", hint=hint)
        raise ResultsError("no report was found", problems=(problem,))
    reports.sort(key=lambda report: (report.run.started_at or "", report.run.run_id), reverse=True)
    return _history(reports, uncounted)


def _history(reports: Iterable[Report], uncounted: Uncounted) -> History:
    found = [one for report in reports for one in measurements(report)]
    played = [one for one in found if one.adapter == _REPLAY]
    return History(
        measured=tuple(one for one in found if one.adapter != _REPLAY),
        notices=(*uncounted.notices(), *_replay_notices(played)),
        replayed=frozenset(one.key for one in played),
    )


def _replay_notices(played: Sequence[Measured]) -> list[str]:
    runs_played = list(dict.fromkeys(one.run_id for one in played))
    if not runs_played:
        return []
    first, *more = runs_played
    also = f" and {len(more)} more" if more else ""
    return [
        f"{first}{also} {'do' if more else 'does'} not count: no skill ran, recorded attempts were replayed"
    ]


def measurements(report: Report) -> tuple[Measured, ...]:
    """Give what a report says of each skill by each scorer."""
    rows: dict[tuple[SkillKey, str], list[Row]] = {}
    for row in report.summary:
        key = (words(row, "skill_id"), words(row, "skill_version"), words(row, "skill_digest"))
        rows.setdefault((key, words(row, "scorer")), []).append(row)
    return tuple(_measured(report, *about, min(group, key=_rate)) for about, group in rows.items())


def _measured(report: Report, key: SkillKey, scorer: str, figures: Row) -> Measured:
    config, benchmark = report.provenance.config, report.provenance.benchmark
    analysis = _part(config, "analysis")
    return Measured(
        key=key,
        run_id=report.run.run_id,
        benchmark_id=report.run.benchmark_id,
        benchmark_version=report.run.benchmark_version,
        benchmark_digest=str(benchmark.get("digest", "")),
        scorer=scorer,
        scorer_settings=content_hash(dict(_part(_part(config, "scorers"), scorer))),
        preset=str(analysis.get("preset", DEFAULT_PRESET)),
        analysis_settings=content_hash(dict(analysis)),
        adapter=words(figures, "adapter"),
        tasks=tuple(
            cell
            for cell in report.matrix
            if cell.scorer == scorer and cell.condition_id == words(figures, "condition_id")
        ),
        concurrency=report.run.concurrency,
        figures=figures,
    )


def _part(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = config.get(name)
    return found if isinstance(found, Mapping) else {}


def _rate(row: Row) -> float:
    rate = number(row, "completion_rate")
    return 2.0 if rate is None else rate  # above any rate: what is not known is not the lowest


def _stored(store: Path, skill_ids: set[str], uncounted: Uncounted) -> Iterator[Report]:
    """Give the reports of finished runs that evaluated any of these skills, newest first."""
    newest_first = reversed(runs(store))
    for folder in finished_runs(
        newest_first, lambda manifest: bool(skill_ids & _skill_ids(manifest)), uncounted
    ):
        try:
            report = analyse(folder)
        except ResultsError as error:
            uncounted.add(folder, error)
            continue
        yield report


def _skill_ids(manifest: Mapping[str, Any]) -> set[str]:
    skills = manifest.get("skills")
    return (
        {str(one.get("id")) for one in skills if isinstance(one, Mapping)}
        if isinstance(skills, list)
        else set()
    )


def _report(file: Path, uncounted: Uncounted) -> Report | None:
    """Read a JSON report; null where a file is something else, or its run was cut short or is a shard."""
    try:
        text = file.read_text(encoding="utf-8")
        if f'"{SCHEMA}"' not in text[:_HEAD]:
            return None
        report = from_json(text, where=str(file))
    except (OSError, UnicodeDecodeError):
        return None
    except ResultsError as error:
        uncounted.add(file, error)
        return None
    if report.run.interrupted:
        uncounted.add(file, "the run did not come to its end")
        return None
    if is_shard(report.provenance.config):
        uncounted.add(file, "it is of a shard, which is a part of a run; `skilleval merge` joins them")
        return None
    return report
