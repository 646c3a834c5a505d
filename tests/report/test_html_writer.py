from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from reports import (
    CALCULATOR,
    FLAKY,
    HOSTILE,
    MANIFEST,
    WRONG,
    cell,
    demo_report,
    failure,
    report_of,
    slice_of,
)

from skilleval.report.gates import GateCheck
from skilleval.report.html_writer import render

NASTY = [
    HOSTILE,
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "]]>--><script>alert(1)</script>",
    "<!-- <script>",
    "{{ 7*7 }}{% raw %}{# #}",
    "javascript:alert(1)",
    "</style></title></textarea></pre></details>",
    "&lt;b&gt; &#60;",
    "\x00\x1b[2J\u202e\u2066\u200b\u2028",
    "a.b[0]'\\\n\r\t`|",
]
VOID = {"meta", "link", "br"}


class Outline(HTMLParser):
    """Reads a page as a browser would: its elements, attributes, visible text and balance."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.ids: list[str] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.scripts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the element and its attributes."""
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element that closes itself."""
        self.handle_starttag(tag, attrs)
        self.open.remove(tag)

    def handle_endtag(self, tag: str) -> None:
        """Check that the element was the last one opened."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Keep what is read and what is run apart."""
        (self.scripts if self.open and self.open[-1] == "script" else self.text).append(data)

    @property
    def words(self) -> str:
        """The text a reader sees, with single spaces."""
        return " ".join("".join(self.text).split())


@pytest.fixture(scope="module")
def demo() -> str:
    """The page of the demo report."""
    return render(demo_report())


def test_the_verdict_is_the_first_thing_said(demo: str) -> None:
    """Title, facts, then the verdict with shape and word."""
    words = Outline(demo[demo.index('<div class="masthead">') : demo.index("<nav")]).words
    assert words.startswith(
        "Skill evaluation: coding-easy 2026-07-31 12:00 UTCcoding-easy@1.1.020 tasks × 3 repeatsexperiment demo"
        "run 20260731T120000-4f2a ✕ failed Completion ≥ 0.7 for 2 of 3 skills;"
    )


def test_the_page_is_well_formed_and_its_links_lead_somewhere(demo: str) -> None:
    """Every element is closed, ids are unique, every inner link has its place."""
    outline = Outline(demo)
    assert outline.open == []
    assert len(set(outline.ids)) == len(outline.ids)
    targets = {value[1:] for name, value in outline.attributes if name == "href" and value.startswith("#")}
    assert targets
    assert targets <= set(outline.ids)


