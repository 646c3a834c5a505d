"""Names of report formats as people type them. Every list of formats in a help text is made here, of the registries."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import click

from skilleval.report import WRITERS
from skilleval.report.diff_writers import DIFF_WRITERS

log = logging.getLogger(__name__)

ALL = "all"
"""In place of a name: every format there is."""

REPORT_FORMATS = " ".join(WRITERS)
DIFF_FORMATS = " ".join(DIFF_WRITERS)

_ALIASES = {"md": "markdown", "htm": "html", "tex": "latex", "ipynb": "notebook"}


class AnyWriter(Protocol):
    """What is asked of a writer here."""

    @property
    def reads_rows(self) -> bool:
        """Say whether what it writes reads the tables of a run."""


class FormatName(click.ParamType[str]):
    """The name of a report format; what a file would end with means the format.

    Whether there is such a format is said where the writers are known, which other packages may add to.
    """

    name = "format"

    def convert(self, value: Any, _param: click.Parameter | None, _ctx: click.Context | None) -> str:
        """Give the name that the writers are known by."""
        return _ALIASES.get(str(value).lower(), str(value))


def wished(
    formats: Sequence[str],
    known: Mapping[str, AnyWriter],
    *,
    usual: Iterable[str] = (),
    has_rows: bool = True,
) -> list[str]:
    """Give the formats that are asked for, each once; nothing is the usual ones.

    `all` is every known one. Without rows it leaves out, and says so, what reads them: asked for by name, that is a
    mistake, but who wants everything wants what there can be.
    """
    chosen = list(formats) or list(usual)
    if ALL not in chosen:
        return list(dict.fromkeys(chosen))
    left_out = [name for name, writer in known.items() if writer.reads_rows and not has_rows]
    if left_out:
        log.warning("left out: %s, for a JSON report alone has no tables to read", ", ".join(left_out))
    return [name for name in known if name not in left_out]


def has_rows(source: str) -> bool:
    """Say whether what is named has tables: a run has, and a JSON report that lies in the folder of its run."""
    from skilleval.results.store import MANIFEST

    path = Path(source)
    return not path.is_file() or (path.parent / MANIFEST).is_file()
