from __future__ import annotations

import csv
import html
import io
import json
import re
from xml.etree import ElementTree as ET

import pytest
from diffs import BESIDE, FLIP, METRIC, diff_of, row_of
from reports import HOSTILE

from skilleval.report import diff_junit
from skilleval.report.diff_document import Diff
from skilleval.report.diff_tables import tables
from skilleval.report.diff_writers import DIFF_WRITERS

NAME = "x|y</td><script>alert(1)</script>\\input{/etc/passwd}$`@team\u202e"
DATA = ("csv", "json")
WITH_TABLES = ("html", "markdown", "github")


def one() -> Diff:
    """Give a comparison of a skill that regressed, one that is new, and one that nothing is known of."""
    checked = FLIP | {"task_id": "dates-08", "check_id": "c1", "check": "tone"}
    worse = FLIP | {"task_id": "dates-09", "flip": "flaky, worse", "n_passed_after": 2}
    main = row_of(
        flips=(FLIP, checked, worse),
        tasks=("dates-07", "dates-08", "dates-09", "dates-10"),
        left_out={"removed": ("dates-01",)},
    )
    new = row_of(
        name="t 1.0.0", side="new", change="new", is_confirmed=False, metrics=(), beside=(), flips=()
    )
    open_ = row_of(name="u 1.0.0", change="inconclusive", is_confirmed=False, flips=(), tasks=("dates-07",))
    return diff_of(main, new, open_, warnings=("the runs had different concurrency (4 and 1)",))


def hostile() -> Diff:
    """Give a comparison in which foreign text stands everywhere."""
    flip = FLIP | {"task_id": NAME, "why": HOSTILE, "check_id": NAME, "check": NAME}
    row = row_of(
        skill_id=NAME,
        name=NAME,
        scorer=NAME,
        sentence=NAME,
        caveats=(NAME,),
        flips=(flip,),
        tasks=(NAME,),
        left_out={"removed": (NAME,)},
    )
    return diff_of(row, sentence=NAME, warnings=(NAME, HOSTILE))


@pytest.mark.parametrize("name", DIFF_WRITERS)
def test_every_format_is_text_and_the_same_twice(name: str) -> None:
    """A writer is a function of the document; what people read has nothing hidden in it, data stay as they are."""
    writer = DIFF_WRITERS[name]
    for diff in (one(), hostile(), diff_of()):
        text = writer.render(diff)
        assert text.strip()
        assert text == writer.render(diff)
        assert name in DATA or not set(text) & set("\u202e\x00\x1b")


def test_the_endings_tell_the_formats_apart() -> None:
    """No two formats would be written to one file."""
    suffixes = [writer.suffix for writer in DIFF_WRITERS.values()]
    assert len(set(suffixes)) == len(suffixes)


def plain(text: str) -> str:
    """Give the words of a page: no tags, no escapes, one blank between them."""
    return re.sub(
        r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", text)).replace("\u2008", "").replace("\u2007", "")
    )


@pytest.mark.parametrize("name", WITH_TABLES)
def test_the_same_cells_stand_in_every_format_with_tables(name: str) -> None:
    """Each cell of each table is in the text, rounded as everywhere."""
    diff = one()
    text = plain(DIFF_WRITERS[name].render(diff))
    cells = {
        cell
        for row in diff.rows
        if row.side == "both"
        for table in tables(diff, row)
        for r in table.rows
        for cell in r
    }
    assert len(cells) > 20
    assert [cell for cell in cells if plain(cell).strip() not in text] == []


def test_latex_holds_the_same_numbers() -> None:
    """Cells are those of the other formats, written as LaTeX writes them."""
    text = DIFF_WRITERS["latex"].render(one())
    for said in (
        r"\ensuremath{-}8.3 pp",
        r"[\ensuremath{-}14.1, \ensuremath{-}2.5]",
        "0.817",
        "0 / 38 / 3",
        "3/3 & 0/3",
    ):
        assert said in text
    assert r"\input{" not in DIFF_WRITERS["latex"].render(hostile())


def test_numbers_are_whole_where_they_are_data() -> None:
    """CSV and JSON hold the values of the document, unrounded; what words and tables say is made of them."""
    diff = one()
    rows = list(csv.DictReader(io.StringIO(DIFF_WRITERS["csv"].render(diff), newline="")))
    (told,) = [row for row in rows if row["name"] == "s 1.0.0" and row["metric"] == "completion_rate"]
    for key in ("before", "after", "effect", "low", "high", "p_value", "p_holm", "n_worse"):
        assert float(told[key]) == METRIC[key]
    assert (told["baseline_run_id"], told["candidate_run_id"], told["gain"]) == ("main", "branch", "-0.83")
    assert (told["baseline_label"], told["candidate_label"]) == (diff.baseline.label, diff.candidate.label)
    (beside,) = [row for row in rows if row["name"] == "s 1.0.0" and row["metric"] == "composite"]
    assert (float(beside["effect"]), beside["p_value"], beside["change"]) == (BESIDE["delta"], "", "better")
    flips = [(row["task_id"], row["check"], row["flip"]) for row in rows if row["record"] == "flip"]
    assert flips == [
        ("dates-07", "", "broken"),
        ("dates-08", "tone", "broken"),
        ("dates-09", "", "flaky, worse"),
    ]
    assert [row["side"] for row in rows if row["record"] == "skill"] == ["new"]
    document = json.loads(DIFF_WRITERS["json"].render(diff))
    assert document == json.loads(json.dumps(diff.to_json()))
    assert document["rows"][0]["tasks"][0] == "dates-07"


