"""What every answer of the local page is held to: who may ask, how, and what a browser may do with the answer.

The server listens on loopback alone, but every page in the user's browser can send requests there. Reading the answer
is what the same-origin policy forbids it, unless a foreign name is made to lead to this machine (DNS rebinding); such a
request carries the foreign name as its host, so only names of this machine are answered. Nothing can be changed, so a
request without an answer is worth nothing, and no secret in the address is needed.
"""

from __future__ import annotations

import re

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

METHODS = ("GET", "HEAD")
POLICY = (
    "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""What the pages of the list may do: no script of any kind."""

_OWN_NAMES = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?", re.IGNORECASE)
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}


class Guard:
    """Stands before an application: refuses foreign hosts and all that could change something, and sets headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        refusal = _refusal(scope)
        await (refusal or self._app)(scope, receive, _with_headers(send))


def _refusal(scope: Scope) -> ASGIApp | None:
    hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    if len(hosts) != 1 or not _OWN_NAMES.fullmatch(hosts[0]):
        return PlainTextResponse("this page answers on 127.0.0.1, localhost and [::1] only\n", 421)
    fetched = {name: value for name, value in scope["headers"] if name.startswith(b"sec-fetch-")}
    if fetched.get(b"sec-fetch-site") == b"cross-site" and fetched.get(b"sec-fetch-mode") != b"navigate":
        return PlainTextResponse("other sites may link here, and not load anything from here\n", 403)
    if scope["method"] not in METHODS:
        return PlainTextResponse("this page only shows: GET and HEAD\n", 405, {"allow": ", ".join(METHODS)})
    return None


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            headers.setdefault("content-security-policy", POLICY)
        await send(message)

    return sending
