"""`skilleval eval`: run skills on a benchmark, keep every row, report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, Many, common_options, overrides_and_words
from skilleval.cli.request import Request
from skilleval.cli.running import carry_out, evaluating_options, get_ready, option_overrides, tell_paths

if TYPE_CHECKING:
    from skilleval.app.evaluate import Outcome
    from skilleval.app.prepare import Prepared

_EXAMPLE = """
skilleval eval --skills ./my-skill --benchmark coding-easy --runs 3 --format json html
skilleval eval --skills a/skill.json b/skill.json scorer=contains runner.concurrency=2
skilleval eval -m --skills ./my-skill scorer=exact,contains
"""

_FLAGS = {
    "exit_on_fail": "gate.exit_on_fail",
    "fail_on_error": "gate.fail_on_error",
    "skip_invalid": "skill_set.skip_invalid",
}


@click.command("eval", cls=Command, example=_EXAMPLE, short_help="Run skills on a benchmark and report.")
@click.argument("words", shell_complete=completion.words, nargs=-1, metavar="[SKILL]... [KEY=VALUE]...")
@click.option(
    "--skills",
    cls=Many,
    type=click.Path(),
    metavar="PATH...",
    help="skill.json files or folders that hold them.",
)
@click.option("--min-completion", type=float, metavar="RATE", help="Completion to reach, 0-1 (0.7).")
@click.option("--exit-on-fail", is_flag=True, help="Exit 1 if a skill stays below --min-completion.")
@click.option("--fail-on-error", is_flag=True, help="Exit 3 also if a skill errors or times out.")
@click.option(
    "--skip-invalid", is_flag=True, help="Leave out skills that cannot be read instead of stopping."
)
@click.option("--dry-run", is_flag=True, help="Check everything, count, estimate; run and write nothing.")
@click.option("-m", "--multirun", is_flag=True, help="Sweep over comma-separated overrides with Hydra.")
@click.option("--cfg", type=click.Choice(["job", "hydra", "all"]), help="Print the composed config and stop.")
@click.option("--info", is_flag=True, help="Print what Hydra composed from where, and stop.")
@click.option(
    "--config-dir", type=click.Path(), metavar="DIR", help="A further config folder, searched first."
)
@evaluating_options
@common_options
def eval_(common: Common, **options: Any) -> None:
    """Run every skill on every task, keep every row, and report.

    Skills may be named with --skills or as arguments. Any KEY=VALUE is a Hydra override; it wins over project file
    (skilleval.yaml), user file and defaults. Exit codes: 0 ok, 1 gate not met, 2 bad usage or config, 3
    infrastructure error or every trial errored, 4 nothing evaluated, 130 interrupted.
    """
    overrides, words = overrides_and_words(options["words"])
    shorthand = _option_overrides(options, [*options["skills"], *words])
    request = Request(
        overrides=(*shorthand, *overrides),
        config_dirs=(Path(options["config_dir"]),) if options["config_dir"] else (),
        dry_run=options["dry_run"],
        multirun=options["multirun"],
        cfg=options["cfg"],
        info=options["info"],
    )
    evaluate(common, request)


def evaluate(common: Common, request: Request) -> None:
    """Compose and run, once or as a sweep."""
    if request.multirun or request.cfg or request.info:
        from skilleval.cli.sweep import hand_to_hydra

        hand_to_hydra(common, request)
    else:
        _run_once(common, request)


def _option_overrides(options: Mapping[str, Any], skills: Sequence[str]) -> Iterator[str]:
    """Turn all options into overrides."""
    from skilleval.config.compose import quote

    if skills:
        yield f"skill_set.paths={quote(list(skills))}"
    if options["min_completion"] is not None:
        yield f"gate.min_completion={quote(options['min_completion'])}"
    for name, key in _FLAGS.items():
        if options[name]:
            yield f"{key}=true"
    yield from option_overrides(options)


def _run_once(common: Common, request: Request) -> None:
    prepared = get_ready(common, request)
    if request.dry_run:
        _show_dry_run(common, prepared)
        return
    outcome = carry_out(common, prepared)
    _show(common, outcome, request.next_step)
    click.get_current_context().exit(int(outcome.exit_code))


def _show_dry_run(common: Common, prepared: Prepared) -> None:
    facts = prepared.facts()
    common.screen.document({"dry_run": True, **facts})
    common.screen.say(
        f"skills:     {', '.join(facts['skills'])}\n"
        f"benchmark:  {facts['benchmark']}\n"
        f"scorers:    {', '.join(facts['scorers'])}\n"
        f"trials:     {facts['n_trials']} = {facts['n_skills']} × {facts['n_tasks']} × {facts['repeats']} "
        f"(skills × tasks × repeats)\n"
        f"duration:   at most {facts['longest_duration_s']:,.0f} s at concurrency {facts['concurrency']}\n"
        f"would go to {facts['output_dir']}\n"
        "Everything is valid; nothing was run and nothing was written."
    )


def _show(common: Common, outcome: Outcome, next_step: str | None) -> None:
    """Show table, verdict and the paths of everything that was written."""
    from skilleval.report.terminal import table

    common.screen.document(outcome.facts())
    if common.screen.json:
        return
    common.screen.show(table(outcome.report, width=common.screen.width))
    common.screen.say("")
    if next_step is None and "html" not in outcome.reports:
        next_step = f"skilleval report convert --input {outcome.folder} --format html"
    tell_paths(common, outcome, next_step)
