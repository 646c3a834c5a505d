"""`http`: asks a skill over HTTP; where the skill brings its own server, that is started for the run."""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from skilleval.adapters.base import Call, close_all
from skilleval.adapters.hidden import with_hints
from skilleval.adapters.http_endpoint import PORT, Endpoint, HttpOptions, Serve, build_endpoint
from skilleval.adapters.http_places import UnsendableError, json_text, placed
from skilleval.adapters.http_reply import Answer, Failure, read_answer
from skilleval.adapters.servers import ServerLimits, SkillServer
from skilleval.adapters.text import compact_json, excerpt, storable
from skilleval.domain.attempts import Reply, Status
from skilleval.domain.skills import Skill
from skilleval.errors import SetupError
from skilleval.sandboxes.base import Sandbox

if TYPE_CHECKING:
    import httpx

_WITHOUT_BODY = frozenset({"GET", "DELETE"})
# Shorter than servers keep idle connections: a request must not meet one that is just being closed.
_KEEP_ALIVE_S = 1.0
_UNREACHABLE, _LOST = "unreachable", "connection_lost"


class HttpAdapter:
    """Sends `{skillId, version, input}` and takes any JSON body of a 2xx answer as the output.

    Skills that declare `parameters` are sent the members of the input in the places named there instead.
    """

    Options = HttpOptions
    kind = "http"

    def __init__(
        self, options: HttpOptions, sandbox: Sandbox, *, environ: Mapping[str, str] = os.environ
    ) -> None:
        self._options = options
        self._sandbox = sandbox
        self._environ = environ
        self._clients: dict[Path | None, _Clients] = {}
        self._endpoints: dict[Path, Endpoint] = {}
        self._servers: dict[Path, SkillServer] = {}

    def check(self, skill: Skill) -> None:
        """Make sure that a skill can be asked, before the first trial.

        Raises:
            SetupError: there is no usable address, or the token is not where it should be; it says what to do.
        """
        self._endpoint(skill)

    async def invoke(self, call: Call) -> Reply:
        """Ask once; a skill that brings its server has it started before, which is no part of the latency."""
        try:
            endpoint = self._endpoint(call.skill)
        except SetupError as error:
            message = "; ".join(str(problem) for problem in error.problems)
            return Failure(
                kind="not_configured", message=message, status=Status.UNSUPPORTED, retryable=False
            ).reply()
        if endpoint.serve is None:
            return await self._asked(call, endpoint, endpoint.url, self._clients_of(None))
        return await self._served(call, endpoint, self._server(call.skill, endpoint, endpoint.serve))

    async def aclose(self) -> None:
        """Close the connections and end the servers."""
        await close_all(self._clients.values())
        await close_all(self._servers.values())

    def _clients_of(self, socket: Path | None) -> _Clients:
        if socket not in self._clients:
            self._clients[socket] = _Clients(self._options, socket)
        return self._clients[socket]

    def _endpoint(self, skill: Skill) -> Endpoint:
        if skill.source not in self._endpoints:
            self._endpoints[skill.source] = build_endpoint(self._options, skill, self._environ)
        return self._endpoints[skill.source]

    def _server(self, skill: Skill, endpoint: Endpoint, serve: Serve) -> SkillServer:
        if skill.source not in self._servers:
            limits = ServerLimits(
                start_timeout_s=self._options.start_timeout_ms / 1000, max_restarts=self._options.max_restarts
            )
            self._servers[skill.source] = SkillServer(
                serve, skill.folder, self._sandbox, limits, redacted=endpoint.redacted
            )
        return self._servers[skill.source]

    async def _served(self, call: Call, endpoint: Endpoint, server: SkillServer) -> Reply:
        address = await server.address()
        if isinstance(address, Failure):
            reply = address.reply()
        else:
            url = endpoint.url.replace(PORT, str(address.port))
            reply = await self._asked(call, endpoint, url, self._clients_of(address.socket))
        if reply.status is Status.COMPLETED:
            return reply
        if reply.failure_kind in {_UNREACHABLE, _LOST}:
            # Nobody but the skill is behind this address.
            death = await server.death() or Failure(kind=_LOST, message=reply.message or "")
            reply = death.reply(reply)
        told = replace(reply, stderr=excerpt(server.log().encode()))
        # That we did not reach the server is no word of the server's own.
        is_own = told.failure_kind != _LOST
        return with_hints(told, call.skill.folder, self._sandbox) if is_own else told

    async def _asked(self, call: Call, endpoint: Endpoint, url: str, clients: _Clients) -> Reply:
        from httpx import InvalidURL

        client = clients.take()
        answer: Answer | Failure | None = None
        try:
            request = _request(client, call, endpoint, url)
            started = time.perf_counter()
            answer = await self._answer(client, request, call.timeout_s)
            latency_ms = (time.perf_counter() - started) * 1000
        except (InvalidURL, UnsendableError) as error:  # a task input that fits into no address or request
            return Failure(
                kind="unsendable", message=str(error), status=Status.UNSUPPORTED, retryable=False
            ).reply()
        finally:
            await clients.give_back(client, is_sound=isinstance(answer, Answer))
        if isinstance(answer, Failure):
            # Who was never reached took no time.
            known_ms = None if answer.kind == _UNREACHABLE else latency_ms
            failure = replace(answer, message=endpoint.redacted(answer.message))
            return failure.reply(Reply(status=answer.status, latency_ms=known_ms))
        return read_answer(
            answer,
            latency_ms=latency_ms,
            max_retry_after_s=self._options.max_retry_after_s,
            redacted=endpoint.redacted,
        )

    async def _answer(
        self, client: httpx.AsyncClient, request: httpx.Request, timeout_s: float
    ) -> Answer | Failure:
        import httpx

        try:
            async with asyncio.timeout(timeout_s):
                return await _exchange(client, request, self._options)
        except TimeoutError:
            return Failure(kind="timeout", message=f"not done within {timeout_s:g} s", status=Status.TIMEOUT)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            return Failure(kind=_UNREACHABLE, message=_said(error), status=Status.PROVIDER_ERROR)
        except httpx.TransportError as error:
            return Failure(kind=_LOST, message=_said(error))


