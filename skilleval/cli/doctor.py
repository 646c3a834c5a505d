"""`skilleval doctor`: what this machine offers, and where a configuration can send data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, common_options, overrides_and_words
from skilleval.cli.listing import show_rows
from skilleval.outcome import ExitCode

_EXAMPLE = """
skilleval doctor
skilleval doctor --egress ./my-skill adapter=http
skilleval doctor --egress -c nightly.yaml
"""


@click.command(
    "doctor", cls=Command, example=_EXAMPLE, short_help="Say what is there, what is missing, what is sent."
)
@click.argument("words", nargs=-1, metavar="[SKILL]... [KEY=VALUE]...", shell_complete=completion.words)
@click.option(
    "--egress", is_flag=True, help="List each host that a configuration can send data to, and what."
)
@common_options
def doctor(common: Common, words: tuple[str, ...], *, egress: bool) -> None:
    """Look at interpreters, engines, sandboxes, extras, keys and folders, and say how to get what is missing.

    With --egress: list where the evaluation of these skills with these settings can send data, which fields, and
    which environment variables are read for it. Nothing is run and nothing is sent. Exit code 3 if something that
    every evaluation needs is broken.
    """
    if egress:
        _show_egress(common, words)
    else:
        _show_checks(common)


def _show_checks(common: Common) -> None:
    from skilleval.app.diagnosis import State, diagnose

    checks = diagnose()
    common.screen.document([asdict(check) for check in checks])
    rows = [(check.state.value, check.area, check.name, check.found, check.fix) for check in checks]
    show_rows(common.screen, ("state", "area", "what", "found", "what to do if you need it"), rows)
    if any(check.state is State.BROKEN for check in checks):
        click.get_current_context().exit(int(ExitCode.INFRASTRUCTURE))


def _show_egress(common: Common, words: Sequence[str]) -> None:
    from skilleval.app.egress import destinations
    from skilleval.app.prepare import prepare
    from skilleval.config.compose import compose_settings, quote

    overrides, skills = overrides_and_words(words)
    named = [f"skill_set.paths={quote(list(skills))}"] if skills else []
    composed = compose_settings([*named, *overrides], project=Path.cwd(), config_file=common.config_file)
    found = destinations(prepare(composed, is_to_run=False))
    common.screen.document([asdict(one) for one in found])
    rows = [(one.sender, one.host, ", ".join(one.fields), ", ".join(one.variables), one.why) for one in found]
    if rows:
        show_rows(common.screen, ("who", "sends to", "fields", "variables read", "why"), rows)
    if not found:
        common.screen.say("Nothing leaves this machine.")
