from __future__ import annotations

import shutil
from pathlib import Path

from skilleval.sandboxes.docker.images import context_digest


def _folder(root: Path) -> Path:
    root.mkdir()
    (root / "Dockerfile").write_text("FROM x\n")
    (root / "inner").mkdir()
    (root / "inner" / "data").write_text("1")
    return root


def test_the_digest_follows_what_an_image_is_built_from(tmp_path: Path) -> None:
    """Names, contents and rights count; places, times and byte code do not."""
    one = _folder(tmp_path / "one")
    two = tmp_path / "two"
    shutil.copytree(one, two)
    (two / "__pycache__").mkdir()
    (two / "__pycache__" / "x.pyc").write_text("x")
    same = context_digest(one)
    assert context_digest(two) == same
    (two / "inner" / "data").write_text("2")
    changed = context_digest(two)
    (two / "inner" / "data").write_text("1")
    (two / "inner" / "data").chmod(0o755)
    executable = context_digest(two)
    (two / "inner" / "data").rename(two / "data")
    moved = context_digest(two)
    assert len({same, changed, executable, moved}) == 4