def test_the_page_asks_nobody_for_anything(demo: str) -> None:
    """No element loads a file and the policy of the page forbids every request."""
    outline = Outline(demo)
    assert not [name for name, _ in outline.attributes if name in {"src", "srcset", "action", "data"}]
    links = [value for name, value in outline.attributes if name == "href"]
    assert all(link.startswith(("#", "data:")) for link in links)
    (policy,) = (value for _, value in outline.attributes if value.startswith("default-src"))
    assert "default-src 'none'" in policy
    style = demo[demo.index("<style>") : demo.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style


def test_the_interval_is_drawn_in_the_row(demo: str) -> None:
    """Each row has its interval as a small drawing that also says its numbers."""
    labels = [value for name, value in Outline(demo).attributes if name == "aria-label"]
    assert "completion 0.717, interval 0.592 to 0.818" in labels
    assert demo.count('<svg class="interval"') == 3


def test_flaky_and_failing_are_told_by_word_and_shape(demo: str) -> None:
    """No reader needs colour to see what fails and what is flaky."""
    words = Outline(demo).words
    assert "✕ fails all 60 graded trials" in words
    assert "◐ flaky on 14 of 20 tasks" in words
    assert "◐ 1/3" in words
    assert "✕ 0/3" in words


def test_each_remark_leads_to_the_reasons_of_its_skill(demo: str) -> None:
    """What is said of a row is a link to the failed trials of that row."""
    assert '<a href="#failed-0">flaky on 14 of 20 tasks</a>' in demo
    assert '<a href="#failed-1">fails all 60 graded trials</a>' in demo


def test_failed_trials_are_folded_and_repeats_told_once(demo: str) -> None:
    """Each skill has one folded part; three equal repeats are one line with the reason."""
    assert demo.count('<details class="skill-cases">') == 2
    assert "<td><bdi>expected 4, found 5</bdi></td><td>0, 1, 2</td>" in demo


@pytest.mark.parametrize("text", NASTY)
def test_foreign_text_is_shown_and_never_markup(text: str) -> None:
    """Whatever an id, a reason or an output holds, the page has the same elements as with plain text."""
    assert elements(text) == elements("plain")


def elements(text: str) -> list[str]:
    """Give the elements of a page in which a text stands everywhere, without the marks for hidden characters."""
    row = WRONG | {"skill_id": text, "skill_version": text, "scorer": text, "model": text}
    told: dict[str, Any] = dict.fromkeys(
        ("reason", "message", "failure_kind", "input", "expected", "stdout", "stderr"), text
    )
    told |= {"output": None, "causes": [{"kind": text, "text": text, "n": 1}]}
    other = row | {"scorer": "other", "partial_score": None}
    manifest = {
        "run_id": text,
        "command": text,
        "config": {text: text},
        "benchmark": {"id": text},
        "warnings": [text],
        "skills": [{"id": text, "path": text}],
    }
    report = report_of(
        row,
        other,
        CALCULATOR,
        matrix=[cell(row, text, 0), cell(other, text, 1)],
        failures=[failure(row, text, **told)],
        slices=[slice_of(row, text, 1)],
        manifest=manifest,
    )
    page = re.sub(r'<span class="hidden">([^<]*)</span>', r"\1", render(report))
    outline = Outline(page)
    assert not [name for name, _ in outline.attributes if name.startswith("on")]
    assert len(outline.scripts) == outline.tags.count("script")
    return outline.tags


def test_c47_the_hostile_message_is_text(demo: str) -> None:
    """The text of C47 is shown as it is, its line separator spelled out, its templates not run."""
    words = Outline(demo).words
    assert "</script><img src=x onerror=alert(1)> | <!-- ${7*7} {{7*7}} \\u2028" in words
    assert "49" not in words
    assert "\u2028" not in demo


def test_a_program_without_a_reply_is_shown_what_it_should_have_printed() -> None:
    """The shape of a reply is told, the cause is said once."""
    told: dict[str, Any] = {
        "status": "skill_error",
        "failure_kind": "no_reply",
        "message": "no reply here",
        "output": None,
    }
    row = failure(WRONG, "t", **told, stdout="HELLO", reason="skill_error: no reply here")
    words = Outline(render(report_of(WRONG, failures=[row]))).words
    assert 'A reply is one line on stdout: {"jsonrpc": "2.0", "id": 1, "result": …}' in words
    assert words.count("no reply here") == 1


def test_tags_and_causes_have_their_places(demo: str) -> None:
    """Completion by tag and the commonest causes of each skill are on the page."""
    words = Outline(demo).words
    assert "sums2 1 [0.2, 1] 6/6 0.5 [0.1, 0.9] 3/6 –" in words
    assert "wrong-calculator: wrong: expected 4, found 5 (60×)" in words
    assert "1/60" in words


def test_scorers_that_disagree_are_shown_with_the_task() -> None:
    """With two scorers the tasks they judge differently are listed; with one there is no such part."""
    exact, contains = (CALCULATOR | {"scorer": name} for name in ("exact", "contains"))
    matrix = [
        cell(exact, "same", 3),
        cell(contains, "same", 3),
        cell(exact, "odd", 3),
        cell(contains, "odd", 1),
    ]
    words = Outline(render(report_of(exact, contains, matrix=matrix))).words
    assert "skilltask contains exact calculatorodd ◐ 1/3 ✓ 3/3 Failed trials" in words
    assert "scorers disagree" not in Outline(render(report_of(CALCULATOR))).words
    same = Outline(render(report_of(exact, contains, matrix=matrix[:2]))).words
    assert "Where the scorers disagree On no task" in same


def test_every_cell_leads_to_its_trials_or_says_that_it_passed() -> None:
    """Without single trials a cell leads to its line among the failed ones, which is there for every such task."""
    held = failure(WRONG, "t1")
    matrix = [cell(WRONG, "t1", 0), cell(WRONG, "t2", 1), cell(WRONG, "t3", 3)]
    page = render(report_of(WRONG, matrix=matrix, failures=[held]))
    assert '<td class=failing><a href="#task-0-0">' in page
    assert '<td class=flaky><a href="#task-1-0">' in page
    assert '<td class=fine title="passed all 3 graded trials"><span' in page
    assert '<tr id="task-1-0">' in page
    words = Outline(page).words
    assert "1 of 5 trials, 2 tasks" in words
    assert "2 more failed trials in the tables of the run" in words
    assert "t2✕ 2 failed trials" in words


def test_trials_are_counted_in_words() -> None:
    """The provenance says how trials ended, not how the manifest spells it."""
    counts = {"trials": 180, "by_status": {"completed": 179, "timeout": 1}}
    page = render(report_of(CALCULATOR, manifest=MANIFEST | {"counts": counts}))
    assert "<dt>trials</dt><dd>179 completed, 1 timeout</dd>" in page


def test_hidden_characters_are_marked() -> None:
    """Control, bidi and zero-width characters in a reason are visible as marked escapes."""
    page = render(report_of(WRONG, failures=[failure(WRONG, "t", reason="\x1b[31m\u202egnp\u200b")]))
    assert '<span class="hidden">\\x1b</span>[31m<span class="hidden">\\u202e</span>gnp' in page
    assert "\x1b" not in page


def test_the_whole_id_of_a_shortened_skill_can_be_read_in_its_row() -> None:
    """A name that is cut in its middle says the whole id to the pointer; a whole name says nothing twice."""
    long = f"{'a' * 50}<{'b' * 50}"
    page = render(report_of(CALCULATOR | {"skill_id": long}, FLAKY))
    assert f'<bdi class="skill" title="{"a" * 50}&lt;{"b" * 50}">' in page
    assert page.count('<bdi class="skill" title=') == 1


def test_a_long_reason_is_cut_in_the_list() -> None:
    """Of a reason the list shows 300 characters, the last of them an ellipsis."""
    page = render(report_of(WRONG, failures=[failure(WRONG, "t", reason="x" * 12_345)]))
    assert f"<bdi>{'x' * 299}…</bdi>" in page
    assert "x" * 300 not in page[page.index('id="failures"') :]


def test_c37_what_is_not_known_is_a_dash_with_a_reason() -> None:
    """A null is a dash that says why when pointed at, and again under the table; NaN is nowhere."""
    page = render(report_of({"skill_id": "lost", "n_graded": 0}))
    outline = Outline(page)
    assert '<abbr title="no trial was graded">–</abbr>' in page
    assert "– completion: no trial was graded" in outline.words
    assert not re.search(r"\bnan\b", outline.words, re.IGNORECASE)


def test_an_ungraded_trial_is_not_called_failed() -> None:
    """Ungraded has a word and a shape of its own."""
    row = failure(FLAKY, "t", verdict="ungraded", reason="judge gave no number")
    words = Outline(render(report_of(FLAKY, failures=[row]))).words
    assert "○ ungradedjudge gave no number" in words


def test_without_rows_the_page_loads_no_charts() -> None:
    """An empty report is a small page that says so."""
    page = render(report_of())
    assert "No skill was evaluated." in page
    assert len(page) < 40_000


def test_the_matrix_shows_trouble_first() -> None:
    """The task with the fewest passes comes first; a reader may ask for the failing and the flaky ones."""
    matrix = [cell(CALCULATOR, "fine-1", 3), cell(CALCULATOR, "fine-2", 3), cell(CALCULATOR, "bad", 1)]
    page = render(report_of(CALCULATOR, matrix=matrix))
    assert page.index("<bdi>bad</bdi>") < page.index("<bdi>fine-1</bdi>")
    assert '<tr data-kinds="flaky"><th scope="row"><bdi>bad</bdi>' in page
    assert '<tr><th scope="row"><bdi>fine-1</bdi>' in page


def test_what_is_cut_is_counted() -> None:
    """The page says how many failed trials it does not show."""
    rows = [failure(WRONG, f"t{i}", repeat) for i in range(40) for repeat in range(2)]
    assert "20 more failed trials are in the tables of the run." in render(report_of(WRONG, failures=rows))


def test_a_long_page_has_a_line_of_contents(demo: str) -> None:
    """Every section can be jumped to, in the order in which it stands."""
    contents = demo[demo.index('<nav class="contents"') : demo.index("</nav>")]
    ids = re.findall(r'href="#([a-z-]+)"', contents)
    assert ids == [name for name in re.findall(r'<h2 id="([a-z-]+)"', demo) if name in ids]
    assert {"skills", "tasks", "tags", "failures", "provenance"} <= set(ids)
    assert len(ids) == demo.count("<h2 id=")


def gate_check(rule: int) -> GateCheck:
    """Give a check that failed."""
    return GateCheck(
        rule=rule, metric="completion_rate", is_regression=False, direction="min", limit=0.9, verdict="failed"
    )


def test_the_gate_stands_before_the_skills() -> None:
    """What failed by what is told right after the verdict."""
    page = render(dataclasses.replace(demo_report(), gates=(gate_check(0),)))
    assert page.index('<h2 id="gate">') < page.index('<h2 id="skills">')


def test_only_long_tables_can_be_filtered() -> None:
    """A table of text gets a filter from its eleventh row on; from the second one it can be sorted."""
    checks = [gate_check(i) for i in range(11)]

    def gate(n: int) -> str:
        page = render(dataclasses.replace(demo_report(), gates=tuple(checks[:n])))
        return page[page.index('<h2 id="gate">') : page.index('<h2 id="skills">')]

    assert 'data-rows="rows"' in gate(11)
    assert 'data-rows="rows"' not in gate(10)
    assert "sortable" in gate(2)
    assert "sortable" not in gate(1)


def test_the_command_can_be_copied_and_stands_once(demo: str) -> None:
    """The command to run it again has a place of its own in the provenance."""
    assert "data-copy>skilleval eval --benchmark coding-easy --runs 3</pre>" in demo
    assert "<dt>command</dt>" not in demo
