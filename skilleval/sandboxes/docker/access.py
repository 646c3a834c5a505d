"""What the user in a container may read: files are shown as they are, with their owners and rights."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from skilleval.sandboxes.docker.blueprint import User

_ENOUGH = 5000  # files looked at: a folder that is readable so far surely is


def unreadable(root: Path, user: User) -> Path | None:
    """Give the first file or folder that the user may not read, null where all is well."""
    for number, path in enumerate(_files(root)):
        if number >= _ENOUGH:
            return None
        if not _is_readable(path, user):
            return path
    return None


def hand_over(folder: Path, user: User) -> None:
    """Let the user write into a folder of ours; only root can and must give it away."""
    if os.getuid() == 0 and folder.stat().st_uid != user.uid:
        os.chown(folder, user.uid, user.gid)


def _files(root: Path) -> Iterator[Path]:
    yield root
    if not root.is_dir():
        return
    for folder, folders, names in os.walk(root):
        yield from (Path(folder, name) for name in (*folders, *names))


def _is_readable(path: Path, user: User) -> bool:
    try:
        found = path.lstat()
    except OSError:  # it vanished meanwhile
        return True
    if stat.S_ISLNK(found.st_mode):
        return True
    needed = 0o5 if stat.S_ISDIR(found.st_mode) else 0o4
    if found.st_uid == user.uid:
        return bool(found.st_mode >> 6 & needed == needed)
    if found.st_gid == user.gid:
        return bool(found.st_mode >> 3 & needed == needed)
    return bool(found.st_mode & needed == needed)
