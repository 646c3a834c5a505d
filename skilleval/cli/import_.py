"""`skilleval import`: results of other tools become runs that every other command can work with."""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli.arguments import Command, Common, Many, common_options, overrides_and_words
from skilleval.domain.trials import Mode
from skilleval.errors import Problem, UsageError

if TYPE_CHECKING:
    from skilleval.config.compose import Composed

log = logging.getLogger(__name__)

_EXAMPLE = """
skilleval import reports/eval-result-2026-11-01.json
skilleval import my-skill-workspace --mode main=old_skill
skilleval import logs --format inspect --output-dir outputs/inspect
"""
_FORMATS = "eval-skills agent-skills-eval skill-creator evos-skills tau-bench inspect"
_ARMS = (Mode.WITH_SKILL, Mode.WITHOUT_SKILL, Mode.OLD_SKILL, Mode.DIRECT)


@click.command("import", cls=Command, example=_EXAMPLE, short_help="Turn results of other tools into runs.")
@click.argument("words", nargs=-1, required=True, metavar="FILE|FOLDER [KEY=VALUE]...")
@click.option(
    "--format",
    "form",
    default="auto",
    show_default=True,
    metavar="NAME",
    help=f"What it is: auto {_FORMATS}.",
)
@click.option("--output-dir", type=click.Path(), metavar="DIR", help="Where <run_id>/ goes (outputs/<name>).")
@click.option(
    "--name", default="imported", show_default=True, metavar="NAME", help="The experiment it belongs to."
)
@click.option(
    "--benchmark",
    metavar="ID|FILE",
    help="The benchmark; one that is found here says inputs, expected values, tags and limits.",
)
@click.option("--skill", metavar="NAME", help="The skill, where the results do not say it.")
@click.option("--model", metavar="NAME", help="The model, where the results do not say it.")
@click.option(
    "--skills",
    type=click.Path(),
    metavar="DIR",
    help="The skills that were evaluated, as they were: gives version and content, so that `select` counts the run.",
)
@click.option(
    "--mode",
    "modes",
    cls=Many,
    metavar="THEIRS=OURS...",
    help="What an arm of theirs is: with_skill, without_skill, old_skill or direct.",
)
@common_options
def import_(common: Common, **options: Any) -> None:
    """Read the results of another tool and write them as an ordinary run: report, diff, select and score work on it.

    What that tool does not say is not known here either; its own figures are kept in the manifest, under
    `imported_from`. Nothing is run, and nothing of the source is changed. KEY=VALUE overrides set analysis, gate and
    report, e.g. analysis=eval_skills for the formulas of that tool.
    """
    from skilleval.app.importing import find_source, import_results, totals
    from skilleval.results.importers.base import ImportOptions

    overrides, words = overrides_and_words(options["words"])
    source = find_source(_one(words), options["form"])
    asked = ImportOptions(
        benchmark=options["benchmark"],
        skill=options["skill"],
        model=options["model"],
        modes=dict(_modes(options["modes"])),
    )
    runs = import_results(
        source,
        asked,
        composed=_composed(common, options, source.path, overrides),
        command=shlex.join(["skilleval", *sys.argv[1:]]),
        skills=Path(options["skills"]) if options["skills"] else None,
    )
    for warning in dict.fromkeys(text for run in runs for text in run.manifest["warnings"][1:]):
        log.warning("%s", warning)
    common.screen.document({"format": source.importer.name, "runs": [run.facts() for run in runs]})
    for run in runs:
        common.screen.say(f"{run.manifest['benchmark']['id']}: {totals(run)}")
        common.screen.say(f"Run:   {run.folder}")
        common.screen.say(f"Next:  skilleval report show {shlex.quote(str(run.folder))}")


def _one(words: Sequence[str]) -> Path:
    if len(words) != 1:
        found = ", ".join(words) or "none"
        problem = Problem(where="import", expected="one file or folder", found=found)
        raise UsageError("there is one source at a time", problems=(problem,))
    return Path(words[0])


def _modes(pairs: Sequence[str]) -> Iterator[tuple[str, Mode]]:
    for pair in pairs:
        name, _, mode = pair.rpartition("=")
        if not name or mode not in _ARMS:
            expected = f"THEIRS=OURS, with OURS one of {', '.join(_ARMS)}"
            raise UsageError(
                "an arm cannot be named like that",
                problems=(Problem(where="--mode", expected=expected, found=pair),),
            )
        yield name, Mode(mode)


def _composed(common: Common, options: Mapping[str, Any], source: Path, overrides: Sequence[str]) -> Composed:
    """Compose what the analysis of the rows needs; skills and benchmark stand for what is not ours to say."""
    from skilleval.config.compose import compose_settings, quote

    ours = [
        f"experiment_name={quote(options['name'])}",
        f"skill_set.paths=[{quote(options['skills'] or str(source))}]",
        f"benchmark.name={quote(options['benchmark'] or 'imported')}",
    ]
    if options["output_dir"]:
        ours.append(f"paths.output_dir={quote(options['output_dir'])}")
    return compose_settings([*ours, *overrides], project=Path.cwd(), config_file=common.config_file)
