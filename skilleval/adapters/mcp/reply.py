"""What a tool's result comes to: an output, or a failure in words; and what the SDK means when it raises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import anyio
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS, METHOD_NOT_FOUND, CallToolResult, TextContent
from pydantic import ValidationError

from skilleval.adapters.http_reply import Failure
from skilleval.adapters.mcp.line import Line
from skilleval.adapters.text import compact_json, parsed_json
from skilleval.domain.attempts import Reply, Status

BREAKAGE = (MCPError, ValidationError, RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError)
"""What the SDK raises where a server does not do its part."""

_USELESS_TO_REPEAT = frozenset({METHOD_NOT_FOUND, INVALID_PARAMS})  # the same request meets the same answer
_UNREADABLE = (
    "Failed to parse JSON response",
    "Failed to parse SSE message",
    "Unexpected content type",
    "server answered a request with 202",
)
"""How the SDK begins to say, in an error of its own making, that an answer over HTTP is no message."""
_WORDS_SHOWN = 200


def reply_of(outcome: CallToolResult | Failure, line: Line) -> Reply:
    """Give the reply that a result or a failure is, with what was heard on the line as evidence."""
    traffic = line.traffic
    evidence = Reply(
        status=Status.COMPLETED,
        stderr=traffic.stderr,
        output_bytes=traffic.n_bytes,
        output_encoding_errors=traffic.n_wrong,
    )
    read, n_replaced = _output(outcome) if isinstance(outcome, CallToolResult) else (outcome, 0)
    evidence = replace(evidence, output_encoding_errors=traffic.n_wrong + n_replaced)
    if isinstance(read, str):
        return replace(evidence, output=line.redacted(read))
    told = replace(read, message=line.redacted(read.message))
    return replace(told.reply(replace(evidence, stdout=traffic.stdout)), exit_code=traffic.exit_code)


def _output(result: CallToolResult) -> tuple[str | Failure, int]:
    """Give the output as JSON text, with the places that were replaced in it."""
    if result.is_error:
        return Failure(kind="tool_error", message=_text(result) or "the tool failed without a word"), 0
    try:
        return compact_json(_value(result))
    except RecursionError:
        return Failure(kind="unreadable_reply", message="the result is nested too deeply"), 0
    except ValueError as error:
        return Failure(kind="unreadable_reply", message=f"the result is not JSON: {error}"), 0


def _value(result: CallToolResult) -> Any:
    """Give the output as a value.

    Structured content wins: the text beside it says the same to people. Several texts are one, line by line; a part
    that is no text (an image, a resource) leaves the list of parts as the server sent it. No content is null.
    """
    if result.structured_content is not None:
        return result.structured_content
    if not result.content:
        return None
    if all(isinstance(part, TextContent) for part in result.content):
        return _read(_text(result))
    return [part.model_dump(by_alias=True, mode="json", exclude_unset=True) for part in result.content]


def _text(result: CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


def _read(text: str) -> Any:
    try:
        return parsed_json(text)
    except (ValueError, RecursionError):
        return text


def refused(error: Exception, what: str) -> Failure | None:
    """Say what the SDK met while it did something; null where the line was cut, which only the line can explain."""
    if isinstance(error, MCPError) and not _tells_of_the_end(error):
        if error.message.startswith(_UNREADABLE):
            words = error.message.partition(": 1 validation error")[0].partition("\n")[0]
            return Failure(
                kind="unreadable_reply", message=f"{what}: the answer breaks the protocol: {words}"
            )
        is_retryable = error.code not in _USELESS_TO_REPEAT
        message = f"{what}: JSON-RPC error {error.code}: {error.message}"
        return Failure(kind="rpc_error", message=message, retryable=is_retryable)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        message = f"{what}: the answer breaks the protocol: {place}: {first['msg']}"
        return Failure(kind="unreadable_reply", message=message)
    if isinstance(error, RuntimeError):
        return Failure(kind="broken_contract", message=f"{what}: {error}".partition("\n")[0])
    return None


def _tells_of_the_end(error: MCPError) -> bool:
    """Say whether the SDK speaks here and not the server, whose own errors may have the same code."""
    words = error.message
    return error.code == CONNECTION_CLOSED and (
        words == "Connection closed" or words.startswith("SSE stream ")
    )


def with_last_words(failure: Failure, line: Line) -> Failure:
    """Add what a server printed instead of answering: often the very reason."""
    traffic = line.traffic
    for name, text in (("stdout", traffic.stdout), ("stderr", traffic.stderr)):
        words = (text or "").strip().rpartition("\n")[2][:_WORDS_SHOWN]
        if words:
            return replace(failure, message=f"{failure.message}; it wrote to {name}: {words}")
    return failure
