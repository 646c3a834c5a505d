from __future__ import annotations

from reports import CALCULATOR, FLAKY

from skilleval.report.columns import (
    COMPLETION,
    absences,
    interval_methods,
    interval_text,
    metric_columns,
    row_names,
    value_text,
)


def test_tokens_and_cost_are_columns_only_where_known() -> None:
    """A column in which nobody knows anything is left out; the core columns stay."""
    core = ["completion_rate", "partial_score", "error_rate", "consistency", "p50_ms", "p95_ms", "composite"]
    assert [column.key for column in metric_columns([CALCULATOR])] == core
    known = [
        column.key for column in metric_columns([CALCULATOR, FLAKY | {"cost_usd": 0.0, "total_tokens": 7}])
    ]
    assert known == [*core[:-1], "total_tokens", "cost_usd", "composite"]


def test_starting_and_reuse_are_columns_only_where_they_say_something() -> None:
    """The time to start a process stands apart from the latency, the cost of reused attempts from what was spent."""
    spawning = CALCULATOR | {"spawn_p50_ms": 1.5, "cost_usd": 0.0, "reused_cost_usd": 0.25}
    known = {column.key for column in metric_columns([spawning])}
    assert {"spawn_p50_ms", "cost_usd", "reused_cost_usd"} <= known
    assert "reused_cost_usd" not in {
        column.key for column in metric_columns([CALCULATOR | {"cost_usd": 1.0, "reused_cost_usd": 0.0}])
    }


def test_both_means_are_shown_where_they_differ() -> None:
    """Where repeats are missing the mean over tasks stands beside the mean over trials."""
    keys = [column.key for column in metric_columns([CALCULATOR | {"completion_rate_macro": 0.9}])]
    assert keys[:2] == ["completion_rate", "completion_rate_macro"]


def test_c37_what_is_not_known_is_a_dash_with_a_reason() -> None:
    """A null metric is a dash, has no interval, and its column says why."""
    columns = metric_columns([{}])
    assert {value_text(column, {}) for column in columns} == {"–"}
    assert interval_text(COMPLETION, {}) == ""
    assert absences(columns, [{}])[0] == "completion: no trial was graded"
    assert len(absences(columns, [{}])) == len(columns)
    assert absences(columns, [CALCULATOR]) == []


def test_a_rate_without_an_interval_says_so() -> None:
    """The reason for a missing interval is the one the method gave."""
    none = "no interval: fewer than two tasks have a verdict"
    row = CALCULATOR | {"ci_low": None, "ci_high": None, "ci_method": none}
    assert interval_text(COMPLETION, row) == "–"
    assert absences([COMPLETION], [row]) == ["interval: fewer than two tasks have a verdict"]


def test_errors_are_a_count_of_all_trials() -> None:
    """A share with a whole is shown as both counts; without the whole it stays a share."""
    errors = next(column for column in metric_columns([CALCULATOR]) if column.key == "error_rate")
    assert value_text(errors, {"error_rate": 0.55, "n_trials": 100}) == "55/100"
    assert value_text(errors, {"error_rate": 2 / 3, "n_trials": 1200}) == "800/1\u202f200"
    assert value_text(errors, {"error_rate": 0.55}) == "0.55"
    assert value_text(errors, {"error_rate": None, "n_trials": 100}) == "–"


def test_names_are_safe_and_short() -> None:
    """The name of a row spells hidden characters out, and a long id gives way in its middle."""
    (name,) = row_names([{"skill_id": "\u202e" + "x" * 90 + "end"}])
    assert (name[:7], name[-4:], len(name), name.count("…")) == ("\\u202ex", "xend", 60, 1)


def test_what_tells_rows_apart_is_never_cut_off() -> None:
    """However long the id, the version and the scorer stand whole at the end of the name."""
    rows = [
        {"skill_id": "a" * 70, "skill_version": version, "scorer": scorer}
        for version in ("1.0.0", "2.0.0")
        for scorer in ("exact", "contains")
    ]
    names = row_names(rows)
    assert [name.partition(" · ")[2] for name in names] == [
        "1.0.0 · exact",
        "1.0.0 · contains",
        "2.0.0 · exact",
        "2.0.0 · contains",
    ]
    assert {len(name) for name in names} == {60}
    assert row_names([rows[0], rows[0]])[1].endswith("a #2")


def test_ids_that_differ_in_the_middle_alone_stay_whole() -> None:
    """Two skills never get one name, and a third one is shortened all the same."""
    ids = ["a" * 40 + middle + "a" * 40 for middle in "xy"] + ["b" * 80]
    first, second, third = row_names([{"skill_id": one} for one in ids])
    assert [first, second] == ids[:2]
    assert len(third) == 60


def test_each_of_several_modes_is_named() -> None:
    """Where arms are compared every row says which it is, also where its version would tell it apart."""
    rows = [
        {"skill_id": "s", "skill_version": version, "mode": mode}
        for version, mode in (("2", "with_skill"), ("2", "without_skill"), ("1", "old_skill"))
    ]
    assert row_names(rows) == ["s · with_skill", "s · without_skill", "s · old_skill"]
    assert row_names(rows[:1]) == ["s"]


SCORED = CALCULATOR | {
    "partial_score": 0.9,
    "partial_score_ci_low": 0.812,
    "partial_score_ci_high": 0.988,
    "partial_score_ci_method": "clustered t",
    "p50_ms_ci_low": 19.5,
    "p50_ms_ci_high": 12_400.0,
    "p95_ms_ci_low": 30.2,
    "p95_ms_ci_high": 1_048.0,
    "p95_ms_ci_method": "order statistics, coverage 0.9672",
}


def test_scores_and_percentiles_show_their_interval_in_their_own_unit() -> None:
    """An interval is written as its metric is, a common unit once; where there is none the cell stays short."""
    shown = {column.key: interval_text(column, SCORED) for column in metric_columns([SCORED])}
    assert shown["partial_score"] == "[0.812, 0.988]"
    assert shown["p50_ms"] == "[19.5\u202fms, 12.4\u202fs]"
    assert shown["p95_ms"] == "[30.2, 1\u202f048]\u202fms"
    few = SCORED | {"p95_ms_ci_low": None, "p95_ms_ci_high": None}
    (p95,) = (column for column in metric_columns([few]) if column.key == "p95_ms")
    assert interval_text(p95, few) == shown["error_rate"] == ""


def test_the_methods_of_intervals_are_told_once_and_also_why_there_is_none() -> None:
    """Rows made alike share a line, no table is flooded by many ways, and what the table says is not repeated."""
    columns = {column.key: column for column in metric_columns([SCORED])}
    assert interval_methods(columns["partial_score"], [SCORED, SCORED]) == ["clustered t"]
    few = SCORED | {"p95_ms_ci_low": None, "p95_ms_ci_method": "no interval: p95 needs 72 values"}
    assert interval_methods(columns["p95_ms"], [few]) == ["no interval: p95 needs 72 values"]
    assert interval_methods(columns["error_rate"], [SCORED]) == []
    many = [SCORED | {"p50_ms_ci_method": f"coverage 0.95{n}"} for n in range(5)]
    assert interval_methods(columns["p50_ms"], many)[3:] == ["2 more, which differ in their numbers only"]
    none = [SCORED | {"ci_low": None, "ci_high": None, "ci_method": "no interval: one task"}]
    assert interval_methods(COMPLETION, none) == []
