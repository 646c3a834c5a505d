from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from reports import CALCULATOR, HOSTILE, WRONG, cell, demo_report, failure, report_of

from skilleval.report.markdown_writer import escape, fenced, render

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
OWN_HTML = {"<code>", "</code>", "</details>"}


def tokens(text: str) -> list[Token]:
    """Give every token of a Markdown text, those inside lines included."""
    parsed = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    return [inner for token in parsed for inner in (token, *(token.children or ()))]


def plain(text: str) -> str:
    """Give what a reader of a Markdown line sees."""
    return "".join(token.content for token in tokens(text) if token.type in {"text", "text_special"})


@pytest.mark.parametrize("text", NASTY)
def test_escaped_text_is_shown_and_means_nothing(text: str) -> None:
    """A foreign line stays one paragraph of text: no list, heading, link, image, emphasis or tag."""
    kinds = {token.type for token in tokens(escape(text))}
    assert kinds <= {"paragraph_open", "inline", "text", "text_special", "html_inline", "paragraph_close"}
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
    report = report_of(
        row, CALCULATOR, matrix=[cell(row, text, 0)], failures=[failure(row, text, output=text)]
    )
    found = [token for token in tokens(render(report)) if token.type not in {"text", "text_special"}]
    return [token.type for token in found if token.content not in {"<code>", "</code>"}]


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
        "**✕ FAILED** 1 of 3 skills reaches 0.7 completion; wrong-calculator fails all 20"
    )
    assert lines[4] == (
        "| skill | tasks × repeats | completion | partial score | errors | consistency | p50 | p95 | composite "
        "| remarks |"
    )
    assert lines[6] == (
        "| calculator | 20 × 3 | 1 [0.789, 1] | 1 | 0 | 1 | 21.3\u2009ms | 34.8\u2009ms | 0.9997 |  |"
    )


def test_what_is_not_known_has_a_note() -> None:
    """A dash in the table is explained under it."""
    text = render(report_of({"skill_id": "lost"}))
    assert "| lost | – | – | – | – | – | – | – | – |  |" in text
    assert "- – consistency: needs at least two repeats" in text


def test_an_empty_report_says_so() -> None:
    """Nothing evaluated is said in words."""
    assert "No skill was evaluated." in render(report_of())
