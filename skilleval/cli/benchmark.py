"""`skilleval benchmark`: which benchmarks there are, what one asks, and whether a file of one's own is right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli import completion
from skilleval.cli.arguments import Command, Common, Many, common_options
from skilleval.outcome import ExitCode

if TYPE_CHECKING:
    from skilleval.catalog.benchmark_list import Checked, Listed, Shown
    from skilleval.catalog.benchmarks import BenchmarkReading
    from skilleval.domain.tasks import Benchmark, Task

_HELP = {"help_option_names": ["-h", "--help"]}

_benchmarks_dir = click.option(
    "--benchmarks-dir",
    "folders",
    cls=Many,
    type=click.Path(),
    metavar="DIR...",
    help="Further folders to look in, before the configured ones.",
)
_data = click.option(
    "--data", type=click.Path(), metavar="FILE", help="Data for a benchmark that has no tasks of its own."
)


@click.group(short_help="Show and check benchmarks.", context_settings=_HELP)
def benchmark() -> None:
    """Show and check benchmarks: those that come with skilleval, those of this project, and any file."""


@benchmark.command(
    "list",
    cls=Command,
    example="skilleval benchmark list\nskilleval benchmark list --benchmarks-dir ../ours --json",
    short_help="List the benchmarks there are.",
)
@_benchmarks_dir
@common_options
def list_(common: Common, folders: tuple[str, ...]) -> None:
    """List every benchmark that --benchmark ID finds; a file that cannot be read is named on stderr."""
    from skilleval.catalog.benchmark_list import list_benchmarks

    found = list_benchmarks(_roots(common, folders))
    common.screen.document(
        {
            "benchmarks": [_listed_facts(one) for one in found.benchmarks],
            "problems": [asdict(problem) for problem in found.problems],
        }
    )
    rows = [
        (*_summary(one.shown), _origin(one.root), "; ".join(_notes(common, one.shown)))
        for one in found.benchmarks
    ]
    _show_table(common, ("id", "version", "tasks", "domain", "from", "notes"), rows)
    for problem in found.problems:
        click.echo(f"warning: not readable: {_safe(str(problem))}", err=True)


@benchmark.command(
    "show",
    cls=Command,
    example="skilleval benchmark show coding-easy\nskilleval benchmark show gaia-v1 --data metadata.jsonl --json",
    short_help="Show what a benchmark asks.",
)
@click.argument("name", metavar="ID|FILE", shell_complete=completion.benchmarks)
@_data
@_benchmarks_dir
@common_options
def show(common: Common, name: str, data: str | None, folders: tuple[str, ...]) -> None:
    """Show a benchmark and its tasks: how each is judged, what it weighs, its limit and its tags."""
    from skilleval.catalog.benchmark_list import show_benchmark

    found = show_benchmark(name, _roots(common, folders), data=Path(data) if data else None)
    common.screen.document(_facts(found))
    for line in _about(found.reading.benchmark):
        common.screen.say(_safe(line))
    for notice in _told(common, found.reading):
        common.screen.say(f"note:       {_safe(notice)}")
    if found.bring is not None:
        common.screen.say(f"tasks:      none yet; {found.bring}")
        return
    common.screen.say("")
    rows = [_task_row(task) for task in found.reading.benchmark.tasks]
    _show_table(common, ("task", "evaluator", "weight", "limit ms", "tags", "description"), rows)


@benchmark.command(
    "validate",
    cls=Command,
    example="skilleval benchmark validate units tasks.json\nskilleval benchmark validate benchmarks/*/benchmark.json",
    short_help="Check benchmark and task files.",
)
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(),
    metavar="ID|FILE...",
    shell_complete=completion.benchmarks,
)
@_data
@_benchmarks_dir
@common_options
def validate(common: Common, files: tuple[str, ...], data: str | None, folders: tuple[str, ...]) -> None:
    """Check benchmarks and task files, and say everything that is wrong with any of them.

    Where a word leads to no file it is taken for the id of a benchmark. One whose tasks are brought is checked without
    them unless --data names the file. Exit code 2 if anything is wrong.
    """
    from skilleval.catalog.benchmark_list import check_named
    from skilleval.errors import CatalogError

    roots, rows = _roots(common, folders), Path(data) if data else None
    results = [(file, check_named(file, roots, data=rows)) for file in files]
    problems = tuple(problem for _, one in results for problem in one.problems)
    if common.screen.json:
        common.screen.document([_checked_facts(file, one) for file, one in results])
        click.get_current_context().exit(ExitCode.USAGE if problems else ExitCode.OK)
    for file, one in results:
        if one.shown is not None:
            common.screen.say(f"ok  {_safe(file)}: {_safe(_in_short(one.shown))}")
            for notice in _told(common, one.shown.reading):
                common.screen.say(f"    note: {_safe(notice)}")
    if problems:
        bad = sum(one.shown is None for _, one in results)
        msg = f"{bad} of {len(files)} file{'s' if len(files) > 1 else ''} cannot be used"
        raise CatalogError(msg, problems=problems)


def _roots(common: Common, folders: Sequence[str]) -> list[Path]:
    from skilleval.config.layers import setting
    from skilleval.config.request import Request

    request = Request(project=Path.cwd(), config_file=common.config_file)
    key = "benchmark.roots"
    configured = next(one.value for one in setting(request, key) if one.key == key)
    return [Path(folder) for folder in (*folders, *configured)]


def _origin(root: Path) -> str:
    from skilleval.config.shipped import shipped

    return "shipped" if root.resolve() == shipped("benchmarks").resolve() else str(root)


def _summary(shown: Shown) -> tuple[str, str, str, str]:
    one = shown.reading.benchmark
    return one.id, one.version, str(len(one.tasks)) if shown.bring is None else "to bring", one.domain


def _told(common: Common, reading: BenchmarkReading) -> tuple[str, ...]:
    """Give what is to be said of a file; aliases and what was filled in only where all is asked for."""
    return reading.notices if common.screen.verbose else reading.remarks


def _notes(common: Common, shown: Shown) -> Iterable[str]:
    if shown.bring is not None:
        yield f"skilleval benchmark show {shown.reading.benchmark.id} says how to bring its tasks"
    yield from _told(common, shown.reading)


def _listed_facts(one: Listed) -> dict[str, Any]:
    return {**_short_facts(one.shown), "file": str(one.file), "from": _origin(one.root)}


def _short_facts(shown: Shown) -> dict[str, Any]:
    one = shown.reading.benchmark
    return {
        "id": one.id,
        "version": one.version,
        "name": one.name,
        "domain": one.domain,
        "n_tasks": len(one.tasks) if shown.bring is None else None,
        "bring": shown.bring,
        "notices": list(shown.reading.notices),
    }


def _facts(shown: Shown) -> dict[str, Any]:
    facts = asdict(shown.reading.benchmark)
    return {**facts, "source": str(facts["source"]), **_short_facts(shown)}


def _checked_facts(file: str, one: Checked) -> dict[str, Any]:
    facts = {} if one.shown is None else _short_facts(one.shown)
    problems = [asdict(problem) for problem in one.problems]
    return {"file": file, "ok": not problems, **facts, "problems": problems}


def _in_short(shown: Shown) -> str:
    one, count = shown.reading.benchmark, len(shown.reading.benchmark.tasks)
    tasks = (
        f"{count} task{'' if count == 1 else 's'}"
        if shown.bring is None
        else "its tasks are yet to be brought"
    )
    return f"{one.id} {one.version}, {tasks}"


def _about(one: Benchmark) -> Iterable[str]:
    yield f"{one.id} {one.version} · {one.name}"
    if "description" in one.metadata:
        yield str(one.metadata["description"])
    k = f" with k = {one.k}" if one.scoring_method == "pass_at_k" else ""
    limit = "" if one.max_latency_ms is None else f" · p95 of {one.max_latency_ms:g} ms earns no speed credit"
    yield f"domain:     {one.domain}"
    yield f"scoring:    {one.scoring_method}{k}{limit}"
    yield f"file:       {one.source}"


def _task_row(task: Task) -> tuple[str, ...]:
    return (
        task.id,
        task.evaluator.kind if task.evaluator else "(--evaluator)",
        f"{task.weight:g}",
        "" if task.timeout_ms is None else f"{task.timeout_ms:g}",
        ", ".join(task.tags),
        task.description,
    )


def _show_table(common: Common, header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Draw a table on a terminal; elsewhere give whole lines with a tab between their cells."""
    cells = [tuple(_safe(cell) for cell in row) for row in (header, *rows)]
    if not common.screen.stdout().is_terminal:
        common.screen.say("\n".join("\t".join(row) for row in cells))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for name in cells[0]:
        table.add_column(name, overflow="fold")
    for row in cells[1:]:
        table.add_row(*map(Text, row))
    common.screen.show(table)


def _safe(text: str) -> str:
    """Give foreign text as one line that a terminal does not obey."""
    from skilleval.report.text import one_line

    return one_line(text)
