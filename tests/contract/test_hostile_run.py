from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hostile_run import SAYINGS, hostile_run
from markdown_it import MarkdownIt

from skilleval.app.analyse import analyse
from skilleval.report import WRITERS
from skilleval.report.document import Report, from_json

ACTIVE = {"img", "iframe", "object", "embed", "base", "form", "video", "audio", "foreignobject"}
OWN_TAGS = re.compile(r"(\s|</?(details|summary|sub|code)>|<!-- [a-z:.\- 0-9]+ -->|(?<=<summary>)[^<>]*)*")
LAYOUT = "\n\r\t"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The report of a real run of a skill that says what could break out."""
    return analyse(hostile_run(tmp_path_factory.mktemp("hostile")))


class Elements(HTMLParser):
    """The elements of a page, what they would run, and the text outside of scripts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.names: set[str] = set()
        self.handlers: list[str] = []
        self.targets: list[str] = []
        self.text: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember the element."""
        self.names.add(tag)
        self._inside = tag
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.targets += [value or "" for name, value in attrs if name in {"href", "src"}]

    def handle_endtag(self, tag: str) -> None:
        """Leave the element."""
        self._inside = "" if tag == self._inside else self._inside

    def handle_data(self, data: str) -> None:
        """Remember text that is shown."""
        if self._inside not in {"script", "style"}:
            self.text.append(data)


def misleading(text: str) -> set[str]:
    """Give the characters that act on a screen without being seen."""
    acting = {char for char in text if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    return acting - set(LAYOUT)


def check_html(text: str) -> None:
    """No element, handler or link is there that the page did not make."""
    page = Elements()
    page.feed(text)
    assert not page.names & ACTIVE
    assert page.handlers == []
    assert all(target.startswith(("#", "data:")) for target in page.targets)
    assert misleading("".join(page.text)) == set()


def check_markdown(text: str) -> None:
    """No HTML but ours, no image, no link that runs something."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    inline = [child for token in tokens for child in token.children or ()]
    for token in (*tokens, *inline):
        assert token.type != "image"
        if token.type in {"html_block", "html_inline"}:
            assert OWN_TAGS.fullmatch(token.content)
            assert "<img" not in token.content
        assert not str(token.attrGet("href") or "").startswith("javascript:")
    assert misleading(text) == set()


def check_json(text: str) -> None:
    """It is one document that reads back; what its text could do is up to who shows it."""
    assert from_json(text).run.n_trials == 2 * len(SAYINGS)
    assert text.encode("utf-8")


def check_csv(text: str) -> None:
    """A row a skill, and no cell that a spreadsheet would work out."""
    rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) == 2
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "@"))]


def check_junit(text: str) -> None:
    """It is well-formed, with a case a task."""
    suite = ET.fromstring(text)  # noqa: S314 - text of our own writer
    names = {case.get("name") or "" for case in suite.iter("testcase")}
    assert sum(any(f"t-{said}" in name for name in names) for said in SAYINGS) == len(SAYINGS)


def check_latex(text: str) -> None:
    """No macro of the skill stands in the source, and nothing that a compiler of plain text cannot read."""
    for macro in ("\\input{", "\\write18", "\\end{document} \\"):
        assert macro not in text
    assert text.count("\\end{document}") == 1
    assert misleading(text) == set()


def check_notebook(text: str) -> None:
    """Cells are text and code of ours: what a skill said is in none of them."""
    cells = json.loads(text)["cells"]
    assert [cell for cell in cells if "onerror" in "".join(cell["source"])] == []
    assert misleading(text) == set()


CHECKS: dict[str, Callable[[str], None]] = {
    "html": check_html,
    "json": check_json,
    "csv": check_csv,
    "markdown": check_markdown,
    "github": check_markdown,
    "comment": check_markdown,
    "junit": check_junit,
    "latex": check_latex,
    "notebook": check_notebook,
}


@pytest.mark.parametrize("name", WRITERS)
def test_what_a_skill_says_is_inert_in_every_format(name: str, report: Report) -> None:
    """Markup, macros, formulas, control and direction characters of a skill stay text; each format has its check."""
    CHECKS[name](WRITERS[name].render(report))


def test_the_run_holds_the_hostile_texts(report: Report, tmp_path: Path) -> None:
    """The run is what it claims: every saying failed its task but one, and is in the report."""
    assert report.n_failures == 2 * (len(SAYINGS) - 2)  # what holds the expected text passes
    (tmp_path / "report.json").write_text(WRITERS["json"].render(report), encoding="utf-8")
    assert "onerror=alert(1)" in json.dumps(json.loads((tmp_path / "report.json").read_text("utf-8")))
