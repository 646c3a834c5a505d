"""Chooses skills by globs on their path below the searched folder and on their id.

`*` stands for anything but a slash, `?` for one character that is none, `**` for anything. A pattern fits where it fits
the path, counted from the folder that is searched, or the id; a skill that *is* that folder has the folder's name as
its path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skilleval.errors import Problem

_SHOWN = 5
_WILD = re.compile(r"(^|/)\*\*/|/\*\*$|\*\*|\*|\?")
_MEANING = {"/**": "(?:/.*)?", "**/": "(?:.*/)?", "/**/": "/(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


@dataclass(slots=True)
class Selection:
    """Globs, and what they have met so far: a pattern that fits nothing is most often a mistake."""

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    _seen: list[tuple[Path, str]] = field(default_factory=list)
    _used: set[str] = field(default_factory=set)

    def rules_out(self, root: Path, path: str) -> bool:
        """Say whether the path alone is reason enough not to read a skill."""
        self._seen.append((root, path))
        return self._fits(self.exclude, path)

    def wants(self, path: str, skill_id: str | None) -> bool:
        """Say whether a skill is to be kept; without an id (it could not be read) its path decides."""
        names = (path,) if skill_id is None else (path, skill_id)
        if self._fits(self.exclude, *names):
            return False
        return not self.include or self._fits(self.include, *names)

    def problems(self, *, is_empty: bool) -> tuple[Problem, ...]:
        """Say that the globs left nothing of the skills that are there."""
        if not is_empty or not self._seen or not (self.include or self.exclude):
            return ()
        root = self._seen[0][0]
        paths = [path for _, path in self._seen]
        more = ", …" if len(paths) > _SHOWN else ""
        key = "include" if self.include else "exclude"
        globs = [f'"{glob}"' for glob in getattr(self, key)]
        what = "a skill that fits" if self.include else "a skill beside those that fit"
        return (
            Problem(
                where=str(root),
                key=f"skill_set.{key}",
                expected=f"{what} {' or '.join(globs)}",
                found=f"the path{'s' if len(paths) > 1 else ''} {', '.join(paths[:_SHOWN])}{more}",
                hint=self._advice(root),
            ),
        )

    def remarks(self) -> tuple[str, ...]:
        """Name each pattern that fits nothing."""
        idle = [pattern for pattern in (*self.include, *self.exclude) if pattern not in self._used]
        return tuple(f"the pattern {pattern} fits no skill" for pattern in idle)

    def _advice(self, root: Path) -> str:
        advice = f"patterns count from {root}, or are ids; * stops at a slash, ** does not"
        shorter = [
            f"{pattern.removeprefix('./').partition('/')[2]} instead of {pattern}"
            for pattern in self.include
            if pattern.removeprefix("./").partition("/")[0] == root.resolve().name and "/" in pattern
        ]
        return f"{advice}: write {', '.join(shorter)}" if shorter else advice

    def _fits(self, patterns: Sequence[str], *names: str) -> bool:
        fitting = [pattern for pattern in patterns if any(_regex(pattern).fullmatch(name) for name in names)]
        self._used.update(fitting)
        return bool(fitting)


def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile("".join(_parts(pattern.removeprefix("./").rstrip("/"))), re.DOTALL)


def _parts(pattern: str) -> Iterator[str]:
    end = 0
    for wild in _WILD.finditer(pattern):
        yield re.escape(pattern[end : wild.start()])
        yield _MEANING[wild[0]]
        end = wild.end()
    yield re.escape(pattern[end:])
