from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from reports import CALCULATOR, FLAKY, HOSTILE, WRONG, cell, demo_report, failure, report_of

from skilleval.report.html_writer import render

pytestmark = pytest.mark.browser

PHONE = {"width": 360, "height": 800}
NAME = "a.b[0]\"'</script><img src=x onerror=document.title='owned'>\u202e"


def hostile_page() -> str:
    """Give a page in which hostile text stands everywhere."""
    row = WRONG | {"skill_id": NAME, "scorer": NAME, "model": HOSTILE}
    told = failure(row, NAME, output=HOSTILE + NAME, reason=NAME, message=HOSTILE, stderr="\x1b[2J" + NAME)
    manifest = {"run_id": NAME, "command": HOSTILE, "config": {NAME: HOSTILE}, "warnings": [NAME]}
    return render(report_of(row, CALCULATOR, matrix=[cell(row, NAME, 0)], failures=[told], manifest=manifest))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_drawn_without_a_request_or_a_complaint(visit: Any, scheme: str) -> None:
    """Offline the chart has all its marks, nothing but the file itself is read, the console stays empty."""
    found = visit(render(demo_report()), color_scheme=scheme)
    assert found.requests == [found.address]
    assert found.complaints == []
    assert found.page.locator("#figure-1 .mark-symbol.role-mark path").count() == 3
    assert found.page.locator("#figure-1 .mark-rule.role-mark line").count() == 4


def test_hostile_text_is_inert(visit: Any) -> None:
    """No text of a skill becomes an element, runs, or keeps the chart from being drawn."""
    found = visit(hostile_page())
    assert found.requests == [found.address]
    assert found.complaints == []
    assert "owned" not in found.page.title().replace("document.title='owned'", "")
    assert found.page.locator("img, iframe, object, embed").count() == 0
    assert found.page.locator(".chart .mark-symbol.role-mark path").count() == 2
    assert "<img src=x onerror=alert(1)> | <!-- ${7*7} {{7*7}}" in found.page.text_content("main")


def test_a_tooltip_shows_hostile_text_as_text(visit: Any) -> None:
    """Pointing at a mark shows the id as it is."""
    found = visit(hostile_page())
    found.page.locator(".chart .mark-symbol.role-mark path").last.hover()
    tooltip = found.page.locator("#vg-tooltip-element")
    assert "</script><img src=x" in tooltip.text_content()
    assert found.page.locator("img").count() == 0
    assert found.complaints == []


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_page_never_scrolls_sideways(visit: Any, width: int) -> None:
    """At phone, tablet and desk width only tables may scroll, inside themselves."""
    rows = [FLAKY | {"skill_id": f"skill-{i}", "condition_id": f"c{i}"} for i in range(30)]
    matrix = [cell(row, f"task-{i}", 1) for row in rows for i in range(5)]
    for page in (render(demo_report()), render(report_of(*rows, matrix=matrix)), hostile_page()):
        found = visit(page, viewport={"width": width, "height": 800})
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_remark_leads_to_the_reasons(visit: Any) -> None:
    """From the failing skill its reasons are one click away, also where they are folded."""
    found = visit(render(demo_report()))
    reason = found.page.locator(".skill-cases td", has_text="expected 4, found 5").last
    assert not reason.is_visible()
    found.page.get_by_role("link", name="fails all 60 graded trials").click()
    reason.wait_for(state="visible", timeout=5000)


def test_columns_sort_with_the_unknown_last(visit: Any) -> None:
    """A click sorts by number, a second one turns the order; dashes stay at the end."""
    lost = {"skill_id": "lost", "condition_id": "x"}
    found = visit(render(report_of(WRONG, FLAKY, CALCULATOR, lost)))
    names = found.page.locator("table.skills tbody .skill")
    heading = found.page.get_by_role("button", name="completion")
    best = ["calculator", "flaky-calculator", "wrong-calculator", "lost"]
    heading.click()
    assert names.all_text_contents() == best
    heading.click()
    assert names.all_text_contents() == [*reversed(best[:3]), "lost"]


