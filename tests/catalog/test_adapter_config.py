from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skilleval.catalog.adapter_config import ADAPTER_CONFIG, AdapterConfig, read_adapter_config
from skilleval.catalog.skill_json import read_skill
from skilleval.errors import CatalogError, Problem

Writer = Callable[..., Path]
KEYS = (
    *("$schema", "args", "authHeader", "authTokenEnvKey", "authType", "baseUrl", "command"),
    *("headers", "method", "parameters", "retries", "serve", "timeoutMs", "type"),
)


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., AdapterConfig]:
    """Write the file, read it for a skill of some kind."""

    def config(value: object, *, kind: str = "http", entrypoint: str = "/invoke") -> AdapterConfig:
        (tmp_path / ADAPTER_CONFIG).write_text(json.dumps(value), encoding="utf-8")
        return read_adapter_config(tmp_path, {"adapterType": kind, "entrypoint": entrypoint})

    return config


@pytest.fixture
def problems_of(read: Callable[..., AdapterConfig]) -> Callable[..., tuple[Problem, ...]]:
    """Give the problems of a file."""

    def problems(value: object, **manifest: str) -> tuple[Problem, ...]:
        with pytest.raises(CatalogError) as caught:
            read(value, **manifest)
        return caught.value.problems

    return problems


@pytest.mark.parametrize(
    ("kind", "written", "options"),
    [
        (
            "http",
            {
                "type": "http",
                "baseUrl": "http://localhost:3000",
                "authType": "none",
                "timeoutMs": 15000,
                "retries": 1,
            },
            {"base_url": "http://localhost:3000", "auth_type": "none", "timeout_ms": 15000, "retries": 1},
        ),
        ("mcp", {"type": "mcp", "timeoutMs": 30000}, {"timeout_ms": 30000}),
        (
            "http",
            {
                "type": "http",
                "baseUrl": "https://api.example",
                "method": "GET",
                "timeoutMs": 30000,
                "headers": {"Content-Type": "application/json"},
            },
            {
                "base_url": "https://api.example",
                "method": "GET",
                "timeout_ms": 30000,
                "headers": {"Content-Type": "application/json"},
            },
        ),
        ("python", {"retries": 2.0}, {"retries": 2}),
        ("http", {"$schema": "x"}, {}),
        (
            "http",
            {"authType": "api-key", "authTokenEnvKey": "SKILL_KEY"},
            {"auth_type": "api_key", "auth_token_env_key": "SKILL_KEY"},
        ),
        (
            "http",
            {"authType": "header", "authTokenEnvKey": "K", "authHeader": "X-Pass"},
            {"auth_type": "header", "auth_token_env_key": "K", "auth_header": "X-Pass"},
        ),
        ("http", {"serve": {"command": ["a"]}}, {"serve": {"command": ["a"], "ready": "tcp"}}),
        (
            "http",
            {
                "baseUrl": "http://localhost:{port}/v1",
                "serve": {"command": ["a", "{port}"], "ready": "/up?x=1"},
            },
            {
                "base_url": "http://localhost:{port}/v1",
                "serve": {"command": ["a", "{port}"], "ready": "/up?x=1"},
            },
        ),
    ],
)
def test_es06_every_key_has_its_option(
    kind: str, written: dict[str, Any], options: dict[str, Any], read: Callable[..., AdapterConfig]
) -> None:
    """What the other tool's `create` writes, and our own keys, come out under their snake_case names."""
    assert read(written, kind=kind) == AdapterConfig(options=options)


def test_es06_the_file_reaches_the_skill(write_skill: Writer) -> None:
    """A skill is read with the file beside it; without one there are no options."""
    folder = write_skill()
    assert read_skill(folder).adapter_options == {}
    (folder / ADAPTER_CONFIG).write_text('{"type": "subprocess", "timeoutMs": 1500.5, "retries": 3}')
    assert read_skill(folder).adapter_options == {"timeout_ms": 1500.5, "retries": 3}
    assert read_skill(folder / "skill.json").adapter_options == {"timeout_ms": 1500.5, "retries": 3}


