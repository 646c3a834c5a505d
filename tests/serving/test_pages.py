from __future__ import annotations

import csv
import fcntl
import json
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest
from killed_runs import FINISHED, killed_run
from reports import HOSTILE
from served_runs import served
from stored_runs import TASKS, Runs
from written_runs import contents, write_run

from skilleval.errors import (
    ConfigError,
    NoSuchRunError,
    ResultsError,
    SkillevalError,
    UnforeseenError,
    UsageError,
    WriteError,
)
from skilleval.report import WRITERS
from skilleval.report.diff_writers import DIFF_WRITERS
from skilleval.serving.pages import status_of

NAME = "a&b\"'</td><script>alert(1)</script><img src=x onerror=alert(1)>\u202e"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give two runs that came to their end, one that was killed, and one that cannot be read."""
    place = tmp_path_factory.mktemp("pages")
    runs = Runs(place / "work")
    runs.run(wrong=TASKS[:4])
    runs.run()
    killed_run(place / "other", runs.store / "killed")
    (runs.store / "broken").mkdir()
    (runs.store / "broken" / "manifest.json").write_text("{")
    return runs.store


@pytest.fixture(scope="module")
def page(store: Path) -> Iterator[httpx.Client]:
    """Ask the page of them."""
    with served(store) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def keys(page: httpx.Client, **query: str) -> list[str]:
    """Give the keys of the runs that are listed."""
    return [one["key"] for one in page.get("/runs.json", params=query).json()["runs"]]


def two(page: httpx.Client) -> tuple[str, str]:
    """Give the older and the newer run that came to their end."""
    newer, older = keys(page, state="passed") + keys(page, state="finished")
    return older, newer


class Reader(HTMLParser):
    """Notes the elements of a page, and what attributes they have."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one."""
        self.seen.append((tag, dict(attrs)))

    def links(self) -> list[str]:
        """Give where all links lead."""
        return [str(attrs["href"]) for tag, attrs in self.seen if tag == "a"]


def test_all_runs_are_listed_with_their_state(page: httpx.Client) -> None:
    """Runs that came to their end, that were killed, and what cannot be read with the reason."""
    text = page.get("/").text
    assert "4 runs" in text
    assert len(keys(page)) == 4
    assert "it never came to its end" in text
    assert "manifest.json cannot be read" in text


def test_every_link_of_the_list_leads_somewhere(page: httpx.Client) -> None:
    """What is offered can be had: reports, raw data, orders, courses."""
    links = Reader(page.get("/").text).links()
    assert len(links) > 12
    assert {link: page.get(link).status_code for link in links} == dict.fromkeys(links, 200)


def test_raw_data_say_the_same_as_the_page(page: httpx.Client) -> None:
    """JSON and CSV hold the runs of the page, with the same filters."""
    rows = list(csv.DictReader(page.get("/runs.csv", params={"skill": "recorded"}).text.splitlines()))
    assert [row["key"] for row in rows] == keys(page, skill="recorded")
    assert len(rows) == 3
    listed = page.get("/", params={"skill": "recorded"}).text
    assert "3 of 4 runs" in listed
    assert all(row["run_id"] in listed for row in rows)


@pytest.mark.parametrize("name", WRITERS)
def test_a_report_is_there_in_every_format(page: httpx.Client, name: str) -> None:
    """With its own content type; what a browser might run is saved instead."""
    answer = page.get("/report", params={"run": two(page)[1], "format": name})
    assert answer.status_code == 200, answer.text
    suffix = Path(f"report{WRITERS[name].suffix}").suffix
    kinds = {
        ".html": "text/html; charset=utf-8",
        ".json": "application/json",
        ".csv": "text/csv; charset=utf-8",
        ".md": "text/markdown; charset=utf-8",
        ".xml": "application/xml; charset=utf-8",
        ".tex": "application/x-tex; charset=utf-8",
        ".ipynb": "application/x-ipynb+json",
    }
    assert answer.headers["content-type"] == kinds[suffix]
    saved = "attachment" in answer.headers.get("content-disposition", "")
    assert saved == (suffix not in {".html", ".json"})


