from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from reports import CALCULATOR, HOSTILE, WRONG, cell, demo_report, failure, report_of, slice_of

from skilleval.report.markdown_text import escape, fenced
from skilleval.report.markdown_writer import render

NASTY = [
    HOSTILE,
    "| a | b |\n|---|---|",
    "\\|",
    "`` ` ```",
    "```\n# heading\n````\n",
    "**bold** _it_ ~~gone~~",
    "[x](javascript:alert(1)) ![i](http://x.example/y.png)",
    "<details><b>&amp;",
    "- item",
    "1. item",
    "# heading",
    "> quote",
    "+ plus\r\n",
    "@someone #12 www.evil.example https://evil.example",
    "$a$ \x1b[31m \u202e",
]
NASTY += [
    "a_b __init__ _x_",
    "x | `y` | z",
    "`",
    "``a`",
    "[a]: http://x",
    "[1, 2](x)",
    ":smile:",
    " lead",
    "=== ",
    "---",
]
SHOWN = {"text", "text_special", "code_inline"}
OWN_HTML = {"<code>", "</code>", "</details>"}


def tokens(text: str) -> list[Token]:
    """Give every token of a Markdown text, those inside lines included."""
    parsed = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    return [inner for token in parsed for inner in (token, *(token.children or ()))]


def plain(text: str) -> str:
    """Give what a reader of a Markdown line sees."""
    return "".join(token.content for token in tokens(text) if token.type in SHOWN)


@pytest.mark.parametrize("text", NASTY)
def test_escaped_text_is_shown_and_means_nothing(text: str) -> None:
    """A foreign line stays one paragraph of text: no list, heading, link, image, emphasis or tag."""
    kinds = {token.type for token in tokens(escape(text))}
    assert kinds <= {"paragraph_open", "inline", "html_inline", "paragraph_close"} | SHOWN
    html = {token.content for token in tokens(escape(text)) if token.type == "html_inline"}
    assert html <= OWN_HTML


@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N", "P", "S"]), min_size=1))
def test_escaped_text_reads_as_it_was(text: str) -> None:
    """A reader sees exactly the characters that were written."""
    assert plain(escape(text)) == text


@given(st.text(alphabet="`~a\n \\", min_size=1))
def test_a_fence_is_closed_only_by_its_end(text: str) -> None:
    """A text of fences and lines stays within its block."""
    (block,) = tokens(fenced(text))
    assert block.type == "fence"
    assert block.content.removesuffix("\n") == text.removesuffix("\n") or block.content == text + "\n"


@pytest.mark.parametrize("text", NASTY)
def test_no_cell_breaks_out_of_its_table(text: str) -> None:
    """A hostile id in a table leaves its number of rows and columns as with a plain one."""
    assert shape(text) == shape("plain")


def shape(text: str) -> list[str]:
    """Give the kinds of all tokens of a report in which a text stands in every table."""
    row = WRONG | {"skill_id": text, "scorer": text}
    other = row | {"scorer": "other", "partial_score": 0.1}  # always before the other row
    cause = {"kind": text, "text": text, "n": 1}
    told = failure(row, text, output=None, stdout=text, failure_kind="no_reply", causes=[cause])
    matrix = [cell(row, text, 0), cell(other, text, 1)]
    report = report_of(
        row, other, CALCULATOR, matrix=matrix, failures=[told], slices=[slice_of(row, text, 1)]
    )
    found = [token for token in tokens(render(report)) if token.type not in SHOWN]
    return [token.type for token in found if token.content not in {"<code>", "</code>"}]


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("skill_error: exit code 1, see a_b.py", "skill_error: exit code 1, see a_b.py"),
        ("shout: 1 [0.00922, 1].", "shout: 1 [0.00922, 1]."),
        ("completion 0.5 < 0.7 & more", "completion 0.5 < 0.7 & more"),
        ("say <b> or *x* now", "say `<b> or *x*` now"),
        ("__init__ of a`b", "``__init__ of a`b``"),
        ("`x`", "`` `x` ``"),
        ("mail a@b.c today", "mail `a@b.c` today"),
        ("- item", "`-` item"),
        ("1.0.0", "1.0.0"),
        ("a|b", "<code>a&#124;b</code>"),
    ],
)
def test_the_source_is_readable_too(text: str, source: str) -> None:
    """Plain words stand bare, what could be interpreted in a code span, and only a pipe needs entities."""
    assert escape(text) == source


