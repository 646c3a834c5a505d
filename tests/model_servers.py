"""The scripted model server, started as the program that it is."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).parent.parent / "scripts" / "model_server.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Status, headers and decoded body of an HTTP answer; the body is bytes where it is no JSON."""

    status: int
    headers: dict[str, str]
    body: Any

    @property
    def text(self) -> str:
        """The text of the completion."""
        return str(self.body["choices"][0]["message"]["content"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServer:
    """A running server; `log` has a line for each request."""

    port: int
    log: Path

    @property
    def base_url(self) -> str:
        """What `model.base_url` is set to."""
        return f"http://127.0.0.1:{self.port}/v1"

    def logged(self) -> list[dict[str, Any]]:
        """Give what was asked so far."""
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]

    def sent(self, method: str, path: str, body: bytes = b"", **headers: str) -> Reply:
        """Send one request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(
                method, path, body, {name.replace("_", "-"): text for name, text in headers.items()}
            )
            answer = connection.getresponse()
            raw = answer.read()
        finally:
            connection.close()
        try:
            decoded = json.loads(raw)
        except json.JSONDecodeError:
            decoded = raw
        return Reply(status=answer.status, headers=dict(answer.getheaders()), body=decoded)

    def asked(self, user: str, *, system: str | None = None, fault_header: str = "", **fields: Any) -> Reply:
        """Ask for a completion."""
        messages = [{"role": "user", "content": user}]
        if system is not None:
            messages.insert(0, {"role": "system", "content": system})
        body = {"model": "scripted", "messages": messages, **fields}
        return self.sent("POST", "/v1/chat/completions", json.dumps(body).encode(), x_fault=fault_header)


@contextmanager
def model_server(folder: Path, *arguments: str) -> Iterator[ModelServer]:
    """Start the server on a free port; its log stands in the folder."""
    log = folder / "requests.jsonl"
    log.touch()
    command = [sys.executable, "-B", str(SCRIPT), "0", "--log", str(log), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            word, url = process.stdout.readline().split()
            assert word == "ready"
            yield ModelServer(port=int(url.split(":")[2].split("/")[0]), log=log)
        finally:
            process.terminate()
            process.wait(timeout=120)
