"""A paper as the texts of its files, and the file that says what was made from what."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from skilleval.report.paper.article import MAKEFILE, main_tex
from skilleval.report.paper.document import SCHEMA, Options, Paper, Quoted
from skilleval.report.paper.methods import methods_tex
from skilleval.report.paper.pictures import Picture, pictures
from skilleval.report.paper.quoted import numbers_tex, quoted
from skilleval.report.paper.references import bibliography
from skilleval.report.paper.reproduction import reproduce_sh
from skilleval.report.paper.tables import cells, table_files, tables
from skilleval.report.paper.used import methods_used
from skilleval.report.text import json_text

MANIFEST = "paper.json"
YOURS = ("main.tex", "Makefile")
"""Files that are written once and then belong to the author."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """All that a paper consists of beside its data. `texts` are recomputed by `verify`, `yours` only given once."""

    texts: Mapping[str, str]
    yours: Mapping[str, str]
    pictures: tuple[Picture, ...]
    facts: Mapping[str, Any]

    @property
    def manifest(self) -> str:
        """The text of `paper.json`."""
        return json_text(dict(self.facts), indent=1) + "\n"


def kit(paper: Paper) -> Kit:
    """Write everything that needs no renderer of figures."""
    numbers, placed, drawn = quoted(paper), tables(paper), pictures(paper)
    version = paper.versions.get("skilleval", "")
    texts = {
        **table_files(paper),
        **{f"figures/{picture.stem}.vl.json": picture.spec_text for picture in drawn},
        "numbers.tex": numbers_tex(numbers),
        "methods.tex": methods_tex(paper),
        "references.bib": bibliography(methods_used(paper), version=version),
        "reproduce.sh": reproduce_sh(paper),
    }
    yours = {"main.tex": main_tex(paper, numbers, placed, drawn), "Makefile": MAKEFILE}
    facts = {
        "schema": SCHEMA,
        "title": paper.title,
        "options": dataclasses.asdict(paper.options),
        "versions": dict(paper.versions),
        "runs": [_source(paper, at) for at in range(len(paper.sources))],
        "methods": sorted(methods_used(paper)),
        "tables": [cells(one) for one in placed],
        "numbers": [_number(one) for one in numbers],
    }
    return Kit(texts=texts, yours=yours, pictures=drawn, facts=facts)


def _source(paper: Paper, at: int) -> dict[str, Any]:
    source = paper.sources[at]
    benchmarks = [group.benchmark for group in paper.groups for _ in group.sources]
    return {
        "run_id": source.run_id,
        "folder": source.folder,
        "benchmark": benchmarks[at],
        "digests": dict(source.digests),
    }


def _number(one: Quoted) -> dict[str, Any]:
    return {**dataclasses.asdict(one), "run_ids": list(one.run_ids)}


def options_of(facts: Mapping[str, Any]) -> Options:
    """Read back what was asked for.

    Raises:
        KeyError, TypeError: the text is not that of `paper.json`.
    """
    found = facts["options"]
    return Options(**{field.name: found[field.name] for field in dataclasses.fields(Options)})


def folders_of(facts: Mapping[str, Any]) -> Sequence[tuple[str, str, Mapping[str, str]]]:
    """Read back id, folder and digests of each run.

    Raises:
        KeyError, TypeError: the text is not that of `paper.json`.
    """
    return [(str(run["run_id"]), str(run["folder"]), dict(run["digests"])) for run in facts["runs"]]
