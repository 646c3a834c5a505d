"""What the `mcp` adapter can be told, and what an entrypoint means: a program to start or an address to ask."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from skilleval.adapters.http_endpoint import Endpoint, HttpOptions, Positive, build_endpoint
from skilleval.domain.skills import Skill
from skilleval.errors import Problem, SetupError
from skilleval.strict import StrictModel

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+: [ -~]*")
_OF_ADDRESSES = frozenset({"headers", "auth_type", "auth_token_env_key", "auth_header"})
_CREDENTIALS = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key"})


def _usable(headers: Mapping[str, str]) -> Mapping[str, str]:
    if not all(_HEADER.fullmatch(f"{name}: {value}") for name, value in headers.items()):
        raise ValueError("headers of printable ASCII characters")
    if any(name.lower() in _CREDENTIALS for name in headers):
        raise ValueError("headers without credentials: name a variable with auth_token_env_key")
    return headers


class McpOptions(StrictModel):
    """`conf/adapter/mcp.yaml`, where each option is explained; all but two are for servers behind an address."""

    start_timeout_ms: Positive
    max_output_bytes: Annotated[int, Field(gt=0)]
    headers: Annotated[Mapping[str, str], AfterValidator(_usable)]
    auth_type: Literal["none", "bearer", "api_key", "header"]
    auth_token_env_key: str
    auth_header: str
    skill_token_env_keys: Annotated[tuple[str, ...], Field(strict=False)]
    connect_timeout_ms: Positive
    max_retry_after_s: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    use_proxy_env: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A server that is started, and talked with over stdin and stdout."""

    argv: tuple[str, ...]


def read_target(options: McpOptions, skill: Skill, environ: Mapping[str, str]) -> Program | Endpoint:
    """Say what an entrypoint names: a command line, or the address of a server that runs already.

    Raises:
        SetupError: it is neither, or the token is not where it should be; it says what to do.
    """
    entrypoint = skill.entrypoint.strip()
    if _ADDRESS.match(entrypoint):
        return _endpoint(options, skill, environ)
    if useless := sorted(_OF_ADDRESSES & skill.adapter_options.keys()):
        raise _refusal(
            skill,
            "an http address, to go with adapter.config.json",
            f"{entrypoint}, which has no use for {', '.join(useless)}",
        )
    try:
        argv = tuple(shlex.split(entrypoint))
    except ValueError as error:
        raise _refusal(skill, "a command line with balanced quotes", f"{entrypoint}: {error}") from None
    if not argv:
        raise _refusal(skill, "a command line or an http address", "nothing")
    return Program(argv=argv)


def _endpoint(options: McpOptions, skill: Skill, environ: Mapping[str, str]) -> Endpoint:
    """Take address and credentials from where an `http` skill has them: one set of rules for both."""
    like_http = HttpOptions(
        **options.model_dump(), base_url="", method="POST", max_redirects=0, max_restarts=0
    )
    try:
        return build_endpoint(like_http, skill, environ)
    except SetupError as error:
        problems = tuple(_named_here(problem) for problem in error.problems)
        raise SetupError(_MESSAGE, problems=problems) from None


def _named_here(problem: Problem) -> Problem:
    return replace(
        problem,
        key=problem.key.replace("adapter.http.", "adapter.mcp."),
        expected=problem.expected.replace("/invoke", "/mcp"),
        hint=problem.hint.replace("adapter.http.", "adapter.mcp."),
    )


_MESSAGE = "an mcp skill cannot be called"


def _refusal(skill: Skill, expected: str, found: str) -> SetupError:
    problem = Problem(where=str(skill.source), key="entrypoint", expected=expected, found=found)
    return SetupError(_MESSAGE, problems=(problem,))
