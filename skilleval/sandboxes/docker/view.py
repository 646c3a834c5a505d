"""What of this machine a container shows for a command: its folder and what it names, less what is hidden."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from skilleval.sandboxes.base import Command
from skilleval.sandboxes.docker.blueprint import View
from skilleval.sandboxes.view import absolute


def view_of(command: Command, *, further: Sequence[Path], hidden: Sequence[Path]) -> View:
    """Lay out what a container shows. The image has programs of its own: none of this machine's are needed.

    Of `hidden`, what lies inside something that is shown is covered; what contains or is something shown is not.
    """
    given = [absolute(path) for path in (*command.reads, *further) if path.exists()]
    writes = tuple(dict.fromkeys(map(absolute, command.writes)))
    asked = tuple(dict.fromkeys([absolute(command.folder), *given]))
    covered = tuple(_covered((*asked, *writes), hidden))
    return View(reads=tuple(_needed(asked, covered)), writes=writes, covered=covered)


def _covered(shown: Sequence[Path], hidden: Sequence[Path]) -> Iterator[Path]:
    """Give where hidden paths come to light, strictly inside of what is shown; links are seen through."""
    for secret in dict.fromkeys(path.resolve() for path in hidden if path.exists()):
        for root in shown:
            real = root.resolve()
            if secret != real and secret.is_relative_to(real):
                yield root / secret.relative_to(real)


def _needed(asked: Sequence[Path], covered: Sequence[Path]) -> Iterator[Path]:
    """Leave out what is seen anyway, because it lies in something that is shown."""
    for path in asked:
        is_inside = any(path != other and path.is_relative_to(other) for other in asked)
        if not is_inside or any(path.is_relative_to(cover) for cover in covered):
            yield path