class _Clients:
    """As many clients as calls run at once, each used by one call at a time: no worker waits for another.

    With a `socket` all addresses are behind that unix socket.
    """

    def __init__(self, options: HttpOptions, socket: Path | None) -> None:
        self._socket = socket
        self._connect_timeout_s = options.connect_timeout_ms / 1000
        self._trust_env = options.use_proxy_env
        self._tls: ssl.SSLContext | None = None
        self._idle: list[httpx.AsyncClient] = []

    def take(self) -> httpx.AsyncClient:
        """Give a client that nobody else uses."""
        return self._idle.pop() if self._idle else self._new()

    async def give_back(self, client: httpx.AsyncClient, *, is_sound: bool) -> None:
        """Keep a client for the next call; one whose call was cut off is closed."""
        if is_sound:
            client.cookies.clear()  # no trial may know what happened in another
            self._idle.append(client)
        else:
            await client.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        idle, self._idle = self._idle, []
        await close_all(idle)

    def _new(self) -> httpx.AsyncClient:
        import httpx

        limits = httpx.Limits(keepalive_expiry=_KEEP_ALIVE_S)
        timeout = httpx.Timeout(None, connect=self._connect_timeout_s)
        if self._socket is not None:
            transport = httpx.AsyncHTTPTransport(uds=str(self._socket), limits=limits)
            return httpx.AsyncClient(
                transport=transport, timeout=timeout, trust_env=False, event_hooks=_HOOKS
            )
        if self._tls is None:  # reading the certificates takes longer than a call: once for all clients
            self._tls = httpx.create_ssl_context(trust_env=self._trust_env)
        return httpx.AsyncClient(
            verify=self._tls, trust_env=self._trust_env, timeout=timeout, limits=limits, event_hooks=_HOOKS
        )


def _request(client: httpx.AsyncClient, call: Call, endpoint: Endpoint, url: str) -> httpx.Request:
    from httpx import URL, Headers

    said = _version()
    headers = Headers(
        {
            "accept": "application/json",
            "accept-encoding": "identity",  # the cap on the body is a cap on what we hold
            "user-agent": f"skilleval/{said}",
            "x-skilleval-version": said,
            "x-skilleval-seed": str(call.seed),
            "x-skilleval-repeat": str(call.repeat),
        }
    )
    own: Mapping[str, str] = {}
    skill, body = call.skill, None
    if endpoint.places is not None:
        parts = placed(endpoint.places, call.input)
        address, own, body = URL(parts.address(url)), parts.headers, parts.body
    elif endpoint.method in _WITHOUT_BODY:
        address = URL(url).copy_merge_params(_query(call.input))
    else:
        address = URL(url)
        body = json_text({"skillId": skill.id, "version": skill.version, "input": call.input})
    if body is not None:
        headers["content-type"] = "application/json"
    for more in (endpoint.headers, own, endpoint.auth):
        headers.update(more)
    # A lone surrogate has no UTF-8, and its backslash form is its JSON escape.
    content = None if body is None else body.encode(errors="backslashreplace")
    return client.build_request(endpoint.method, address, headers=headers, content=content)


@cache
def _version() -> str:
    return version("skilleval")


def _query(values: Mapping[str, Any]) -> dict[str, str]:
    """Give an input as parameters of an address: texts as they are, everything else as JSON."""
    return {
        storable(name)[0]: storable(value)[0] if isinstance(value, str) else compact_json(value)[0]
        for name, value in values.items()
    }


async def _set_aside(response: httpx.Response) -> None:
    """Take away an address that is none, which httpx would tell as a broken connection."""
    from httpx import InvalidURL

    location = response.headers.get("location")
    if not response.has_redirect_location or location is None:
        return
    try:
        response.request.url.join(location)
    except (InvalidURL, ValueError):
        response.extensions[_LOCATION] = response.headers.pop("location")


_LOCATION = "location"
_HOOKS = {"response": [_set_aside]}


async def _exchange(client: httpx.AsyncClient, request: httpx.Request, options: HttpOptions) -> Answer:
    """Send a request and follow redirects, as long as they stay where the request went."""
    for n_left in range(options.max_redirects, -1, -1):
        response = await client.send(request, stream=True)
        try:
            target = response.next_request
            if target is None or n_left == 0 or not _is_same_origin(target.url, request.url):
                return await _read(response, options.max_output_bytes)
        finally:
            await response.aclose()
        request = target
    raise AssertionError  # the last round returns


def _is_same_origin(one: httpx.URL, other: httpx.URL) -> bool:
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)


async def _read(response: httpx.Response, limit: int) -> Answer:
    kept, n_bytes = bytearray(), 0
    async with aclosing(cast("AsyncGenerator[bytes]", response.aiter_raw())) as chunks:
        async for chunk in chunks:
            n_bytes += len(chunk)
            kept += chunk[: max(0, limit - len(kept))]
            if n_bytes > limit:
                break
    return Answer(
        status=response.status_code,
        reason=response.reason_phrase,
        headers={**response.headers, **_location(response)},
        body=bytes(kept),
        n_bytes=n_bytes,
    )


def _location(response: httpx.Response) -> Mapping[str, str]:
    return {_LOCATION: response.extensions[_LOCATION]} if _LOCATION in response.extensions else {}


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
