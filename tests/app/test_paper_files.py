from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skilleval.app.paper_files import UNFINISHED, Contents, Placed, file_digests, former, is_unfinished, place
from skilleval.app.verify import verify
from skilleval.errors import ResultsError, UsageError, WriteError
from skilleval.report.text import json_text
from skilleval.results.locks import maybe_locked

FIRST = {"numbers.tex": b"1", "tables/a.tex": b"a", "tables/b.tex": b"b"}
_KILLED = """
import resource, signal, sys
from pathlib import Path
from skilleval.app.paper_files import Contents, former, place
out, files = Path(sys.argv[1]), {"a.tex": b"a", "z.tex": b"z" * 100_000}
own = former(out)
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
place(out, Contents(files=files, yours={}, rows={}, lying=frozenset(), manifest="{}"), own)
"""


def contents(files: dict[str, bytes], *, rows: dict[str, Path] | None = None) -> Contents:
    """Give a kit of some files and rows, with an article."""
    named = rows or {}
    hashed = file_digests({name: path.read_bytes() for name, path in named.items()})
    runs = [{"folder": "data/r", "digests": {name.removeprefix("data/r/"): hashed[name] for name in hashed}}]
    manifest = {"files": file_digests(files), "options": {"linked": False}, "runs": runs}
    return Contents(
        files=files,
        yours={"main.tex": files["numbers.tex"]},
        rows={name: (path, hashed[name]) for name, path in named.items()},
        lying=frozenset(),
        manifest=json_text(manifest),
    )


def written(out: Path, files: dict[str, bytes], *, rows: dict[str, Path] | None = None) -> Placed:
    """Write a kit into a folder."""
    return place(out, contents(files, rows=rows), former(out))


def names(out: Path) -> list[str]:
    """Name the files below a folder."""
    return sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())


@pytest.mark.parametrize("is_new", [True, False])
def test_a_kit_whose_process_was_killed_is_written_again(tmp_path: Path, is_new: bool) -> None:
    """A process that dies while it writes leaves the kit as it was, and a folder that the next one goes on with."""
    out = tmp_path / "paper"
    if not is_new:
        written(out, FIRST)
    done = subprocess.run([sys.executable, "-c", _KILLED, str(out)], timeout=60, check=False)
    assert done.returncode < 0
    assert is_unfinished(out)
    assert not (out / "a.tex").exists()
    assert (out / "numbers.tex").exists() is not is_new
    written(out, FIRST)
    assert names(out) == ["main.tex", "numbers.tex", "paper.json", "tables/a.tex", "tables/b.tex"]


def broken_off(out: Path, files: dict[str, bytes]) -> None:
    """Let files be put in their places up to one where a folder stands in the way."""
    out.mkdir()
    (out / UNFINISHED).mkdir()
    obstacle = out / "tables" / "b.tex"
    obstacle.mkdir(parents=True)
    with pytest.raises(WriteError):
        place(out, contents(files), {})
    obstacle.rmdir()


def test_a_kit_that_is_half_in_its_place_is_known_as_ours(tmp_path: Path) -> None:
    """Files of a writing broken off are replaced or removed by the next one, also the article nobody has touched."""
    out = tmp_path / "paper"
    broken_off(out, {**FIRST, "numbers.tex": b"old"})
    assert names(out / "tables") == ["a.tex"]
    assert not (out / "paper.json").exists()
    done = written(out, {"numbers.tex": b"new", "tables/b.tex": b"b"})
    assert done == Placed(kept=(), removed=("tables/a.tex",), changed=())
    assert (out / "main.tex").read_bytes() == b"new"
    assert not (out / UNFINISHED).exists()


def test_what_is_half_in_its_place_does_not_verify(tmp_path: Path) -> None:
    """An unfinished kit is named as one, with what to do."""
    out = tmp_path / "paper"
    broken_off(out, FIRST)
    with pytest.raises(ResultsError, match="not finished") as caught:
        verify(out, store=tmp_path)
    assert "skilleval paper" in caught.value.hint


def test_rows_and_files_that_are_gone_are_removed_unless_changed(tmp_path: Path) -> None:
    """What a kit wrote goes when it is no part of it any more; what somebody changed or added stays and is named."""
    out, row = tmp_path / "paper", tmp_path / "row"
    row.write_bytes(b"row")
    rows = {f"data/r/{name}": row for name in ("manifest.json", "trials/1.parquet", "tries/1.parquet")}
    written(out, FIRST, rows=rows)
    (out / "data" / "r" / "tries" / "1.parquet").write_bytes(b"changed")
    (out / "data" / "r" / "notes.txt").write_bytes(b"mine")
    (out / "tables" / "b.tex").write_bytes(b"changed")
    done = written(out, {"numbers.tex": b"1"})
    assert done.removed == ("data/r/manifest.json", "data/r/trials/1.parquet", "tables/a.tex")
    assert done.changed == ("data/r/tries/1.parquet", "tables/b.tex")
    assert done.kept == ("main.tex",)
    left = ["data/r/notes.txt", "data/r/tries/1.parquet", "main.tex", "numbers.tex", "paper.json"]
    assert names(out) == [*left, "tables/b.tex"]
    assert not (out / "data" / "r" / "trials").exists()


def test_a_list_cannot_name_files_elsewhere(tmp_path: Path) -> None:
    """Names that lead out of the folder, by dots or links, remove nothing."""
    out, outside = tmp_path / "paper", tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_bytes(b"x")
    written(out, FIRST)
    (out / "linked").symlink_to(outside)
    strange = {"../outside/x": b"x", "linked/x": b"x", str(outside / "x"): b"x"}
    (out / "paper.json").write_text(json_text({"files": file_digests(strange)}), encoding="utf-8")
    assert written(out, FIRST).removed == ()
    assert (outside / "x").exists()


def test_two_processes_do_not_write_one_kit(tmp_path: Path) -> None:
    """Who comes second is told so, and the first one's files stay."""
    out = tmp_path / "paper"
    (out / UNFINISHED).mkdir(parents=True)
    with maybe_locked(out / UNFINISHED), pytest.raises(WriteError, match="another process"):
        written(out, FIRST)
    assert (out / UNFINISHED).exists()


@pytest.mark.parametrize("text", ["[1]", "{}", '{"files": 3}', "no json"])
def test_a_folder_with_something_like_a_kit_is_refused(tmp_path: Path, text: str) -> None:
    """Only a list of files makes a folder ours."""
    (tmp_path / "paper.json").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="something else"):
        former(tmp_path)
