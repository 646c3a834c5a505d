from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from browser.conftest import Visit, grave
from served_runs import served
from stored_runs import TASKS, Runs
from written_runs import write_run

pytestmark = pytest.mark.browser

PHONE = {"width": 360, "height": 800}
NAME = "a\"'</td><script>document.title='owned'</script>\u202e"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve two runs that came to their end, and one whose names look like markup."""
    place = tmp_path_factory.mktemp("served")
    with ThreadPoolExecutor(1) as apart:  # the browser's driver has the event loop of this thread
        store = apart.submit(written, place).result()
    with served(store) as found:
        yield found


def written(place: Path) -> Path:
    """Write the runs; give the folder of them."""
    runs = Runs(place)
    runs.run(wrong=TASKS[:4])
    runs.run()
    about = {"id": NAME, "version": NAME}
    write_run(runs.store, "odd", run_id=NAME, experiment=NAME, benchmark=about, skills=[about])
    return runs.store


@pytest.fixture
def open_page(chromium: Any, address: str) -> Iterator[Any]:
    """Open a page of it; every request must be for the server itself, and nothing may be complained of."""
    visits: list[Visit] = []

    def opened(target: str = "/", status: int = 200, **options: Any) -> Any:
        context = chromium.new_context(**options)
        visits.append(Visit(context.new_page(), address + target).open())
        if status != HTTPStatus.OK:  # which the browser tells of itself
            visits[-1].complaints[:] = [one for one in visits[-1].complaints if str(status) not in one]
        return visits[-1].page

    yield opened
    for visit in visits:
        assert [one for one in visit.requests if not one.startswith((address, "data:", "blob:"))] == []
        assert visit.complaints == []
        visit.page.context.close()


def follow(control: Any) -> None:
    """Click a link or a button, and wait for the page it leads to: the old one may still be there after a click."""
    with control.page.expect_navigation():
        control.click()


def test_runs_are_searched_filtered_and_ordered(open_page: Any) -> None:
    """A word, a choice and a click on a header each do what they say, without any script."""
    page = open_page(java_script_enabled=False)
    assert page.locator("tbody tr").count() == 3
    page.fill("input[name=q]", "recorded")
    follow(page.locator("button:has-text('Show')"))
    assert page.locator("tbody tr").count() == 2
    assert "2 of 3 runs" in page.locator("[role=status]").inner_text()
    follow(page.locator("thead a:has-text('started')"))
    assert page.locator("th[aria-sort=ascending]").count() == 1
    first = page.locator("tbody th a").first.inner_text()
    follow(page.locator("thead a:has-text('started')"))
    assert page.locator("tbody th a").last.inner_text() == first
    follow(page.locator("a:has-text('all runs')"))
    page.select_option("select[name=benchmark]", label="custom")
    follow(page.locator("button:has-text('Show')"))
    assert page.locator("tbody tr").count() == 2


def test_a_report_opens_and_its_scripts_run(open_page: Any) -> None:
    """The policy of the server lets the scripts of a report run, which sort its table and draw its figures."""
    page = open_page("/?q=recorded")
    follow(page.locator("tbody th a").first)
    page.wait_for_selector("h1")
    for figure in page.query_selector_all("[data-spec]"):
        figure.wait_for_selector("svg", timeout=20_000)
    assert page.evaluate("typeof window.vegaEmbed") in {"function", "undefined"}
    assert page.locator("#theme").is_visible()


def test_a_foreign_script_does_not_run_in_a_served_report(open_page: Any, address: str) -> None:
    """A script that came into a report in any other way has no hash in the policy."""
    page = open_page("/?q=recorded")
    link = page.locator("tbody th a").first.get_attribute("href")

    def tampered(route: Any) -> None:
        answer = route.fetch()
        body = answer.text().replace("</main>", "<script>document.title='owned'</script></main>")
        route.fulfill(response=answer, body=body)

    other = page.context.new_page()
    other.route("**/report?*", tampered)
    other.goto(address + link)
    assert "owned" in other.content()
    assert other.title() != "owned"


def test_two_runs_are_chosen_and_compared(open_page: Any) -> None:
    """Radio buttons name A and B; the comparison tells the verdict."""
    page = open_page("/?q=recorded&sort=started")
    page.locator("input[name=a]").first.check()
    page.locator("input[name=b]").last.check()
    follow(page.locator("button:has-text('Compare')"))
    assert "improved" in page.locator(".verdict").inner_text() or "inconclusive" in page.content()


def test_a_course_is_drawn(open_page: Any) -> None:
    """Each run is a mark with its interval, and a link."""
    page = open_page("/?q=recorded")
    follow(page.locator("a:has-text('Completion over time')"))
    assert page.locator("svg circle").count() == 2
    follow(page.locator("tbody th a").first)
    assert "/report?run=" in page.url


def test_foreign_names_are_shown_and_never_obeyed(open_page: Any) -> None:
    """Names that look like markup stand there as text."""
    page = open_page("/?q=odd")
    assert page.title() != "owned"
    assert page.locator("tbody script").count() == 0
    assert "</td><script>" in page.locator("tbody").inner_text()


def test_a_phone_shows_everything(open_page: Any, tmp_path: Path) -> None:
    """At 360 px nothing but the table itself is wider than the screen, in dark colours too."""
    for target in ("/", "/trends?skill=recorded"):
        page = open_page(target, viewport=PHONE, color_scheme="dark")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        page.screenshot(path=tmp_path / "phone.png", full_page=True)


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark"}, {"viewport": PHONE}], ids=str)
@pytest.mark.parametrize("target", ["/", "/?q=nothing-at-all", "/trends?skill=recorded", "/report?run=none"])
def test_axe_finds_nothing_serious_in_the_pages(open_page: Any, target: str, options: dict[str, Any]) -> None:
    """The list, an empty list, the trends and a page about a problem: no serious and no critical finding."""
    status = HTTPStatus.NOT_FOUND if "none" in target else HTTPStatus.OK
    assert grave(open_page(target, status.value, **options)) == []


def test_axe_finds_nothing_serious_in_a_served_report_and_comparison(open_page: Any) -> None:
    """What the list leads to keeps to the same, behind the policy of the server."""
    page = open_page("/?q=recorded&sort=started")
    link = page.locator("tbody th a").first.get_attribute("href")
    page.locator("input[name=a]").first.check()
    page.locator("input[name=b]").last.check()
    follow(page.locator("button:has-text('Compare')"))
    page.wait_for_selector(".verdict")
    assert grave(page) == []
    assert grave(open_page(link)) == []
