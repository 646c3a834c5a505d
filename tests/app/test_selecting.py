from __future__ import annotations

from typing import Any

import pytest
from samples import skill

from skilleval.analytics.selection import Filters, SelectionSpec, SortKey
from skilleval.app.history import History, Measured
from skilleval.app.selecting import Ranking, select
from skilleval.domain.skills import Skill
from skilleval.errors import UsageError
from skilleval.report.document import MatrixCell

ALL = SelectionSpec(filters=Filters(), sort_by=SortKey.COMPLETION_RATE)


def measured(
    one: Skill, rate: float, *, run_id: str = "r1", benchmark: str = "sums@1", **changes: Any
) -> Measured:
    """Give what a run says of a skill, on a benchmark `id@version`, or `id@version#digest`."""
    name, _, state = benchmark.partition("@")
    version, _, digest = state.partition("#")
    values: dict[str, Any] = {
        "key": (one.id, one.version, one.digest),
        "run_id": run_id,
        "benchmark_id": name,
        "benchmark_version": version,
        "benchmark_digest": digest,
        "scorer": "task",
        "adapter": one.adapter,
        "figures": {"completion_rate": rate, "p95_ms": 10.0, "n_trials": 2},
    }
    return Measured(**(values | changes))


def reasons(ranking: Ranking) -> dict[str, list[str]]:
    """Give why each skill is left out."""
    return {row["skill_id"]: row["reasons"] for row in ranking.rows}


def test_the_newest_run_of_exactly_this_skill_counts() -> None:
    """History is newest first; an older run of the same skill says nothing."""
    one, other = skill("a"), skill("b")
    history = History(
        (measured(one, 0.2, run_id="new"), measured(one, 0.9, run_id="old"), measured(other, 0.5))
    )
    ranking = select([one, other], history, spec=ALL)
    assert [(row["skill_id"], row["completion_rate"]) for row in ranking.selected] == [("b", 0.5), ("a", 0.2)]
    assert ranking.rows[1]["run_id"] == "new"
    assert ranking.benchmark == "sums@1"


def test_es04_skills_of_one_id_and_different_versions_are_kept_apart() -> None:
    """Each version has its own figures."""
    old, new = skill("a", "1.0.0"), skill("a", "2.0.0")
    ranking = select([old, new], History((measured(old, 0.3), measured(new, 0.6))), spec=ALL)
    assert [(row["skill_version"], row["completion_rate"]) for row in ranking.rows] == [
        ("2.0.0", 0.6),
        ("1.0.0", 0.3),
    ]


def test_a_skill_without_figures_that_count_is_left_out_with_the_cause() -> None:
    """Never run, changed since, another version, another benchmark, another state of the benchmark: each is told."""
    skills = [skill(name) for name in ("known", "never", "changed", "older", "elsewhere", "stale")]
    known, _, changed, older, elsewhere, stale = skills
    history = History(
        (
            measured(known, 1.0, benchmark="sums@2"),
            measured(skill("changed", digest="1" * 64), 1.0, benchmark="sums@2"),
            measured(skill("older", "0.9.0"), 1.0, benchmark="sums@2"),
            measured(elsewhere, 1.0, benchmark="texts@1"),
            measured(stale, 1.0, benchmark="sums@1"),
        )
    )
    assert reasons(select(skills, history, spec=ALL, benchmark="sums")) == {
        "known": [],
        "never": ["no finished run evaluated it"],
        "changed": ["its files have changed since it was evaluated"],
        "older": ["only version 0.9.0 was evaluated"],
        "elsewhere": ["no finished run evaluated it on this benchmark"],
        "stale": ["evaluated on another state of the benchmark (sums@1) than in run r1"],
    }
    assert changed.id == "changed"
    assert older.version == "1.0.0"


def test_benchmarks_are_never_mixed() -> None:
    """Several benchmarks in the history need a choice; the message names them."""
    one, other = skill("a"), skill("b")
    history = History((measured(one, 1.0), measured(other, 0.5, benchmark="texts@1")))
    with pytest.raises(UsageError) as caught:
        select([one, other], history, spec=ALL)
    assert caught.value.problems[0].expected == "one of sums, texts"
    assert [
        row["skill_id"] for row in select([one, other], history, spec=ALL, benchmark="texts").selected
    ] == ["b"]
    with pytest.raises(UsageError) as misspelt:
        select([one, other], history, spec=ALL, benchmark="text")
    assert misspelt.value.problems[0].hint == "did you mean texts?"


def test_two_task_files_of_one_name_are_two_benchmarks() -> None:
    """The content decides: figures on another file of tasks are not compared, though both are called `custom`."""
    one, other = skill("a"), skill("b")
    history = History(
        (measured(one, 0.5, benchmark="custom@0.0.0#new"), measured(other, 1.0, benchmark="custom@0.0.0#old"))
    )
    ranking = select([one, other], history, spec=ALL)
    assert [row["skill_id"] for row in ranking.selected] == ["a"]
    assert ranking.removed() == {"evaluated": 1}


