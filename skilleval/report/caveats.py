"""What two runs did not share beside their skills, so that a difference between them need not be the skills' doing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skilleval.report.columns import words
from skilleval.report.document import Report
from skilleval.report.numbers import count
from skilleval.report.text import json_text

_NAMED = 5
_VALUE_LENGTH = 40
_ABSENT = object()

_REUSED_LATENCY = "analysis.reused_latency"
_TOLD_APART = {_REUSED_LATENCY}
"""Settings of which more has to be said than that they differ."""

_PATIENCE = ("timeout_ms", "retries", "backoff_base_s", "backoff_factor", "backoff_max_s", "jitter")
_ROW_KINDS = {"benchmark_id": "benchmarks", "scorer": "scorers", "mode": "modes"}
"""What rows must share to be compared."""

_CONDITIONS = {"adapter": "adapters", "model": "models", "sandbox": "sandboxes"}
"""What rows that are compared may differ in."""


def caveats(before: Report, after: Report) -> Iterator[str]:
    """Name what differs in content, judgement, analysis and patience; what one side does not know is not compared."""
    yield from _partners(before, after)
    yield from _content(before, after)
    yield from _reused_latency(before, after)
    told = {
        "analysis": "were analysed differently: their rates, scores and intervals follow different formulas",
        "scorers": "were judged with different options",
        "adapter": "drove their skills with different options",
        "sandbox": "confined their skills with different options",
    }
    for block, what in told.items():
        yield from _settings(before, after, block, what)
    yield from _settings(before, after, "runner", "had different patience with their skills", _PATIENCE)
    repeated = "repeated their tasks differently often: consistency follows the number of repeats"
    yield from _settings(before, after, "runner", repeated, ("repeats",))
    yield from _programs(before, after)


def _partners(before: Report, after: Report) -> Iterator[str]:
    """Warn where rows cannot find a partner, because nothing was measured that way on the other side."""
    for key, name in _ROW_KINDS.items():
        one, other = (sorted({words(row, key) for row in side.summary} - {""}) for side in (before, after))
        if one and other and one != other:
            names = f"{', '.join(one)} and {', '.join(other)}"
            yield f"the runs had different {name} ({names}): what one of them alone had is new or removed"
    for key, name in _CONDITIONS.items():
        one, other = (sorted({words(row, key) for row in side.summary} - {""}) for side in (before, after))
        if one != other:
            names = " and ".join(", ".join(side) or "none" for side in (one, other))
            yield f"the runs had different {name} ({names}): a difference may be theirs, not the skill's"


def _content(before: Report, after: Report) -> Iterator[str]:
    """Warn of a benchmark that changed and kept its version; another version is warned of as such."""
    one, other = (report.provenance.benchmark for report in (before, after))
    digests = [side.get("digest") for side in (one, other)]
    same_name = all(one.get(key) == other.get(key) for key in ("id", "version"))
    if all(digests) and digests[0] != digests[1] and same_name:
        yield f"the content of {one.get('id')}@{one.get('version')} is not the same on both sides: its tasks may differ"


def _reused_latency(before: Report, after: Report) -> Iterator[str]:
    """Warn where one side alone leaves latencies of reused attempts out, and has such attempts."""
    counts_all = [_counts_reused(side) or not side.provenance.reused for side in (before, after)]
    if _counts_reused(before) != _counts_reused(after) and counts_all[0] != counts_all[1]:
        values = " and ".join(_shown(_counts_reused(side)) for side in (before, after))
        what = f"count latencies of reused attempts on one side only ({_REUSED_LATENCY} {values})"
        yield f"the runs {what}: nothing but latencies and speed follows from it"


def _counts_reused(report: Report) -> bool:
    analysis = report.provenance.config.get("analysis")
    return isinstance(analysis, Mapping) and bool(analysis.get("reused_latency"))


def _settings(
    before: Report, after: Report, block: str, what: str, keys: Sequence[str] | None = None
) -> Iterator[str]:
    """Warn of settings of a block that differ; options that one side alone has belong to a part it alone has."""
    sides = [report.provenance.config.get(block) for report in (before, after)]
    one, other = ({} if not isinstance(side, Mapping) else dict(_leaves(side)) for side in sides)
    if one.get("kind") != other.get("kind"):  # two parts share no options, and their rows are no pairs
        return
    shared = [
        key
        for key in one
        if key in other and (keys is None or key in keys) and f"{block}.{key}" not in _TOLD_APART
    ]
    differing = [
        f"{block}.{key} {_shown(one[key])} and {_shown(other[key])}"
        for key in shared
        if one[key] != other[key]
    ]
    if differing:
        more = f", and {count(len(differing) - _NAMED)} more" if len(differing) > _NAMED else ""
        yield f"the runs {what} ({', '.join(differing[:_NAMED])}{more})"


def _leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _shown(value: Any) -> str:
    text = json_text(value)
    return text if len(text) <= _VALUE_LENGTH else f"{text[: _VALUE_LENGTH - 1]}…"


def _programs(before: Report, after: Report) -> Iterator[str]:
    one, other = (report.provenance.versions.get("skilleval", _ABSENT) for report in (before, after))
    if _ABSENT not in {one, other} and one != other:
        yield f"the runs were made by different versions of skilleval ({one} and {other}): what changed there may show"
