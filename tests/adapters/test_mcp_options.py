from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp_servers import mcp_call, mcp_options
from samples import skill

from skilleval.adapters.mcp.adapter import McpAdapter
from skilleval.adapters.mcp.options import McpOptions, Program, read_target
from skilleval.domain.attempts import Status
from skilleval.domain.skills import Skill
from skilleval.errors import ConfigError, SetupError
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions

BEARER = {"auth_type": "bearer", "auth_token_env_key": "SKILL_KEY"}


def _skill(entrypoint: str, **own: Any) -> Skill:
    return skill(entrypoint=entrypoint, adapter="mcp", adapter_options=own)


def test_a_command_line_becomes_an_argument_list() -> None:
    """No shell ever sees it."""
    target = read_target(mcp_options(), _skill("python3 'my server.py' $HOME"), {})
    assert target == Program(argv=("python3", "my server.py", "$HOME"))


@pytest.mark.parametrize(
    ("entrypoint", "own", "found"),
    [
        ("python3 'server.py", {}, "python3 'server.py: No closing quotation"),
        ("mcp://localhost:8080/tools/a", {}, "mcp://localhost:8080/tools/a"),
        ("https:///mcp", {}, "https:///mcp"),
        ("http://me:word@127.0.0.1/mcp", {}, "one at 127.0.0.1"),
        (
            "python3 server.py",
            BEARER,
            "python3 server.py, which has no use for auth_token_env_key, auth_type",
        ),
    ],
)
def test_an_entrypoint_that_names_no_server_is_refused(
    entrypoint: str, own: dict[str, Any], found: str
) -> None:
    """With the file and what stands there, before the first trial; what would have no effect is refused too."""
    adapter = McpAdapter(mcp_options(), NoSandbox(NoSandboxOptions(pass_env=())))
    with pytest.raises(SetupError, match="an mcp skill cannot be called") as caught:
        adapter.check(_skill(entrypoint, **own))
    (problem,) = caught.value.problems
    assert (problem.where, problem.key, problem.found) == ("skills/adder/skill.json", "entrypoint", found)


@pytest.mark.parametrize(
    ("changes", "own", "words"),
    [
        (BEARER, {}, "SKILL_KEY: expected an environment variable with the token, found none of that name"),
        ({"auth_type": "bearer"}, {}, "adapter.mcp.auth_token_env_key: expected the name"),
        (
            {},
            {"auth_type": "bearer", "auth_token_env_key": "HOME"},
            "allow it with adapter.mcp.skill_token_env_keys=[HOME]",
        ),
    ],
)
def test_a_token_is_asked_for_by_the_settings_of_this_adapter(
    changes: dict[str, Any], own: dict[str, Any], words: str
) -> None:
    """The rules are those of http skills, the names of the settings are not."""
    with pytest.raises(SetupError) as caught:
        read_target(mcp_options(**changes), _skill("http://127.0.0.1:1/mcp", **own), {})
    assert words in str(caught.value)


@pytest.mark.parametrize("headers", [{"Cookie": "a"}, {"X-Api-Key": "a"}, {"a b": "c"}, {"a": "b\nc"}])
def test_headers_are_plain_and_without_credentials(headers: dict[str, str]) -> None:
    """A header that could not be sent, or holds a secret, is refused with the settings."""
    options = mcp_options().model_dump()
    with pytest.raises(ConfigError):
        McpOptions.parse(options | {"headers": headers}, where="test")
    assert McpOptions.parse(options | {"headers": {"X-Team": "a"}}, where="test").headers == {"X-Team": "a"}


def test_a_call_of_what_cannot_be_called_is_not_judged(tmp_path: Path) -> None:
    """Where nobody checked before, the trial says it."""
    from mcp_servers import replies_of

    (reply,) = replies_of([mcp_call(tmp_path, "mcp://a")])
    assert (reply.status, reply.failure_kind) == (Status.UNSUPPORTED, "not_configured")
