from __future__ import annotations

from pathlib import Path

from skilleval.sandboxes.base import Command
from skilleval.sandboxes.docker.view import view_of


def _command(folder: Path, *, reads: tuple[Path, ...] = (), writes: tuple[Path, ...] = ()) -> Command:
    return Command(
        argv=("x",),
        folder=folder,
        env={},
        stdin=b"",
        timeout_s=1.0,
        max_output_bytes=1,
        reads=reads,
        writes=writes,
    )


def test_a_container_shows_what_is_named_and_nothing_else(tmp_path: Path) -> None:
    """Folder, reads and config, each once; what is absent or lies inside another is left out; no program of ours."""
    skill, book = tmp_path / "skill", tmp_path / "book"
    (skill / "inner").mkdir(parents=True)
    book.touch()
    reads = (book, tmp_path / "absent", skill / "inner")
    view = view_of(_command(skill, reads=reads, writes=(tmp_path / "box",)), further=(book,), hidden=())
    assert (view.reads, view.writes, view.covered) == ((skill, book), (tmp_path / "box",), ())


def test_what_is_hidden_is_covered_where_it_would_be_seen(tmp_path: Path) -> None:
    """Also through a link; what contains or is something shown is not; and what is shown inside of it again is."""
    skill, link = tmp_path / "skill", tmp_path / "link"
    (skill / "results" / "run").mkdir(parents=True)
    link.symlink_to(skill)
    hidden = (skill / "results", tmp_path, skill, tmp_path / "absent")
    assert view_of(_command(skill), further=(), hidden=hidden).covered == (skill / "results",)
    assert view_of(_command(link), further=(), hidden=hidden).covered == (link / "results",)
    view = view_of(_command(skill, reads=(skill / "results" / "run",)), further=(), hidden=hidden)
    assert view.reads == (skill, skill / "results" / "run")
