from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from diffs import FLIP, diff_of, row_of
from reports import CALCULATOR, FLAKY, WRONG, cell, demo_report, report_of

from skilleval.report import diff_html
from skilleval.report.html_writer import render

pytestmark = pytest.mark.browser

PHONE = {"width": 360, "height": 800}
SKILLS = "table.skills tbody tr:visible .skill"
TASKS = "#by-task tbody tr:visible th"


def two_scorers() -> str:
    """Give a page of three skills and two scorers, on tasks that all go differently."""
    rows = [
        row | {"scorer": scorer, "model": f"model-{row['skill_id']}"}
        for row in (CALCULATOR, FLAKY, WRONG)
        for scorer in ("exact", "rubric")
    ]
    passes = {"calculator": (3, 3, 3), "flaky-calculator": (3, 1, 0), "wrong-calculator": (3, 3, 0)}
    matrix = [
        cell(row, f"task-{i}", passes[row["skill_id"]][i]) | {"outcomes": "p" * passes[row["skill_id"]][i]}
        for row in rows
        for i in range(3)
    ]
    return render(report_of(*rows, matrix=matrix))


def field(found: Any, noun: str) -> Any:
    """Give the text field that filters a table."""
    return found.page.get_by_role("searchbox", name=f"filter the {noun}")


def test_the_skills_are_filtered_by_words(visit: Any) -> None:
    """Every word must be found in name, scorer, model or mode; the count is told; nothing found is said."""
    found = visit(two_scorers())
    said = found.page.locator("section:has(#skills) output")
    assert said.text_content() == "6 rows"
    field(found, "rows").first.fill("MODEL-wrong rubric")
    assert found.page.locator(SKILLS).all_text_contents() == ["wrong-calculator · rubric"]
    assert said.text_content() == "1 of 6 rows"
    assert said.get_attribute("aria-live") == "polite"
    field(found, "rows").first.fill("nobody")
    assert found.page.get_by_text("No rows match.").first.is_visible()
    field(found, "rows").first.fill("")
    assert found.page.locator(SKILLS).count() == 6
    assert found.complaints == []


def test_the_tasks_are_filtered_by_what_became_of_them(visit: Any) -> None:
    """A reader may ask for tasks that some skill never passed, or passed at times, and by name."""
    found = visit(two_scorers())
    tasks = found.page.locator(TASKS)
    assert tasks.all_text_contents() == ["task-2", "task-1", "task-0"]
    found.page.get_by_role("radio", name="flaky").check()
    assert tasks.all_text_contents() == ["task-1"]
    found.page.get_by_role("radio", name="failing").check()
    assert tasks.all_text_contents() == ["task-2"]
    field(found, "tasks").fill("task-1")
    assert tasks.count() == 0
    found.page.get_by_role("radio", name="all").check()
    assert tasks.all_text_contents() == ["task-1"]


def test_columns_can_be_left_out_and_taken_back(visit: Any) -> None:
    """A column that is not wanted disappears with its cells; Escape closes the choice and keeps the focus there."""
    found = visit(render(demo_report()))
    choice = found.page.locator("section:has(#skills) details.columns")
    choice.locator("summary").focus()
    found.page.keyboard.press("Enter")
    box = choice.get_by_role("checkbox", name="consistency")
    box.uncheck()
    heading = found.page.get_by_role("columnheader", name="consistency")
    assert heading.count() == 0
    assert found.page.locator('table.skills td[data-label="consistency"]:visible').count() == 0
    box.check()
    assert heading.count() == 1
    found.page.keyboard.press("Escape")
    assert not box.is_visible()
    assert choice.locator("summary").evaluate("part => part === document.activeElement")


