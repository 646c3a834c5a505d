"""`regex`: every expected pattern matches the text of the answer."""

from __future__ import annotations

import json
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from skilleval.scorers import patterns
from skilleval.scorers.aside import aside
from skilleval.scorers.base import MISSING, Finding, ScorerInfo, ScoringRecord, ungraded
from skilleval.scorers.findings import no_output, share_found
from skilleval.scorers.options import with_task_options
from skilleval.scorers.values import parts, shown, unwrapped
from skilleval.strict import StrictModel


class RegexOptions(StrictModel):
    """`conf/scorer/regex.yaml`."""

    case_sensitive: bool
    multiline: bool
    dotall: bool
    timeout_ms: Annotated[float, Field(gt=0, allow_inf_nan=False)]


class RegexScorer:
    """Scores the share of patterns that match; passes when all do.

    The text is the unwrapped answer, or the text of each value inside it, a line each. A pattern that does not
    compile or does not come to an end in time leaves the task ungraded: that is a fault of the benchmark.
    """

    Options = RegexOptions

    def __init__(self, options: RegexOptions) -> None:
        self._options = options
        self.info = ScorerInfo(kind="regex", version="1", options=options.model_dump())

    async def findings(self, record: ScoringRecord) -> tuple[Finding, ...]:
        """Give one finding; ungraded where there is no pattern or one that cannot be used."""
        wanted = _patterns(record)
        if not wanted:
            return (ungraded("nothing to check: the task expects no `patterns` and no `value`"),)
        if not all(isinstance(pattern, str) for pattern in wanted):
            return (ungraded(f"a pattern is a text, found {shown(wanted)}"),)
        if "" in wanted:
            return (ungraded("an empty pattern matches every text: nothing to check"),)
        options = with_task_options(record, self.info.kind, self._options)
        try:
            return (await aside(partial(_finding, wanted, record.output, options)),)
        except patterns.UnusablePatternError as error:
            return (ungraded(str(error)),)


def _finding(wanted: list[str], output: Any, options: RegexOptions) -> Finding:
    flags = patterns.flags(
        ignore_case=not options.case_sensitive, multiline=options.multiline, dotall=options.dotall
    )
    for pattern in wanted:
        patterns.compiled(pattern, flags)
    if output is MISSING:
        return no_output()
    text = text_of(unwrapped(output))
    search = patterns.TimedSearch(options.timeout_ms, flags)
    absent = [pattern for pattern in wanted if not search.finds(pattern, text)]
    return share_found(wanted, absent, noun="patterns", evidence=shown(text))


def text_of(value: Any) -> str:
    """Give a text as it is, and the text of each value inside anything else, a line each."""
    leaves = (part for part in parts(value) if not isinstance(part, dict | list))
    return "\n".join(leaf if isinstance(leaf, str) else json.dumps(leaf) for leaf in leaves)


def _patterns(record: ScoringRecord) -> list[Any]:
    if "patterns" in record.expected:
        return list(record.expected["patterns"])
    return [record.expected["value"]] if "value" in record.expected else []