def test_csv_cells_are_no_formulas() -> None:
    """A name that a spreadsheet would calculate is text."""
    text = DIFF_WRITERS["csv"].render(diff_of(row_of(skill_id="=1+1", flips=())))
    assert "'=1+1" in text


def cases(diff: Diff) -> dict[str, dict[str, str]]:
    """Give how the cases of each suite ended: empty where they passed."""
    root = ET.fromstring(diff_junit.render(diff))  # noqa: S314 - our own text
    return {
        str(suite.get("name")): {
            str(case.get("name")): "".join(f"{child.tag}: {child.get('message')}" for child in case)
            for case in suite.findall("testcase")
        }
        for suite in root
    }


def test_junit_fails_what_broke_and_nothing_else() -> None:
    """A case a task; broken tasks and checks fail, one that is only less reliable does not, others are skipped."""
    suites = cases(one())
    assert suites["s 1.0.0"] == {
        diff_junit.VERDICT: "failure: regressed: −8.3 pp",
        "dates-07": "failure: dates-07 broken: passed 3/3 → 0/3: 2026-02-30 accepted",
        "dates-08": "failure: dates-08 / tone broken: passed 3/3 → 0/3: 2026-02-30 accepted",
        "dates-09": "",
        "dates-10": "",
        "dates-01": "skipped: not compared: removed",
    }
    assert suites["t 1.0.0"] == {diff_junit.VERDICT: "skipped: regressed: −8.3 pp"}
    assert suites["u 1.0.0"][diff_junit.VERDICT].startswith("skipped: ")


def test_junit_counts_its_cases() -> None:
    """The numbers of a suite are those of its cases."""
    suite = ET.fromstring(diff_junit.render(one()))[0]  # noqa: S314 - our own text
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "6", "failures": "3", "errors": "0", "skipped": "1"}


def test_a_skill_that_improved_passes() -> None:
    """Only what a gate could fail on is a failure."""
    better = row_of(change="improved", is_confirmed=False, flips=(), tasks=("t",))
    assert cases(diff_of(better)) == {"s 1.0.0": {diff_junit.VERDICT: "", "t": ""}}


def test_a_comment_says_the_verdict_then_what_broke_then_a_line_a_skill() -> None:
    """Short enough for a pull request, and its figures are those of the table of metrics."""
    text = DIFF_WRITERS["comment"].render(one())
    places = [
        text.index(part)
        for part in (
            "### ✕ REGRESSED",
            "▲ the runs",
            "✕ s 1.0.0: dates-07 passed 3/3 → 0/3",
            "| s 1.0.0 | 0.9 |",
            "<sub>",
        )
    ]
    assert places == sorted(places)
    assert "| 0.9 | 0.817 | −8.3 pp | [−14.1, −2.5] | 0.004 | ✕ regressed |" in text
    assert "- new: t 1.0.0" in text


def test_a_long_comment_is_cut_and_says_so() -> None:
    """However much broke, a comment stays readable."""
    flips = tuple(FLIP | {"task_id": f"t{number}"} for number in range(30))
    rows = [row_of(name=f"s{number}", flips=flips if number == 0 else ()) for number in range(25)]
    text = DIFF_WRITERS["comment"].render(diff_of(*rows))
    assert "- 20 more" in text
    assert "5 further rows" in text


@pytest.mark.parametrize("name", ["html", "markdown", "github", "comment", "junit"])
def test_foreign_text_is_no_markup(name: str) -> None:
    """A name that looks like a script, a cell or a mention is shown as it is."""
    text = DIFF_WRITERS[name].render(hostile())
    outside = re.sub(r"`+[^`]*`+", "", text)
    assert "<script>alert" not in outside
    assert "@team" not in outside or name in {"html", "junit"}


def test_the_notebook_takes_both_runs_to_lie_beside_it() -> None:
    """Its parameters are the folders, named by the ids of the runs; it holds no number of the comparison."""
    text = DIFF_WRITERS["notebook"].render(one())
    assert json.loads(text)["nbformat"] == 4
    assert '"main"' in text.replace("'", '"').replace('\\"', '"')
    assert "0.817" not in text
