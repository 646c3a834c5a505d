from __future__ import annotations

from typing import Any

import pytest
from reports import CALCULATOR, MANIFEST, report_of

from skilleval.report.caveats import caveats

CONFIG: dict[str, Any] = {
    "analysis": {"preset": "default", "level": 0.95, "k": None, "composite": {"speed": 0.15}},
    "scorers": {"task": {"kind": "task", "exact": {"tolerance": 0.0}}},
    "adapter": {"kind": "auto", "subprocess": {"max_output_bytes": 10}},
    "sandbox": {"kind": "none", "env": ["PATH"]},
    "runner": {"repeats": 3, "seed": 0, "timeout_ms": 30000, "retries": 0, "concurrency": 2},
}


def said(*, row: dict[str, Any] | None = None, **changes: Any) -> list[str]:
    """Compare a run with one that differs in parts of its manifest or in its row; give the caveats."""
    manifest = MANIFEST | {"config": CONFIG}
    before = report_of(CALCULATOR, manifest=manifest)
    after = report_of(CALCULATOR | (row or {}), manifest=manifest | changes)
    return list(caveats(before, after))


def changed(block: str, **values: Any) -> dict[str, Any]:
    """Give the composed config with other values in one block."""
    return CONFIG | {block: CONFIG[block] | values}


def test_equal_runs_have_no_caveat() -> None:
    """Another seed or concurrency alone is none of these; nor is what one side does not know."""
    assert said() == []
    assert said(config=changed("runner", seed=7, concurrency=9)) == []
    assert said(config={}, benchmark={}, versions={}) == []


def test_another_content_of_the_same_benchmark_is_told() -> None:
    """Id and version are the same, the digest is not: as of every file given with --tasks."""
    benchmark = {"id": "custom", "version": "0.0.0", "digest": "a"}
    manifests = [MANIFEST | {"benchmark": benchmark | {"digest": digest}} for digest in "ab"]
    before, after = (report_of(CALCULATOR, manifest=manifest) for manifest in manifests)
    assert list(caveats(before, after)) == [
        "the content of custom@0.0.0 is not the same on both sides: its tasks may differ"
    ]


@pytest.mark.parametrize(
    ("block", "values", "what", "named"),
    [
        ("analysis", {"preset": "eval_skills"}, "analysed", 'analysis.preset "default" and "eval_skills"'),
        ("analysis", {"composite": {"speed": 0.3}}, "analysed", "analysis.composite.speed 0.15 and 0.3"),
        (
            "analysis",
            {"k": 2, "level": 0.9},
            "analysed",
            "analysis.level 0.95 and 0.9, analysis.k null and 2",
        ),
        (
            "scorers",
            {"task": {"kind": "task", "exact": {"tolerance": 0.5}}},
            "judged",
            "scorers.task.exact.tolerance 0.0 and 0.5",
        ),
        ("runner", {"timeout_ms": 1000}, "patience", "runner.timeout_ms 30000 and 1000"),
        ("runner", {"retries": 2}, "patience", "runner.retries 0 and 2"),
        ("runner", {"repeats": 1}, "repeated", "runner.repeats 3 and 1"),
        ("sandbox", {"env": ["PATH", "HOME"]}, "confined", 'sandbox.env ["PATH"] and ["PATH", "HOME"]'),
        (
            "adapter",
            {"subprocess": {"max_output_bytes": 9}},
            "drove",
            "adapter.subprocess.max_output_bytes 10 and 9",
        ),
    ],
)
def test_each_setting_that_shapes_the_numbers_is_named(
    block: str, values: dict[str, Any], what: str, named: str
) -> None:
    """One warning, which says the key and the values of both sides."""
    (warning,) = said(config=changed(block, **values))
    assert what in warning
    assert named in warning


def test_different_scorers_are_said_to_differ() -> None:
    """Rows that are removed and new because nobody else judged like that have their reason."""
    (warning,) = said(
        row={"scorer": "exact"}, config=changed("scorers") | {"scorers": {"exact": {"kind": "exact"}}}
    )
    assert (
        warning
        == "the runs had different scorers (task and exact): what one of them alone had is new or removed"
    )


def test_parts_of_different_kinds_are_not_compared_key_by_key() -> None:
    """Options of another sandbox are other options; the row says which sandbox it was."""
    found = said(row={"sandbox": "process"}, config=changed("sandbox", kind="process", env=[]))
    assert found == [
        "the runs had different sandboxes (none and process): a difference may be theirs, not the skill's"
    ]


def test_many_differences_are_counted() -> None:
    """A warning names five keys and counts the others."""
    options = {f"o{i}": i for i in range(8)}
    manifests = [
        MANIFEST | {"config": {"scorers": {"exact": {name: value + more for name, value in options.items()}}}}
        for more in (0, 1)
    ]
    before, after = (report_of(CALCULATOR, manifest=manifest) for manifest in manifests)
    (warning,) = caveats(before, after)
    assert warning.endswith("scorers.exact.o4 4 and 5, and 3 more)")


def test_another_version_of_the_tool_is_told() -> None:
    """What a newer program does differently is no doing of a skill."""
    (warning,) = said(versions=MANIFEST["versions"] | {"skilleval": "0.2.0"})
    assert "versions of skilleval (0.1.0 and 0.2.0)" in warning


@pytest.mark.parametrize(
    ("reused", "n_caveats"),
    [(({}, {"r1": 3}), 0), (({}, {}), 0), (({"r1": 3}, {"r1": 3}), 1), (({"r1": 3}, {}), 1)],
)
def test_latencies_of_reused_attempts_have_a_word_of_their_own(
    reused: tuple[dict[str, int], dict[str, int]], n_caveats: int
) -> None:
    """Rates and scores do not follow from them; where the leaving side reused nothing, neither do latencies."""
    sides = []
    for counts, told in zip(reused, (False, True), strict=True):
        config = changed("analysis", reused_latency=told)
        sides.append(report_of(CALCULATOR, manifest=MANIFEST | {"config": config}, reused=counts))
    found = list(caveats(*sides))
    assert len(found) == n_caveats
    assert all("nothing but latencies and speed follows" in one for one in found)
