from __future__ import annotations

import os
from pathlib import Path

import pytest

from skilleval.sandboxes.docker.access import hand_over, unreadable
from skilleval.sandboxes.docker.blueprint import User

STRANGER = User(uid=54321, gid=54321)
OWNER = User(uid=os.getuid(), gid=os.getgid())


@pytest.mark.parametrize(
    ("mode", "folder_mode", "found"),
    [(0o644, 0o755, None), (0o640, 0o755, "file"), (0o644, 0o750, "inner"), (0o644, 0o754, "inner")],
)
def test_the_first_file_that_others_cannot_read_is_found(
    tmp_path: Path, mode: int, folder_mode: int, found: str | None
) -> None:
    """A folder must be open to be entered, a file to be read."""
    tmp_path.chmod(0o755)
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "file").touch()
    (inner / "file").chmod(mode)
    inner.chmod(folder_mode)
    (tmp_path / "link").symlink_to("/etc/shadow")
    seen = unreadable(tmp_path, STRANGER)
    assert (None if seen is None else seen.name) == found


def test_owner_and_group_have_rights_of_their_own(tmp_path: Path) -> None:
    """The class of rights that fits best decides, as in the kernel."""
    file = tmp_path / "file"
    file.touch()
    file.chmod(0o400)
    assert unreadable(file, OWNER) is None
    assert unreadable(file, STRANGER) == file
    file.chmod(0o440)
    assert unreadable(file, User(uid=54321, gid=os.getgid())) is None
    file.chmod(0o044)
    assert unreadable(file, OWNER) == file


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_folder_of_ours_is_handed_over(tmp_path: Path) -> None:
    """Who runs in the container owns it afterwards, and root still gets in."""
    hand_over(tmp_path, STRANGER)
    assert (tmp_path.stat().st_uid, tmp_path.stat().st_gid) == (54321, 54321)
