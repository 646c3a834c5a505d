from __future__ import annotations

import math
from typing import Any

import pytest
from mcp.client import Transport
from mcp_types import CallToolResult

from skilleval.adapters.http_reply import Failure
from skilleval.adapters.mcp.line import Traffic
from skilleval.adapters.mcp.reply import reply_of, with_last_words
from skilleval.domain.attempts import Reply, Status

IMAGE = {"type": "image", "data": "AAAA", "mimeType": "image/png"}


class Silence:
    """A line on which nothing but what it was made with was heard."""

    is_open = True
    is_spent = False
    failure = None

    def __init__(self, traffic: Traffic | None = None) -> None:
        self.traffic = traffic or Traffic(n_bytes=10)

    def opened(self) -> Transport:
        """Nobody connects."""
        raise NotImplementedError

    def begin(self) -> None:
        """Nothing is counted."""

    def give_up(self) -> None:
        """Nobody is there."""

    def redacted(self, text: str) -> str:
        """Hide the word that is secret here."""
        return text.replace("secret", "***")


def _text(*words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": word} for word in words]


def _reply(**members: Any) -> Reply:
    return reply_of(CallToolResult.model_validate({"content": [], **members}), Silence())


@pytest.mark.parametrize(
    ("members", "output"),
    [
        ({"structuredContent": {"sum": 3}, "content": _text("3 it is")}, '{"sum":3}'),
        ({"structuredContent": [1, None]}, "[1,null]"),
        ({"structuredContent": False, "content": _text("no")}, "false"),
        ({"structuredContent": None, "content": _text("3")}, "3"),
        ({"content": _text("three")}, '"three"'),
        ({"content": _text("")}, '""'),
        ({"content": _text('{"a": NaN}')}, r'"{\"a\": NaN}"'),
        ({"content": _text(" [1, 2] ")}, "[1,2]"),
        ({"content": _text("one", "two")}, r'"one\ntwo"'),
        ({"content": _text("{", '"a": 1}')}, '{"a":1}'),
        ({"content": [*_text("see"), IMAGE]}, None),
        ({}, "null"),
    ],
)
def test_what_of_a_result_is_the_output(members: dict[str, Any], output: str | None) -> None:
    """Structured content, else the JSON in the text, else the text; parts that are no text stay a list of parts."""
    reply = _reply(**members)
    parts = '[{"type":"text","text":"see"},{"type":"image","data":"AAAA","mimeType":"image/png"}]'
    assert (reply.status, reply.output) == (Status.COMPLETED, output or parts)


def test_numbers_that_json_cannot_say_are_no_output() -> None:
    """Infinity in structured content is a fault of the server."""
    reply = _reply(structuredContent={"a": math.inf})
    assert (reply.status, reply.failure_kind) == (Status.SKILL_ERROR, "unreadable_reply")


def test_output_and_message_are_without_secrets() -> None:
    """Whatever is kept goes through the line's redaction."""
    assert _reply(content=_text("my secret")).output == '"my ***"'
    assert _reply(content=_text("no secret"), isError=True).message == "no ***"


def test_what_was_heard_is_the_evidence_of_a_failure() -> None:
    """Noise on stdout is kept where there is no output, and its last line is told."""
    line = Silence(Traffic(n_bytes=7, n_wrong=1, stdout="a\nlast\n", stderr="e", exit_code=3))
    reply = reply_of(with_last_words(Failure(kind="lost", message="gone"), line), line)
    assert (reply.message, reply.stdout, reply.stderr) == ("gone; it wrote to stdout: last", "a\nlast\n", "e")
    assert (reply.output_bytes, reply.output_encoding_errors, reply.exit_code) == (7, 1, 3)

    assert _reply(content=_text("fine")).stdout is None
