"""What every scorer in the registry keeps, whatever the output is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from samples import judged, record

from skilleval.config.shipped import shipped
from skilleval.domain.scores import Verdict
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions
from skilleval.scorers import SCORERS, build_scorer
from skilleval.scorers.base import MISSING, Scorer

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)

CAREFUL = [kind for kind in SCORERS if kind != "compat"]
"""All but the one that repeats the verdicts of another tool, empty expectations that pass included."""

LITERAL = ["exact", "contains"]
"""Those for which an expected `value` means just itself."""

EXAMPLES: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "exact": ({"value": 3}, 3, 4),
    "contains": ({"keywords": ["mile"]}, "1 mile", "1 km"),
    "regex": ({"patterns": ["^m.le$"]}, "mile", "miles"),
    "json_schema": ({"schema": {"type": "integer"}}, 3, "three"),
    "numeric": ({"value": 29}, "29 km", "28 km"),
    "custom": ({"customScorerPath": "judge.py"}, "right", "wrong"),
    "compat": ({"value": "3"}, 3, 4),
}
"""Kind → what is expected, an output that passes, and one that fails."""

OF_ATTEMPTS = {"llm_judge", "tool_calls", "script", "files", "labels"}
"""Those that look at more of an attempt than its answer; their own tests say when they pass."""


def scorer(kind: str) -> Scorer:
    """Make a scorer with the options of its shipped file."""
    options = yaml.safe_load((shipped("conf") / "scorer" / f"{kind}.yaml").read_text(encoding="utf-8"))
    assert options.pop("kind") == kind
    made = SCORERS[kind]
    return build_scorer(
        made, made.Options.parse(options, where=kind), NoSandbox(NoSandboxOptions(pass_env=()))
    )


@pytest.mark.parametrize("kind", SCORERS)
def test_a_scorer_says_what_it_is(kind: str) -> None:
    """Kind, version and options are recorded beside each score."""
    info = scorer(kind).info
    assert info.kind == kind
    assert info.version
    assert info.options


@pytest.mark.parametrize("kind", SCORERS)
def test_a_scorer_refuses_unknown_options(kind: str) -> None:
    """A misspelt option never goes unnoticed."""
    from skilleval.errors import ConfigError

    with pytest.raises(ConfigError, match="surprise"):
        SCORERS[kind].Options.parse({"surprise": 1}, where=kind)


@pytest.mark.parametrize("kind", CAREFUL)
def test_nothing_to_check_is_ungraded(kind: str) -> None:
    """An empty expectation gives no score, whatever came out."""
    for output in (MISSING, None, "", "text", {"result": 1}):
        (finding,) = judged(scorer(kind), record(output, expected={}))
        assert (finding.verdict, finding.score) == (Verdict.UNGRADED, None)
        assert finding.reason


def test_every_scorer_has_an_example() -> None:
    """A new kind that judges an answer cannot be forgotten here."""
    assert set(EXAMPLES) == set(SCORERS) - OF_ATTEMPTS


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_scorer_can_pass_and_fail(kind: str, tmp_path: Any) -> None:
    """Each kind tells a right answer from a wrong one, wrapped or not, and no output is never right."""
    (tmp_path / "judge.py").write_text(
        "def score(output, expected, input):\n"
        "    return (output['result'] if isinstance(output, dict) else output) == 'right'\n"
    )
    expected, right, wrong = EXAMPLES[kind]
    judge = scorer(kind)

    def verdict(output: Any) -> Verdict:
        (finding,) = judged(judge, replace(record(output, expected=expected), folder=tmp_path))
        return finding.verdict

    assert verdict(right) is verdict({"result": right}) is Verdict.PASSED
    assert verdict(wrong) is verdict({"result": wrong}) is verdict(MISSING) is Verdict.FAILED


@pytest.mark.parametrize("kind", SCORERS)
@given(output=JSON, expected=JSON)
def test_findings_keep_their_promises(kind: str, output: Any, expected: Any) -> None:
    """Scores lie in [0, 1], null belongs to ungraded, failures have a reason, and the same record scores the same."""
    judge = scorer(kind)
    seen = record(output, expected={"value": expected})
    findings = judged(judge, seen)
    assert findings
    assert findings == judged(judge, seen)
    for finding in findings:
        assert (finding.score is None) == (finding.verdict is Verdict.UNGRADED)
        assert finding.score is None or 0 <= finding.score <= 1
        assert finding.verdict is Verdict.PASSED or finding.reason


@pytest.mark.parametrize("kind", LITERAL)
@given(value=JSON.filter(lambda value: not isinstance(value, str) or value.strip()))
def test_the_expected_value_itself_passes(kind: str, value: Any) -> None:
    """A skill that gives exactly what is expected passes, wrapped or not."""
    judge = scorer(kind)
    for output in (value, {"result": value}):
        (finding,) = judged(judge, record(output, expected={"value": value}))
        assert finding.verdict is Verdict.PASSED
