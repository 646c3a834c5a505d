"""What of the file system a program in a sandbox sees: the system's programs, its own installation, what it is given.

Everything stands where it stands on this machine, so that paths mean the same inside and outside. A home folder or
the root is never shown as a whole, only the installations in them that a program needs to run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from skilleval.sandboxes.base import Command

SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")))
"""Where a system keeps its programs and libraries; seen by every program where it exists."""

SETTINGS = tuple(
    Path("/etc", name)
    for name in ("alternatives", "ld.so.cache", "localtime", "ssl/openssl.cnf", "ssl/certs", "pki/tls/certs")
)
"""What of the machine's settings a program may see as it is; the rest of `/etc` is made up or absent."""

_PROGRAM_FOLDERS = ("bin", "sbin", "Scripts")
_LANDMARKS = (
    "pyvenv.cfg",
    "conda-meta",
    "lib/python3*/os.py",
    "lib64/python3*/os.py",
    "include/node/node.h",
    "lib/node_modules/npm",
    "lib/ruby/[0-9]*",
    "lib/modules",
)
"""What tells an installation from a folder that only has programs in it, like `~/.local`."""

_MAX_LINKS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What is seen beyond the system: read-only, writable, and what of it is covered again."""

    reads: tuple[Path, ...]
    writes: tuple[Path, ...]
    covered: tuple[Path, ...]

    def shows(self, path: Path) -> bool:
        """Say whether a path is seen, and not covered."""
        within = [root for root in (*SYSTEM, *self.reads, *self.writes) if path.is_relative_to(root)]
        return bool(within) and not any(path.is_relative_to(cover) for cover in self.covered)


def view_of(command: Command, program: Path, *, further: Sequence[Path], hidden: Sequence[Path]) -> View:
    """Lay out what a program sees for a command: its folder, its installation, what the command and config add.

    Of `hidden`, what lies inside something that is shown is covered; what contains or is something shown is not.
    """
    folder = absolute(command.folder)
    given = [absolute(path) for path in (*command.reads, *further) if path.exists()]
    # A skill's own file is never followed to single files elsewhere: it may be a link to somebody's secret.
    own = installation(program, alone=not program.is_relative_to(folder))
    needed = [path for file in command.reads if file.is_file() for path in installation(absolute(file))]
    writes = tuple(dict.fromkeys(map(absolute, command.writes)))
    asked = tuple(path for path in dict.fromkeys([folder, *own, *given, *needed]) if not _is_system(path))
    covered = tuple(_covered((*asked, *writes), hidden))
    reads = tuple(path for path in asked if not _is_seen_anyway(path, asked, covered))
    return View(reads=reads, writes=writes, covered=covered)


def _covered(shown: Sequence[Path], hidden: Sequence[Path]) -> Iterator[Path]:
    """Give where hidden paths come to light, strictly inside of what is shown; links are seen through."""
    for secret in dict.fromkeys(path.resolve() for path in hidden if path.exists()):
        for root in dict.fromkeys((*SYSTEM, *shown)):
            real = root.resolve()
            place = root / secret.relative_to(real) if secret.is_relative_to(real) else root
            if place not in shown and place not in SYSTEM:
                yield place


def _is_seen_anyway(path: Path, others: Sequence[Path], covered: Sequence[Path]) -> bool:
    is_inside = any(path != other and path.is_relative_to(other) for other in others)
    return is_inside and not any(path.is_relative_to(cover) for cover in covered)


def absolute(path: Path) -> Path:
    """Give the path from the root, without `..`; links stay, because programs name files by them."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - Path.absolute keeps `..`


@lru_cache(maxsize=256)
def installation(program: Path, *, alone: bool = True) -> tuple[Path, ...]:
    """Give what a program needs to run beyond the system: the installations along its links, or itself alone.

    `alone` says whether a file that belongs to no installation may be shown by itself.
    """
    found: list[Path] = []
    for number, file in enumerate(_links(program)):
        if _is_system(file):
            continue
        roots = list(_installations(file))
        found += roots
        if alone and not roots and number == 0:
            found.append(file)
    return tuple(dict.fromkeys(found))


def _links(file: Path) -> Iterator[Path]:
    for _ in range(_MAX_LINKS):
        yield file
        if not file.is_symlink():
            return
        file = absolute(file.parent / file.readlink())


def _installations(file: Path) -> Iterator[Path]:
    if file.parent.name not in _PROGRAM_FOLDERS:
        return
    root = file.parent.parent
    if not _is_installation(root):
        return
    yield root
    base = _base_of(root)
    if base is not None and not _is_system(base) and _is_installation(base):
        yield base


def _is_installation(root: Path) -> bool:
    home = Path.home()
    if home.is_relative_to(root) or root == Path(root.anchor):
        return False
    return any(next(root.glob(landmark), None) is not None for landmark in _LANDMARKS)


def _base_of(root: Path) -> Path | None:
    """Give the installation that a virtual environment of Python was made from."""
    try:
        lines = (root / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    values = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    return absolute(Path(values["home"])).parent if "home" in values else None


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(root) for root in SYSTEM)
