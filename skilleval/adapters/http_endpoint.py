"""Where an HTTP skill is reached and with what credentials: the run's options under the skill's own.

The token is read from the environment, never from a file, and this module alone ever sees it in the clear.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from skilleval.adapters.http_places import Place, build_places
from skilleval.adapters.token import Token
from skilleval.domain.skills import Skill
from skilleval.errors import Problem, SetupError
from skilleval.strict import StrictModel

PORT = "{port}"
"""Stands for the free port of a skill whose server we start."""

_SERVED = f"http://127.0.0.1:{PORT}"
_TOKEN = re.compile(r"[!-~]{8,}")
_NOT_IN_ADDRESSES = re.compile(r"[\s\x00-\x20\x7f]")

_CREDENTIALS = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key"})


def _without_credentials(headers: Mapping[str, str]) -> Mapping[str, str]:
    if any(name.lower() in _CREDENTIALS for name in headers):
        raise ValueError("headers without credentials: name a variable with auth_token_env_key")
    return headers


_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")]
_Line = Annotated[str, Field(pattern=r"^[ -~]*$")]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class HttpOptions(StrictModel):
    """`conf/adapter/http.yaml`; the first six may be given by a skill's `adapter.config.json`, which wins.

    `skill_token_env_keys` are patterns of the variables that such a file may name: a skill of a stranger must not
    have any secret of the evaluator sent to an address of its choice.
    """

    base_url: str
    method: Literal["POST", "PUT", "PATCH", "GET", "DELETE"]
    headers: Annotated[Mapping[_Name, _Line], AfterValidator(_without_credentials)]
    auth_type: Literal["none", "bearer", "api_key", "header"]
    auth_token_env_key: str
    auth_header: str
    skill_token_env_keys: Annotated[tuple[str, ...], Field(strict=False)]
    max_output_bytes: Annotated[int, Field(gt=0)]
    connect_timeout_ms: Positive
    max_redirects: Count
    max_retry_after_s: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    use_proxy_env: bool
    start_timeout_ms: Positive
    max_restarts: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Serve:
    """How a skill's own server is started (`{port}` stands for its port) and how it is seen to be ready."""

    command: tuple[str, ...]
    ready: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An address with everything that goes with a request. A served skill's `url` holds `{port}`.

    With `places` the members of an input go there; without them it is sent as a whole.
    """

    url: str
    method: str
    headers: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, Place] | None = None
    serve: Serve | None = None
    auth: Mapping[str, str] = field(default_factory=dict, repr=False)
    token: Token | None = field(default=None, repr=False)

    def redacted(self, text: str, *, is_cut_before: bool = False, is_cut: bool = False) -> str:
        """Give a text without the token, however it is spelled there, or cut at either end."""
        if self.token is None:
            return text
        return self.token.redacted(text, is_cut_before=is_cut_before, is_cut=is_cut)


def build_endpoint(options: HttpOptions, skill: Skill, environ: Mapping[str, str]) -> Endpoint:
    """Work out where and how to reach a skill.

    Raises:
        SetupError: there is no usable address, or the token is not where it should be; it says what to do.
    """
    own = skill.adapter_options
    serve = (
        Serve(command=tuple(own["serve"]["command"]), ready=own["serve"]["ready"]) if "serve" in own else None
    )
    auth, token = _credentials(options, skill, environ)
    return Endpoint(
        url=_address(options, skill, is_served=serve is not None),
        method=own.get("method", options.method),
        headers={**options.headers, **own.get("headers", {})},
        places=build_places(own["parameters"]) if "parameters" in own else None,
        serve=serve,
        auth=auth,
        token=token,
    )


def _address(options: HttpOptions, skill: Skill, *, is_served: bool) -> str:
    place, entrypoint = str(skill.source), skill.entrypoint.strip()
    if "://" in entrypoint:
        url = entrypoint
    elif entrypoint.startswith("/"):
        base = skill.adapter_options.get("base_url") or (_SERVED if is_served else options.base_url)
        if not base:
            hint = "add baseUrl (or serve) to the skill's adapter.config.json, or set adapter.http.base_url=http://…"
            raise _refusal(place, "entrypoint", "an address, or a base address for it", entrypoint, hint)
        url = f"{base.rstrip('/')}{entrypoint}"
    else:
        raise _refusal(place, "entrypoint", "an http address, or a path that begins with /", entrypoint)
    if is_served != (PORT in url):
        expected = f"{PORT} where the port goes" if is_served else f"a port in place of {PORT}"
        raise _refusal(
            place, "entrypoint", expected, url, "make it a path such as /invoke" if is_served else ""
        )
    return _checked(url, place)


def _checked(url: str, place: str) -> str:
    try:
        parts = urlsplit(url.replace(PORT, "1"))
        is_usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or _NOT_IN_ADDRESSES.search(url):
        raise _refusal(place, "entrypoint", "an address such as http://127.0.0.1:3000/invoke", url)
    if parts.username is not None or parts.password is not None:
        hint = "use authType and authTokenEnvKey: an address is shown in messages"
        raise _refusal(
            place, "entrypoint", "an address without name and password", f"one at {parts.hostname}", hint
        )
    return url


def _credentials(
    options: HttpOptions, skill: Skill, environ: Mapping[str, str]
) -> tuple[Mapping[str, str], Token | None]:
    own = skill.adapter_options
    is_own = "auth_type" in own
    said: Mapping[str, Any] = own if is_own else options.model_dump()
    kind, name = said["auth_type"], said.get("auth_token_env_key", "")
    if kind == "none":
        return {}, None
    place = str(skill.folder / "adapter.config.json") if is_own else "config"
    if is_own and not any(fnmatchcase(name, pattern) for pattern in options.skill_token_env_keys):
        allowed = " or ".join(options.skill_token_env_keys) or "no variable at all"
        hint = f"rename it, or allow it with adapter.http.skill_token_env_keys=[{name}]"
        raise _refusal(place, "authTokenEnvKey", allowed, name, hint)
    token = _token(name, place, environ)
    header = said.get("auth_header", "") if kind == "header" else _HEADERS[kind]
    if not header:
        raise _refusal(place, "adapter.http.auth_header", "the name of a header", "nothing")
    return {header: f"Bearer {token}" if kind == "bearer" else token}, Token(token)


_HEADERS = {"bearer": "Authorization", "api_key": "X-API-Key"}


def _token(name: str, place: str, environ: Mapping[str, str]) -> str:
    if not name:
        raise _refusal(
            place, "adapter.http.auth_token_env_key", "the name of an environment variable", "nothing"
        )
    token = environ.get(name, "").strip()
    if not token:
        found = "an empty one" if name in environ else "none of that name"
        hint = f"export {name}=… before the run"
        raise _refusal(place, name, "an environment variable with the token", found, hint)
    if not _TOKEN.fullmatch(token):
        # Shorter ones stand in texts by chance, so they could not be kept out of the rows without spoiling them.
        expected = "a token of at least 8 printable ASCII characters without spaces"
        raise _refusal(place, name, expected, f"{len(token)} characters that are none")
    return token


def _refusal(where: str, key: str, expected: str, found: str, hint: str = "") -> SetupError:
    problem = Problem(where=where, key=key, expected=expected, found=found, hint=hint)
    return SetupError("an http skill cannot be called", problems=(problem,))
