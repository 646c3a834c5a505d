"""The report as Markdown: for a terminal, a pull request or a wiki.

Foreign text stands either in a fence longer than any in it, or with every character that Markdown or HTML would
read as an entity: no cell, list or tag can be broken out of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from skilleval.report.cases import Case, SkillCases, TaskCases, skill_cases
from skilleval.report.columns import absences, interval_text, row_names, value_text, words
from skilleval.report.document import Conclusion, Excerpt, MetricColumn, Report, Row
from skilleval.report.facts import STATE_SHAPES, origins, run_line
from skilleval.report.flags import SHAPES, Kind, cell_kind, row_flags
from skilleval.report.numbers import count, duration
from skilleval.report.text import block, json_text, one_line

_MARKUP = re.compile(r"[\\`*_{}\[\]<>&|~$@#]")
_LINKLIKE = re.compile(r"[@#]|:/|www\.|mailto:|xmpp:", re.IGNORECASE)
_AT_START = re.compile(r"^(\s*)([-+=]|\d+[.)])")
_FENCE = re.compile(r"`{3,}")

_MAX_TASKS = 10
_MAX_TEXT = 600


def render(report: Report) -> str:
    """Write the report as GitHub-flavoured Markdown."""
    parts = [
        f"# {escape(report.title)}",
        " · ".join(escape(fact) for fact in run_line(report.run)),
        _verdict(report.verdict),
        *_summary(report),
        *_matrix(report),
        *_failures(report),
        *_provenance(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _verdict(verdict: Conclusion) -> str:
    state = f"**{STATE_SHAPES[verdict.state]} {verdict.state.value.upper()}**"
    return f"{state} {escape(verdict.sentence)}"


def escape(text: str) -> str:
    """Give foreign text as Markdown that shows it in one line and means nothing else.

    Text that a renderer would turn into a link or a mention by itself stands in a code element.
    """
    line = _MARKUP.sub(_entity, one_line(text))
    line = _AT_START.sub(lambda match: match[1] + re.sub(r"\D", _entity, match[2]), line)
    return f"<code>{line}</code>" if _LINKLIKE.search(text) else line


def fenced(text: str) -> str:
    """Give foreign text as a code block that nothing in it can close."""
    longest = max((len(run) for run in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{block(text)}\n{fence}"


def _entity(match: re.Match[str]) -> str:
    return f"&#{ord(match.group())};"


def _table(header: Sequence[str], right: Sequence[bool], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---:" if side else ":---" for side in right], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _summary(report: Report) -> list[str]:
    if not report.summary:
        return ["No skill was evaluated."]
    header = ["skill", "tasks × repeats", *(_heading(column) for column in report.columns), "remarks"]
    right = [False, True, *(True for _ in report.columns), False]
    names = row_names(report.summary)
    rows = [_row(report, name, row) for name, row in zip(names, report.summary, strict=True)]
    notes = [f"- – {escape(note)}" for note in absences(report.columns, report.summary)]
    return ["## Skills", _table(header, right, rows), "\n".join(notes)]


def _heading(column: MetricColumn) -> str:
    label = escape(column.label)
    return (
        label
        if column.unit in {"share", "score", "time", column.label}
        else f"{label} ({escape(column.unit)})"
    )


def _row(report: Report, name: str, row: Row) -> list[str]:
    remarks = [f"{flag.shape} {escape(flag.text)}" for flag in row_flags(row, report.threshold)]
    values = [f"{value_text(column, row)} {interval_text(column, row)}".strip() for column in report.columns]
    return [escape(name), _amount(row), *values, ", ".join(remarks)]


def _amount(row: Row) -> str:
    n_tasks, n_repeats = row.get("n_tasks"), row.get("n_repeats")
    return (
        f"{words(row, 'n_tasks') or '–'} × {words(row, 'n_repeats') or '–'}" if n_tasks or n_repeats else "–"
    )


def _matrix(report: Report) -> list[str]:
    """Show only the tasks that somebody did not pass always."""
    tasks: dict[str, dict[tuple[str, str], str]] = {}
    troubled = set()
    for cell in report.matrix:
        kind = cell_kind(cell)
        shape = f"{SHAPES[kind]} {cell.n_passed}/{cell.n_graded}"
        tasks.setdefault(cell.task_id, {})[cell.condition_id, cell.scorer] = shape
        if kind is not Kind.FINE:
            troubled.add(cell.task_id)
    if not tasks:
        return []
    places = [(words(row, "condition_id"), words(row, "scorer")) for row in report.summary]
    rows = [
        [escape(task), *(cells.get(place, "–") for place in places)]
        for task, cells in tasks.items()
        if task in troubled
    ]
    header = ["task", *(escape(name) for name in row_names(report.summary))]
    fine = len(tasks) - len(rows)
    note = f"Trials passed of trials graded. Tasks that every skill always passed: {count(fine)}."
    return ["## Where it fails", note, _table(header, [False] * len(header), rows) if rows else ""]


def _failures(report: Report) -> list[str]:
    if not report.failures:
        return []
    parts = ["## Failed trials"]
    for skill in skill_cases(report):
        parts += _skill(skill)
    hidden = report.n_failures - len(report.failures)
    if hidden > 0:
        parts.append(f"{count(hidden)} more failed trials are in the tables of the run.")
    return parts


def _skill(skill: SkillCases) -> list[str]:
    name = escape(f"{skill.skill_id} {skill.skill_version} · {skill.scorer}")
    n = len(skill.tasks)
    parts = [f"### {name}", f"<details><summary>{count(n)} task{'' if n == 1 else 's'}</summary>"]
    for task in skill.tasks[:_MAX_TASKS]:
        parts += _task(task)
    if n > _MAX_TASKS:
        parts.append(f"{count(n - _MAX_TASKS)} more tasks are in the JSON report.")
    return [*parts, "</details>"]


def _task(task: TaskCases) -> list[str]:
    parts = []
    for case in task.cases:
        parts.append(f"**{escape(task.task_id)}** · {escape(said_of(case))}")
        trial = case.trial
        shown = (
            ("input", trial.input),
            ("expected", trial.expected),
            ("output", trial.output),
            ("stderr", trial.stderr),
        )
        parts += [_text(name, text) for name, text in shown if text is not None and text.text]
    return parts


def said_of(case: Case) -> str:
    """Say of a failed trial which repeats, what happened and why."""
    trial = case.trial
    repeats = ", ".join(str(repeat) for repeat in case.repeats)
    facts = [
        f"repeat{'' if len(case.repeats) == 1 else 's'} {repeats}",
        trial.status if trial.status != "completed" else trial.verdict,
        trial.failure_kind if trial.failure_kind != trial.status else None,
        trial.message,
        trial.reason,
        duration(trial.latency_ms) if trial.latency_ms is not None else None,
    ]
    return " · ".join(fact for fact in facts if fact)


def _text(name: str, text: Excerpt) -> str:
    beginning = text.text[:_MAX_TEXT]
    cut = f", first {count(len(beginning))} shown" if len(beginning) < text.length else ""
    return f"{name} ({count(text.length)} characters{cut})\n\n{fenced(beginning)}"


def _provenance(report: Report) -> list[str]:
    provenance = report.provenance
    lines = [f"- {name}: {escape(value)}" for name, value in origins(report)]
    for skill in provenance.skills:
        source = f" from {escape(skill.path)}" if skill.path else ""
        lines.append(
            f"- skill {escape(skill.id)} {escape(skill.version)}: SHA-256 {escape(skill.digest)}{source}"
        )
    lines += [f"- warning: {escape(warning)}" for warning in provenance.warnings]
    methods = [f"- {escape(method.name)}: {escape(method.text)}" for method in provenance.methods]
    config = fenced(json_text(dict(provenance.config), indent=2)) if provenance.config else ""
    parts = ["## Provenance", "\n".join(lines)]
    parts += ["### Methods", "\n".join(methods)] if methods else []
    return [*parts, "### Configuration", config] if config else parts
