"""The report as a short comment for a pull request: the verdict first, then the gate, then a line a skill."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skilleval.report.causes import skill_causes
from skilleval.report.columns import COMPLETION, interval_text, row_names, value_text, words
from skilleval.report.document import MetricColumn, Report, Row
from skilleval.report.facts import STATE_SHAPES, run_line
from skilleval.report.gate_table import gate_table
from skilleval.report.gates import SKIPPED, GateCheck
from skilleval.report.markdown_text import escape
from skilleval.report.numbers import DASH, counted
from skilleval.report.uplift import remarks

_MAX_SKILLS = 20
_MAX_CHECKS = 20
_MAX_CAUSES = 5
_SHOWN = ("error_rate", "p95_ms", "cost_usd")


def render(report: Report) -> str:
    """Write the comment as GitHub-flavoured Markdown."""
    return comment(report)


def comment(report: Report, *, change: str = "") -> str:
    """Write the comment; `change` says what became of a baseline."""
    parts = [
        *_verdict(report),
        escape(change),
        *_gate(report.gates),
        *_skills(report),
        *_causes(report),
        _origin(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _verdict(report: Report) -> list[str]:
    state = f"{STATE_SHAPES[report.verdict.state]} {report.verdict.state.value.upper()}"
    return [f"### {state}", escape(report.verdict.sentence)]


def _gate(checks: Sequence[GateCheck]) -> list[str]:
    """Show what did not pass; what passed is only counted."""
    told = [check for check in checks if check.failed or check.verdict == SKIPPED]
    n_passed = len(checks) - len(told)
    passed = f"{counted(n_passed, 'check')} of the gate passed." if n_passed else ""
    return [gate_table(told, _MAX_CHECKS), passed]


def _skills(report: Report) -> list[str]:
    if not report.summary:
        return ["No skill was evaluated."]
    columns = [column for column in report.columns if column.key in _SHOWN]
    header = [
        "skill",
        "tasks × repeats",
        COMPLETION.label,
        *(escape(one.label) for one in columns),
        "remarks",
    ]
    names = row_names(report.summary)
    shown = list(zip(names, report.summary, strict=True))[:_MAX_SKILLS]
    rows = [_row(report, name, row, columns) for name, row in shown]
    lines = [header, [":---", *["---:"] * (len(header) - 2), ":---"], *rows]
    left = len(names) - len(shown)
    return [
        "\n".join(f"| {' | '.join(line)} |" for line in lines),
        f"{counted(left, 'further row')}" if left else "",
    ]


def _row(report: Report, name: str, row: Row, columns: Sequence[MetricColumn]) -> list[str]:
    amount = f"{words(row, 'n_tasks') or DASH} × {words(row, 'n_repeats') or DASH}"
    completion = f"{value_text(COMPLETION, row)} {interval_text(COMPLETION, row)}".strip()
    told = ", ".join(f"{flag.shape} {escape(flag.text)}" for flag in remarks(report, row))
    return [escape(name), amount, completion, *(value_text(column, row) for column in columns), told]


def _causes(report: Report) -> Iterator[str]:
    causes = skill_causes(report)[:_MAX_CAUSES]
    if causes:
        yield "Why, per skill, most frequent first:"
        yield "\n".join(f"- {escape(cause.name)}: {escape(cause.text)}" for cause in causes)


def _origin(report: Report) -> str:
    return f"<sub>{' · '.join(escape(fact) for fact in run_line(report.run))}</sub>"
