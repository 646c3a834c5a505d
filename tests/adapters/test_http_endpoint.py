from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from samples import skill

from skilleval.adapters.http_endpoint import Endpoint, HttpOptions, Serve, build_endpoint
from skilleval.adapters.token import Token
from skilleval.errors import ConfigError, Problem, SetupError

Options = Callable[..., HttpOptions]
SERVE = {"command": ["python3", "s.py", "{port}"], "ready": "/health"}
SESAME = "sesame-open"


def _endpoint(
    options: HttpOptions,
    entrypoint: str = "/invoke",
    *,
    own: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Endpoint:
    one = skill(entrypoint=entrypoint, folder=Path("s"), adapter_options=own or {})
    return build_endpoint(options, one, environ or {})


def _bearer(variable: str) -> dict[str, str]:
    return {"auth_type": "bearer", "auth_token_env_key": variable}


def _problem(options: HttpOptions, entrypoint: str = "/invoke", **values: Any) -> Problem:
    with pytest.raises(SetupError) as caught:
        _endpoint(options, entrypoint, **values)
    assert caught.value.exit_code == 2
    return caught.value.problems[0]


@pytest.mark.parametrize(
    ("entrypoint", "base", "own", "url"),
    [
        ("http://127.0.0.1:3000/invoke", "", {}, "http://127.0.0.1:3000/invoke"),
        ("https://skills.example/a?b=c", "http://else.example", {}, "https://skills.example/a?b=c"),
        (" http://[::1]:80/ ", "", {}, "http://[::1]:80/"),
        ("/invoke", "http://h.example:1/base/", {}, "http://h.example:1/base/invoke"),
        (
            "/invoke",
            "http://h.example",
            {"base_url": "http://own.example/v1"},
            "http://own.example/v1/invoke",
        ),
        ("/invoke", "http://h.example", {"serve": SERVE}, "http://127.0.0.1:{port}/invoke"),
        ("/", "", {"serve": SERVE, "base_url": "http://localhost:{port}/v1"}, "http://localhost:{port}/v1/"),
        ("http://localhost:{port}/x", "", {"serve": SERVE}, "http://localhost:{port}/x"),
    ],
)
def test_an_address_is_the_entrypoint_or_joined_to_its_base(
    entrypoint: str, base: str, own: Mapping[str, Any], url: str, http_options: Options
) -> None:
    """A whole address stands for itself; a path is joined to the skill's own base before that of the run."""
    assert _endpoint(http_options(base_url=base), entrypoint, own=own).url == url


@pytest.mark.parametrize(
    ("entrypoint", "base", "own", "expected"),
    [
        ("/invoke", "", {}, "an address, or a base address for it"),
        ("python3 skill.py", "http://h.example", {}, "an http address, or a path that begins with /"),
        ("mcp://localhost:8080/tools", "", {}, "an address such as http://127.0.0.1:3000/invoke"),
        ("http:///invoke", "", {}, "an address such as http://127.0.0.1:3000/invoke"),
        ("http://h.example:99999/", "", {}, "an address such as http://127.0.0.1:3000/invoke"),
        ("http://h.example:0/", "", {}, "an address such as http://127.0.0.1:3000/invoke"),
        ("http://h.example/a b", "", {}, "an address such as http://127.0.0.1:3000/invoke"),
        ("http://me:secret@h.example/", "", {}, "an address without name and password"),
        ("http://h.example:{port}/", "", {}, "a port in place of {port}"),
        ("http://h.example:3000/", "", {"serve": SERVE}, "{port} where the port goes"),
    ],
)
def test_an_unusable_address_is_refused(
    entrypoint: str, base: str, own: Mapping[str, Any], expected: str, http_options: Options
) -> None:
    """What cannot be asked is said before anything is."""
    problem = _problem(http_options(base_url=base), entrypoint, own=own)
    assert (problem.key, problem.expected) == ("entrypoint", expected)
    assert "secret" not in str(problem)


@pytest.mark.parametrize(
    ("own", "auth"),
    [
        ({"auth_type": "bearer"}, {"Authorization": f"Bearer {SESAME}"}),
        ({"auth_type": "api_key"}, {"X-API-Key": SESAME}),
        ({"auth_type": "header", "auth_header": "X-Pass"}, {"X-Pass": SESAME}),
        ({"auth_type": "none"}, {}),
    ],
)
def test_es32_credentials_are_read_from_the_environment(
    own: dict[str, Any], auth: dict[str, str], http_options: Options
) -> None:
    """Each kind of authentication takes effect, from the config and from the skill's own file alike."""
    environ = {"SKILL_KEY": f" {SESAME}\n"}
    named = {**own, "auth_token_env_key": "SKILL_KEY"}
    address = "http://h.example/"
    assert _endpoint(http_options(**named), address, environ=environ).auth == auth
    assert _endpoint(http_options(), address, own=named, environ=environ).auth == auth


def test_the_skills_own_authentication_wins_as_a_whole(http_options: Options) -> None:
    """A skill that says `none` is sent no token of the run, and one that names its own gets that."""
    run = http_options(**_bearer("RUN_KEY"))
    environ = {"RUN_KEY": "of-the-run", "SKILL_KEY": "of-the-skill"}
    address = "http://h.example/"
    assert _endpoint(run, address, environ=environ).auth == {"Authorization": "Bearer of-the-run"}
    assert _endpoint(run, address, own={"auth_type": "none"}, environ=environ).auth == {}
    own = {"auth_type": "api_key", "auth_token_env_key": "SKILL_KEY"}
    assert _endpoint(run, address, own=own, environ=environ).auth == {"X-API-Key": "of-the-skill"}


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        ({}, "none of that name"),
        ({"RUN_KEY": " "}, "an empty one"),
        ({"RUN_KEY": "short"}, "5 characters that are none"),
        ({"RUN_KEY": "two words here"}, "14 characters that are none"),
        ({"RUN_KEY": "schlüssel"}, "9 characters that are none"),
    ],
)
def test_a_token_that_is_not_there_is_said_with_the_fix(
    environ: dict[str, str], found: str, http_options: Options
) -> None:
    """Before the first call: the variable, what is wrong with it, and never its value."""
    options = http_options(**_bearer("RUN_KEY"))
    problem = _problem(options, "http://h.example/", environ=environ)
    assert (problem.key, problem.found) == ("RUN_KEY", found)
    assert problem.hint == ("export RUN_KEY=… before the run" if len(environ.get("RUN_KEY", "")) < 2 else "")
    assert not any(value.strip() and value in str(problem) for value in environ.values())


