"""`openai`: models behind any endpoint that speaks the OpenAI protocol (chat completions)."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from skilleval.chat.base import ChatRequest, Completion
from skilleval.chat.openai_body import Body, Concessions, build_body, conceded
from skilleval.chat.openai_options import Access, OpenAIOptions, build_access
from skilleval.chat.openai_reply import Failure, Refusal, failed, read_reply
from skilleval.domain.attempts import Status
from skilleval.errors import SetupError

if TYPE_CHECKING:
    import httpx2
    import openai

_PATH = "/chat/completions"
_CONNECT_TIMEOUT_S = 10.0
# Shorter than servers keep idle connections: a request must not meet one that is just being closed.
_KEEP_ALIVE_S = 4.0
_REFUSING_CODES = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})


class UnreadableReplyError(Exception):
    """An answer is not read to its end."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class OpenAIProvider:
    """Asks one model over one pool of connections; what the model will not take is remembered."""

    Options = OpenAIOptions

    def __init__(self, options: OpenAIOptions, *, environ: Mapping[str, str] = os.environ) -> None:
        self._options = options
        self._environ = environ
        self._line: _Line | None = None
        self._concessions = Concessions(system_as_user=options.system_role == "user")

    @property
    def model(self) -> str:
        """The name of the model, as it is asked for."""
        return self._options.name

    @property
    def endpoint(self) -> str | None:
        """The address where the model is asked; null where the model cannot be asked."""
        try:
            return build_access(self._options, self._environ).url
        except SetupError:
            return None

    def check(self) -> None:
        """Find address and key and load the client, so that no call has to wait for that.

        Raises:
            SetupError: one of them cannot be used; it says what to do.
        """
        self._opened()

    async def complete(self, request: ChatRequest, *, timeout_s: float) -> Completion:
        """Ask once; again at once and otherwise, where the model refuses a system message or a response format.

        Only the last of these calls counts as latency.
        """
        try:
            line = self._opened()
        except SetupError as error:
            return self._not_configured(request, error)
        deadline = time.perf_counter() + timeout_s
        while True:
            body = self._body(request)
            completion = await self._asked(line, body, deadline - time.perf_counter())
            if isinstance(completion, Completion):
                return replace(completion, notes=(*body.notes, *completion.notes))

    async def aclose(self) -> None:
        """Close all connections; the next call would open new ones."""
        line, self._line = self._line, None
        if line is not None:
            await line.client.close()

    def _opened(self) -> _Line:
        if self._line is None:
            access = build_access(self._options, self._environ)
            self._line = _Line(client=_build_client(self._options, access), access=access)
        return self._line

    def _body(self, request: ChatRequest) -> Body:
        options = self._options
        return build_body(
            request, model=options.name, sends_seed=options.seed_param, concessions=self._concessions
        )

    async def _asked(self, line: _Line, body: Body, timeout_s: float) -> Completion | None:
        """Send a body; null where it was refused for something that will be done otherwise from now on."""
        started = time.perf_counter()
        answer = await line.answer(body, max(timeout_s, 0.0))
        latency_ms = (time.perf_counter() - started) * 1000
        redacted = line.access.redacted
        request = redacted(body.text)
        outcome = (
            read_reply(answer, model=self.model, request=request, latency_ms=latency_ms, redacted=redacted)
            if isinstance(answer, bytes)
            else answer
        )
        if isinstance(outcome, Completion):
            return outcome
        if isinstance(outcome, Refusal):
            if self._concedes(body, outcome):
                return None
            outcome = outcome.failure(self._options.max_retry_after_s)
        # Who was never reached took no time.
        known_ms = None if outcome.kind == "unreachable" else latency_ms
        said = replace(outcome, message=redacted(outcome.message))
        return failed(said, model=self.model, request=request, latency_ms=known_ms)

    def _concedes(self, body: Body, refusal: Refusal) -> bool:
        if refusal.code not in _REFUSING_CODES:
            return False
        more = conceded(self._concessions, body, refusal.words)
        if more is None or (self._options.system_role == "system" and more.system_as_user):
            return False
        self._concessions = more
        return True

    def _not_configured(self, request: ChatRequest, error: SetupError) -> Completion:
        message = "; ".join(str(problem) for problem in error.problems)
        failure = Failure(kind="not_configured", message=message, status=Status.UNSUPPORTED, retryable=False)
        return failed(failure, model=self.model, request=self._body(request).text, latency_ms=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A client and what it was made for."""

    client: openai.AsyncOpenAI
    access: Access

    async def answer(self, body: Body, timeout_s: float) -> bytes | Refusal | Failure:
        """Send a body and give what came of it; the limit is one for all, however slowly an answer drips."""
        import httpx2
        import openai

        headers: dict[str, Any] = {"Content-Type": "application/json"}
        if not self.access.key:  # said with the client alone, it is not believed
            headers["Authorization"] = openai.omit
        try:
            async with asyncio.timeout(timeout_s):
                response = await self.client.post(
                    _PATH, cast_to=httpx2.Response, content=body.content(), options={"headers": headers}
                )
                return response.content
        except TimeoutError:
            return Failure(
                kind="timeout", message=f"not done within {timeout_s:.3g} s", status=Status.TIMEOUT
            )
        except UnreadableReplyError as error:
            return error.failure
        except openai.APIStatusError as error:
            return Refusal(code=error.status_code, headers=error.response.headers, body=error.body)
        except openai.APIConnectionError as error:
            return _lost(error)


def _lost(error: openai.APIConnectionError) -> Failure:
    import httpx2

    cause = error.__cause__ or error
    is_unreached = isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError)
    return Failure(
        kind="unreachable" if is_unreached else "connection_lost", message=str(cause) or type(cause).__name__
    )


def _build_client(options: OpenAIOptions, access: Access) -> openai.AsyncOpenAI:
    """Make the client; what it would read of the environment by itself is said here instead."""
    import httpx2
    import openai

    said: dict[str, Any] = {
        "Accept-Encoding": "identity",
        **options.headers,
    }  # the cap is one on what we hold
    if not access.key:
        said["Authorization"] = openai.omit
    if not access.is_openai:
        said |= {"OpenAI-Organization": openai.omit, "OpenAI-Project": openai.omit}
    http = httpx2.AsyncClient(
        timeout=httpx2.Timeout(None, connect=_CONNECT_TIMEOUT_S),
        limits=httpx2.Limits(keepalive_expiry=_KEEP_ALIVE_S),
        trust_env=options.use_proxy_env,
        follow_redirects=False,
    )
    http.event_hooks = {"response": [_Reading(http, options.max_output_bytes).begin]}
    return openai.AsyncOpenAI(
        api_key=access.key or "none",
        base_url=access.url,
        max_retries=0,
        http_client=http,
        default_headers=said,
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """How answers are read: at most so many bytes of them, and nothing of one call is kept for another."""

    http: httpx2.AsyncClient
    limit: int

    async def begin(self, response: httpx2.Response) -> None:
        """Look at an answer before its body is read."""
        self.http.cookies.clear()
        encoding = response.headers.pop("content-encoding", "identity")
        if encoding.lower() != "identity" and response.is_success:
            message = f"the body is encoded as {encoding}, which was not asked for"
            raise UnreadableReplyError(Failure(kind="malformed_reply", message=message, retryable=False))
        response.stream = _capped(response, self.limit)


def _capped(response: httpx2.Response, limit: int) -> httpx2.AsyncByteStream:
    """Give a body that ends at the limit: an answer is then no answer, of an error the beginning will do."""
    import httpx2

    whole, is_error = response.stream, not response.is_success
    assert isinstance(whole, httpx2.AsyncByteStream)
    stream: httpx2.AsyncByteStream = whole

    class Capped(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            n_bytes = 0
            async for chunk in stream:
                n_bytes += len(chunk)
                if n_bytes <= limit:
                    yield chunk
                elif is_error:
                    return
                else:
                    message = f"sent at least {n_bytes} bytes, the limit is {limit}"
                    raise UnreadableReplyError(Failure(kind="output_limit", message=message))

        async def aclose(self) -> None:
            await stream.aclose()

    return Capped()
