from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from served_runs import asked, raw, served
from written_runs import contents, write_run


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with one run, and a secret beside it."""
    place = tmp_path_factory.mktemp("guarded")
    write_run(place / "root", "a/run")
    (place / "secret.txt").write_text("SECRET")
    return place / "root"


@pytest.fixture(scope="module")
def address(root: Path) -> Iterator[str]:
    """Serve it."""
    with served(root) as found:
        yield found


def status(answer: bytes) -> int:
    """Give the status of an answer."""
    return int(answer.split(b" ", maxsplit=2)[1])


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:9", "localhost:8722", "LOCALHOST", "[::1]", "[::1]:80"]
)
def test_names_of_this_machine_are_answered(address: str, host: str) -> None:
    """Also with the port of a tunnel."""
    assert status(asked(address, "/", host=host)) == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:80",
        "127.0.0.1@evil",
        "[::2]",
        "0.0.0.0",  # noqa: S104 - a name to refuse
        "",
    ],
)
def test_foreign_names_are_refused(address: str, host: str) -> None:
    """A name that was made to lead here (DNS rebinding) gets nothing, whatever it asks for."""
    for target in ("/", "/runs.json", "/report?run=a/run"):
        answer = asked(address, target, host=host)
        assert status(answer) in {400, 421}
        assert b"run_id" not in answer


def test_a_request_says_its_host_once(address: str) -> None:
    """None at all and two of them are no request for us."""
    assert status(raw(address, b"GET / HTTP/1.0\r\n\r\n")) == 421
    assert status(asked(address, "/", more="Host: evil.example\r\n")) in {400, 421}


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_nothing_but_looking_is_allowed(address: str, root: Path, method: str) -> None:
    """Whatever could change something is refused, and nothing is changed."""
    before = contents(root)
    for target in ("/", "/report?run=a/run"):
        answer = asked(address, target, method=method)
        assert status(answer) in {400, 405}
    assert contents(root) == before


def test_other_sites_may_link_and_not_load(address: str) -> None:
    """A picture or script of another page that points here gets nothing; a click on a link does."""
    cross = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: "
    assert status(asked(address, "/runs.json", more=f"{cross}no-cors\r\n")) == 403
    assert status(asked(address, "/", more=f"{cross}navigate\r\n")) == 200


@pytest.mark.parametrize(
    "target",
    [
        "/../secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "/a/run/manifest.json",
        "//etc/passwd",
        "/report?run=../secret.txt",
        "/report?run=a/run/../../../secret.txt",
        "/report?run=%2e%2e%2f",
        "/report?run=a%2frun%00",
        "/report?run=/etc/passwd",
        f"/report?run={'x' * 20_000}",
        "/report?run=a/run&format=os:system",
        "/report?run=a/run&format=../../secret",
        "/diff?a=../secret.txt&b=a/run",
        "/style.css/../../secret.txt",
        "http://evil.example/",
        "*",
    ],
)
def test_no_address_leads_out_of_the_list(address: str, target: str) -> None:
    """Dots, encoded slashes, NUL, absolute paths and long names find nothing, and end nothing."""
    answer = asked(address, target)
    assert status(answer) in {400, 404}
    assert b"SECRET" not in answer
    assert b"root:" not in answer
    assert status(asked(address, "/")) == 200


def test_a_request_line_without_end_is_refused(address: str) -> None:
    """A megabyte of address gets no page, and the server goes on."""
    assert not asked(address, "/?q=" + "x" * 1_000_000).startswith(b"HTTP/1.1 200 ")
    assert status(asked(address, "/")) == 200


@pytest.mark.parametrize("target", ["/", "/runs.json", "/runs.csv", "/style.css", "/nowhere", "/?state=odd"])
def test_every_answer_has_the_strict_headers(address: str, target: str) -> None:
    """No sniffing, no frames, no referrer, nothing kept, nothing for other origins, and no script source at all."""
    head = asked(address, target).split(b"\r\n\r\n", maxsplit=1)[0].decode().lower()
    headers = dict(line.split(": ", maxsplit=1) for line in head.splitlines()[1:])
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "deny"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "script" not in headers["content-security-policy"]
    assert "server" not in headers
