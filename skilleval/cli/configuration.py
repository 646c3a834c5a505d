"""`skilleval config`: which settings hold, which layer each comes from, and how to change one."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli.arguments import Command, Common, common_options

if TYPE_CHECKING:
    from skilleval.config.layers import Setting
    from skilleval.config.request import Request

_HELP = {"help_option_names": ["-h", "--help"]}
_BENCHMARK = "benchmark"
_MISSING = "???"
_HEADINGS = ("setting", "value", "layer", "source")


@click.group(short_help="Show and change settings.", context_settings=_HELP)
def config() -> None:
    """Show and change settings.

    Layers, strongest first: command line, project file (skilleval.yaml), user file
    (~/.config/skilleval/config.yaml), a project's own conf/ folder, shipped defaults.
    """


@config.command(
    "list",
    cls=Command,
    example="skilleval config list\nskilleval config list runner.repeats=3\nskilleval config list | grep runner",
)
@click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]...")
@common_options
def list_(common: Common, overrides: tuple[str, ...]) -> None:
    """List every setting with its value and the layer it comes from."""
    from skilleval.config.layers import setting_list

    _show(common, setting_list(_request(common, overrides)))


@config.command(
    "get",
    cls=Command,
    example="skilleval config get runner.repeats\nskilleval config get runner\nskilleval config get scorer",
)
@click.argument("key")
@click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]...")
@common_options
def get(common: Common, key: str, overrides: tuple[str, ...]) -> None:
    """Print the value of a setting, all settings below a key, or the option chosen in a group."""
    from skilleval.config.layers import setting

    found = setting(_request(common, overrides), key)
    if len(found) == 1 and found[0].key == key:
        common.screen.document(asdict(found[0]))
        common.screen.say(_text(found[0].value))
    else:
        _show(common, found)


@config.command(
    "where", cls=Command, example="skilleval config where runner.repeats\nskilleval config where scorer"
)
@click.argument("key")
@click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]...")
@common_options
def where(common: Common, key: str, overrides: tuple[str, ...]) -> None:
    """Show every layer that sets a key or chooses an option, weakest first: the last one wins."""
    from skilleval.config.layers import where as said

    _show(common, said(_request(common, overrides), key))


@config.command(
    "set",
    cls=Command,
    example="skilleval config set runner.concurrency 2\n"
    "skilleval config set --project report.formats '[json, html]'\n"
    "skilleval config set --project scorer '[exact, contains]'",
)
@click.argument("key")
@click.argument("value")
@click.option("--project", is_flag=True, help="Write ./skilleval.yaml instead of the user file.")
@common_options
def set_(common: Common, key: str, value: str, *, project: bool) -> None:
    """Set a key, or choose the option of a group, in the user file.

    Comments stay; a wrong key, value or option is refused, and the file is left as it was.
    """
    from skilleval.config.changes import write_setting
    from skilleval.config.layers import parse_value

    request = _request(common, ())
    path = _file(common, request, project=project)
    parsed = parse_value(value)

    def accept(values: Mapping[str, Any]) -> None:
        _check_parts(values)
        # The user's own file holds in every project; which benchmarks those have is not known here.
        if project and key.partition(".")[0] == _BENCHMARK:
            _check_benchmark(values)

    write_setting(path, key, parsed, request=request, accept=accept)
    common.screen.document({"key": key, "value": parsed, "file": str(path)})
    common.screen.say(f"{key} = {_text(parsed)} in {path}")


@config.command(
    "unset",
    cls=Command,
    example="skilleval config unset runner.concurrency\nskilleval config unset --project scorer",
)
@click.argument("key")
@click.option("--project", is_flag=True, help="Change ./skilleval.yaml instead of the user file.")
@common_options
def unset(common: Common, key: str, *, project: bool) -> None:
    """Take a key, or the choice of a group, out of the user file.

    Comments stay. Of a group that the file chooses an option of, the choice alone is taken out.
    """
    from skilleval.config.changes import unset_setting

    request = _request(common, ())
    path = _file(common, request, project=project)
    unset_setting(path, key, request=request)
    common.screen.document({"key": key, "file": str(path)})
    common.screen.say(f"{key} is no longer set in {path}")


def _check_parts(values: Mapping[str, Any]) -> None:
    """Refuse what the parts behind the settings refuse: formats, patterns, options of scorers.

    Raises:
        ConfigError: a run with these settings would not start.
    """
    from pydantic import TypeAdapter

    from skilleval.app.parts import build_sandbox, build_scorers
    from skilleval.config.settings import Part, PartSettings
    from skilleval.registry import part
    from skilleval.report import WRITERS
    from skilleval.results.redaction import Redactor

    for name in values["report"]["formats"]:
        part(WRITERS, name, key="report.formats", group="writers")
    Redactor(values["privacy"]["redact"])
    known = {name: block for name, block in values["scorers"].items() if _MISSING not in json.dumps(block)}
    scorers = TypeAdapter(dict[str, Part]).validate_python(known)
    unused = build_sandbox(PartSettings(kind="none", options={"pass_env": ()}))
    build_scorers(scorers, unused)


def _check_benchmark(values: Mapping[str, Any]) -> None:
    """Refuse a benchmark that is not there.

    Raises:
        CatalogError: nothing is found under its name.
    """
    from skilleval.catalog.benchmarks import locate_benchmark

    benchmark = values[_BENCHMARK]
    if benchmark["name"] != _MISSING:
        locate_benchmark(benchmark["name"], [Path(root) for root in benchmark["roots"]])


def _request(common: Common, overrides: Sequence[str]) -> Request:
    from skilleval.config.request import Request

    return Request(project=Path.cwd(), overrides=tuple(overrides), config_file=common.config_file)


def _file(common: Common, request: Request, *, project: bool) -> Path:
    from skilleval.config.request import PROJECT_FILE, default_user_file

    return (common.config_file or request.project / PROJECT_FILE) if project else default_user_file()


def _show(common: Common, settings: Iterable[Setting]) -> None:
    """Show settings: as a table on a terminal, else as lines with tabs between, for `grep` and `cut`."""
    settings = tuple(settings)
    common.screen.document([asdict(one) for one in settings])
    if common.screen.json:
        return
    rows = [(one.key, _text(one.value), one.layer, _source(one)) for one in settings]
    if sys.stdout.isatty():
        _table(common, rows)
    else:
        for row in rows:
            common.screen.say("\t".join(_on_one_line(cell) for cell in row))


def _table(common: Common, rows: Sequence[tuple[str, ...]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in _HEADINGS:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    common.screen.show(table)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _on_one_line(text: str) -> str:
    return text if text.isprintable() else json.dumps(text, ensure_ascii=False)


def _source(one: Setting) -> str:
    """Give where a setting stands in short: below the shipped folders, or from the working folder on."""
    from skilleval.config.shipped import shipped

    path = Path(one.source)
    if one.layer == "command line" or not path.is_absolute():
        return one.source
    conf = shipped("conf")
    for root, prefix in ((conf, "shipped:"), (conf.parent, "shipped:"), (Path.cwd(), "")):
        if path.is_relative_to(root) and (one.layer == "shipped" or not prefix):
            return f"{prefix}{path.relative_to(root)}"
    return one.source
