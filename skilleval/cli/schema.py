"""`skilleval schema`: the JSON Schemas of our files, for editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from skilleval.cli.arguments import Command, Common, common_options
from skilleval.errors import UsageError

_SETTINGS = "config"
_FILES = ("skill", "benchmark", "strategy", "adapter")
_EXAMPLE = """
skilleval schema benchmark
skilleval schema config --output skilleval.schema.json
"""


@click.command("schema", cls=Command, example=_EXAMPLE, short_help="Print the JSON Schema of a kind of file.")
@click.argument("name", type=click.Choice([*_FILES, _SETTINGS]))
@click.option("--output", type=click.Path(), metavar="FILE", help="Write it there instead of on stdout.")
@common_options
def schema(common: Common, name: str, output: str | None) -> None:
    """Print the JSON Schema of a kind of file, so that an editor completes its keys and marks mistakes.

    skill: skill.json; benchmark: benchmark.json; strategy: the file of select and run; adapter: adapter.config.json;
    config: skilleval.yaml. Many editors use it for a YAML file whose first line is
    `# yaml-language-server: $schema=FILE`.
    """
    found = _schema(name)
    if output is None:
        common.screen.document(found)
        common.screen.say(_text(found))
        return
    path = Path(output)
    try:
        path.write_text(f"{_text(found)}\n", encoding="utf-8")
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror}"
        raise UsageError(msg) from None
    common.screen.document({"name": name, "file": str(path)})
    common.screen.say(f"{name}: {path}")


def _schema(name: str) -> dict[str, Any]:
    if name == _SETTINGS:
        return _settings_schema()
    from skilleval.catalog.rules import schema as shipped_schema

    return dict(shipped_schema(name))


def _settings_schema() -> dict[str, Any]:
    """Make the schema of a settings file: any part of the settings, parts written flat, and choices of groups."""
    from skilleval.config.settings import Settings

    whole = Settings.model_json_schema()
    blocks = whole["$defs"]
    for block in (whole, *blocks.values()):
        block.pop("required", None)  # the file adds to what other layers say
        for described in (block, *block["properties"].values()):
            described.pop("title", None)
    part = blocks["PartSettings"]
    blocks["PartSettings"] = {
        "description": "a replaceable part: its kind, and the options of that kind beside it",
        "type": "object",
        "properties": {"kind": part["properties"]["kind"]},
    }
    choices = {"description": "choices of groups, e.g. - override /scorer: exact", "type": "array"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "skilleval.yaml: the settings of a project",
        **whole,
        "properties": {"defaults": choices, **whole["properties"]},
    }


def _text(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
