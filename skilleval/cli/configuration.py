"""`skilleval config`: which settings hold, which layer each comes from, and how to change one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli.arguments import Command, Common, common_options

if TYPE_CHECKING:
    from skilleval.config.layers import Setting
    from skilleval.config.request import Request

_HELP = {"help_option_names": ["-h", "--help"]}


@click.group(short_help="Show and change settings.", context_settings=_HELP)
def config() -> None:
    """Show and change settings.

    Layers, strongest first: command line, project file (skilleval.yaml), user file
    (~/.config/skilleval/config.yaml), a project's own conf/ folder, shipped defaults.
    """


@config.command("list", cls=Command, example="skilleval config list\nskilleval config list runner.repeats=3")
@click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]...")
@common_options
def list_(common: Common, overrides: tuple[str, ...]) -> None:
    """List every setting with its value and the layer it comes from."""
    from skilleval.config.layers import setting_list

    _show(common, setting_list(_request(common, overrides)))


@config.command(
    "get", cls=Command, example="skilleval config get runner.repeats\nskilleval config get runner"
)
@click.argument("key")
@click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]...")
@common_options
def get(common: Common, key: str, overrides: tuple[str, ...]) -> None:
    """Print the value of a setting, or of all settings below a key."""
    from skilleval.config.layers import setting

    found = setting(_request(common, overrides), key)
    if len(found) == 1 and found[0].key == key:
        common.screen.document(asdict(found[0]))
        common.screen.say(_text(found[0].value))
    else:
        _show(common, found)


@config.command("where", cls=Command, example="skilleval config where runner.repeats")
@click.argument("key")
@click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]...")
@common_options
def where(common: Common, key: str, overrides: tuple[str, ...]) -> None:
    """Show every layer that sets a key, weakest first: the last one wins."""
    from skilleval.config.layers import where as said

    _show(common, said(_request(common, overrides), key))


@config.command(
    "set",
    cls=Command,
    example="skilleval config set runner.concurrency 2\n"
    "skilleval config set --project report.formats '[json, html]'",
)
@click.argument("key")
@click.argument("value")
@click.option("--project", is_flag=True, help="Write ./skilleval.yaml instead of the user file.")
@common_options
def set_(common: Common, key: str, value: str, *, project: bool) -> None:
    """Set a key in the user file; comments stay, a wrong key or value is refused."""
    from skilleval.config.layers import parse_value, write_setting
    from skilleval.config.request import PROJECT_FILE, default_user_file

    request = _request(common, ())
    path = (common.config_file or request.project / PROJECT_FILE) if project else default_user_file()
    parsed = parse_value(value)
    write_setting(path, key, parsed, request=request)
    common.screen.document({"key": key, "value": parsed, "file": str(path)})
    common.screen.say(f"{key} = {_text(parsed)} in {path}")


def _request(common: Common, overrides: Sequence[str]) -> Request:
    from skilleval.config.request import Request

    return Request(project=Path.cwd(), overrides=tuple(overrides), config_file=common.config_file)


def _show(common: Common, settings: Iterable[Setting]) -> None:
    from rich.table import Table
    from rich.text import Text

    settings = tuple(settings)
    common.screen.document([asdict(one) for one in settings])
    if common.screen.json:
        return
    table = Table("setting", "value", "layer", "source", box=None, pad_edge=False)
    for one in settings:
        table.add_row(*(Text(cell) for cell in (one.key, _text(one.value), one.layer, one.source)))
    common.screen.stdout().print(table)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
