"""Asking judges: each of them as often as wanted, and once more where a reply cannot be used."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from skilleval.chat.base import Asked, ChatRequest, Completion
from skilleval.clock import Clock
from skilleval.domain.attempts import Status
from skilleval.domain.scores import Judgement
from skilleval.scorers.llm_judge.fencing import Fence, Part
from skilleval.scorers.llm_judge.options import LlmJudgeOptions
from skilleval.scorers.llm_judge.reply import Reading, Ruling

JUDGE_ERROR = "judge_error"
_MALFORMED = "malformed_reply"
_QUOTED = 500  # characters of a reply that are shown to the judge again
_FAULTS = 10  # of them that are told


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges:
    """The models that judge; none at all where the config names none."""

    first: Asked | None = None
    second: Asked | None = None

    @property
    def all(self) -> tuple[Asked, ...]:
        """Those that there are."""
        return tuple(judge for judge in (self.first, self.second) if judge is not None)


NO_JUDGES = Judges()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What judges are asked about one attempt. `orders` says the same in one order or more.

    `purpose` is the name of the form; `trial_id` and `seed` are those of the attempt.
    """

    purpose: str
    system: str
    orders: tuple[str, ...]
    schema: Mapping[str, Any] | None
    read: Callable[[str], Reading]
    trial_id: str
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one judge said, asked once or once more. `cause` says why rulings are missing; empty: none is."""

    judge: int
    model: str
    rulings: Mapping[str, Ruling]
    cause: str
    judgements: tuple[Judgement, ...]


class Asking:
    """Puts questions to the judges, all at the same time: the limits of a model are its own affair."""

    def __init__(self, judges: Judges, options: LlmJudgeOptions, clock: Clock) -> None:
        self._judges = judges.all
        self._options = options
        self._clock = clock

    async def answers(self, question: Question) -> tuple[Answer, ...]:
        """Give an answer a judge, repeat and order, in this sequence."""
        rounds = [
            (number, repeat, order)
            for number in range(len(self._judges))
            for repeat in range(self._options.repeats)
            for order in range(len(question.orders))
        ]
        if len(rounds) == 1:  # without a group around it, so that whatever breaks is told as it is
            return (await self._answer(question, *rounds[0]),)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._answer(question, *one)) for one in rounds]
        return tuple(task.result() for task in tasks)

    async def _answer(self, question: Question, number: int, repeat: int, order: int) -> Answer:
        purpose = f"{question.purpose}:swapped" if order else question.purpose
        request = self._request(question, question.orders[order], repeat)
        judge = self._judges[number]
        completion, reading, judgement = await self._once(judge, request, purpose, question)
        judgements: tuple[Judgement, ...] = (judgement,)
        rulings = reading.rulings
        if reading.faults and completion.status is Status.COMPLETED:
            request = replace(request, user=f"{request.user}\n\n{_complaint(question, completion, reading)}")
            _, reading, judgement = await self._once(judge, request, f"{purpose}:again", question)
            judgements, rulings = (*judgements, judgement), {**rulings, **reading.rulings}
        cause = f"{judge.model}: {judgement.message}" if reading.faults else ""
        return Answer(judge=number, model=judge.model, rulings=rulings, cause=cause, judgements=judgements)

    def _request(self, question: Question, user: str, repeat: int) -> ChatRequest:
        return ChatRequest(
            user=user,
            system=question.system,
            params=self._options.params,
            response_schema=question.schema if self._options.structured_output else None,
            seed=question.seed + repeat,
        )

    async def _once(
        self, judge: Asked, request: ChatRequest, purpose: str, question: Question
    ) -> tuple[Completion, Reading, Judgement]:
        started_at = self._clock.utc()
        completion = await judge.consult(request, timeout_s=self._options.timeout_ms / 1000)
        reading, failure_kind = _read(completion, question)
        judgement = Judgement(
            purpose=purpose,
            model=judge.model,
            started_at=started_at,
            request=completion.request,
            reply=completion.text,
            failure_kind=failure_kind,
            message="; ".join(reading.faults[:_FAULTS]) or None,
            latency_ms=completion.latency_ms,
            usage=completion.usage,
        )
        return completion, reading, judgement


def _read(completion: Completion, question: Question) -> tuple[Reading, str | None]:
    if completion.status is not Status.COMPLETED:
        kind = completion.failure_kind or completion.status.value
        return Reading(faults=(f"{kind}: {completion.message or 'no cause given'}",)), kind
    text = (completion.text or "").strip()
    reading = question.read(text) if text else Reading(faults=("the reply is empty",))
    return reading, _MALFORMED if reading.faults else None


def _complaint(question: Question, completion: Completion, reading: Reading) -> str:
    """Say what was wrong with a reply. It and what is said of it may hold words of the attempt: both are fenced."""
    reply = (completion.text or "")[:_QUOTED]
    faults = "\n".join(f"- {fault}" for fault in reading.faults[:_FAULTS])
    fence = Fence.around_all(question.trial_id, [reply, faults, *question.orders])
    return "\n\n".join(
        [
            "You replied to this before, and the reply could not be used. Reply, and what is wrong with it:",
            fence.block(Part(name="earlier reply", text=reply)),
            fence.block(Part(name="faults", text=faults)),
            "Reply again, completely, with one JSON object in the form asked for.",
        ]
    )
