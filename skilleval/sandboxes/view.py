"""What of the file system a program in a sandbox sees: the system's programs, its own installation, what it is given.

Everything stands where it stands on this machine, so that paths mean the same inside and outside. A home folder or
the root is never shown as a whole, only the installations in them that a program needs to run.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
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

_INTERPRETER_LANDMARKS = ("lib/python3*/os.py", "lib64/python3*/os.py", "include/node/node.h")
"""What only a whole interpreter brings: its own library. Settings files alone, which anybody can write, are none."""

_SHARED = ".local"
"""The folder of a user's own programs, in which other programs keep their data: of an installation there only its parts
are shown."""

_PARTS = (*_PROGRAM_FOLDERS, "include", "lib", "lib32", "lib64", "libexec")

_CLOSED = tuple(map(Path, ("/proc", "/sys", "/dev")))
"""Folders of the kernel, by which every other place can be named; no program of a skill lies there."""

_HOMES = tuple(map(Path, ("/home", "/Users")))
_MAX_LINKS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What is seen beyond the system: read-only, writable, and what of it is covered again."""

    reads: tuple[Path, ...]
    writes: tuple[Path, ...]
    covered: tuple[Path, ...]

    def shows(self, path: Path) -> bool:
        """Say whether a path is seen, and not covered."""
        within = any(lies_within(path, root) for root in (*SYSTEM, *self.reads, *self.writes))
        return within and not any(lies_within(path, cover) for cover in self.covered)


def view_of(command: Command, program: Path, *, further: Sequence[Path], hidden: Sequence[Path]) -> View:
    """Lay out what a program sees for a command: its folder, its installation, what the command and config add.

    Of `hidden`, what lies inside something that is shown is covered; what contains or is something shown is not.
    """
    folder = absolute(command.folder)
    given = [absolute(path) for path in (*command.reads, *further) if path.exists()]
    own = installation(absolute(program), skill=folder)
    needed = [path for file in command.reads if file.is_file() for path in installation(absolute(file))]
    writes = tuple(dict.fromkeys(map(absolute, command.writes)))
    asked = tuple(path for path in dict.fromkeys([folder, *own, *given, *needed]) if not _is_system(path))
    covered = tuple(_covered((*asked, *writes), hidden))
    reads = tuple(path for path in asked if not _is_seen_anyway(path, asked, covered))
    return View(reads=reads, writes=writes, covered=covered)


def _covered(shown: Sequence[Path], hidden: Sequence[Path]) -> Iterator[Path]:
    """Give where hidden paths come to light, strictly inside of what is shown; links are seen through."""
    secrets = dict.fromkeys(path.resolve() for path in hidden if path.exists())
    places = {**_system_places(), **{root: root.resolve() for root in shown}} if secrets else {}
    for secret in secrets:
        for root, real in places.items():
            place = root / secret.relative_to(real) if lies_within(secret, real) else root
            if place not in places:
                yield place


@cache
def _system_places() -> dict[Path, Path]:
    """Give where the folders of the system really are."""
    return {root: root.resolve() for root in SYSTEM}


def _is_seen_anyway(path: Path, others: Sequence[Path], covered: Sequence[Path]) -> bool:
    is_inside = any(path != other and lies_within(path, other) for other in others)
    return is_inside and not any(lies_within(path, cover) for cover in covered)


