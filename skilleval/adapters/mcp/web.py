"""Talks with a server behind an address (streamable HTTP), and keeps what HTTP says that the SDK does not tell."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import httpx2
from mcp.client import Transport
from mcp.client.streamable_http import streamable_http_client

from skilleval.adapters.http_endpoint import Endpoint
from skilleval.adapters.http_reply import Answer, Failure, read_answer
from skilleval.adapters.mcp.line import Traffic
from skilleval.adapters.mcp.options import McpOptions
from skilleval.adapters.text import parsed_json
from skilleval.domain.attempts import Status

# Said by whoever stands in front of the server, or about us: no message of the protocol can mean something else.
_NOT_ABOUT_THE_SKILL = frozenset({401, 403, 407, 408, 425, 429, 503})


class WebLine:
    """A session with a server that runs elsewhere. Of its traffic only answers to our messages count."""

    def __init__(self, endpoint: Endpoint, options: McpOptions, tls: Callable[[], ssl.SSLContext]) -> None:
        """Take where to go; `tls` gives the certificates, which are read once for all lines."""
        self._endpoint = endpoint
        self._options = options
        self._tls = tls
        self._refused: Answer | None = None
        self._broken: Failure | None = None
        self._n_bytes = 0
        self._is_over = True

    def opened(self) -> Transport:
        """Connect, for as long as the context lasts."""
        return self._streams()

    def begin(self) -> None:
        """Begin a request: traffic counts from here on."""
        self._n_bytes = 0
        self._refused = None

    def give_up(self) -> None:
        """Go on as before: the end of a session is a request of its own, which holds nobody up."""

    @property
    def is_open(self) -> bool:
        """Whether nothing has broken yet."""
        return not self._is_over

    @property
    def traffic(self) -> Traffic:
        """How much was answered since the request began."""
        return Traffic(n_bytes=self._n_bytes)

    @property
    def failure(self) -> Failure | None:
        """What HTTP says of it; null where an answer is one of the protocol's own."""
        if self._n_bytes > self._options.max_output_bytes:
            message = f"sent at least {self._n_bytes} bytes, the limit is {self._options.max_output_bytes}"
            return Failure(kind="output_limit", message=message)
        refused = self._refused
        if refused is not None and (
            refused.status in _NOT_ABOUT_THE_SKILL or not _is_rpc_error(refused.body)
        ):
            return self._refusal(refused)
        return self._broken

    @property
    def is_spent(self) -> bool:
        """Whether the server has forgotten the session, as it may."""
        return self._refused is not None and self._refused.status == HTTPStatus.NOT_FOUND

    def redacted(self, text: str) -> str:
        """Give a text without the token."""
        return self._endpoint.redacted(text)

    def _refusal(self, refused: Answer) -> Failure:
        reply = read_answer(
            refused,
            latency_ms=0.0,
            max_retry_after_s=self._options.max_retry_after_s,
            redacted=self._endpoint.redacted,
        )
        return Failure(
            kind=reply.failure_kind or "",
            message=reply.message or "",
            status=reply.status,
            retryable=reply.retryable,
            retry_after_s=reply.retry_after_s,
        )

    @asynccontextmanager
    async def _streams(self) -> AsyncGenerator[tuple[Any, Any]]:
        try:
            async with (
                self._client() as client,
                # Our own limit counts whatever is read, so the SDK's for single events is not needed.
                streamable_http_client(
                    self._endpoint.url, http_client=client, max_sse_event_size=None
                ) as streams,
            ):
                self._is_over = False
                yield streams
        except* (httpx2.ConnectError, httpx2.ProxyError) as group:
            self._broken = Failure(kind="unreachable", message=_said(group), status=Status.PROVIDER_ERROR)
        except* httpx2.HTTPError as group:
            self._broken = Failure(kind="connection_lost", message=_said(group))
        except* (httpx2.InvalidURL, ValueError) as group:  # an address or a text that HTTP cannot carry
            self._broken = Failure(
                kind="unsendable", message=_said(group), status=Status.UNSUPPORTED, retryable=False
            )
        except* _UnwantedError:
            pass  # why is said where it is raised
        finally:
            self._is_over = True

    def _client(self) -> httpx2.AsyncClient:
        endpoint, connect_s = self._endpoint, self._options.connect_timeout_ms / 1000
        return httpx2.AsyncClient(
            # The cap on an answer is a cap on what we hold, so it must not grow when it is read.
            headers={**endpoint.headers, **endpoint.auth, "accept-encoding": "identity"},
            timeout=httpx2.Timeout(None, connect=connect_s),
            verify=self._tls(),
            trust_env=self._options.use_proxy_env,
            event_hooks={"response": [self._watch]},
        )

    async def _watch(self, response: httpx2.Response) -> None:
        if response.request.method != "POST":
            return
        encoding = response.headers.get("content-encoding", "identity").lower()
        if encoding != "identity":
            message = f"the body is encoded as {encoding}, which was not asked for"
            self._broken = Failure(kind="unreadable_reply", message=message, retryable=False)
            raise _UnwantedError
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Watched(response.stream, self._count)
        self._refused = None  # a redirect that was followed
        if response.status_code >= HTTPStatus.MULTIPLE_CHOICES:
            body = await response.aread()
            self._refused = Answer(
                status=response.status_code,
                reason=response.reason_phrase,
                headers=response.headers,
                body=body,
                n_bytes=len(body),
            )

    def _count(self, chunk: bytes) -> None:
        self._n_bytes += len(chunk)
        if self._n_bytes > self._options.max_output_bytes:
            raise _UnwantedError


class _UnwantedError(Exception):
    """The server sends what is not read."""


class _Watched(httpx2.AsyncByteStream):
    """A body that tells what it is made of while it is read."""

    def __init__(self, stream: httpx2.AsyncByteStream, told: Callable[[bytes], None]) -> None:
        self._stream = stream
        self._told = told

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        async for chunk in self._stream:
            self._told(chunk)
            yield chunk

    async def aclose(self) -> None:
        """Close what it is read from."""
        await self._stream.aclose()


def _is_rpc_error(body: bytes) -> bool:
    try:
        value = parsed_json(body.decode(errors="replace"))
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "jsonrpc" in value and isinstance(value.get("error"), dict)


def _said(group: BaseException) -> str:
    first = next(iter(_leaves(group)))
    return str(first) or type(first).__name__


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for one in error.exceptions for leaf in _leaves(one)]
    return [error]
