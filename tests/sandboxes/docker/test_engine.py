from __future__ import annotations

import http.server
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from skilleval.sandboxes.docker.engine import Engine, EngineError

_VERSION = b'{"ApiVersion": "1.41", "Version": "20.10.24"}'


class _Dying(http.server.BaseHTTPRequestHandler):
    """Says which version it is, and hangs up on whatever else it is asked."""

    def do_GET(self) -> None:
        """Answer, or not."""
        if self.path.endswith("/version"):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(_VERSION)))
            self.end_headers()
            self.wfile.write(_VERSION)
        self.close_connection = True

    def address_string(self) -> str:
        """Nobody has an address here."""
        return ""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def dying(tmp_path: Path) -> Iterator[str]:
    """Give the address of an engine that goes away once it has been found."""
    path = tmp_path / "s"
    with socketserver.ThreadingUnixStreamServer(str(path), _Dying) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"unix://{path}"
        server.shutdown()


def test_an_engine_that_has_gone_is_said_to_have_gone(dying: str) -> None:
    """The words are ours: what the library raises then tells of its own inside."""
    engine = Engine(dying)
    try:
        with pytest.raises(EngineError, match="the engine answers no more: it has ended, or"):
            engine.facts()
    finally:
        engine.close()
