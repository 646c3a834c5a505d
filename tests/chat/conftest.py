from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from simulated_clock import SimulatedClock

from skilleval.chat.base import ChatRequest, Completion
from skilleval.chat.openai_client import OpenAIProvider
from skilleval.chat.openai_options import OpenAIOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One answer of the endpoint; `delay_s` is waited first. A body that is no bytes is sent as JSON."""

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0

    def written(self) -> bytes:
        """Give it as it goes over the wire."""
        body = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **self.headers}
        lines = [f"HTTP/1.1 {self.status} Any", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode() + body


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request as the endpoint saw it."""

    line: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        """The decoded body."""
        return json.loads(self.raw)


@dataclass
class Endpoint:
    """A real server on this machine: gives its answers one after another, then the last one again and again."""

    answers: Sequence[Said]
    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    most_in_flight: int = 0
    n_in_flight: int = 0
    was_asked: asyncio.Event = field(default_factory=asyncio.Event)
    was_left: asyncio.Event = field(default_factory=asyncio.Event)

    async def met(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until the other side hangs up."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await self._served(reader, writer)
        self.was_left.set()
        writer.close()

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.split(":", maxsplit=1) for line in head[1:] if line)
        headers = {name.lower(): value.strip() for name, value in pairs}
        raw = await reader.readexactly(int(headers["content-length"]))
        answer = self.answers[min(len(self.seen), len(self.answers) - 1)]
        self.seen.append(Seen(line=head[0], headers=headers, raw=raw))
        self.was_asked.set()
        self.n_in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.n_in_flight)
        try:
            with suppress(TimeoutError):  # whoever hangs up is noticed while the answer is awaited
                if answer.delay_s and await asyncio.wait_for(reader.read(1), answer.delay_s) == b"":
                    raise ConnectionError
        finally:
            self.n_in_flight -= 1
        writer.write(answer.written())
        await writer.drain()


@asynccontextmanager
async def opened(*answers: Said) -> AsyncIterator[Endpoint]:
    """Open an endpoint."""
    endpoint = Endpoint(answers)
    serving: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.create_task(endpoint.met(reader, writer)))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    endpoint.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield endpoint
    finally:
        server.close()
        if serving:
            await asyncio.wait_for(asyncio.gather(*serving), timeout=60)


def completion_of(text: str | None = "Lisbon.", **changes: Any) -> dict[str, Any]:
    """Give the body of a good answer; `message` and `choice` change its parts."""
    message = {"role": "assistant", "content": text, **changes.pop("message", {})}
    choice = {"index": 0, "message": message, "finish_reason": "stop", **changes.pop("choice", {})}
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
    return {"id": "c1", "model": "scripted-2", "choices": [choice], "usage": usage, **changes}


def options_of(**changes: Any) -> OpenAIOptions:
    """Give options of a model."""
    values: dict[str, Any] = {
        "name": "scripted",
        "params": {},
        "requests_per_minute": None,
        "tokens_per_minute": None,
        "retries": 2,
        "price": None,
        "base_url": "",
        "base_url_env": "",
        "api_key_env": "",
        "seed_param": True,
        "system_role": "auto",
        "headers": {},
        "max_output_bytes": 1_000_000,
        "max_retry_after_s": 60.0,
        "use_proxy_env": False,
    }
    return OpenAIOptions.parse(values | changes, where="test")


QUESTION = ChatRequest(user="Which port?", system="Be brief.", seed=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """What was asked at an endpoint, and what came of it."""

    completions: tuple[Completion, ...]
    seen: tuple[Seen, ...]

    @property
    def only(self) -> Completion:
        """The one completion."""
        (completion,) = self.completions
        return completion


@pytest.fixture
def make_options() -> Callable[..., OpenAIOptions]:
    """Give what makes options of a model."""
    return options_of


@pytest.fixture
def said() -> type[Said]:
    """Give what an endpoint can say."""
    return Said


@pytest.fixture
def good() -> Callable[..., dict[str, Any]]:
    """Give what makes the body of a good answer."""
    return completion_of


@pytest.fixture
def open_endpoint() -> Callable[..., Any]:
    """Give what opens an endpoint."""
    return opened


@pytest.fixture
def talk() -> Callable[..., Talk]:
    """Give what asks a real endpoint, one request after another, with a provider of its own."""

    def talked(
        *answers: Said,
        requests: Sequence[ChatRequest] = (QUESTION,),
        environ: Mapping[str, str] | None = None,
        timeout_s: float = 5.0,
        **options: Any,
    ) -> Talk:
        async def asked() -> Talk:
            async with opened(*answers) as endpoint:
                made = options_of(base_url=endpoint.url, **options)
                provider = OpenAIProvider(made, environ=environ or {})
                done = [await provider.complete(request, timeout_s=timeout_s) for request in requests]
                await provider.aclose()
                return Talk(completions=tuple(done), seen=tuple(endpoint.seen))

        return asyncio.run(asked())

    return talked


@pytest.fixture
def simulated() -> SimulatedClock:
    """Give a clock whose time passes only while everybody sleeps."""
    return SimulatedClock()
