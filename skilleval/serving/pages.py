"""The addresses of the local page and what each one answers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from skilleval.app.run_list import RunList, chosen
from skilleval.app.run_reader import MOST_IN_COURSE, RunReader
from skilleval.app.timeline import Timeline, Wanted
from skilleval.errors import NoSuchRunError, SkillevalError, UnforeseenError, UsageError
from skilleval.report import WRITERS
from skilleval.report.diff_writers import DIFF_WRITERS
from skilleval.report.run_list import Asked, RunEntry, runs_csv, runs_json
from skilleval.report.run_pages import STYLE_SHEET, Course, problem_page, runs_page, trends_page
from skilleval.serving.asking import asked, needed
from skilleval.serving.guard import METHODS
from skilleval.serving.page_policy import page_policy

log = logging.getLogger(__name__)

_UTF8 = "; charset=utf-8"
_TYPES = {
    ".html": "text/html",
    ".json": "application/json",
    ".csv": "text/csv",
    ".md": "text/markdown",
    ".ipynb": "application/x-ipynb+json",
    ".tex": "application/x-tex",
    ".xml": "application/xml",
}
_SHOWN = {".html", ".json"}
"""What a browser shows; all else it saves. XML could bring style sheets of its own, so it is none of these."""
_NOT_ASKED_WELL, _NOT_FOUND, _NOT_POSSIBLE, _OURS = 400, 404, 409, 500


class Pages:
    """Answers requests about the runs below a folder."""

    def __init__(self, root: Path) -> None:
        self._runs = RunList(root)
        self._reader = RunReader(self._runs)

    def runs(self, request: Request) -> Response:
        """Show the list."""
        wanted = asked(request.query_params)
        everything = self._runs.entries()
        page = runs_page(chosen(everything, wanted), wanted, everything, place=self._runs.place)
        return _text(page, ".html")

    def runs_json(self, request: Request) -> Response:
        """Give the list as JSON."""
        return _text(runs_json(self._chosen(asked(request.query_params))), ".json")

    def runs_csv(self, request: Request) -> Response:
        """Give the list as CSV."""
        return _text(runs_csv(self._chosen(asked(request.query_params))), ".csv", name="runs")

    def report(self, request: Request) -> Response:
        """Give the report of a run, as HTML if no other format is asked for."""
        query = request.query_params
        entry = self._runs.entry(needed(query, "run", "the run"))
        name = query.get("format") or "html"
        text = self._reader.report(entry, name)
        return _text(text, _suffix(WRITERS, name), name=entry.run_id, policy=page_policy)

    def diff(self, request: Request) -> Response:
        """Compare two runs: A is the baseline, B the candidate."""
        query = request.query_params
        before = self._runs.entry(needed(query, "a", "run A, the baseline,"))
        after = self._runs.entry(needed(query, "b", "run B, the candidate,"))
        name = query.get("format") or "html"
        text = self._reader.diff(before, after, name)
        return _text(text, _suffix(DIFF_WRITERS, name), name=f"diff-{after.run_id}", policy=page_policy)

    def trends(self, request: Request) -> Response:
        """Show the completion of skills over time."""
        wanted = asked(request.query_params)
        entries = self._chosen(wanted)
        found = self._reader.course(
            entries,
            Wanted(
                skill=wanted.skill or None, benchmark=wanted.benchmark or None, scorer=wanted.scorer or None
            ),
        )
        page = trends_page(
            _courses(found, entries), wanted, metric=found.metric, notices=found.notices, most=MOST_IN_COURSE
        )
        return _text(page, ".html")

    def _chosen(self, wanted: Asked) -> list[RunEntry]:
        return chosen(self._runs.entries(), wanted)


def _courses(found: Timeline, entries: list[RunEntry]) -> list[Course]:
    keys = {entry.run_id: entry.key for entry in entries}
    return [
        Course(
            about=line.about,
            points=[{**point, "key": keys.get(point["run_id"], "")} for point in line.points],
            changes=changes,
            note=line.note,
        )
        for line, changes in zip(found.lines, (one["changes"] for one in found.facts()["lines"]), strict=True)
    ]


def _style(_: Request) -> Response:
    return Response(
        files("skilleval.report").joinpath("templates", "serve.css").read_bytes(), media_type="text/css"
    )


def _suffix(writers: Any, name: str) -> str:
    """Give the ending that says of what kind a format is; `.comment.md` is Markdown."""
    return Path(f"report{writers[name].suffix}").suffix if name in writers else ".txt"


def _text(
    text: str, suffix: str, *, name: str = "", policy: Callable[[], str] | None = None, status: int = 200
) -> Response:
    media = _TYPES.get(suffix, "text/plain") + ("" if suffix in {".json", ".ipynb"} else _UTF8)
    headers = {}
    if policy is not None and suffix == ".html":
        headers["content-security-policy"] = policy()
    if suffix not in _SHOWN:
        headers["content-disposition"] = f'attachment; filename="{_file_name(name)}{suffix}"'
    content = text.encode("utf-8", errors="backslashreplace")
    return Response(content, status, headers=headers, media_type=media)


def _file_name(name: str) -> str:
    """Keep of a name what no file system and no header minds."""
    return (
        "".join(one if one.isascii() and (one.isalnum() or one in "-._") else "_" for one in name)[:80]
        or "report"
    )


def _mistaken(_: Request, error: Exception) -> Response:
    """Say what was wrong with the address, or with the run."""
    assert isinstance(error, SkillevalError)
    lines = [*(str(problem) for problem in error.problems), error.hint]
    return _text(
        problem_page(error.message, [line for line in lines if line]), ".html", status=status_of(error)
    )


def status_of(error: SkillevalError) -> int:
    """Say whose fault it is: the address, that nothing is there, the state of the runs it names, or this machine.

    What would be a fault of the machine for a command (exit code 3) is one here.
    """
    if isinstance(error, UsageError):
        return _NOT_ASKED_WELL
    if isinstance(error, NoSuchRunError):
        return _NOT_FOUND
    return _OURS if error.exit_code == UnforeseenError.exit_code else _NOT_POSSIBLE


def _refused(_: Request, error: Exception) -> Response:
    """Answer for an address that is none of ours."""
    assert isinstance(error, HTTPException)
    return _text(problem_page(error.detail, []), ".html", status=error.status_code)


def _failed(_: Request, error: Exception) -> Response:
    """Answer for what nobody has foreseen, e.g. a damaged run; the server goes on.

    Starlette raises the error again after the answer, upon which the server closes the connection; the answer says so,
    or the browser's next request would be lost on it.
    """
    log.info("while answering", exc_info=error)
    said = f"{type(error).__name__}: {error}"
    answer = _text(problem_page("this cannot be shown", [said]), ".html", status=_OURS)
    answer.headers["connection"] = "close"
    return answer


def application(root: Path) -> Starlette:
    """Make the application for the runs below a folder.

    Raises:
        ResultsError: there is no such folder.
    """
    pages = Pages(root)
    routes = {
        "/": pages.runs,
        "/runs.json": pages.runs_json,
        "/runs.csv": pages.runs_csv,
        "/report": pages.report,
        "/diff": pages.diff,
        "/trends": pages.trends,
        f"/{STYLE_SHEET}": _style,
    }
    return Starlette(
        routes=[Route(path, answer, methods=METHODS) for path, answer in routes.items()],
        exception_handlers={SkillevalError: _mistaken, HTTPException: _refused, Exception: _failed},
    )