def test_a_skill_cannot_ask_for_any_secret(http_options: Options) -> None:
    """The file of a skill may name only variables that are meant for skills."""
    own = {"auth_type": "bearer", "auth_token_env_key": "OPENAI_API_KEY"}
    environ = {"OPENAI_API_KEY": SESAME}
    problem = _problem(http_options(), "http://h.example/", own=own, environ=environ)
    assert (problem.key, problem.expected, problem.found) == ("authTokenEnvKey", "SKILL_*", "OPENAI_API_KEY")
    allowed = http_options(skill_token_env_keys=("OPENAI_API_KEY",))
    assert _endpoint(allowed, "http://h.example/", own=own, environ=environ).token == Token(SESAME)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"auth_type": "bearer"}, "adapter.http.auth_token_env_key"),
        ({"auth_type": "header", "auth_token_env_key": "K"}, "adapter.http.auth_header"),
    ],
)
def test_half_an_authentication_is_refused(changes: dict[str, str], key: str, http_options: Options) -> None:
    """A kind of authentication without what it needs is a mistake in the config."""
    problem = _problem(http_options(**changes), "http://h.example/", environ={"K": SESAME})
    assert (problem.where, problem.key) == ("config", key)


def test_headers_and_method_of_the_skill_win(http_options: Options) -> None:
    """The skill's own headers are added to those of the run, its method replaces that of the run."""
    options = http_options(headers={"X-A": "1", "X-B": "1"})
    own = {"headers": {"X-B": "2"}, "method": "PUT"}
    endpoint = _endpoint(options, "http://h.example/", own=own)
    assert (endpoint.headers, endpoint.method) == ({"X-A": "1", "X-B": "2"}, "PUT")


def test_a_served_skill_says_how(http_options: Options) -> None:
    """The command and what to wait for go with the endpoint."""
    serve = _endpoint(http_options(), own={"serve": SERVE}).serve
    assert serve == Serve(command=("python3", "s.py", "{port}"), ready="/health")


@pytest.mark.parametrize(
    "headers", [{"Authorization": "Bearer x"}, {"cookie": "a=b"}, {"X-A": "a\nb"}, {"X A": "1"}, {"X-A": 3}]
)
def test_headers_of_the_config_hold_no_credentials(headers: dict[str, object], http_options: Options) -> None:
    """Configs are kept with the results, so secrets and broken headers are refused in them."""
    with pytest.raises(ConfigError) as caught:
        HttpOptions.parse({**http_options().model_dump(), "headers": headers}, where="test")
    assert caught.value.problems[0].key.startswith("headers")


def test_a_token_is_never_shown(http_options: Options) -> None:
    """It is in no representation, and redaction finds it in plain text and in JSON."""
    odd = 'a/b"c\\d-e'
    options = http_options(**_bearer("K"))
    endpoint = _endpoint(options, "http://h.example/", environ={"K": odd})
    assert odd not in repr(endpoint)
    assert endpoint.redacted(f"sent {odd}.") == "sent ***."
    assert endpoint.redacted('"a/b\\"c\\\\d-e"') == '"***"'
    assert endpoint.redacted('"a\\/b\\"c\\\\d-e"') == '"***"'