def test_es06_command_and_args_replace_the_entrypoint(write_skill: Writer) -> None:
    """The program that is named in the file is the one that runs, each argument as it is written."""
    folder = write_skill()
    words = ["python3", "my skill.py", "", "it's", "$HOME"]
    (folder / ADAPTER_CONFIG).write_text(json.dumps({"command": words[0], "args": words[1:]}))
    skill = read_skill(folder)
    assert shlex.split(skill.entrypoint) == words
    assert skill.adapter_options == {}


def test_es06_the_file_is_part_of_what_the_skill_is(write_skill: Writer) -> None:
    """Another setting is another skill: results under different limits are never mixed."""
    folder = write_skill()
    before = read_skill(folder).digest
    (folder / ADAPTER_CONFIG).write_text('{"timeoutMs": 1}')
    assert read_skill(folder).digest != before


@pytest.mark.parametrize(
    ("written", "key", "hint"),
    [
        ({"timeout": 3}, "timeout", "did you mean timeoutMs?"),
        ({"base_url": "http://a"}, "base_url", "did you mean baseUrl?"),
        ({"retry": 3}, "retry", "did you mean retries?"),
        ({"serve": {"cmd": ["a"], "command": ["a"]}}, "serve.cmd", "did you mean command?"),
        ({"colour": 3}, "colour", f"known: {', '.join(KEYS)}"),
    ],
)  # fmt: skip
def test_es06_unknown_keys_are_refused(
    written: dict[str, Any], key: str, hint: str, problems_of: Callable[..., tuple[Problem, ...]]
) -> None:
    """A key that would have no effect is a problem that names the nearest known one."""
    (problem,) = problems_of(written)
    assert (problem.key, problem.expected, problem.hint) == (key, "a known key", hint)


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ([], ""),
        ({"type": "langchain"}, "type"),
        ({"timeoutMs": 0}, "timeoutMs"),
        ({"timeoutMs": "1000"}, "timeoutMs"),
        ({"timeoutMs": True}, "timeoutMs"),
        ({"timeoutMs": 3600001}, "timeoutMs"),
        ({"retries": -1}, "retries"),
        ({"retries": 1.5}, "retries"),
        ({"retries": 11}, "retries"),
        ({"baseUrl": "localhost:3000"}, "baseUrl"),
        ({"baseUrl": "file:///etc"}, "baseUrl"),
        ({"method": "HEAD"}, "method"),
        ({"method": "post"}, "method"),
        ({"headers": {"X-A": 1}}, "headers.X-A"),
        ({"headers": {"X-A": "a\nb"}}, "headers.X-A"),
        ({"headers": {"X A": "a"}}, "headers"),
        ({"authType": "basic"}, "authType"),
        ({"authType": "bearer", "authTokenEnvKey": "A B"}, "authTokenEnvKey"),
        ({"serve": ["python3"]}, "serve"),
        ({"serve": {"ready": "tcp"}}, "serve.command"),
        ({"serve": {"command": []}}, "serve.command"),
        ({"serve": {"command": "python3 server.py"}}, "serve.command"),
        ({"serve": {"command": ["a"], "ready": "health"}}, "serve.ready"),
        ({"serve": {"command": ["a"], "ready": "/a\r\nb"}}, "serve.ready"),
    ],
)
def test_each_rule_is_applied(
    written: object, key: str, problems_of: Callable[..., tuple[Problem, ...]]
) -> None:
    """A value that breaks a rule is a problem with its key, what was expected and what was found."""
    (problem,) = problems_of(written)
    assert problem.key == key
    assert problem.where.endswith(ADAPTER_CONFIG)
    assert problem.expected
    assert problem.found


