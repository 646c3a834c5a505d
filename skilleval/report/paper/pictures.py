"""The figures of a paper, drawn from the rows of its tables in the theme for print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skilleval.report.paper.document import Paper
from skilleval.report.paper.tables import slugs
from skilleval.report.text import json_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A figure as a Vega-Lite specification, and the name of its files without suffix."""

    stem: str
    title: str
    caption: str
    spec: Mapping[str, Any]

    @property
    def spec_text(self) -> str:
        """The specification as the text of a file."""
        return json_text(self.spec, indent=1) + "\n"


def pictures(paper: Paper) -> tuple[Picture, ...]:
    """Draw all figures of a paper; those of several benchmarks begin with the name of theirs."""
    from skilleval.report.charts import figures

    prefixes = slugs([group.name for group in paper.groups]) if len(paper.groups) > 1 else [""]
    return tuple(
        Picture(
            stem=f"{prefix}-{figure.name}" if prefix else figure.name,
            title=f"{figure.title}: {group.name}" if prefix else figure.title,
            caption=figure.caption,
            spec=figure.spec,
        )
        for prefix, group in zip(prefixes, paper.groups, strict=True)
        for figure in figures(group.report, paper=True)
    )