def test_c47_the_hostile_output_stays_in_its_fence() -> None:
    """The output of C47 is the content of a code block, its separator spelled out."""
    text = render(report_of(WRONG, failures=[failure(WRONG, "t", output=HOSTILE)]))
    blocks = [token.content for token in tokens(text) if token.type == "fence"]
    assert HOSTILE.replace("\u2028", "\\u2028") + "\n" in blocks


def test_the_report_starts_with_the_verdict() -> None:
    """Title, facts, verdict, then the table."""
    lines = [line for line in render(demo_report()).splitlines() if line]
    assert lines[0] == "# Skill evaluation: coding-easy"
    assert lines[2].startswith(
        "**✕ FAILED** Completion ≥ 0.7 for 2 of 3 skills; wrong-calculator fails all 20"
    )
    assert lines[4] == (
        "| skill | tasks × repeats | completion | partial score | errors | consistency | p50 | p95 | composite "
        "| remarks |"
    )
    assert lines[6] == (
        "| calculator | 20 × 3 | 1 [0.789, 1] | 1 | 0/60 | 1 | 21.3\u202fms | 34.8\u202fms | 0.9997 |  |"
    )


def test_a_program_without_a_reply_is_shown_what_it_printed_and_what_it_should() -> None:
    """The raw stdout stands in a fence, and the shape of a reply is told."""
    told = failure(
        WRONG,
        "t",
        status="skill_error",
        failure_kind="no_reply",
        message="no reply",
        output=None,
        stdout="HELLO",
    )
    text = render(report_of(WRONG, failures=[told | {"reason": "skill_error: no reply"}]))
    assert "**t** · repeat 0 · skill_error (no_reply) · no reply · 21.5\u202fms" in text
    assert 'A reply is one line on stdout: `{"jsonrpc": "2.0", "id": 1, "result": …}`' in text
    assert "stdout (5 characters)\n\n```text\nHELLO\n```" in text


def test_tags_disagreements_and_causes_have_their_places() -> None:
    """Completion by tag has its interval and counts; a task that scorers judge differently is named."""
    text = render(demo_report())
    assert "| sums | 2 | 1 [0.2, 1] (6/6) | 0.5 [0.1, 0.9] (3/6) | – |" in text
    assert "| texts | 1 | – | – | 0 (0/3) |" in text
    assert "- wrong-calculator: wrong: expected 4, found 5 (60×)" in text
    assert "scorers disagree" not in text
    exact, contains = (CALCULATOR | {"scorer": name} for name in ("exact", "contains"))
    matrix = [cell(exact, "t", 3), cell(contains, "t", 1)]
    two = render(report_of(exact, contains, matrix=matrix))
    assert "| skill | task | contains | exact |" in two
    assert "| calculator | t | ◐ 1/3 | ✓ 3/3 |" in two
    assert "On no task:" in render(
        report_of(exact, contains, matrix=[cell(exact, "t", 3), cell(contains, "t", 3)])
    )


def test_many_disagreements_are_cut_and_counted() -> None:
    """The table stays short; what is left out is said."""
    exact, contains = (CALCULATOR | {"scorer": name} for name in ("exact", "contains"))
    matrix = [cell(row, f"t{i}", n) for i in range(21) for row, n in ((exact, 3), (contains, 0))]
    assert "1 more row is in the JSON report." in render(report_of(exact, contains, matrix=matrix))


def test_what_is_not_known_has_a_note() -> None:
    """A dash in the table is explained under it."""
    text = render(report_of({"skill_id": "lost"}))
    assert "| lost | – | – | – | – | – | – | – | – |  |" in text
    assert "- – consistency: needs at least two repeats" in text


def test_an_empty_report_says_so() -> None:
    """Nothing evaluated is said in words."""
    assert "No skill was evaluated." in render(report_of())
