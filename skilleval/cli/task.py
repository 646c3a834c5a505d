"""`skilleval task`: one ad-hoc call of a skill, with an honest exit code; nothing is stored."""

from __future__ import annotations

import json
import logging
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from skilleval.cli.arguments import Command, Common, Many, common_options, overrides_and_words
from skilleval.errors import Problem, UsageError

if TYPE_CHECKING:
    from skilleval.app.adhoc import Answer, Check

log = logging.getLogger(__name__)

_SHOWN = 80

_EXAMPLE = """
skilleval task --skill ./my-skill --input '{"query": "hello"}'
skilleval task --skill ./my-skill --input '{"query": "hello"}' --exact '"HELLO"'
skilleval task --skill ./my-skill --input @input.json --regex '^H' 'O$' --output json
"""


class Verbatim(Many):
    """An option that takes one or more values as they are: commas belong to patterns and keywords."""

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Convert each value, unsplit."""
        return click.Option.type_cast_value(self, ctx, value)


@click.command("task", cls=Command, example=_EXAMPLE, short_help="Call a skill once and check what it says.")
@click.argument("words", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--skill", required=True, type=click.Path(), metavar="PATH", help="skill.json or its folder.")
@click.option(
    "--input",
    "given",
    required=True,
    metavar="JSON",
    help="The input, an object; @FILE reads a file, - reads stdin.",
)
@click.option(
    "--regex", "patterns", cls=Verbatim, metavar="PATTERN...", help="All of these match the output."
)
@click.option("--schema", metavar="JSON", help="The output fits this JSON Schema; @FILE reads a file.")
@click.option(
    "--contains", "keywords", cls=Verbatim, metavar="TEXT...", help="The output contains all of these."
)
@click.option("--exact", metavar="JSON", help="The output equals this value; a text needs its quotes.")
@click.option("--custom", type=click.Path(), metavar="PATH", help="A scorer of your own judges the output.")
@click.option("--timeout", type=float, metavar="MS", help="Limit of the call in ms (30000).")
@click.option(
    "--output",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="json: one document, as with --json.",
)
@common_options
def task(common: Common, **options: Any) -> None:
    """Call a skill once with an input; say what it answered, how long it took, and whether that is right.

    At most one of --regex, --schema, --contains, --exact and --custom says what is right. Exit codes: 0 passed, or
    completed with nothing to check; 1 not passed; 2 bad usage; 3 the call did not complete; 4 it could not be judged.
    """
    from skilleval.app.adhoc import answer, prepared_call

    overrides, words = overrides_and_words(options["words"])
    if words:
        msg = f"task takes no further words, but got {words[0]!r}"
        raise UsageError(msg, hint="name the skill with --skill, and settings as KEY=VALUE")
    given, check = _input(options["given"]), _check(options)
    call = prepared_call(
        options["skill"],
        given,
        check,
        overrides=[*_limit(options["timeout"]), *overrides],
        config_file=common.config_file,
    )
    with call as prepared:
        for warning in prepared.warnings:
            log.warning("%s", warning)
        for notice in prepared.notices:
            log.info("%s", notice)
        answered = answer(prepared, is_checked=check is not None)
    _show(common, answered, as_json=options["form"] == "json")
    click.get_current_context().exit(int(answered.exit_code))


def _limit(timeout_ms: float | None) -> list[str]:
    from skilleval.config.compose import quote

    return [] if timeout_ms is None else [f"runner.timeout_ms={quote(timeout_ms)}"]


def _input(text: str) -> Mapping[str, Any]:
    given = _json(text, "--input")
    if not isinstance(given, dict):
        problem = Problem(where="--input", expected="a JSON object", found=text[:_SHOWN])
        raise UsageError("the input cannot be used", problems=(problem,))
    return given


def _check(options: Mapping[str, Any]) -> Check | None:
    """Give the one check that was asked for."""
    from skilleval.app.adhoc import Check

    checks = []
    if options["patterns"]:
        checks.append(Check(option="--regex", kind="regex", expected={"patterns": list(options["patterns"])}))
    if options["schema"] is not None:
        schema = _json(options["schema"], "--schema")
        checks.append(Check(option="--schema", kind="json_schema", expected={"schema": schema}))
    if options["keywords"]:
        checks.append(
            Check(option="--contains", kind="contains", expected={"keywords": list(options["keywords"])})
        )
    if options["exact"] is not None:
        checks.append(
            Check(option="--exact", kind="exact", expected={"value": _json(options["exact"], "--exact")})
        )
    if options["custom"] is not None:
        own = Path(options["custom"])
        path = str(own.absolute() if own.exists() else own)  # else it is `module:function`
        checks.append(Check(option="--custom", kind="custom", expected={"customScorerPath": path}))
    if len(checks) > 1:
        found = " and ".join(check.option for check in checks)
        problem = Problem(where="task", expected="one check", found=found)
        raise UsageError("one call is judged by one check", problems=(problem,))
    return checks[0] if checks else None


def _json(text: str, option: str) -> Any:
    """Read a JSON value that stands in an option, in the file it names, or on stdin."""
    where, text = _text(text, option)
    try:
        return json.loads(text, object_pairs_hook=_members, parse_constant=_refuse, parse_float=_finite)
    except json.JSONDecodeError as error:
        hint = "a text needs its double quotes" if option == "--exact" else ""
        found = f"{text[:_SHOWN]!r}, wrong at line {error.lineno}, column {error.colno}"
        _unusable(where, "a JSON value", found, hint)
    except _RepeatedKeyError as error:
        _unusable(where, "each key once", f"{error.args[0]!r} again")
    except (ValueError, RecursionError) as error:
        _unusable(where, "a JSON value", str(error))


def _text(text: str, option: str) -> tuple[str, str]:
    try:
        if text == "-":
            return f"{option} -", sys.stdin.read()
        if text.startswith("@"):
            return f"{option} {text}", Path(text[1:]).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else None
        _unusable(f"{option} {text}", "a text that can be read, in UTF-8", said or str(error))
    return option, text


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)


class _RepeatedKeyError(ValueError):
    """An object says a key twice: nobody knows which value is meant."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise _RepeatedKeyError(name)
        members[name] = value
    return members


