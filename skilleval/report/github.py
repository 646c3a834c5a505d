"""What GitHub Actions shows of a run: the summary of a step as Markdown, and annotations as workflow commands.

A runner obeys every line of output that begins with `::`, and every `##[…]` anywhere in one. So foreign text reaches an
annotation in one line, with its percent signs, colons and commas encoded, and with no `##[` in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from skilleval.report import comment
from skilleval.report.causes import skill_causes
from skilleval.report.columns import number, row_names, words
from skilleval.report.document import Report
from skilleval.report.gate_table import gate_table
from skilleval.report.gates import title_text, why_text
from skilleval.report.markdown_writer import task_matrix
from skilleval.report.phrases import estimate
from skilleval.report.text import one_line

_MAX_OF_A_KIND = 10
"""GitHub shows so many errors, and so many warnings, of one step."""
_MAX_MESSAGE = 1000


def render(report: Report) -> str:
    """Write the summary of a step: the comment, then every check of the gate and the tasks."""
    parts = [comment.render(report).rstrip("\n")]
    if report.gates:
        parts += ["#### All checks of the gate", gate_table(report.gates)]
    return "\n\n".join(part for part in [*parts, *task_matrix(report)] if part) + "\n"


def workflow_commands(report: Report, files: Mapping[str, str]) -> list[str]:
    """Give a workflow command for each failed check, and for each skill that does not pass everything.

    `files` says by id where a skill stands, relative to the repository.
    """
    errors = list(_errors(report, files))[:_MAX_OF_A_KIND]
    return [*errors, *list(_warnings(report, files))[:_MAX_OF_A_KIND]]


def _errors(report: Report, files: Mapping[str, str]) -> Iterator[str]:
    for check in report.gates:
        if check.failed:
            message = f"{title_text(check)}: {why_text(check)}"
            yield _command("error", message, title="gate not met", file=files.get(check.skill_id))


def _warnings(report: Report, files: Mapping[str, str]) -> Iterator[str]:
    causes = {cause.name: cause.text for cause in reversed(skill_causes(report))}
    for name, row in zip(row_names(report.summary), report.summary, strict=True):
        rate = number(row, "completion_rate")
        if rate == 1 and name not in causes:
            continue
        why = f"; {causes[name]}" if name in causes else ""
        message = f"completion {estimate(row)}{why}"
        yield _command("warning", message, title=name, file=files.get(words(row, "skill_id")))


def _command(kind: str, message: str, *, title: str, file: str | None) -> str:
    properties = {"file": file, "title": title}
    said = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value)
    return f"::{kind} {said}::{_data(message)}"


def _data(text: str) -> str:
    """Encode text as the toolkit of GitHub does; a legacy command is taken apart."""
    line = one_line(text, limit=_MAX_MESSAGE).replace("##[", "## [")
    return line.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
