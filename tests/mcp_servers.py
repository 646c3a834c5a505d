"""Small MCP servers that do as they are told, and what asks them through the adapter."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from samples import skill

from skilleval.adapters.base import Call
from skilleval.adapters.mcp.adapter import McpAdapter
from skilleval.adapters.mcp.options import McpOptions
from skilleval.domain.attempts import Reply
from skilleval.sandboxes.base import Sandbox
from skilleval.sandboxes.none import NoSandbox, NoSandboxOptions

_SCRIPTED = """
import json, os, signal, sys, time
def say(**members):
    print(json.dumps({"jsonrpc": "2.0", **members}), flush=True)
def text(words, **members):
    return {"content": [{"type": "text", "text": words}], **members}
VERSION, TOOLS, n = "2025-06-18", ["work"], 0
BEFORE
for line in sys.stdin:
    request = json.loads(line)
    method, params, id = request["method"], request.get("params", {}), request.get("id")
    if method == "initialize":
        about = {"name": "scripted", "version": "1"}
        say(id=id, result={"protocolVersion": VERSION, "capabilities": {"tools": {}}, "serverInfo": about})
    elif method == "tools/list":
        plain = {"inputSchema": {"type": "object"}}
        tools = [tool if isinstance(tool, dict) else {"name": tool, **plain} for tool in TOOLS]
        say(id=id, result={"tools": tools})
    elif method == "tools/call":
        n += 1
        given = params.get("arguments", {})
        CALL
"""

WITH_SDK = """
import sys, time
from mcp.server import MCPServer

server = MCPServer("sdk", log_level="ERROR")

@server.tool()
def add(a: int, b: int) -> int:
    print("adding", file=sys.stderr)
    return a + b

@server.tool()
def slow(seconds: float) -> str:
    time.sleep(seconds)
    return "done"

@server.tool(structured_output=False)
def echo(words: str) -> str:
    return words

if sys.argv[1:]:
    server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
else:
    server.run()
"""
"""A server made with the SDK, as people make them: on stdin and stdout, or on a port."""

PYTHON = f"{sys.executable} -I server.py"
"""Starts the `server.py` of a skill's folder."""


def write_scripted(folder: Path, call: str, *, before: str = "") -> None:
    """Write a server that shakes hands, then does `call` for each call of a tool; `before` runs first of all."""
    program = _SCRIPTED.replace("BEFORE", before).replace("CALL", call.replace("\n", "\n        "))
    (folder / "server.py").write_text(program, encoding="utf-8")


def mcp_options(**changes: Any) -> McpOptions:
    """Give the options of the adapter."""
    values: dict[str, Any] = {
        "start_timeout_ms": 15000.0,
        "max_output_bytes": 100_000,
        "headers": {},
        "auth_type": "none",
        "auth_token_env_key": "",
        "auth_header": "",
        "skill_token_env_keys": ("SKILL_*",),
        "connect_timeout_ms": 5000.0,
        "max_retry_after_s": 60.0,
        "use_proxy_env": False,
    }
    return McpOptions(**(values | changes))


def mcp_call(
    folder: Path,
    entrypoint: str = PYTHON,
    *,
    tool: str | None = None,
    own: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Call:
    """Give a call of a tool; where none is named the only one is meant."""
    values: dict[str, Any] = {
        "skill": skill(
            entrypoint=entrypoint,
            folder=folder,
            source=folder / "skill.json",
            metadata={} if tool is None else {"toolName": tool},
            adapter_options=own or {},
        ),
        "task_id": "t1",
        "input": {"a": 1},
        "repeat": 0,
        "seed": 0,
        "try_index": 0,
        "timeout_s": 20.0,
        "trial_id": "0" * 32,
    }
    return Call(**(values | changes))


def replies_of(
    calls: Sequence[Call],
    *,
    sandbox: Sandbox | None = None,
    worker_trials: int | None = None,
    environ: Mapping[str, str] | None = None,
    pause_s: float = 0.0,
    **options: Any,
) -> list[Reply]:
    """Make the calls one after the other, by one adapter; afterwards the sandbox holds nothing any more."""

    async def replies() -> list[Reply]:
        place = sandbox or NoSandbox(NoSandboxOptions(pass_env=()))
        adapter = McpAdapter(
            mcp_options(**options),
            place,
            worker_trials=worker_trials,
            environ=environ or {},
        )
        found = []
        try:
            for call in calls:
                found.append(await adapter.invoke(call))
                await asyncio.sleep(pause_s)
        finally:
            await adapter.aclose()
            await place.aclose()
        return found

    return asyncio.run(replies())