@pytest.mark.parametrize("name", DIFF_WRITERS)
def test_two_runs_are_compared_in_every_format(page: httpx.Client, name: str) -> None:
    """The baseline is A and the candidate B, in every format of the command."""
    older, newer = two(page)
    answer = page.get("/diff", params={"a": older, "b": newer, "format": name})
    assert answer.status_code == 200, answer.text
    if name != "latex":  # it lets long words break
        assert older.rpartition("/")[2] in answer.text


def test_scripts_of_a_report_are_known_by_their_hash(page: httpx.Client) -> None:
    """The policy of a report allows no script but ours: neither inline nor from anywhere."""
    older, newer = two(page)
    for target in (f"/report?run={newer}", f"/diff?a={older}&b={newer}"):
        (scripts,) = re.findall(r"script-src ([^;]*)", page.get(target).headers["content-security-policy"])
        assert re.fullmatch(r"('sha256-[\w+/=]+' ?)+", scripts)


def test_a_choice_that_is_not_made_is_asked_for(page: httpx.Client) -> None:
    """Comparing without two runs says which one is missing."""
    assert "run A, the baseline, is not named" in page.get("/diff").text
    answer = page.get("/diff", params={"a": two(page)[0]})
    assert (answer.status_code, "run B" in answer.text) == (400, True)


@pytest.mark.parametrize(
    ("target", "status", "said"),
    [
        ("/?state=passd", 400, "expected one of passed"),
        ("/?page=0", 400, "a number from 1"),
        ("/?since=tomorrow", 400, "a day such as"),
        (f"/?q={'x' * 501}", 400, "at most 500 characters"),
        ("/report", 400, "the run is not named"),
        ("/report?run=nope", 404, "is stored here"),
        ("/report?run=broken", 409, "cannot be read"),
        ("/report?run=killed&format=word", 400, "there is no such format"),
        ("/diff?a=nope&b=killed", 404, "is stored here"),
        ("/diff?a=killed&b=broken", 409, "cannot be read"),
        ("/trends?state=interrupted", 409, "none of the chosen runs came to its end"),
        ("/nowhere", 404, "Not Found"),
    ],
)
def test_mistakes_are_pages_that_say_what_is_wrong(
    page: httpx.Client, target: str, status: int, said: str
) -> None:
    """With a status that fits, the fix, and the way back."""
    answer = page.get(target)
    assert (answer.status_code, said in answer.text) == (status, True), answer.text
    assert "/" in Reader(answer.text).links()


def test_runs_with_nothing_in_common_are_there_and_cannot_be_compared(tmp_path: Path) -> None:
    """That is a conflict with what they hold, not an address that leads nowhere; both sides are named."""
    runs = Runs(tmp_path / "work")
    one, other = runs.run(), runs.run("scorer=[contains]")
    with served(runs.store) as address, httpx.Client(base_url=address, timeout=60) as page:
        answer = page.get("/diff", params={"a": one.name, "b": other.name})
    assert answer.status_code == 409
    assert "the runs have nothing to compare" in answer.text
    assert "candidate: expected a skill, scorer, mode and benchmark that the other run has too" in answer.text


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UsageError("x"), 400),
        (NoSuchRunError("x"), 404),
        (ResultsError("x"), 409),
        (ConfigError("x"), 409),
        (WriteError("x"), 500),
        (UnforeseenError("x"), 500),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_status_says_whose_fault_it_is(error: SkillevalError, status: int) -> None:
    """The address, nothing there, the state of the runs, or this machine."""
    assert status_of(error) == status


def test_head_answers_without_a_body(page: httpx.Client) -> None:
    """HEAD is GET without its text."""
    answer = page.head("/")
    assert (answer.status_code, answer.content) == (200, b"")


def test_courses_show_runs_with_intervals(page: httpx.Client) -> None:
    """A line a skill, a mark and a row a run, the value with its interval, and links to the reports."""
    text = page.get("/trends", params={"skill": "recorded"}).text
    read = Reader(text)
    assert sum(tag == "circle" for tag, _ in read.seen) == 2
    assert re.search(r"0\.5 \[0\.\d+, 0\.\d+\]", text)
    assert len([link for link in read.links() if link.startswith("/report?run=")]) == 2


