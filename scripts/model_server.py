"""Serve a scripted model over the OpenAI protocol: real sockets, no key, the same answer to the same request.

    python scripts/model_server.py 8377        then: skilleval eval skill_set=examples_md model=local --baseline

What it says stands in a file of rules (examples/models/rules.json). It is a judge, too: an assertion passes where the
phrases it quotes occur in the output. Models called `fault-…` fail in the way their name says; so does a request with
the header `x-fault: fault-…` or with `[[fault-…]]` in the prompt. Port 0 takes a free one; the ready line names it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

from scripted_answers import read_rules
from scripted_faults import FAULTS, reason_of
from scripted_model import Exchange, ScriptedModel, failed

RULES = Path(__file__).parent.parent / "examples" / "models" / "rules.json"
MAX_BODY = 32_000_000
DRIP_S = 0.05  # between two bytes
RETRY_AFTER_S = 1

# A connection ends, whoever ends it: the other side, what is no HTTP, or the server itself.
_ENDS = (
    asyncio.IncompleteReadError,
    asyncio.LimitOverrunError,
    ConnectionError,
    ValueError,
    asyncio.CancelledError,
)


class Server:
    """Speaks HTTP/1.1 for a model: keeps connections, one request after another on each."""

    def __init__(self, model: ScriptedModel) -> None:
        self._model = model

    async def met(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until the other side has enough."""
        with suppress(*_ENDS):
            while await self._served(reader, writer):
                pass
        writer.close()

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        method, path, headers = _head(await reader.readuntil(b"\r\n\r\n"))
        length = int(headers.get("content-length", 0))
        if length > MAX_BODY:
            return False
        raw = await reader.readexactly(length)
        exchange = await self._exchange(method, path, raw, headers.get("x-fault", ""))
        if exchange.fault == "fault-hang":
            await reader.read()  # until the other side gives up
        if exchange.fault in {"fault-hang", "fault-reset"}:
            return False
        await _send(writer, exchange)
        return headers.get("connection", "").lower() != "close"

    async def _exchange(self, method: str, path: str, raw: bytes, header: str) -> Exchange:
        place = path.split("?", maxsplit=1)[0].removeprefix("/v1")
        if (method, place) == ("POST", "/chat/completions"):
            return await self._model.completion(raw, header)
        documents: dict[tuple[str, str], Any] = {
            ("GET", "/health"): {"status": "ok", "requests": self._model.n_requests},
            ("GET", "/models"): {"object": "list", "data": [_about(name) for name in ("scripted", *FAULTS)]},
        }
        if (method, place) not in documents:
            return failed(HTTPStatus.NOT_FOUND, f"there is no {method} {path}")
        return Exchange(status=200, body=json.dumps(documents[method, place]).encode(), log={})


def _about(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "skilleval"}


def _head(raw: bytes) -> tuple[str, str, Mapping[str, str]]:
    first, *lines = raw.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", maxsplit=2)
    pairs = (line.split(":", maxsplit=1) for line in lines if ":" in line)
    return method, path, {name.strip().lower(): value.strip() for name, value in pairs}


async def _send(writer: asyncio.StreamWriter, exchange: Exchange) -> None:
    head = [
        f"HTTP/1.1 {exchange.status} {reason_of(exchange.status)}",
        "Content-Type: application/json",
        f"Content-Length: {len(exchange.body)}",
        *([f"Retry-After: {RETRY_AFTER_S}"] if exchange.status == HTTPStatus.TOO_MANY_REQUESTS else []),
    ]
    writer.write("\r\n".join([*head, "", ""]).encode())
    if exchange.fault == "fault-drip":
        for byte in exchange.body:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(DRIP_S)
    else:
        writer.write(exchange.body)
    await writer.drain()


async def serve(port: int, model: ScriptedModel) -> None:
    """Listen on this machine only until SIGTERM or Ctrl-C."""
    server = await asyncio.start_server(Server(model).met, "127.0.0.1", port)
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    print(f"ready http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await stopped.wait()
    server.close()


def main() -> None:
    """Read the arguments and serve."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("port", type=int, help="port on 127.0.0.1; 0: a free one")
    parser.add_argument("--rules", type=Path, default=RULES, help="JSON file of what it says")
    parser.add_argument("--latency-ms", type=float, default=0.0, help="time every answer takes")
    parser.add_argument("--log", type=Path, help="file that gets one JSON line a request")
    options = parser.parse_args()
    log = options.log.open("a", buffering=1, encoding="utf-8") if options.log else None
    asyncio.run(
        serve(
            options.port,
            ScriptedModel(read_rules(options.rules), latency_s=options.latency_ms / 1000, log=log),
        )
    )


if __name__ == "__main__":
    main()