def _refuse(word: str) -> NoReturn:
    msg = f"{word}, which no finite number is"
    raise ValueError(msg)


def _unusable(where: str, expected: str, found: str, hint: str = "") -> NoReturn:
    problem = Problem(where=where, expected=expected, found=found, hint=hint)
    raise UsageError("the value of an option cannot be used", problems=(problem,))


def _show(common: Common, answer: Answer, *, as_json: bool) -> None:
    from dataclasses import replace

    facts = answer.facts()
    replace(common.screen, json=as_json or common.screen.json).document(facts)
    if as_json or common.screen.json:
        return
    for line in _lines(facts):
        common.screen.say(line)


def _lines(facts: Mapping[str, Any]) -> list[str]:
    """Give the answer as lines; what the skill wrote cannot move the cursor or look like our own words."""
    from skilleval.report.numbers import Style, shown
    from skilleval.report.text import one_line

    kind = f" ({facts['failure_kind']})" if facts["failure_kind"] else ""
    said: list[tuple[str, str | None]] = [
        (
            "output",
            None if facts["output"] is None and kind else json.dumps(facts["output"], ensure_ascii=False),
        ),
        ("status", f"{facts['status']}{kind}"),
        ("message", facts["message"]),
        ("stdout", facts["stdout"]),
        ("stderr", facts["stderr"] if kind else None),
        ("latency", shown(facts["latency_ms"], Style.DURATION)),
        ("verdict", facts["verdict"] or "nothing to check"),
        *((score["rule"], f"{score['verdict']} {score['reason']}".strip()) for score in facts["scores"]),
    ]
    width = max(len(label) for label, _ in said) + 2
    return [f"{label + ':':{width}}{one_line(text)}" for label, text in said if text]
