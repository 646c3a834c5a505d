"""A judge for tests: a model that says what it was told to say, and keeps what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from skilleval.chat.base import ChatRequest, Completion
from skilleval.domain.attempts import Status, Usage
from skilleval.scorers.base import Finding, ScoringRecord
from skilleval.scorers.llm_judge import Judges, LlmJudgeOptions, LlmJudgeScorer

OPTIONS = LlmJudgeOptions(
    rubric="",
    scale=(0, 10),
    min_score=0.5,
    params={"temperature": 0},
    timeout_ms=1000,
    repeats=1,
    swap_order=False,
    show_input=True,
    show_files=True,
    structured_output=True,
)


class ScriptedJudge:
    """Gives its replies in turn, and the last one from then on; a status in place of a text is a failure."""

    def __init__(self, *replies: str | Status, model: str = "judge-1") -> None:
        self._replies = list(replies)
        self._model = model
        self.asked: list[ChatRequest] = []

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._model

    @property
    def identity(self) -> str:
        """Its name says it all."""
        return self._model

    async def admit(self, request: ChatRequest) -> None:
        """Let everything through."""

    async def ask(self, request: ChatRequest, *, timeout_s: float) -> Completion:
        """Give the next reply."""
        self.asked.append(request)
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        sent = json.dumps({"user": request.user, "timeout_s": timeout_s})
        if isinstance(reply, Status):
            return Completion(
                status=reply, model=self._model, request=sent, failure_kind="http_500", message="HTTP 500"
            )
        return Completion(
            status=Status.COMPLETED,
            model=self._model,
            request=sent,
            text=reply,
            latency_ms=12.0,
            usage=Usage(input_tokens=100, output_tokens=10),
        )

    async def consult(self, request: ChatRequest, *, timeout_s: float) -> Completion:
        """Ask once: there is nothing to wait for."""
        return await self.ask(request, timeout_s=timeout_s)

    async def aclose(self) -> None:
        """Hold nothing."""


def results(*entries: Mapping[str, Any]) -> str:
    """Write a reply with these entries."""
    return json.dumps({"assertion_results": list(entries)})


def verdict(check_id: str, *, passed: Any = True, evidence: str = "Lisbon") -> dict[str, Any]:
    """Give an entry for an assertion."""
    return {"id": check_id, "passed": passed, "evidence": evidence}


def asserting(*texts: str, output: Any = "The port is Lisbon.", **changes: Any) -> ScoringRecord:
    """Give an attempt whose task asserts these texts, as a1, a2, …."""
    values: dict[str, Any] = {
        "task_id": "tide/1",
        "input": {"prompt": "Which port?"},
        "expected": {"assertions": [{"id": f"a{n}", "text": text} for n, text in enumerate(texts, start=1)]},
        "evaluator": None,
        "output": output,
        "trial_id": "trial-1",
        "seed": 7,
    }
    return ScoringRecord(**(values | changes))


def graded(
    expected: Mapping[str, Any], *, output: Any = "The port is Lisbon.", **changes: Any
) -> ScoringRecord:
    """Give an attempt whose task has a rubric."""
    return asserting(output=output, expected=expected, **changes)


def found(
    seen: ScoringRecord, *judges: ScriptedJudge, options: LlmJudgeOptions = OPTIONS, **changes: Any
) -> Sequence[Finding]:
    """Let the judges judge an attempt; `changes` are options."""
    scorer = LlmJudgeScorer(options.model_copy(update=changes), _judges(judges))
    return asyncio.run(scorer.findings(seen))


def _judges(judges: Sequence[ScriptedJudge]) -> Judges:
    first, second = (*judges, None, None)[:2]
    return Judges(first=first, second=second)