@pytest.mark.parametrize(
    ("written", "manifest", "key", "expected"),
    [
        ({"type": "http"}, {"kind": "subprocess"}, "type", "subprocess, the adapterType of skill.json"),
        ({"baseUrl": "http://a"}, {"kind": "subprocess"}, "baseUrl", "a key for adapterType subprocess"),
        ({"command": "python3"}, {"kind": "http"}, "command", "a key for adapterType http"),
        ({"serve": {"command": ["a"]}}, {"kind": "python"}, "serve", "a key for adapterType python"),
        ({"args": ["a"]}, {"kind": "subprocess"}, "command", "a program to go with args"),
        ({"authType": "bearer"}, {}, "authTokenEnvKey", "a name, for authType bearer"),
        ({"authTokenEnvKey": "SKILL_K"}, {}, "authTokenEnvKey", "no authTokenEnvKey with authType none"),
        ({"authType": "header", "authTokenEnvKey": "K"}, {}, "authHeader", "a name, for authType header"),
        ({"authHeader": "X-A"}, {}, "authHeader", "no authHeader with authType none"),
        ({"headers": {"authorization": "Bearer x"}}, {}, "headers.authorization", "no credentials"),
        ({"headers": {"X-Api-Key": "x"}}, {}, "headers.X-Api-Key", "no credentials"),
        ({"headers": {"Host": "x"}}, {}, "headers.Host", "a header of your own"),
        ({"headers": {"X-SkillEval-Seed": "1"}}, {}, "headers.X-SkillEval-Seed", "a header of your own"),
        (
            {"headers": {"content-type": "text/xml"}},
            {},
            "headers.content-type",
            "application/json, or a type that ends with +json",
        ),
        ({"baseUrl": "http://a:{port}"}, {}, "baseUrl", "a fixed port without serve"),
        (
            {"baseUrl": "http://localhost:3000", "serve": {"command": ["a"]}},
            {},
            "baseUrl",
            "{port} where the free port goes",
        ),
        (
            {"baseUrl": "http://localhost:3001"},
            {"entrypoint": "http://localhost:3000/invoke"},
            "baseUrl",
            "the start of http://localhost:3000/invoke",
        ),
        (
            {"baseUrl": "http://localhost/v1"},
            {"entrypoint": "http://localhost/v10/invoke"},
            "baseUrl",
            "the start of http://localhost/v10/invoke",
        ),
    ],
)
def test_es06_what_would_be_without_effect_is_refused(
    written: dict[str, Any],
    manifest: dict[str, str],
    key: str,
    expected: str,
    problems_of: Callable[..., tuple[Problem, ...]],
) -> None:
    """Keys that contradict the manifest or each other are refused with the reason."""
    (problem,) = problems_of(written, **manifest)
    assert (problem.key, problem.expected) == (key, expected)
    assert problem.found


@pytest.mark.parametrize(
    "base", ["http://localhost:3000", "http://localhost:3000/", "http://localhost:3000/invoke"]
)
def test_a_base_below_which_the_entrypoint_stands_is_fine(
    base: str, read: Callable[..., AdapterConfig]
) -> None:
    """The other tool's template writes both: they agree."""
    assert read({"baseUrl": base}, entrypoint="http://localhost:3000/invoke").options == {"base_url": base}


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("inprocess", "only who runs a skill may trust it that far: adapter.python.inprocess=true"),
        ("inProcess", "only who runs a skill may trust it that far: adapter.python.inprocess=true"),
        ("token", "name the variable that holds it with authTokenEnvKey: secrets never stand in a file"),
        ("authToken", "name the variable that holds it with authTokenEnvKey: secrets never stand in a file"),
    ],
)
def test_a_skill_cannot_vouch_for_itself_nor_hold_secrets(
    key: str, hint: str, problems_of: Callable[..., tuple[Problem, ...]]
) -> None:
    """Keys that people expect here but that belong elsewhere say where."""
    (problem,) = problems_of({key: True}, kind="python")
    assert (problem.key, problem.hint) == (key, hint)


def test_a_broken_file_is_said_with_its_place(write_skill: Writer) -> None:
    """Text that is no JSON, and a link to nowhere, are problems of that file."""
    folder = write_skill()
    file = folder / ADAPTER_CONFIG
    file.write_text('{"timeoutMs": 1,}')
    with pytest.raises(CatalogError) as caught:
        read_skill(folder)
    assert caught.value.problems[0].where == str(file.resolve())
    file.unlink()
    file.symlink_to("nowhere")
    with pytest.raises(CatalogError) as caught:
        read_skill(folder)
    assert caught.value.problems[0].expected == "a file that can be read"
