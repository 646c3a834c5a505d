from __future__ import annotations

import re
from typing import Any

from diffs import BESIDE, FLIP, diff_of, row_of
from reports import CALCULATOR, HOSTILE, MANIFEST, report_of
from rich.console import Console

from skilleval.report.comparison import table, warnings
from skilleval.report.diff_document import Diff
from skilleval.report.diff_html import render
from skilleval.report.diff_markdown import render as markdown


def printed(shown: Diff) -> str:
    """Give what a terminal shows."""
    console = Console(width=200)
    with console.capture() as captured:
        console.print(table(shown))
    return captured.get()


def test_the_verdict_comes_first_then_flips_then_figures() -> None:
    """Terminal, Markdown and HTML say the same in the same order."""
    one = diff_of(row_of(), warnings=("the runs differ",))
    for text in (printed(one), markdown(one), render(one)):
        assert "▲ the runs differ" in re.sub(r"</?span[^>]*>", "", text)
        places = [text.index(part) for part in ("✕ regressed: −8.3 pp", "dates-07", "completion ↑")]
        assert places == sorted(places)


def test_figures_stand_with_both_sides_and_their_direction() -> None:
    """Points, interval, p, tasks that moved, and plain metrics with the better direction."""
    lines = [re.sub(r"\s+", " ", line).strip() for line in printed(diff_of(row_of())).splitlines()]
    metric = "completion ↑ 0.9 0.817 −8.3 pp [−14.1, −2.5] 0.004 0.004 0.004 0 / 38 / 3 ✕ regressed"
    assert metric in lines
    assert "composite ↑ 0.412 0.874 +0.462 – – – – – better" in lines
    lower = BESIDE | {"metric": "p95_ms", "better": "lower", "before": 900.0, "after": 450.0, "delta": -450.0}
    assert "p95 ↓" in printed(diff_of(row_of(beside=(lower,))))


def test_a_run_compared_with_itself_shows_no_table() -> None:
    """Where nothing flipped, moved or is missing, the sentence is all there is to say in a terminal."""
    still = dict.fromkeys(("n_better", "n_worse"), 0)
    same = row_of(flips=(), metrics=({**row_of().metrics[0], **still},), sentence="unchanged: all")
    assert "completion ↑" not in printed(diff_of(same))
    assert "completion ↑" in markdown(diff_of(same))


def test_tasks_that_are_not_compared_are_listed() -> None:
    """Each reason has its tasks; rows that one run alone has are named."""
    one = diff_of(row_of(left_out={"added": ("n1", "n2")}), row_of(side="new", name="young 1.0.0"))
    for text in (printed(one), markdown(one), render(one)):
        assert "n1, n2" in text
        assert "new: young 1.0.0" in text


def test_foreign_text_stays_text_everywhere() -> None:
    """What a skill said is escaped in HTML and Markdown and spelled out in a terminal."""
    one = diff_of(row_of(flips=(FLIP | {"why": HOSTILE, "task_id": "a|b"},)))
    page = render(one)
    assert "<img" not in page
    assert "default-src &#39;none&#39;" in page
    assert "a&#124;b" in markdown(one)
    assert "\x1b" not in printed(one)


def test_the_document_holds_the_verdict_first() -> None:
    """JSON begins with schema and verdict, and has every row of every frame."""
    found = diff_of(row_of()).to_json()
    assert list(found)[:2] == ["schema", "verdict"]
    assert found["rows"][0]["flips"][0]["task_id"] == "dates-07"


def test_sandboxes_of_one_name_may_enforce_different_things() -> None:
    """What only one side enforced is named."""
    sandboxes = [MANIFEST["sandbox"] | {"guarantees": names} for names in (["cpu", "network"], ["cpu"])]
    before, after = (report_of(CALCULATOR, manifest=MANIFEST | {"sandbox": one}) for one in sandboxes)
    assert "the sandbox none did not enforce the same on both sides (network)" in warnings(before, after)


def test_the_same_run_is_said_to_be_the_same() -> None:
    """A comparison of a run with itself warns of that and of nothing that differs."""
    one = report_of(CALCULATOR, manifest=MANIFEST)
    assert warnings(one, one) == ("both sides are the same run",)


def test_what_the_runs_did_not_share_is_warned_of() -> None:
    """The caveats of both runs stand among the warnings."""
    other = MANIFEST | {"run_id": "other", "config": {"runner": {"repeats": 1, "seed": 0}}}
    found = warnings(report_of(CALCULATOR, manifest=MANIFEST), report_of(CALCULATOR, manifest=other))
    assert any("runner.repeats 3 and 1" in warning for warning in found)


def test_the_concurrency_that_trials_had_is_compared() -> None:
    """What a session asked for that ran no trial makes no difference; what an earlier one had does."""

    def said(config: int, *seen: int) -> Any:
        settings = {"config": {"runner": {"concurrency": config}}, "observed": {"concurrency": list(seen)}}
        return report_of(CALCULATOR, manifest=MANIFEST | settings)

    assert not any("concurrency" in one for one in warnings(said(8, 4, 4), said(4, 4, 4)))
    assert "the runs had different concurrency (1–4 and 4): their latencies cannot be compared" in warnings(
        said(4, 1, 4), said(4, 4, 4)
    )
