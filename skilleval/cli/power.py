"""`skilleval power`: how many tasks or repeats an interval of a given width, or a change of a given size, asks for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, Many, common_options
from skilleval.cli.listing import show_rows
from skilleval.cli.rate import Rate
from skilleval.errors import Problem, UsageError

if TYPE_CHECKING:
    from skilleval.analytics.power import Goal
    from skilleval.app.power import Source, Wish

_EXAMPLE = """
skilleval power latest --margin 0.05
skilleval power latest --difference 0.1 --power 0.9 --skill calculator
skilleval power --rate 0.7 --icc 0.4 --difference 0.05
"""
_USUAL_MARGIN, _USUAL_POWER, _USUAL_LEVEL, _USUAL_CORRELATION = 0.05, 0.8, 0.95, 0.5


@click.command("power", cls=Command, example=_EXAMPLE, short_help="Plan how many tasks and repeats to run.")
@click.argument("run", required=False, shell_complete=completion.stored_runs)
@click.option("--margin", type=Rate(), metavar="X", help=f"Know the rate to ±X ({_USUAL_MARGIN}).")
@click.option("--difference", type=Rate(), metavar="Y", help="See a change of Y between two conditions.")
@click.option(
    "--power", type=Rate(), metavar="P", help=f"Chance to see it ({_USUAL_POWER}; with --difference)."
)
@click.option(
    "--level", type=Rate(), default=_USUAL_LEVEL, show_default=True, metavar="L", help="Level of confidence."
)
@click.option(
    "--repeats", cls=Many, type=click.IntRange(min=1), metavar="K...", help="Repeats a task (1 2 3 5 10)."
)
@click.option("--tasks", type=click.IntRange(min=2), metavar="N", help="Tasks at hand (those of the run).")
@click.option(
    "--correlation",
    type=Rate(),
    metavar="R",
    help=f"Of the tasks' rates in both conditions ({_USUAL_CORRELATION}; with --difference).",
)
@click.option("--omega2", type=click.FloatRange(min=0), metavar="V", help="Variance between tasks.")
@click.option(
    "--sigma2", type=click.FloatRange(min=0), metavar="V", help="Variance between repeats of a task."
)
@click.option("--rate", type=Rate(), metavar="RATE", help="Expected rate; with --icc, instead of variances.")
@click.option("--icc", type=Rate(), metavar="C", help="Correlation of the repeats of one task, 0-1.")
@click.option(
    "--measure",
    type=click.Choice(["completion_rate", "partial_score"]),
    default="completion_rate",
    show_default=True,
    help="What is to be known.",
)
@click.option("--skill", metavar="ID", help="Only this skill of the run.")
@click.option("--scorer", metavar="NAME", help="Only the verdicts of this scorer.")
@click.option(
    "--store",
    type=click.Path(),
    metavar="DIR",
    default="outputs",
    show_default=True,
    help="Where run ids and `latest` are looked up.",
)
@common_options
def power(common: Common, **options: Any) -> None:
    """Say how many tasks are needed for each number of repeats, from the variances of a stored run or from given ones.

    With --margin the rate is to be known to ±X; with --difference a change of Y between two conditions on the same
    tasks is to be seen. More repeats only reduce the noise within tasks: where the tasks differ, more tasks are needed.
    """
    from skilleval.app.power import Question, Wish, given_power, run_power, variances_of

    goal = _goal(options)
    wish = Wish(
        goal=goal,
        tasks=options["tasks"],
        correlation=_USUAL_CORRELATION if options["correlation"] is None else options["correlation"],
        icc=options["icc"],
        **({"repeats": tuple(dict.fromkeys(options["repeats"]))} if options["repeats"] else {}),
    )
    given = variances_of(**{key: options[key] for key in ("omega2", "sigma2", "rate", "icc")})
    _check_source(options, is_given=given is not None)
    if given is not None:
        sources: tuple[Source, ...] = (given_power(given, wish, {"measure": options["measure"]}),)
    else:
        question = Question(**{key: options[key] for key in ("measure", "skill", "scorer")})
        sources = run_power(options["run"], Path(options["store"]), wish, question)
    common.screen.document(_document(goal, wish, sources))
    common.screen.say(_heading(goal, wish))
    for source in sources:
        _show(common, source, goal)


def _goal(options: dict[str, Any]) -> Goal:
    from skilleval.analytics.power import Goal

    margin, difference = options["margin"], options["difference"]
    if margin is not None and difference is not None:
        raise _one_of("one goal", "--margin and --difference")
    if difference is None:
        for name in ("power", "correlation"):
            if options[name] is not None:
                raise _one_of(f"--difference beside --{name}", "no --difference")
        return Goal(size=_USUAL_MARGIN if margin is None else margin, level=options["level"])
    chance = _USUAL_POWER if options["power"] is None else options["power"]
    return Goal(size=difference, level=options["level"], power=chance)


def _check_source(options: dict[str, Any], *, is_given: bool) -> None:
    if is_given and options["run"] is not None:
        raise _one_of("variances of a run or given ones", "both")
    if not is_given and options["run"] is None:
        problem = Problem(
            where="power",
            expected="a run, or --rate with --icc, or --omega2 with --sigma2",
            found="none of them",
            hint="e.g. skilleval power latest",
        )
        raise UsageError("there is nothing to plan with", problems=(problem,))
    for name in ("skill", "scorer"):
        if is_given and options[name] is not None:
            raise _one_of(f"a run beside --{name}", "given variances")


def _one_of(expected: str, found: str) -> UsageError:
    return UsageError(
        "these options do not go together", problems=(Problem(where="power", expected=expected, found=found),)
    )


def _document(goal: Goal, wish: Wish, sources: tuple[Source, ...]) -> dict[str, Any]:
    kind = "margin" if goal.power is None else "difference"
    asked = {kind: goal.size, "level": goal.level, "power": goal.power}
    if goal.power is not None:
        asked["correlation"] = wish.correlation
    return {"exit_code": 0, "goal": asked, "sources": [source.facts() for source in sources]}


def _heading(goal: Goal, wish: Wish) -> str:
    if goal.power is None:
        return f"To know it to ±{goal.size:g} at level {goal.level:g}:"
    return (
        f"To see a change of {goal.size:g} with power {goal.power:g} at level {goal.level:g}, both conditions on the "
        f"same tasks, whose rates correlate by {wish.correlation:g}:"
    )


def _show(common: Common, source: Source, goal: Goal) -> None:
    from skilleval.report.text import one_line

    common.screen.say("")
    common.screen.say(one_line(_about(source)))
    if source.variances is not None:
        reached = "±" if goal.power is None else "smallest change"
        at_hand = f"{reached} with {source.n_tasks} tasks" if source.n_tasks else reached
        show_rows(common.screen, ("repeats", "tasks (z)", "tasks (t)", "trials", at_hand), _rows(source))
    for line in (_repeats_text(source), source.reason and f"note: {source.reason}"):
        if line:
            common.screen.say(line)


def _about(source: Source) -> str:
    from skilleval.report.numbers import rate

    about, variances = source.about, source.variances
    names = [str(about[key]) for key in ("skill_id", "model", "mode", "scorer") if about.get(key) is not None]
    said = " · ".join([*names, str(about["measure"])])
    if about.get("mean") is not None:
        said += f" {rate(about['mean'])} on {source.n_tasks} tasks × {about['repeats']:.3g}"
    if variances is None:
        return said
    if variances.is_single:
        return f"{said}: variance {variances.between_tasks:.4g}"
    total = variances.between_tasks + variances.between_repeats
    icc = f", {variances.between_tasks / total:.0%} of it between tasks" if total else ""
    return f"{said}: variance {variances.between_tasks:.4g} between tasks, {variances.between_repeats:.4g} within{icc}"


def _rows(source: Source) -> list[list[str]]:
    from skilleval.report.numbers import DASH, count, rate

    return [
        [
            str(plan.repeats),
            DASH if plan.tasks_z is None else f"{plan.tasks_z:.1f}",
            count(plan.tasks),
            count(plan.trials),
            rate(plan.reached),
        ]
        for plan in source.plans
    ]


def _repeats_text(source: Source) -> str:
    """Say whether repeats alone would do; nothing where tasks or variances are not known."""
    if source.n_tasks is None or source.variances is None or source.variances.is_single:
        return ""
    if source.repeats_needed is None:
        return f"No number of repeats of these {source.n_tasks} tasks is enough: more tasks are needed."
    what = "1 repeat" if source.repeats_needed == 1 else f"{source.repeats_needed} repeats"
    return f"These {source.n_tasks} tasks are enough with {what} of each."
