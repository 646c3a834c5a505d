"""Names of report formats as people type them."""

from __future__ import annotations

from typing import Any

import click

_ALIASES = {"md": "markdown", "htm": "html"}


class FormatName(click.ParamType[str]):
    """The name of a report format; what a file would end with means the format.

    Whether there is such a format is said where the writers are known, which other packages may add to.
    """

    name = "format"

    def convert(self, value: Any, _param: click.Parameter | None, _ctx: click.Context | None) -> str:
        """Give the name that the writers are known by."""
        return _ALIASES.get(str(value).lower(), str(value))