def test_a_table_is_sorted_by_keyboard_and_says_how(visit: Any) -> None:
    """Enter on a heading sorts; names begin with a, figures with the greatest; the heading tells the order."""
    found = visit(two_scorers())
    table = found.page.locator("table.skills")
    names = found.page.locator(SKILLS)
    heading = table.locator("thead th", has_text="skill").first
    heading.get_by_role("button").focus()
    found.page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "ascending"
    assert names.first.text_content() == "calculator · exact"
    found.page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    assert names.first.text_content() == "wrong-calculator · rubric"
    table.locator("thead th", has_text="completion").get_by_role("button").click()
    assert table.locator("th[aria-sort]").count() == 1
    assert "wrong" in (names.last.text_content() or "")


def test_cells_of_text_sort_as_the_numbers_they_show(visit: Any) -> None:
    """Shares of counts, seconds beside milliseconds, minus signs and thousands are compared by value."""
    flips = [
        FLIP | {"task_id": f"t{i}", "n_passed_before": n, "n_graded_before": 12}
        for i, n in enumerate((2, 12, 1, 10))
    ]
    found = visit(diff_html.render(diff_of(row_of(flips=tuple(flips)))))
    table = found.page.locator("table", has_text="task / check")
    heading = table.get_by_role("columnheader", name="main")
    heading.get_by_role("button").click()
    assert table.locator("tbody td:nth-child(3)").all_text_contents() == ["12/12", "10/12", "2/12", "1/12"]


