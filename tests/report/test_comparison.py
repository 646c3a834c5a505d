from __future__ import annotations

from typing import Any

from reports import CALCULATOR, MANIFEST, report_of
from rich.console import Console

from skilleval.report.comparison import Comparison, markdown, table, warnings

METRICS = ("completion_rate", "partial_score", "error_rate", "consistency", "p95_ms", "composite")
TASK = {
    "task_id": "a|b",
    "n_passed_before": 3,
    "n_graded_before": 3,
    "n_passed_after": 0,
    "n_graded_after": 3,
}


def row(**values: Any) -> dict[str, Any]:
    """Give a compared row as `deltas` gives it."""
    sided = {
        f"{name}_{side}": 0.5 for name in (*METRICS, "ci_low", "ci_high") for side in ("before", "after")
    }
    told = {
        f"{name}_{side}": text
        for name, text in (("skill_version", "1.0.0"), ("skill_digest", "abcdef0123"))
        for side in ("before", "after")
    }
    named = {"skill_id": "s", "scorer": "exact", "benchmark_id": "b", "side": "both"}
    return {**named, **sided, **told, **{f"{name}_delta": 0.0 for name in METRICS}, **values}


def comparison(*rows: dict[str, Any]) -> Comparison:
    """Give a comparison without warnings."""
    return Comparison(before="main", after="branch", rows=rows, warnings=())


def printed(shown: Comparison) -> str:
    """Give what a terminal shows."""
    console = Console(width=200, record=True, file=None, quiet=False)
    with console.capture() as captured:
        console.print(table(shown))
    return captured.get()


def test_tasks_that_changed_stand_under_the_metrics_of_their_row() -> None:
    """Terminal and Markdown say which tasks broke, foreign text made safe; without any nothing is added."""
    one = comparison(row(broke=[TASK], mended=[]))
    assert "broke (1 task): a|b 3/3 → 0/3" in printed(one)
    assert "\n\n- broke (1 task): " in markdown(one)
    assert "a&#124;b" in markdown(one)
    assert "broke" not in printed(comparison(row())) + markdown(comparison(row()))


def test_rows_of_one_name_are_told_apart_by_their_content() -> None:
    """Two contents of one version have two headings; a single one needs no digest."""
    twins = comparison(row(), row(skill_digest_before="9999999999", skill_digest_after="8888888888"))
    text = markdown(twins)
    assert "s 1.0.0 · exact · b · content abcdef01\n" in text.replace("`", "")
    assert "content 99999999 → 88888888" in text
    assert "content" not in markdown(comparison(row()))


def test_the_same_run_is_said_to_be_the_same() -> None:
    """A comparison of a run with itself warns of that and of nothing that differs."""
    one = report_of(CALCULATOR, manifest=MANIFEST)
    assert warnings(one, one) == (
        "both sides are the same run",
        "differences are plain: whether they could be chance is not tested here",
    )


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
