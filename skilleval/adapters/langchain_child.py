"""Invokes one Runnable of a skill: run in the skill's folder as `python langchain_child.py MODULE:ATTRIBUTE OPTIONS`.

Requests and replies are those of `python_child.py` beside it, for which this program is the module that it calls.
The result of a call is `{"output": …, "usage": …}`.
"""

from __future__ import annotations

import asyncio
import dataclasses
import importlib.util
import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

_KINDS = ("input_tokens", "output_tokens", "total_tokens")
_MESSAGES = "messages"


def main() -> None:
    """Take our own words from the arguments, and let the protocol run."""
    child = _child()
    entrypoint, options, *rest = sys.argv[1:]
    _told.update(json.loads(options), entrypoint=entrypoint, loaded=child.loaded)
    sys.argv[1:] = ["__main__:invoke", *rest]
    child.main()


_told: dict[str, Any] = {}
"""What `main` was told, for each call."""


def invoke(given: dict[str, Any]) -> dict[str, Any]:
    """Invoke the Runnable of the entrypoint."""
    from langchain_core.callbacks import UsageMetadataCallbackHandler

    runnable = _runnable()
    counter = UsageMetadataCallbackHandler()
    config = {**_told["config"], "callbacks": [counter]}
    value = given[_told["input_key"]] if _told["input_key"] else given
    if _told["asynchronous"] or _is_async_only(runnable):
        result = asyncio.run(runnable.ainvoke(value, config))
    else:
        result = runnable.invoke(value, config)
    # Models that do not say their name are not counted by the library, but what they reply may say it.
    counted: list[Any] = [*counter.usage_metadata.values()] or [*_reported(result)]
    return {"output": plain(result), "usage": _sum(counted)}


@cache
def _runnable() -> Any:
    """Give the Runnable that the entrypoint names, or that the function it names makes."""
    from langchain_core.runnables import Runnable

    found = _told["loaded"](_told["entrypoint"])
    if not isinstance(found, Runnable) and callable(found):
        found = found()
    if not isinstance(found, Runnable):
        msg = f"{_told['entrypoint']} is no Runnable or tool, but {type(found).__name__}"
        raise TypeError(msg)
    return found


def _is_async_only(runnable: Any) -> bool:
    """Say whether a tool is made of an async function and nothing else."""
    return getattr(runnable, "coroutine", None) is not None and getattr(runnable, "func", None) is None


def plain(value: Any) -> Any:
    """Give a result as a JSON value: of a message its content, of what an agent returns its last message."""
    if isinstance(value, Mapping) and list(value) == [_MESSAGES]:
        value = value[_MESSAGES]
    if _are_messages(value):
        value = value[-1]
    if _is_message(value):
        return value.content if isinstance(value.content, str) else _joined(value.content)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def _joined(parts: list[Any]) -> Any:
    """Give the text of a message in parts; where a part is no text, the parts."""
    texts = [part if isinstance(part, str) else part.get("text") for part in parts]
    return "".join(texts) if all(isinstance(text, str) for text in texts) else plain(parts)


def _is_message(value: Any) -> bool:
    return hasattr(value, "content") and hasattr(value, "response_metadata")


def _are_messages(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(map(_is_message, value))


def _reported(value: Any) -> Iterator[Mapping[str, Any]]:
    """Find what the messages in a result say about tokens."""
    if _is_message(value):
        if getattr(value, "usage_metadata", None):
            yield value.usage_metadata
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _reported(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _reported(item)


def _sum(counted: list[Any]) -> dict[str, int] | None:
    return {kind: sum(one[kind] for one in counted) for kind in _KINDS} if counted else None


def _child() -> ModuleType:
    """Load the protocol from the file beside this one; its folder must not be a place for the skill's imports."""
    spec = importlib.util.spec_from_file_location("python_child", Path(__file__).with_name("python_child.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