def test_looking_at_everything_changes_nothing(store: Path, tmp_path: Path) -> None:
    """Lists, reports, comparisons and courses leave every byte and every time of the folder as they were."""
    shutil.copytree(store, tmp_path / "copy")
    before = contents(tmp_path / "copy")
    with served(tmp_path / "copy") as address, httpx.Client(base_url=address, timeout=60) as page:
        older, newer = two(page)
        for target in (
            "/",
            "/trends",
            "/report?run=killed",
            f"/report?run={newer}",
            f"/diff?a={older}&b={newer}",
        ):
            assert page.get(target).status_code == 200
    assert contents(tmp_path / "copy") == before


def test_a_run_shows_while_it_is_written_and_new_ones_on_reload(store: Path, tmp_path: Path) -> None:
    """A live run is listed as running and has a report; a run that begins later is there when asked again."""
    shutil.copytree(store / "killed", tmp_path / "live")
    with (
        served(tmp_path) as address,
        httpx.Client(base_url=address, timeout=60) as page,
        (tmp_path / "live" / ".lock").open("r") as lock,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert keys(page, state="running") == ["live"]
        report = page.get("/report", params={"run": "live", "format": "json"}).json()
        assert report["run"]["n_trials"] == FINISHED
        assert "the run is still going on" in page.get("/report", params={"run": "live"}).text
        write_run(tmp_path, "later")
        assert sorted(keys(page)) == ["later", "live"]


def test_foreign_text_is_inert(tmp_path: Path) -> None:
    """Names, versions and reasons that look like markup are shown, in the list, in its choices and in errors."""
    about = {"id": NAME, "version": HOSTILE[:200]}
    write_run(
        tmp_path, "run", run_id=NAME, experiment=NAME, benchmark=about, skills=[about], scorers={NAME: {}}
    )
    write_run(tmp_path, "odd", schema_version=NAME)
    with served(tmp_path) as address, httpx.Client(base_url=address, timeout=60) as page:
        for target in ("/", "/trends", f"/?q={NAME}&skill={NAME}", "/report?run=run", f"/report?run={NAME}"):
            read = Reader(page.get(target).text)
            assert not {tag for tag, _ in read.seen} & {"script", "img", "iframe", "object"}
            assert not [name for _, attrs in read.seen for name in attrs if name.startswith("on")]
        assert page.get("/", params={"skill": NAME}).text.count("1 of 2 runs") == 1


def test_a_run_that_nobody_foresaw_is_an_answer(tmp_path: Path) -> None:
    """A manifest whose settings are nonsense is no report, and the page goes on; no traceback is shown."""
    write_run(tmp_path, "run", config=[1], benchmark={"id": "b"})
    for table in ("trials", "scores", "tries"):
        (tmp_path / "run" / table).mkdir()
    with served(tmp_path) as address, httpx.Client(base_url=address, timeout=60) as page:
        answer = page.get("/report", params={"run": "run"})
        assert (answer.status_code, answer.headers["connection"]) == (500, "close")
        assert "Traceback" not in answer.text
        assert page.get("/").status_code == 200


def test_many_runs_are_listed_in_pages(tmp_path: Path) -> None:
    """A hundred runs a page, with links on; every run is on one of them."""
    for number in range(250):
        write_run(tmp_path, f"run-{number:03}", started_at=f"2026-11-02T10:00:00.{number:03}+00:00")
    with served(tmp_path) as address, httpx.Client(base_url=address, timeout=60) as page:
        seen: set[str] = set()
        link: str | None = "/"
        while link:
            text = page.get(link).text
            seen |= set(re.findall(r"run-\d{3}", text))
            found = re.search(r'href="([^"]*)" rel="next"', text)
            link = found[1].replace("&amp;", "&") if found else None
        assert len(seen) == 250
        assert "page 3 of 3" in text
        assert json.loads(page.get("/runs.json").text)["schema"] == "skilleval.runs/1"
