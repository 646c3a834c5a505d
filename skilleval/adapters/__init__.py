"""Adapters: ways to drive a skill. A new one is a file here, a file in `conf/adapter/` and a line below."""

from __future__ import annotations

from typing import Any

from skilleval.adapters.chat import ChatAdapter
from skilleval.adapters.custom import CustomAdapter
from skilleval.adapters.http import HttpAdapter
from skilleval.adapters.langchain import LangchainAdapter
from skilleval.adapters.mcp.adapter import McpAdapter
from skilleval.adapters.python_function import PythonAdapter
from skilleval.adapters.replay import ReplayAdapter
from skilleval.adapters.subprocess_rpc import SubprocessAdapter

ADAPTERS: dict[str, Any] = {
    "chat": ChatAdapter,
    "custom": CustomAdapter,
    "http": HttpAdapter,
    "langchain": LangchainAdapter,
    "mcp": McpAdapter,
    "python": PythonAdapter,
    "replay": ReplayAdapter,
    "subprocess": SubprocessAdapter,
}
"""Kind → class with an `Options` model; built as `kind(options, sandbox)`, `chat` as `kind(options, model)`."""
