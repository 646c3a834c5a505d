"""Finding skills: what a folder holds, picked by tag, adapter, query and stored completion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilleval.app.history import USUAL_SCORER, Measured, Newest, newest, skill_key
from skilleval.catalog.find import Hit, by_name, ranked, with_tags
from skilleval.catalog.read import read_catalog
from skilleval.catalog.rules import schema
from skilleval.domain.skills import Skill
from skilleval.errors import CatalogError, Problem, UsageError
from skilleval.report.columns import number
from skilleval.strict import nearest

_TOLERANCE = 1e-9
_NOTHING_STORED = Newest(by_skill={}, scorer=USUAL_SCORER, other_scorers=(), notices=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is looked for, and where; null and empty ask for nothing. Without a store no history is read."""

    skills_dir: Path
    store: Path | None = None
    query: str | None = None
    tags: tuple[str, ...] = ()
    adapter: str | None = None
    min_completion: float | None = None
    scorer: str | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A skill that was found: how well it fits a query, and what its newest run says."""

    skill: Skill
    relevance: float | None
    measured: Measured | None

    @property
    def completion_rate(self) -> float | None:
        """The completion rate of its newest run; null where there is none."""
        return None if self.measured is None else number(self.measured.figures, "completion_rate")

    def facts(self) -> dict[str, Any]:
        """Give the hit as JSON."""
        skill, measured = self.skill, self.measured
        return {
            "id": skill.id,
            "version": skill.version,
            "name": skill.name,
            "description": skill.description,
            "tags": list(skill.tags),
            "adapter": skill.adapter,
            "path": str(skill.source),
            "relevance": self.relevance,
            "completion_rate": self.completion_rate,
            "benchmark": None if measured is None else measured.benchmark_id,
            "scorer": None if measured is None else measured.scorer,
            "driven_by": None if measured is None else measured.adapter,
            "n_graded": None if measured is None else measured.figures.get("n_graded"),
            "run_id": None if measured is None else measured.run_id,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The hits, best first, and all that a user should know of what is not among them.

    Completion rates are by the verdicts of one `scorer`; `other_scorers` judged the skills too.
    """

    hits: tuple[Found, ...]
    n_skills: int
    n_fitting: int
    unknown: tuple[Skill, ...]
    problems: tuple[Problem, ...]
    notices: tuple[str, ...]
    scorer: str
    other_scorers: tuple[str, ...]


def find_skills(search: Search) -> SearchResult:
    """Look for skills. With a query the most relevant come first, else those with the highest stored completion.

    A skill without a stored completion does not meet `min_completion`; it is left out and named in `unknown`.

    Raises:
        SkillevalError: the folder is not there, or no skill could ever have such an adapter.
    """
    _check(search)
    catalog = read_catalog([search.skills_dir])
    skills = with_tags(catalog.skills, search.tags)
    fitting = [skill for skill in skills if search.adapter in {None, skill.adapter}]
    stored = newest(fitting, search.store, scorer=search.scorer) if search.store else _NOTHING_STORED
    found = [
        Found(skill=hit.skill, relevance=hit.relevance if search.query else None, measured=one)
        for hit in _hits(fitting, search.query)
        for one in [stored.by_skill.get(skill_key(hit.skill))]
    ]
    if not search.query:
        found.sort(key=_by_completion)
    least = search.min_completion
    known = found if least is None else [one for one in found if _reaches(one, least)]
    unknown = [] if least is None else [one.skill for one in found if one.completion_rate is None]
    return SearchResult(
        hits=tuple(known[: search.limit]),
        n_skills=len(catalog.skills),
        n_fitting=len(known),
        unknown=tuple(unknown),
        problems=catalog.problems,
        notices=(*catalog.notices, *stored.notices),
        scorer=stored.scorer,
        other_scorers=stored.other_scorers,
    )


def _check(search: Search) -> None:
    if not search.skills_dir.exists():
        hint = "name the folder with --skills-dir, or make one with `skilleval init`"
        problem = Problem(where=str(search.skills_dir), expected="a folder of skills", found="nothing there")
        raise CatalogError("there are no skills to look through", problems=(problem,), hint=hint)
    kinds: list[str] = schema("skill")["properties"]["adapterType"]["enum"]
    if search.adapter is not None and search.adapter not in kinds:
        problem = Problem(
            where="--adapter",
            expected=f"one of {', '.join(kinds)}",
            found=search.adapter,
            hint=nearest(search.adapter, kinds),
        )
        raise UsageError("no skill can have this adapter", problems=(problem,))


def _hits(skills: Sequence[Skill], query: str | None) -> Sequence[Hit]:
    return ranked(skills, query) if query else [Hit(skill=skill, relevance=0.0) for skill in skills]


def _by_completion(found: Found) -> tuple[float, tuple[str, ...]]:
    rate = found.completion_rate
    return (1.0 if rate is None else -rate, by_name(found.skill))


def _reaches(found: Found, least: float) -> bool:
    return found.completion_rate is not None and found.completion_rate >= least - _TOLERANCE
