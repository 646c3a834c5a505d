"""`skilleval paper` and `skilleval verify` through the installed console script."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from cli.conftest import Run

Replayed = Callable[[Mapping[str, Any]], list[str]]

RIGHT = {"output": {"result": 1}}
WRONG = {"output": {"result": 2}}


def test_a_paper_is_written_and_verified(run: Run, replayed: Replayed) -> None:
    """The kit of a run verifies with exit 0; a number that is changed by hand is named, with exit 1."""
    run("eval", *replayed({"t1": RIGHT, "t2": WRONG, "t3": RIGHT}))
    done = run("paper", "latest", "--title", "Ours", "--json")
    assert done.code == 0, done.err
    assert "tables/skills.tex" in done.document["files"]
    assert done.document["n_numbers"] > 0
    checked = run("verify", "paper")
    assert checked.code == 0, checked.err
    assert "numbers are what the rows give" in checked.out
    numbers = checked.folder / "paper" / "numbers.tex"
    macro = "evalRecordedCompletion}{"
    text = numbers.read_text(encoding="utf-8")
    assert macro in text
    numbers.write_text(text.replace(macro, f"{macro}9"), encoding="utf-8")
    found = run("verify", "paper")
    assert found.code == 1
    assert "numbers.tex:" in found.out
    assert f"{macro}9" in found.out
    document = run("verify", "paper", "--json").document
    assert document["numbers_equal"] is False
    assert document["differences"][0]["file"] == "numbers.tex"


def test_a_difference_at_the_end_of_a_long_line_is_seen(run: Run, replayed: Replayed) -> None:
    """The two lines of a difference are shown from where they part, and one difference is counted as one."""
    run("eval", *replayed({"t1": RIGHT, "t2": WRONG, "t3": RIGHT}))
    table = run("paper", "latest").folder / "paper" / "tables" / "skills.tex"
    text = table.read_text(encoding="utf-8")
    caption = next(line for line in text.splitlines() if line.startswith(r"\caption"))
    table.write_text(text.replace(caption, f"{caption[:-1]} 12345}}"), encoding="utf-8")
    found = run("verify", "paper")
    stands, given = (line for line in found.out.splitlines() if line.startswith("  "))
    assert len(caption) > 160
    assert ("12345" in stands, "12345" in given, "stands there: …" in stands) == (True, False, True), (
        found.out
    )
    assert "1 difference: number (1×)" in found.out


def test_what_becomes_of_files_that_were_there_is_said(run: Run, replayed: Replayed) -> None:
    """A kit that is written anew names what it removes, what it keeps, and what it keeps because it was changed."""
    run("eval", *replayed({"t1": RIGHT, "t2": WRONG, "t3": RIGHT}))
    folder = run("paper", "latest", "--baseline", "recorded").folder / "paper"
    manifest = folder / "paper.json"
    known = json.loads(manifest.read_text(encoding="utf-8"))
    for name in ("tables/gone.tex", "tables/edited.tex"):
        (folder / name).write_text("x", encoding="utf-8")
    digest = hashlib.sha256(b"x").hexdigest()
    known["files"] |= {"tables/gone.tex": digest, "tables/edited.tex": "0" * 64}
    manifest.write_text(json.dumps(known), encoding="utf-8")
    said = run("paper", "latest").out
    for line in (
        "tables/gone.tex (removed: it was of the kit before)",
        "tables/edited.tex (no part of the kit any more, kept because it was changed)",
        "main.tex (yours: kept as it is)",
    ):
        assert f"paper/{line}" in said


def test_a_paper_has_no_previous_run(run: Run, replayed: Replayed) -> None:
    """`previous` goes with a run to compare; where it means nothing, that is said, and the newest ids with it."""
    run("eval", *replayed({"t1": RIGHT}))
    done = run("paper", "previous", "latest")
    assert (done.code, "named by its id\nnewest: " in done.err) == (2, True), done.err


def test_what_is_no_kit_is_a_mistake(run: Run) -> None:
    """A folder without a kit, or a run that is not there: exit 2, in words."""
    done = run("verify", "nowhere")
    assert done.code == 2
    assert "no paper kit" in done.err
    done = run("paper", "latest")
    assert done.code == 2
    assert "Traceback" not in done.err
