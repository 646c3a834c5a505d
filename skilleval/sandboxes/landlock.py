"""What of the file system and the network a program may touch, in the words of Landlock (Linux 5.13 and later).

A ruleset is plain data, laid out here and applied in the program's own process by `confine.py`, because a
restriction holds for whoever asks for it. What an older kernel cannot restrict is left out, so what can be promised
depends on the version of its interface, the ABI.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILES_SINCE = 3
"""From this ABI on no file outside can be changed; before it, any file could still be cut to nothing."""

TCP_SINCE = 4
"""From this ABI on TCP can be refused; nothing refuses UDP."""

SIGNALS_SINCE = 6
"""From this ABI on signals, and unix sockets without a file, reach only what the program itself started."""

_CREATE_RULESET = 444
_ASK_VERSION = 1

# Rights over files, <linux/landlock.h>.
_EXECUTE = 1 << 0
_WRITE_FILE = 1 << 1
_READ_FILE = 1 << 2
_READ_DIR = 1 << 3
_ALL_OF_ABI_1 = (1 << 13) - 1  # up to making symbolic links; among them devices, which are granted nowhere
_MAKE_CHAR = 1 << 6
_MAKE_BLOCK = 1 << 11
_REFER = 1 << 13  # move and link between folders
_TRUNCATE = 1 << 14
_IOCTL_DEV = 1 << 15

_BIND_TCP = 1 << 0
_CONNECT_TCP = 1 << 1
_ABSTRACT_UNIX_SOCKET = 1 << 0
_SIGNAL = 1 << 1

_LOOK = _EXECUTE | _READ_FILE | _READ_DIR
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_CHANGE = _ALL_OF_ABI_1 & ~(_MAKE_CHAR | _MAKE_BLOCK) | _REFER | _TRUNCATE

HARMLESS_READS = (
    "/dev/random",
    "/dev/urandom",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/self",
    "/proc/stat",
    "/proc/sys/vm/overcommit_memory",
    "/proc/uptime",
    "/proc/version",
    "/sys/devices/system/cpu",
)
"""What interpreters look at and what tells nothing about anybody; `/proc/self` is the program alone."""

HARMLESS_WRITES = ("/dev/full", "/dev/null", "/dev/zero")
"""Devices that keep nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruleset:
    """What is restricted at all (`attributes`, as the kernel reads it) and the paths that are excepted from it.

    An exception is a path and the rights it grants: the path itself, or everything below it if it is a folder.
    """

    abi: int
    attributes: bytes
    exceptions: tuple[tuple[str, int], ...]


@cache
def landlock_abi() -> int:
    """Give the version of Landlock that this kernel offers; 0 if none, or if it is turned off."""
    try:
        libc = ctypes.CDLL(None)
        return max(0, int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)))
    except (OSError, AttributeError):  # no Linux, or no C library to ask
        return 0


def build_ruleset(
    *,
    abi: int,
    reads: Iterable[Path],
    writes: Iterable[Path],
    allow_network: bool,
    hides: Iterable[Path] = (),
) -> Ruleset | None:
    """Allow to read and run what is below `reads`, to change what is below `writes`, and refuse everything else.

    Both include the few devices and system files that no program can do without. Paths that do not exist are left
    out. What is below `hides` cannot be read even inside of `reads`; only the names in there can be listed. Signals
    reach, from ABI 6 on, only what the program itself started. Null where there is no Landlock.
    """
    if abi < 1:
        return None
    handled = _handled(abi)
    granted: dict[str, int] = {}
    for paths, rights in (
        ((*HARMLESS_READS, *map(str, reads)), _LOOK),
        (HARMLESS_WRITES, _READ_FILE | _WRITE_FILE | _TRUNCATE),
        (map(str, writes), _CHANGE),
    ):
        for path in paths:
            granted[path] = granted.get(path, 0) | rights
    granted = dict(_without(granted, frozenset(hides)))
    exceptions = [(path, _fitting(path, rights) & handled) for path, rights in granted.items()]
    return Ruleset(
        abi=abi,
        attributes=_attributes(abi, handled, allow_network=allow_network),
        exceptions=tuple((path, rights) for path, rights in exceptions if rights),
    )


def _without(granted: Mapping[str, int], hidden: frozenset[Path]) -> Iterator[tuple[str, int]]:
    """Grant no folder that holds something hidden as a whole, but everything around what is hidden."""
    for path, rights in granted.items():
        if _holds(Path(path), hidden):
            yield from _around(Path(path), rights, hidden)
        else:
            yield path, rights


def _around(folder: Path, rights: int, hidden: frozenset[Path]) -> Iterator[tuple[str, int]]:
    yield str(folder), rights & _READ_DIR
    for entry in folder.iterdir():
        # Nothing is granted through a link: it could lead anywhere.
        if entry in hidden or entry.is_symlink():
            continue
        if _holds(entry, hidden):
            yield from _around(entry, rights, hidden)
        else:
            yield str(entry), rights


def _holds(folder: Path, hidden: frozenset[Path]) -> bool:
    return any(path != folder and path.is_relative_to(folder) for path in hidden)


def _handled(abi: int) -> int:
    later = ((2, _REFER), (FILES_SINCE, _TRUNCATE), (5, _IOCTL_DEV))
    return _ALL_OF_ABI_1 | sum(right for since, right in later if abi >= since)


def _fitting(path: str, rights: int) -> int:
    """Reduce rights to what can be granted on a path: a file has fewer than a folder, nothing has none."""
    place = Path(path)
    if place.is_dir():
        return rights
    return rights & _OF_A_FILE if place.exists() else 0


def _attributes(abi: int, handled: int, *, allow_network: bool) -> bytes:
    """Lay out `struct landlock_ruleset_attr` as far as this version knows it."""
    network = 0 if allow_network else _BIND_TCP | _CONNECT_TCP
    scopes = _SIGNAL if allow_network else _SIGNAL | _ABSTRACT_UNIX_SOCKET
    words = [handled, *([network] if abi >= TCP_SINCE else []), *([scopes] if abi >= SIGNALS_SINCE else [])]
    return struct.pack(f"={len(words)}Q", *words)
