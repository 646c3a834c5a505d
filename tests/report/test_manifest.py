from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from reports import MANIFEST

from skilleval.report.document import Row, SkillSource
from skilleval.report.manifest import plain, provenance, run_facts


def test_plain_values_are_json() -> None:
    """Tuples, sets, paths, times, NaN and lone surrogates become what JSON has."""
    found = plain(
        {
            "t": (1, 2.5),
            "s": frozenset({"b", "a"}),
            "p": Path("x") / "y",
            "when": datetime(2026, 7, 31, 14, tzinfo=timezone(timedelta(hours=2))),
            "n": float("nan"),
            "u": "\ud800",
            "yes": True,
            7: None,
        }
    )
    assert found == {
        "t": [1, 2.5],
        "s": ["a", "b"],
        "p": "x/y",
        "when": "2026-07-31T12:00:00Z",
        "n": None,
        "u": "\\ud800",
        "yes": True,
        "7": None,
    }


def test_times_without_a_zone_are_utc() -> None:
    """A naive time is taken as UTC, as everywhere in the tables."""
    assert plain(datetime(2026, 7, 31, 12, tzinfo=UTC).replace(tzinfo=None)) == "2026-07-31T12:00:00Z"


def test_an_empty_manifest_leaves_everything_empty() -> None:
    """No key of the manifest is needed."""
    assert run_facts({}, []).run_id == ""
    found = provenance({}, [])
    assert found.command == ""
    assert found.skills == ()


def test_a_run_that_did_less_than_planned_was_interrupted() -> None:
    """A killed run could not say so: its count of trials does; without counts the rows are counted once a scorer."""
    row: Row = {"condition_id": "c", "n_trials": 7}
    facts = run_facts({"n_planned": 60}, [{**row, "scorer": "a"}, {**row, "scorer": "b"}])
    assert (facts.n_trials, facts.n_planned, facts.interrupted) == (7, 60, True)
    done = run_facts({"n_planned": 60, "counts": {"trials": 60}}, [row])
    assert (done.n_trials, done.interrupted) == (60, False)
    waiting = run_facts({"n_planned": 60, "counts": {"trials": 60, "not_judged": 2}}, [row])
    assert (waiting.n_trials, waiting.n_not_judged, waiting.interrupted) == (58, 2, True)
    assert run_facts({}, []).n_trials is None


def test_a_command_is_a_line_for_a_shell() -> None:
    """A command given as a list is quoted so that it can be pasted."""
    assert provenance({"command": ["skilleval", "a b"]}, []).command == "skilleval 'a b'"
    assert provenance({"command": "skilleval eval"}, []).command == "skilleval eval"


def test_warnings_are_told_once() -> None:
    """A warning of the sandbox that the run repeats is one warning."""
    manifest = {"warnings": ["no sandbox"], "sandbox": {"name": "none", "warnings": ["no sandbox", "other"]}}
    assert provenance(manifest, []).warnings == ("no sandbox", "other")


def test_skills_and_simple_values_are_read() -> None:
    """Skills keep id, version, digest and path; a plain value where a mapping could stand keeps its name."""
    found = provenance(MANIFEST | {"platform": "Linux", "seeds": 7}, [])
    assert found.skills[0] == SkillSource(
        id="calculator", version="1.0.0", digest="1f" * 32, path="examples/skills/calculator"
    )
    assert found.platform == {"platform": "Linux"}
    assert found.seeds == {"seeds": 7}
