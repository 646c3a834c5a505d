"""Make the picture of the HTML report that the README shows: run the demo, open its report, photograph the top.

Usage: python scripts/picture.py [docs/images/report.png]. Needs Playwright and Debian's Chromium (make picture).
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
from pathlib import Path

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
WIDTH = 1280
HEIGHT = 1800  # so that what the picture shows is near enough to be drawn
TASKS = 5  # rows of the map of tasks that are shown
MOST_BYTES = 300_000
WAIT_MS = 30_000


def demo_report(folder: Path) -> Path:
    """Run the demo in a folder and give the page it wrote."""
    subprocess.run(
        [sys.executable, "-m", "skilleval", "demo"], cwd=folder, check=True, stdout=subprocess.DEVNULL
    )
    (page,) = folder.glob("outputs/**/report.html")
    return page


def photograph(page: Path, picture: Path) -> None:
    """Open a page in light colours without a network, wait for its figures, and write the top of it."""
    with importlib.import_module("playwright.sync_api").sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        tab = browser.new_page(
            offline=True,
            color_scheme="light",
            viewport={"width": WIDTH, "height": HEIGHT},
            device_scale_factor=1,
        )
        tab.goto(page.as_uri())
        tab.wait_for_selector(".chart:not(.drawn)", state="detached", timeout=WAIT_MS)
        picture.parent.mkdir(parents=True, exist_ok=True)
        last = tab.locator("#by-task tbody tr").nth(TASKS).bounding_box()
        tab.screenshot(path=str(picture), clip={"x": 0, "y": 0, "width": WIDTH, "height": last["y"]})
        browser.close()


def main() -> int:
    """Write the picture; a picture too large for a README is an error."""
    picture = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images/report.png")
    with tempfile.TemporaryDirectory() as folder:
        photograph(demo_report(Path(folder)), picture)
    size = picture.stat().st_size
    sys.stdout.write(f"{picture}: {size} bytes\n")
    return 0 if size < MOST_BYTES else 1


if __name__ == "__main__":
    raise SystemExit(main())
