"""Names of report formats as people type them. Every list of formats in a help text is made here, of the registries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from skilleval.report import WRITERS
from skilleval.report.diff_writers import DIFF_WRITERS

ALL = "all"
"""In place of a name: every format there is."""

REPORT_FORMATS = " ".join(WRITERS)
DIFF_FORMATS = " ".join(DIFF_WRITERS)

_ALIASES = {"md": "markdown", "htm": "html", "tex": "latex", "ipynb": "notebook"}


class FormatName(click.ParamType[str]):
    """The name of a report format; what a file would end with means the format.

    Whether there is such a format is said where the writers are known, which other packages may add to.
    """

    name = "format"

    def convert(self, value: Any, _param: click.Parameter | None, _ctx: click.Context | None) -> str:
        """Give the name that the writers are known by."""
        return _ALIASES.get(str(value).lower(), str(value))


def wished(formats: Sequence[str], known: Mapping[str, object], *, usual: Iterable[str] = ()) -> list[str]:
    """Give the formats that are asked for, each once; `all` is every known one, nothing is the usual ones."""
    chosen = list(formats) or list(usual)
    return list(dict.fromkeys(known if ALL in chosen else chosen))
