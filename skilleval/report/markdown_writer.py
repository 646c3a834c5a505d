"""The report as Markdown: for a terminal, a pull request or a wiki.

Foreign text passes through `markdown_text` alone, so that no cell, list or tag can be broken out of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from skilleval.report.agreement_tables import document_tables
from skilleval.report.cases import REPLY_SHAPE, Case, SkillCases, TaskCases, skill_cases
from skilleval.report.causes import skill_causes
from skilleval.report.columns import absences
from skilleval.report.document import Conclusion, Report
from skilleval.report.excerpt import Excerpt
from skilleval.report.facts import STATE_SHAPES, origins, run_line
from skilleval.report.gate_table import gate_text_table
from skilleval.report.markdown_text import escape, fenced
from skilleval.report.numbers import count, counted, duration
from skilleval.report.tables import disagreement_table, skill_table, tag_table, task_table
from skilleval.report.text import json_text
from skilleval.report.text_table import TextTable
from skilleval.report.uplift import FINDINGS
from skilleval.report.uplift_tables import (
    assertion_table,
    case_table,
    judge_table,
    signal_counts,
    uplift_table,
)

_MAX_TASKS = 10
_MAX_TEXT = 600
_MAX_DISAGREEMENTS = 20
_MAX_ROWS = 50
_MAX_TASK_ROWS = 200


def render(report: Report) -> str:
    """Write the report as GitHub-flavoured Markdown."""
    parts = [
        f"# {escape(report.title)}",
        " · ".join(escape(fact) for fact in run_line(report.run)),
        _verdict(report.verdict),
        *_section(gate_text_table(report)),
        *_uplift(report),
        *_summary(report),
        *task_matrix(report),
        *_agreement(report),
        *_section(disagreement_table(report), limit=_MAX_DISAGREEMENTS),
        *_section(tag_table(report), limit=None),
        *_failures(report),
        *_section(judge_table(report)),
        *_provenance(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _verdict(verdict: Conclusion) -> str:
    state = f"**{STATE_SHAPES[verdict.state]} {verdict.state.value.upper()}**"
    return f"{state} {escape(verdict.sentence)}"


def _table(header: Sequence[str], right: Sequence[bool], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---:" if side else ":---" for side in right], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _summary(report: Report) -> list[str]:
    table = skill_table(report)
    if table is None:
        return ["No skill was evaluated."]
    notes = [f"- – {escape(note)}" for note in absences(report.columns, report.summary)]
    causes = [f"- {escape(cause.name)}: {escape(cause.text)}" for cause in skill_causes(report)]
    why = "Why, per skill, most frequent first:\n\n" + "\n".join(causes) if causes else ""
    return [f"## {table.title}", *_text_table(table, limit=None), "\n".join(notes), why]


def _uplift(report: Report) -> list[str]:
    """Show what the skills add: the sentences first, then the figures, then what they rest on."""
    table = uplift_table(report)
    if table is None:
        return []
    told = []
    for one in report.uplift:
        told.append(f"- {FINDINGS.get(one.finding, '')} {escape(one.sentence)}")
        told += [f"  - ▲ {escape(caveat)}" for caveat in one.caveats]
    parts = [f"## {table.title}", "\n".join(told), *_text_table(table)]
    if (cases := case_table(report)) is not None:
        parts += [f"### {cases.title}", *_text_table(cases)]
    if (assertions := assertion_table(report)) is not None:
        parts += [f"### {assertions.title}", signal_counts(report), *_text_table(assertions)]
    return parts


def _text_table(table: TextTable, *, limit: int | None = _MAX_ROWS) -> list[str]:
    rows = [[escape(text) for text in row] for row in table.rows[:limit]]
    more = len(table.rows) - len(rows)
    note = f"{counted(more, 'more row')} {'is' if more == 1 else 'are'} in the JSON report." if more else ""
    drawn = _table([escape(name) for name in table.header], table.numeric, rows) if rows else ""
    return [table.note, drawn, note]


def task_matrix(report: Report) -> list[str]:
    """Show only the tasks that somebody did not pass always."""
    return _section(task_table(report), limit=_MAX_TASK_ROWS)


def _section(table: TextTable | None, *, limit: int | None = _MAX_ROWS) -> list[str]:
    return [] if table is None else [f"## {table.title}", *_text_table(table, limit=limit)]


def _agreement(report: Report) -> list[str]:
    # Their notes name scorers, whose names are foreign text.
    tables = [replace(table, note=escape(table.note)) for table in document_tables(report.agreement)]
    return [part for table in tables for part in (f"## {table.title}", *_text_table(table))]


def _failures(report: Report) -> list[str]:
    found = skill_cases(report)
    if not found:
        return []
    parts = ["## Failed trials"]
    for skill in found:
        parts += _skill(skill)
    hidden = report.n_failures - len(report.failures)
    if hidden > 0:
        parts.append(f"{count(hidden)} more failed trials are in the tables of the run.")
    return parts


def _skill(skill: SkillCases) -> list[str]:
    parts_of_name = (f"{skill.skill_id} {skill.skill_version}", skill.arm, skill.scorer)
    name = escape(" · ".join(part for part in parts_of_name if part))
    n = len(skill.tasks)
    parts = [f"### {name}", f"<details><summary>{skill.amount}</summary>"]
    for task in skill.tasks[:_MAX_TASKS]:
        parts += _task(task)
    if n > _MAX_TASKS:
        parts.append(f"{count(n - _MAX_TASKS)} more tasks are in the JSON report.")
    return [*parts, "</details>"]


def _task(task: TaskCases) -> list[str]:
    parts = []
    for case in task.cases:
        parts.append(f"**{escape(task.task_id)}** · {escape(said_of(case))}")
        parts += [f"A reply is one line on stdout: `{REPLY_SHAPE}`"] if case.lacks_reply else []
        parts += [_text(name, text) for name, text in case.excerpts]
    return [*parts, f"**{escape(task.task_id)}** · {task.left_out}"] if task.left_out else parts


def said_of(case: Case) -> str:
    """Say of a failed trial which repeats, what happened and why."""
    trial = case.trial
    repeats = ", ".join(str(repeat) for repeat in case.repeats)
    repeated = f"repeat{'' if len(case.repeats) == 1 else 's'} {repeats}"
    facts = [repeated, case.outcome, *case.sentences]
    facts += [duration(trial.latency_ms)] if trial.latency_ms is not None else []
    return " · ".join(facts)


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