def test_the_theme_can_be_chosen_and_is_remembered(visit: Any) -> None:
    """Dark and light win over the system, also for the ink of the figures; the choice survives opening again."""
    found = visit(render(demo_report()), color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    label = "getComputedStyle(document.querySelector('#figure-1 .role-axis-label text')).fill"
    light, ink = found.page.evaluate(ground), found.page.evaluate(label)
    found.page.get_by_role("button", name="dark").click()
    assert found.page.evaluate(ground) != light
    assert found.page.evaluate(label) != ink
    assert found.page.get_by_role("button", name="dark").get_attribute("aria-pressed") == "true"
    found.page.reload()
    assert found.page.evaluate(ground) != light
    found.page.get_by_role("button", name="auto").click()
    assert found.page.evaluate(ground) == light
    assert found.complaints == []


def test_the_page_prints_in_light_with_all_it_holds(visit: Any) -> None:
    """On paper the ground is white whatever the theme, what is folded is open, tools are gone, tables are whole."""
    rows = [cell(FLAKY, f"t{i}", 1) for i in range(60)]
    found = visit(render(report_of(FLAKY, matrix=rows)), color_scheme="dark")
    found.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    found.page.emulate_media(media="print", color_scheme="dark")
    assert found.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert found.page.locator("main details:not([open])").count() == 0
    assert not found.page.locator(".tools:visible, .theme:visible, .copy:visible").count()
    box = found.page.get_by_role("region", name="tasks by skill")
    assert box.evaluate("box => box.scrollHeight <= box.clientHeight + 1")
    found.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert found.page.locator("main details[open]").count() == 0


def test_on_a_phone_the_skills_are_cards_that_can_be_sorted(visit: Any) -> None:
    """Where the header is out of sight a choice takes its place; what is touched is large enough."""
    found = visit(render(report_of(WRONG, FLAKY, CALCULATOR)), viewport=PHONE)
    found.page.get_by_label("sort by").first.select_option(label="completion")
    assert found.page.locator(SKILLS).first.text_content() == "calculator"
    small = found.page.evaluate(
        """() => [...document.querySelectorAll("button, input[type=search], select")]
          .filter((part) => part.checkVisibility() && !part.closest("thead"))
          .filter((part) => part.getBoundingClientRect().height < 44).map((part) => part.outerHTML)"""
    )
    assert small == []


def test_the_command_is_copied(visit: Any) -> None:
    """One click puts the command on the clipboard, or selects it where a browser forbids that."""
    found = visit(render(demo_report()))
    button = found.page.get_by_role("button", name="copy")
    button.click()
    found.page.locator(".copy", has_text="ed").wait_for(timeout=5000)
    assert found.page.locator(".copy").text_content() in {"copied", "selected"}


def test_figures_wait_until_they_are_near(chromium: Any, tmp_path: Path) -> None:
    """What is far below is not drawn at once, but it is by the time somebody gets there."""
    report = demo_report()
    rows = [cell(FLAKY, f"t{i}", 1) for i in range(20)]
    path = tmp_path / "report.html"
    path.write_text(render(dataclasses.replace(report, matrix=report_of(FLAKY, matrix=rows).matrix)), "utf-8")
    page = chromium.new_context(offline=True, viewport={"width": 800, "height": 300}).new_page()
    page.add_init_script("window.requestIdleCallback = () => 0")
    page.goto(path.as_uri())
    last = page.locator(".chart").last
    assert last.locator("svg").count() == 0
    last.scroll_into_view_if_needed()
    last.locator("svg").first.wait_for(timeout=20_000)
    page.context.close()


def test_long_comparisons_are_filtered_too(visit: Any) -> None:
    """The page of a comparison has the same tools and the same themes, and asks nobody for anything."""
    flips = tuple(FLIP | {"task_id": f"task {i}"} for i in range(12))
    found = visit(diff_html.render(diff_of(row_of(flips=flips))))
    field(found, "rows").fill("task 11")
    assert found.page.locator("table").first.locator("tbody tr:visible").count() == 1
    found.page.get_by_role("button", name="dark").click()
    assert found.requests == [found.address]
    assert found.complaints == []


LONG = 450
STEP = 200


def long_page(visit: Any) -> Any:
    """Open a page with more tasks than are drawn at once."""
    matrix = [cell(FLAKY, f"task-{i}", i % 3) for i in range(LONG)]
    return visit(render(report_of(FLAKY, matrix=matrix))).page


def test_a_long_table_draws_more_when_it_is_scrolled(visit: Any) -> None:
    """It opens with its first rows and tells the number of all; at its end it grows."""
    page = long_page(visit)
    rows = page.locator("#by-task tbody tr")
    assert rows.count() == STEP
    assert page.locator("section:has(#tasks) output").text_content() == f"{LONG} tasks"
    page.locator("#by-task").evaluate("table => { table.parentElement.scrollTop = table.offsetHeight; }")
    page.wait_for_function(f"() => document.querySelectorAll('#by-task tbody tr').length > {STEP}")


def test_sorting_and_filtering_reach_what_is_not_drawn(visit: Any) -> None:
    """The last of all rows is found by its name, and comes first in the order turned round."""
    page = long_page(visit)
    first = page.locator("#by-task tbody th").first
    page.get_by_role("searchbox", name="filter the tasks").fill("task-448")
    assert page.locator("#by-task tbody th").all_text_contents() == ["task-448"]
    page.get_by_role("searchbox", name="filter the tasks").fill("")
    heading = page.locator("#by-task thead button").first
    heading.click()
    assert first.text_content() == "task-0"
    heading.click()
    assert first.text_content() == f"task-{LONG - 1}"


def test_all_rows_can_be_asked_for_and_are_printed(visit: Any) -> None:
    """A button draws the rest, without a mouse too; on paper nothing is missing."""
    page = long_page(visit)
    page.get_by_role("button", name=f"show all {LONG} rows").press("Enter")
    assert page.locator("#by-task tbody tr").count() == LONG
    assert not page.locator("button.rest").is_visible()
    other = long_page(visit)
    other.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert other.locator("#by-task tbody tr").count() == LONG


def test_repeats_that_went_alike_are_one_element_as_wide_as_all(visit: Any) -> None:
    """Five stripes of one kind take as much room as five of several kinds."""
    matrix = [
        cell(FLAKY, f"t{n}", n, n=5) | {"outcomes": letters} for n, letters in ((5, "ppppp"), (1, "fpeuf"))
    ]
    page = visit(render(report_of(FLAKY, matrix=matrix))).page
    stripes = page.locator("#by-task .runs")
    assert sorted(stripes.nth(i).locator("i").count() for i in range(2)) == [1, 5]
    wide = [round(stripes.nth(i).bounding_box()["width"]) for i in range(2)]
    assert wide[0] == wide[1] == 38