def test_without_scripts_the_numbers_are_there(chromium: Any, tmp_path: Path) -> None:
    """A reader who forbids scripts has every table and is told where the figure went."""
    path = tmp_path / "report.html"
    path.write_text(render(demo_report()), encoding="utf-8")
    context = chromium.new_context(offline=True, java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.locator("header noscript p").is_visible()
    assert page.locator("figure noscript p").first.is_visible()
    assert page.locator("table.skills svg.interval").count() == 3
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_the_contrast_of_wcag_aa(visit: Any, scheme: str) -> None:
    """Every text that is seen stands out from its ground by at least 4.5 to 1."""
    found = visit(render(demo_report()), color_scheme=scheme)
    found.page.evaluate("document.querySelectorAll('details').forEach((part) => (part.open = true))")
    pairs = found.page.evaluate(
        """() => [...document.querySelectorAll("main *")].filter((part) => !part.closest("svg")
          && [...part.childNodes].some((node) => node.nodeType === 3 && node.data.trim())).map((part) => {
            const clear = (one) => getComputedStyle(one).backgroundColor === "rgba(0, 0, 0, 0)";
            let ground = part;
            while (ground !== document.body && clear(ground)) ground = ground.parentElement;
            return [getComputedStyle(part).color, getComputedStyle(ground).backgroundColor];
          })"""
    )
    assert len(pairs) > 100
    poor = {(ink, ground) for ink, ground in map(tuple, pairs) if contrast(ink, ground) < 4.5}
    assert poor == set()


def contrast(ink: str, ground: str) -> float:
    """Give the contrast ratio of WCAG 2.2 of two CSS colours."""
    high, low = sorted((luminance(ink), luminance(ground)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    """Give the relative luminance of WCAG 2.2 of a CSS colour `rgb(r, g, b)`."""
    shares = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_table_wider_than_its_box_says_so(visit: Any) -> None:
    """The edge fades while there is more to see, and not at the end or where everything fits."""
    rows = [FLAKY | {"skill_id": f"skill-{i}", "condition_id": f"c{i}"} for i in range(5)]
    found = visit(render(report_of(*rows, matrix=[cell(row, "t", 1) for row in rows])), viewport=PHONE)
    box = found.page.get_by_role("region", name="tasks by skill")
    found.page.wait_for_selector(".scroll.more")
    assert "more" in box.get_attribute("class")
    box.evaluate("box => { box.scrollLeft = box.scrollWidth; }")
    found.page.wait_for_selector('[aria-label="tasks by skill"]:not(.more)')
    wide = visit(render(demo_report()), viewport={"width": 1400, "height": 800})
    assert wide.page.locator(".scroll.more").count() == 0


def test_a_wrapped_label_keeps_clear_of_its_dot(visit: Any) -> None:
    """No line of a long name begins further to the left than its first one."""
    row = FLAKY | {"skill_id": "a-very-long-name " * 3}
    found = visit(render(report_of(row, matrix=[cell(row, "t", 1)])), viewport=PHONE)
    edges = found.page.evaluate(
        """() => [...document.querySelectorAll(".label")].map((label) => [
          label.querySelector(".swatch").getBoundingClientRect().right,
          Math.min(...[...label.querySelector("bdi").getClientRects()].map((line) => line.left))])"""
    )
    assert len(edges) == 2
    assert all(dot < text for dot, text in edges)


def test_a_name_from_right_to_left_leaves_figures_in_their_order(visit: Any) -> None:
    """In the verdict the ends of an interval stand as they were written, whatever name comes before them."""
    row = FLAKY | {"skill_id": "\u05de\u05d9\u05d5\u05de\u05e0\u05d5\u05ea"}
    page = visit(render(report_of(row))).page
    places = page.evaluate(
        """() => {
          const walker = document.createTreeWalker(document.querySelector(".verdict"), NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const at = walker.currentNode.data.indexOf("0.592, 0.818");
            if (at < 0) continue;
            return [at, at + 7].map((start) => {
              const range = document.createRange();
              range.setStart(walker.currentNode, start);
              range.setEnd(walker.currentNode, start + 5);
              const { left, top } = range.getBoundingClientRect();
              return top * 10000 + left;
            });
          }
        }"""
    )
    assert places[0] < places[1]
