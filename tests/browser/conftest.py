"""A browser without a network, and a page that is opened in it; the tests of this folder share one browser."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
FOLDER = Path(os.environ.get("AXE_DIR", Path(__file__).parents[2] / ".cache" / "axe"))
AXE = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
GRAVE = {"serious", "critical"}


@dataclass
class Visit:
    """A page that was opened, what it asked the network for and what it complained of."""

    page: Any
    address: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def open(self) -> Visit:
        """Open the page and wait for its figures."""
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(self.address)
        for figure in self.page.query_selector_all("[data-spec]"):
            figure.wait_for_selector("svg", timeout=20_000)
        return self


def grave(page: Any) -> list[str]:
    """Give what axe-core finds serious or critical on a page as it stands, a line a finding."""
    # Evaluated by the driver: a script element would need the leave of the page's own policy.
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {one['help']} at {node['target']}"
        for one in found["violations"]
        if one["impact"] in GRAVE
        for node in one["nodes"]
    ]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A headless browser. Playwright is loaded here, because only these tests need it."""
    playwright = importlib.import_module("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any, tmp_path: Path) -> Iterator[Any]:
    """Open a page without a network, as somebody would who was sent the file."""
    contexts = []

    def opened(page: str, **options: Any) -> Visit:
        path = tmp_path / "report.html"
        path.write_text(page, encoding="utf-8")
        contexts.append(chromium.new_context(offline=True, **options))
        return Visit(contexts[-1].new_page(), path.as_uri()).open()

    yield opened
    for context in contexts:
        context.close()