def absolute(path: Path) -> Path:
    """Give the path from the root, without `..`; links stay, because programs name files by them."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - Path.absolute keeps `..`


def lies_within(path: Path, folder: Path) -> bool:
    """Say what `Path.is_relative_to` says, which takes both apart anew each time; this is asked often in each trial."""
    parts = folder.parts
    return path.parts[: len(parts)] == parts


def refusal_of(word: str, folder: Path) -> str | None:
    """Say why a skill may not name its program like this; null where it may.

    A word without a slash is looked up on the PATH, and an absolute one names a program of this machine. A relative
    one stays in the folder: only a link may lead out of it, to the system or to a whole interpreter.
    """
    if "/" not in word:
        return None
    named, folder = absolute(folder / word), absolute(folder)
    if any(lies_within(named, closed) for closed in _CLOSED):
        return f"{word} lies in a folder of the kernel: name the program by its own path"
    is_inside = lies_within(named, folder)
    if (Path(word).is_absolute() and not is_inside) or (is_inside and _stays(named, folder)):
        return None
    return f"{word} leads out of {folder}: give a program of this machine by its name or its absolute path"


def _stays(named: Path, folder: Path) -> bool:
    real = named.resolve()
    places = (folder.resolve(), *SYSTEM, *installation(named, skill=folder))
    return any(real.is_relative_to(place) for place in places)


@lru_cache(maxsize=256)
def installation(program: Path, *, skill: Path | None = None) -> tuple[Path, ...]:
    """Give what a program needs to run beyond the system: the installations along its links, or itself alone.

    Every place is judged by where it really is. Nothing inside the `skill`'s folder is believed: a program that lies
    there is not followed to single files elsewhere, which may be secrets, but only to whole interpreters.
    """
    is_own = skill is not None and _lies_in(program, skill)
    found: list[Path] = []
    for number, file in enumerate(_links(program)):
        if _is_system(file) or (skill is not None and _lies_in(file, skill)):
            continue
        roots = list(_interpreters(file, skill) if is_own else _installations(file))
        found += roots
        if not is_own and not roots and number == 0:
            found.append(file)
    return tuple(dict.fromkeys(found))


def _lies_in(file: Path, folder: Path) -> bool:
    real = file.parent.resolve() / file.name
    return file.is_relative_to(folder) or real.is_relative_to(folder.resolve())


def _links(file: Path) -> Iterator[Path]:
    """Give every name of a program: as it is written, as it really is, and so on behind each link."""
    for _ in range(_MAX_LINKS):
        yield absolute(file)
        real = file.parent.resolve() / file.name
        if real != file:
            yield real
        if not real.is_symlink():
            return
        file = real.parent / real.readlink()


def _interpreters(file: Path, skill: Path | None) -> Iterator[Path]:
    root = file.parent.parent
    if file.parent.name in _PROGRAM_FOLDERS and not (skill and _lies_in(skill, root)):
        yield from _accepted(root, _INTERPRETER_LANDMARKS)


def _installations(file: Path) -> Iterator[Path]:
    if file.parent.name not in _PROGRAM_FOLDERS:
        return
    root = file.parent.parent
    accepted = tuple(_accepted(root, _LANDMARKS))
    yield from accepted
    base = _base_of(root) if accepted else None
    if base is not None and not _is_system(base):
        yield from _accepted(base, _INTERPRETER_LANDMARKS)


def _accepted(root: Path, landmarks: Sequence[str]) -> Iterator[Path]:
    """Give a folder by its name and by where it really is, if that is an installation."""
    real = root.resolve()
    if not any(root.is_relative_to(closed) for closed in _CLOSED) and _is_installation(real, landmarks):
        for place in dict.fromkeys((root, real)):
            yield from _parts(place) if real.name == _SHARED else (place,)


def _parts(root: Path) -> Iterator[Path]:
    return (path for name in _PARTS if (path := root / name).is_dir())


def _is_installation(root: Path, landmarks: Sequence[str]) -> bool:
    if root.parent in (root, *_HOMES) or any(root.is_relative_to(closed) for closed in _CLOSED):
        return False
    if any(home.is_relative_to(root) for home in (*_HOMES, *own_homes())):
        return False
    return any(next(root.glob(landmark), None) is not None for landmark in landmarks)


def own_homes() -> Iterator[Path]:
    """Give the home of the user, as the environment and as the machine know it; the two may differ."""
    yield from (Path.home(), Path.home().resolve())
    try:
        yield Path(pwd.getpwuid(os.getuid()).pw_dir).resolve()
    except KeyError:  # a user without an entry, as in some containers
        return


def _base_of(root: Path) -> Path | None:
    """Give the installation that a virtual environment of Python was made from."""
    try:
        lines = (root / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    values = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    return absolute(Path(values["home"])).parent if "home" in values else None


def _is_system(path: Path) -> bool:
    return any(lies_within(path, root) for root in SYSTEM)
