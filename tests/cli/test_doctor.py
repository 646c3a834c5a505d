"""`skilleval doctor` as a user runs it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from cli.conftest import EXAMPLES, SCRIPT, Run


def test_what_is_missing_comes_with_what_to_do(run: Run) -> None:
    """Python and skilleval are there; every check that is not ok names a fix."""
    checks = run("doctor", "--json").document
    states = {check["name"]: check["state"] for check in checks}
    assert states["Python"] == states["skilleval"] == states["python3"] == states["none"] == "ok"
    assert all(check["fix"] for check in checks if check["state"] != "ok")
    assert "skilleval" in run("doctor").out


def test_in_a_pipe_each_line_is_whole(run: Run, folder: Path) -> None:
    """Cells stand with tabs between them and are not folded or cut, for `grep` and `cut`."""
    lines = [line.split("\t") for line in run("doctor").out.splitlines()]
    assert lines[0] == ["state", "area", "what", "found", "what to do if you need it"]
    assert {len(line) for line in lines} == {5}
    (where,) = (line for line in lines if line[2] == "working folder")
    assert where[3] == f"{folder} can be written to"
    egress = [
        line.split("\t")
        for line in run("doctor", "--egress", EXAMPLES / "calculator", "sandbox=none").out.splitlines()
    ]
    assert egress[0] == ["who", "sends to", "fields", "variables read", "why"]
    assert {len(line) for line in egress} == {5}


def test_nobody_is_sent_after_what_nothing_uses(run: Run) -> None:
    """Keys of parts that are yet to come are not asked for."""
    checks = {check["name"]: check for check in run("doctor", "--json").document}
    if checks["ANTHROPIC_API_KEY"]["state"] != "ok":
        assert checks["ANTHROPIC_API_KEY"]["fix"] == "not needed: nothing here uses it yet"


def test_an_engine_that_does_not_answer_comes_with_what_to_do(
    folder: Path, environment: Mapping[str, str]
) -> None:
    """Address and reason are told, how to get an engine, and what works without one."""
    done = subprocess.run(
        [str(SCRIPT), "doctor", "--json"],
        cwd=folder,
        env={**environment, "DOCKER_HOST": "unix:///nowhere/docker.sock"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    (check,) = [check for check in json.loads(done.stdout) if check["area"] == "engine"]
    assert check["state"] == "missing"
    assert (
        check["found"] == "no Docker engine answers at unix:///nowhere/docker.sock: No such file or directory"
    )
    assert "scripts/docker-engine.sh" in check["fix"]
    assert "sandbox=process" in check["fix"]


def test_keys_are_named_but_never_shown(folder: Path, environment: Mapping[str, str]) -> None:
    """A key that is set is said to be set, without its value."""
    done = subprocess.run(
        [str(SCRIPT), "doctor", "--json"],
        cwd=folder,
        env={**environment, "OPENAI_API_KEY": "sk-very-secret"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "sk-very-secret" not in done.stdout + done.stderr
    states = {check["name"]: check["found"] for check in json.loads(done.stdout)}
    assert states["OPENAI_API_KEY"] == "set"


def test_an_enclosed_skill_sends_nothing_anywhere(run: Run) -> None:
    """Without network there is no way out to list."""
    assert run("doctor", "--egress", EXAMPLES / "calculator", "sandbox=process", "--json").document == []


@pytest.mark.hostile
def test_a_skill_with_named_hosts_sends_there_only(run: Run) -> None:
    """Each host that the proxy lets through is one line."""
    done = run(
        "doctor", "--egress", EXAMPLES / "calculator", "sandbox.allow_hosts=[a.example,b.example:8]", "--json"
    )
    assert [one["host"] for one in done.document] == ["a.example", "b.example:8"]


def test_egress_lists_hosts_fields_and_variables(run: Run, folder: Path) -> None:
    """An HTTP skill with a token: its host, what is sent, and the variable that is read; nothing is sent."""
    skill = folder / "remote"
    skill.mkdir()
    manifest = {
        "id": "remote",
        "name": "Remote",
        "version": "1.0.0",
        "adapterType": "http",
        "entrypoint": "https://skills.example:8443/invoke",
    }
    (skill / "skill.json").write_text(json.dumps(manifest))
    done = run(
        "doctor", "--egress", "remote", EXAMPLES / "calculator", "adapter.http.auth_type=bearer",
        "adapter.http.auth_token_env_key=MY_TOKEN", "sandbox=none", "sandbox.pass_env=[LANGUAGE]",
        "--json",
    )  # fmt: skip
    by_host = {(one["sender"].split()[0], one["host"]): one for one in done.document}
    remote = by_host["remote", "skills.example:8443"]
    assert remote["variables"] == ["MY_TOKEN"]
    assert {"input", "Authorization"} <= set(remote["fields"])
    local = by_host["calculator", "any host"]
    assert local["variables"] == ["LANGUAGE"]
    assert "sandbox=none" in local["why"]
    assert sorted(path.name for path in folder.iterdir()) == ["remote"]


def test_egress_lists_servers_that_are_asked_and_classes_that_nobody_holds(run: Run, folder: Path) -> None:
    """An MCP server behind an address is a way out, with a header of its own; an adapter class may go anywhere."""
    common = {"name": "x", "version": "1.0.0"}
    manifests: dict[str, dict[str, object]] = {
        "remote": {"adapterType": "mcp", "entrypoint": "https://tools.example/mcp"},
        "own": {"adapterType": "custom", "entrypoint": "none", "metadata": {"adapterClass": "some:Class"}},
    }
    for name, manifest in manifests.items():
        (folder / name).mkdir()
        (folder / name / "skill.json").write_text(json.dumps({"id": name, **common, **manifest}))
    config = {"type": "mcp", "authType": "api_key", "authTokenEnvKey": "MY_TOKEN"}
    (folder / "remote" / "adapter.config.json").write_text(json.dumps(config))
    found = {
        one["sender"].split()[0]: one for one in run("doctor", "--egress", "remote", "own", "--json").document
    }
    assert (found["remote"]["host"], found["remote"]["variables"]) == ("tools.example", ["MY_TOKEN"])
    assert found["remote"]["fields"] == ["input", "seed", "repeat", "X-API-Key"]
    assert found["own"]["host"] == "any host"