def test_scorers_are_never_mixed() -> None:
    """The verdicts of `task` count where there are any, however old; another scorer has to be asked for."""
    one, other = skill("a"), skill("b")
    history = History(
        (
            measured(one, 1.0, run_id="r3", scorer="regex"),
            measured(one, 0.4, run_id="r2"),
            measured(other, 0.6, run_id="r1"),
        )
    )
    ranking = select([one, other], history, spec=ALL)
    assert (ranking.scorer, ranking.other_scorers) == ("task", ("regex",))
    assert [(row["skill_id"], row["completion_rate"]) for row in ranking.rows] == [("b", 0.6), ("a", 0.4)]
    by_regex = select([one, other], history, spec=ALL, scorer="regex")
    assert [(row["skill_id"], row["scorer"]) for row in by_regex.selected] == [("a", "regex")]
    assert reasons(by_regex)["b"] == ["judged by task, not by regex"]
    with pytest.raises(UsageError) as misspelt:
        select([one, other], history, spec=ALL, scorer="regexp")
    assert misspelt.value.problems[0].hint == "did you mean regex?"


def test_without_the_usual_scorer_the_strictest_of_the_newest_run_counts() -> None:
    """A skill is not selected because the mildest of its judges was asked."""
    one = skill("a")
    history = History((measured(one, 1.0, scorer="contains"), measured(one, 0.5, scorer="exact")))
    ranking = select([one], history, spec=ALL)
    assert (ranking.scorer, ranking.rows[0]["completion_rate"]) == ("exact", 0.5)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"scorer_settings": "lenient"}, "judged by task with other settings than in run new"),
        (
            {"analysis_settings": "theirs", "preset": "eval_skills"},
            "its figures follow other analysis settings (eval_skills) than those of run new",
        ),
        ({"adapter": "http"}, "driven by the adapter http, the others as their own files say"),
    ],
)
def test_figures_that_were_won_otherwise_are_left_out_with_the_reason(
    changes: dict[str, Any], reason: str
) -> None:
    """Other settings of the scorer, other formulas, another adapter than the skill's own: nothing to compare with."""
    one, other = skill("a"), skill("b")
    history = History((measured(one, 0.5, run_id="new"), measured(other, 1.0, run_id="old", **changes)))
    assert reasons(select([one, other], history, spec=ALL)) == {"a": [], "b": [reason]}


def test_the_usual_formulas_are_the_reference_even_where_another_preset_is_newer() -> None:
    """A run for comparison with another tool does not put all the others out of the ranking."""
    one = skill("a")
    theirs = measured(one, 0.9, run_id="new", preset="eval_skills", analysis_settings="theirs")
    ranking = select([one], History((theirs, measured(one, 0.5, run_id="old"))), spec=ALL)
    assert (ranking.preset, ranking.rows[0]["completion_rate"]) == ("default", 0.5)
    alone = select([one], History((theirs,)), spec=ALL)
    assert (alone.preset, alone.rows[0]["completion_rate"]) == ("eval_skills", 0.9)


def test_a_skill_of_which_only_recordings_speak_is_left_out() -> None:
    """Replayed attempts measure nothing."""
    one = skill("a")
    history = History((), replayed=frozenset({(one.id, one.version, one.digest)}))
    assert reasons(select([one], history, spec=ALL)) == {
        "a": ["no finished run called it: recorded attempts were replayed"]
    }


def test_an_empty_history_leaves_everybody_out() -> None:
    """There is no selection without figures."""
    ranking = select([skill("a")], History(()), spec=ALL, benchmark="sums")
    assert (ranking.selected, reasons(ranking)) == ((), {"a": ["no finished run evaluated it"]})


def cells(one: Skill, passed: str) -> tuple[MatrixCell, ...]:
    """Give how a skill went on tasks, a digit 0 or 1 a task."""
    return tuple(
        MatrixCell(
            skill_id=one.id,
            skill_version=one.version,
            condition_id=one.id,
            scorer="task",
            task_id=f"t{at}",
            n=1,
            n_graded=1,
            n_passed=int(digit),
            rate=float(digit),
            is_flaky=False,
        )
        for at, digit in enumerate(passed)
    )


def test_chances_of_ranks_are_told_of_those_that_meet_the_filters() -> None:
    """Draws of the shared tasks say how sure the order is; who was left out takes no part in them."""
    skills = [skill(name) for name in "abc"]
    went = {"a": "111101", "b": "101011", "c": "000000"}
    history = History(
        tuple(measured(one, went[one.id].count("1") / 6, tasks=cells(one, went[one.id])) for one in skills)
    )
    spec = SelectionSpec(filters=Filters(min_completion_rate=0.5), sort_by=SortKey.COMPLETION_RATE)
    ranking = select(skills, history, spec=spec)
    rows = {row["skill_id"]: row for row in ranking.rows}
    assert rows["a"]["p_best"] + rows["b"]["p_best"] == pytest.approx(1)
    assert rows["a"]["p_best"] > 0.6
    assert (rows["b"]["n_shared_tasks"], rows["b"]["is_level"]) == (6, True)
    assert (rows["c"]["p_best"], rows["c"]["rank_low"]) == (None, None)
    assert ranking.facts()["ranks_method"].startswith("10,000 draws of the tasks")
    assert select(skills[::-1], history, spec=spec).rows == ranking.rows


def test_latencies_under_different_loads_are_warned_of() -> None:
    """Figures of runs with one concurrency are compared without a word."""
    one, other = skill("a"), skill("b")
    alike = [measured(each, 0.5, concurrency=(4, 4)) for each in (one, other)]
    assert select([one, other], History(tuple(alike)), spec=ALL).caveats == ()
    apart = (alike[0], measured(other, 0.5, concurrency=(1, 2)))
    assert select([one, other], History(apart), spec=ALL).caveats == (
        "the runs had different concurrency (1–2, 4): their latencies cannot be compared",
    )
