from __future__ import annotations

import json
from typing import Any

import pytest
from details import check, details_of, excerpt, report_with, trial
from reports import HOSTILE

from skilleval.report.details import TryDetail, Turn
from skilleval.report.document import Report
from skilleval.report.drawer import drawer_blocks
from skilleval.report.html_environment import environment
from skilleval.report.text import block, one_line

pytestmark = pytest.mark.browser

NAME = "a\"'</script><img src=x onerror=document.title='owned'>\u202e"
HIDDEN = "a\u2028b\u202egnp\x00\x1b[2J\u200b\ufeff\u00a0\u3164\ufe0f\U000e0041\r\n\tend ☃ 😀\u2009\u3000"
PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>trials</title>
<meta http-equiv="Content-Security-Policy" content="{{ POLICY }}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{% for name in STYLES %}{{ inline(name) }}{% endfor %}{{ inline("drawer.css") }}</style></head>
<body><main><h1>trials</h1><p style="height: 2000px">text</p>
<a href="#task-0-1" data-task="0" data-condition="1">one condition</a>
<button data-task="1">all conditions</button>
<table><tr><td tabindex="0" data-task="2">a cell</td></tr></table><p id="task-9-9">a place of the page</p></main>
{% import "drawer.html.j2" as details %}{{ details.dialog(blocks) }}
<script>{{ inline("drawer.js") }}</script></body></html>"""

CALLS = (
    Turn(role="system", text=excerpt("be brief")),
    Turn(role="tool call", name="add", text=excerpt('{"a":1}')),
)
TRIES = (
    TryDetail(try_index=0, status="timeout", message=excerpt("too slow"), latency_ms=9.0),
    TryDetail(try_index=1, status="completed"),
)


def page(report: Report) -> str:
    """Give a page that holds the drawer, and some elements that open it."""
    return environment().from_string(PAGE).render(blocks=drawer_blocks(report))


def demo(**more: Any) -> Report:
    """Give three tasks under two conditions; the first one fails under the second condition."""
    cells = [(task, condition) for task in ("sum", "product", NAME) for condition in ("c0", "c1")]
    trials = [
        trial(
            task,
            "failed" if cell == 1 else "passed",
            condition_id=condition,
            repeat=repeat,
            output=excerpt("7"),
        )
        for cell, (task, condition) in enumerate(cells)
        for repeat in range(2)
    ]
    wrong = check("failed", "expected 4, found 5", score=0.0, weight=2.0, evidence=excerpt("5"))
    told: dict[str, Any] = {
        "checks": (check(), wrong),
        "transcript": CALLS,
        "tries": TRIES,
        "latency_ms": 12.5,
    }
    trials[2] = trial("sum", "failed", condition_id="c1", stderr=excerpt("oh"), **(told | more))
    return report_with(*trials, n_trials=40)


def opened(visit: Any, address: str, **options: Any) -> Any:
    """Open the page at a link, and wait for the trials."""
    found = visit(page(demo()), **options)
    found.page.evaluate("address => { location.hash = address; }", address)
    found.page.wait_for_selector("#drawer .drawer-trial")
    return found


def texts(found: Any, place: str) -> list[str]:
    """Give the texts of all elements of the drawer that a selector finds."""
    said: list[str] = found.page.locator(f"#drawer {place}").all_text_contents()
    return said


def wait_for_title(found: Any, name: str) -> None:
    """Wait until a task is shown."""
    found.page.wait_for_function(
        "name => document.getElementById('drawer-title').textContent === name", arg=name
    )


def test_a_click_opens_a_task_under_a_condition(visit: Any) -> None:
    """Its trials stand there with checks, reasons, evidence, texts, conversation and tries; failed checks first."""
    found = visit(page(demo()))
    found.page.get_by_role("link", name="one condition").click()
    wait_for_title(found, "sum")
    assert texts(found, ".drawer-place") == ["1 of 3"]
    assert texts(found, ".drawer-trial > summary .drawer-outcome") == ["✕ failed", "✕ failed"]
    assert texts(found, ".drawer-trial[open] tbody .drawer-outcome") == ["✕ failed", "✓ passed"]
    shown = " ".join(found.page.locator(".drawer-trial[open]").inner_text().split())
    for told in (
        "repeat 0 · 12.5 ms",
        "expected 4, found 5",
        "score 0 · weight 2",
        "evidence 5",
        "stderr oh",
    ):
        assert told in shown
    assert texts(found, ".drawer-turn .name")[0] == "system"
    assert texts(found, ".drawer-turn summary") == ["tool call add"]
    assert texts(found, ".drawer-trial[open] details > summary .drawer-outcome") == [
        "▲ timeout",
        "○ completed",
    ]
    assert texts(found, "select option:checked") == ["skill-c1 · 1.0.0 (2)"]
    assert texts(found, ".drawer-body > .note")[0].startswith("12 of 40 trials can be opened")
    assert found.requests == [found.address]
    assert found.complaints == []


def test_failed_trials_come_first_under_all_conditions(visit: Any) -> None:
    """Without a condition all are shown, each with its name, the ones that did not pass on top."""
    found = opened(visit, "#task-0")
    assert texts(found, ".drawer-trial > summary .drawer-outcome") == ["✕ failed"] * 2 + ["✓ passed"] * 2
    assert texts(found, ".drawer-trial > summary .skill")[0] == "skill-c1 · 1.0.0"
    found.page.locator("#drawer select").select_option("0")
    found.page.wait_for_function("() => location.hash === '#task-0-0'")
    found.page.wait_for_function("() => document.querySelectorAll('.drawer-trial').length === 2")
    assert texts(found, ".drawer-trial > summary .drawer-outcome") == ["✓ passed"] * 2


def test_the_keyboard_is_enough(visit: Any) -> None:
    """Enter opens a cell, focus goes to the drawer and stays there, buttons turn pages, Escape leads back."""
    found = visit(page(demo()))
    cell = found.page.get_by_text("a cell")
    cell.press("Enter")
    wait_for_title(found, one_line(NAME))
    assert found.page.evaluate("document.activeElement.id") == "drawer-title"
    for _ in range(30):
        found.page.keyboard.press("Tab")
        inside = "document.activeElement === document.body || !!document.activeElement.closest('#drawer')"
        assert found.page.evaluate(inside)
    assert found.page.get_by_role("button", name="next task").is_disabled()
    found.page.get_by_role("button", name="previous task").press("Enter")
    wait_for_title(found, "product")
    found.page.keyboard.press("Escape")
    found.page.wait_for_function("() => !document.getElementById('drawer').open && location.hash === ''")
    assert found.page.evaluate("document.activeElement.textContent") == "a cell"
    assert found.complaints == []


def test_a_link_opens_a_task_and_back_leaves_it(visit: Any) -> None:
    """An address with a task can be sent to somebody; the back button closes what a click has opened."""
    sent = visit(page(demo()))
    sent.page.goto(f"{sent.address}#task-1-0")
    sent.page.reload()
    wait_for_title(sent, "product")
    found = visit(page(demo()))
    found.page.get_by_role("button", name="all conditions").click()
    wait_for_title(found, "product")
    assert found.page.url.endswith("#task-1")
    found.page.get_by_role("button", name="next task").click()
    found.page.wait_for_function("() => location.hash === '#task-2'")
    found.page.go_back()
    found.page.wait_for_function("() => !document.getElementById('drawer').open")
    assert found.page.url == found.address


def test_a_place_of_the_page_is_no_task(visit: Any) -> None:
    """A link to a place whose trials cannot be opened goes there; one to nowhere says so in the drawer."""
    found = visit(page(demo()))
    found.page.evaluate("location.hash = '#task-9-9'")
    found.page.wait_for_function("() => scrollY > 0")
    assert not found.page.evaluate("document.getElementById('drawer').open")
    found.page.evaluate("location.hash = '#task-77'")
    wait_for_title(found, "No such task")
    assert found.complaints == []


@pytest.mark.parametrize("text", [HIDDEN, HOSTILE, NAME, "\u202e\u2066", "plain", "a\ud800b"])
def test_hidden_characters_are_spelled_as_on_the_server(visit: Any, text: str) -> None:
    """The page shows a text of a trial exactly as the writers of other formats do, and as text."""
    report = report_with(trial("t", "failed", output=excerpt(text), checks=(check("failed", text),)))
    found = visit(page(report))
    found.page.evaluate("location.hash = '#task-0'")
    found.page.wait_for_selector("#drawer .drawer-trial pre")
    assert texts(found, ".drawer-trial pre")[-1] == block(text)
    assert found.page.locator("img, iframe, object, embed").count() == 0
    assert found.page.title() == "trials"
    assert found.complaints == []


def test_names_are_text_too(visit: Any) -> None:
    """The id of a task, its tags and the names of conditions and scorers become no markup."""
    found = opened(visit, "#task-2")
    assert texts(found, "#drawer-title") == [one_line(NAME)]
    assert found.page.locator("img").count() == 0
    assert found.page.title() == "trials"


def test_json_is_laid_out_without_changing_it(visit: Any) -> None:
    """Keys keep their order and numbers all their digits; text that is no JSON stays as it is."""
    value = (
        '{"b":12345678901234567890.10,"10":[1,{}],"1":"a, {b}: \\"c\\"","e":[],"n":null,"long":"0123456789"}'
    )
    report = report_with(
        trial(
            "t",
            "failed",
            output=excerpt(value),
            stdout=excerpt("{not: json"),
            stderr=excerpt('"two\\nlines"'),
        )
    )
    found = visit(page(report))
    found.page.evaluate("location.hash = '#task-0'")
    found.page.wait_for_selector("#drawer .drawer-trial pre")
    laid_out, stdout, stderr = texts(found, ".drawer-trial pre")
    assert laid_out.splitlines()[:4] == ["{", '  "b": 12345678901234567890.10,', '  "10": [', "    1,"]
    assert "".join(line.strip() for line in laid_out.splitlines()).replace(": ", ":") == value.replace(
        ": ", ":"
    )
    assert json.loads(laid_out) == json.loads(value)
    assert (stdout, stderr) == ("{not: json", "two\nlines")


def test_long_and_cut_texts_say_their_length(visit: Any) -> None:
    """A long text is folded with its length; of a cut one is said how much is kept."""
    told = trial("t", "failed", output=excerpt("x" * 4000, 1_000_000), stderr=excerpt("y" * 600))
    found = visit(page(report_with(told)))
    found.page.evaluate("location.hash = '#task-0'")
    found.page.wait_for_selector("#drawer .drawer-trial pre", state="attached")
    assert texts(found, ".drawer-trial details > summary") == [
        "output1\u202f000\u202f000 characters, the first 4\u202f000 kept",
        "stderr600 characters",
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_drawer_is_readable_on_a_phone(visit: Any, scheme: str) -> None:
    """Nothing scrolls sideways at 360 px, and what can be touched is at least 44 px high."""
    found = opened(visit, "#task-0", viewport={"width": 360, "height": 740}, color_scheme=scheme)
    body = found.page.locator("#drawer .drawer-body")
    assert body.evaluate("box => box.scrollWidth - box.clientWidth") == 0
    heights = found.page.eval_on_selector_all(
        "#drawer button, #drawer select, #drawer .drawer-trial > summary",
        "all => all.map((one) => one.getBoundingClientRect().height)",
    )
    assert len(heights) == 8
    assert min(heights) >= 44


def test_a_browser_that_cannot_inflate_says_so(visit: Any) -> None:
    """Without DecompressionStream a plain sentence stands where the trials would be."""
    without = page(demo()).replace("<main>", "<script>delete window.DecompressionStream</script><main>", 1)
    found = visit(without)
    found.page.evaluate("location.hash = '#task-0'")
    found.page.wait_for_selector("#drawer .drawer-body p")
    assert "lacks DecompressionStream" in found.page.text_content("#drawer .drawer-body")
    assert found.complaints == []


def test_the_drawer_is_not_printed(visit: Any) -> None:
    """On paper the page is whole and no dialog lies on it."""
    found = opened(visit, "#task-0")
    found.page.emulate_media(media="print")
    assert not found.page.locator("#drawer").is_visible()


def test_every_task_of_many_can_be_opened(visit: Any) -> None:
    """Trials of a task that fills several blocks are put together again."""
    trials = [
        trial(f"t{i}", repeat=r, output=excerpt(f"{i}.{r}"))
        for i, n in enumerate((3, 200, 5))
        for r in range(n)
    ]
    found = visit(page(report_with(*trials)))
    assert details_of(trials).n_trials == 208
    for i, n in enumerate((3, 200, 5)):
        found.page.evaluate("i => { location.hash = `#task-${i}`; }", i)
        wait_for_title(found, f"t{i}")
        assert found.page.locator("#drawer .drawer-trial").count() == n
