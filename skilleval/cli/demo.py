"""`skilleval demo`: the main job on shipped examples; no key, no service."""

from __future__ import annotations

from typing import Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, common_options, overrides_and_words
from skilleval.cli.evaluation import evaluate
from skilleval.cli.request import Request
from skilleval.errors import UsageError

_EXAMPLE = """
skilleval demo
skilleval demo --output-dir /tmp/demo runner.repeats=5
"""


@click.command("demo", cls=Command, example=_EXAMPLE, short_help="Evaluate the shipped example skills.")
@click.argument("words", shell_complete=completion.words, nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--output-dir", type=click.Path(), metavar="DIR", help="Where <run_id>/ goes (outputs/demo).")
@common_options
def demo(common: Common, **options: Any) -> None:
    """Evaluate the example skills that come with skilleval: one good, one flaky, one wrong.

    It is `skilleval eval +experiment=demo`; any KEY=VALUE overrides a setting.
    """
    from skilleval.config.compose import quote

    overrides, words = overrides_and_words(options["words"])
    if words:
        msg = f"demo takes no skills, but got {words[0]!r}"
        raise UsageError(msg, hint=f"evaluate your own with `skilleval eval {words[0]}`")
    folder = [f"paths.output_dir={quote(options['output_dir'])}"] if options["output_dir"] else []
    evaluate(
        common,
        Request(overrides=("+experiment=demo", *folder, *overrides), next_step="skilleval eval --help"),
    )
