"""The arms of a comparison: each skill once a mode, all else being equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skilleval.catalog.editions import old_editions
from skilleval.config.settings import Settings
from skilleval.domain.skills import Skill
from skilleval.domain.trials import Mode


def arms(skills: Sequence[Skill], settings: Settings) -> list[tuple[Skill, Mode]]:
    """Give each skill with each mode in which it takes part; a callable one has a single mode.

    Raises:
        CatalogError: a skill has no old edition.
    """
    modes = [Mode(name) for name in settings.skill_set.modes]
    old = _old(skills, settings) if Mode.OLD_SKILL in modes else {}
    return [
        (old[skill.id] if mode is Mode.OLD_SKILL else skill, mode)
        for skill in skills
        for mode in (modes if skill.instructions is not None else [Mode.DIRECT])
    ]


def unchanged(planned: Sequence[tuple[Skill, Mode]]) -> list[str]:
    """Warn of skills whose old edition is the present one: comparing them shows nothing but chance."""
    now = {skill.id: skill.digest for skill, mode in planned if mode is not Mode.OLD_SKILL}
    return [
        f"{skill.id}: its old edition is the same as the present one"
        for skill, mode in planned
        if mode is Mode.OLD_SKILL and now.get(skill.id) == skill.digest
    ]


def _old(skills: Sequence[Skill], settings: Settings) -> Mapping[str, Skill]:
    instructed = [skill for skill in skills if skill.instructions is not None]
    return old_editions(instructed, settings.skill_set.old or "")
