"""`chat`: gives an instruction skill to a model and asks it one question, in one turn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from skilleval.adapters.base import Call
from skilleval.adapters.chat_prompt import Told, has_skill, read_question, system_text, user_text
from skilleval.adapters.text import compact_json
from skilleval.chat.base import Asked, ChatRequest, Completion, Ready
from skilleval.domain.attempts import Reply, Status
from skilleval.domain.skills import Skill
from skilleval.errors import Problem, SetupError
from skilleval.strict import StrictModel


class ChatOptions(StrictModel):
    """How much of a file a model is shown."""

    max_file_bytes: Annotated[int, Field(ge=1)]


class ChatAdapter:
    """Asks a model, with the skill as the system message or without it; each call stands alone."""

    Options = ChatOptions
    kind = "chat"
    needs_model = True

    def __init__(self, options: ChatOptions, model: Asked) -> None:
        self._max_bytes = options.max_file_bytes
        self._model = model
        self._systems: dict[tuple[Path, str], Told] = {}

    def check(self, skill: Skill) -> None:
        """Make sure that there are instructions to give, and a model to give them to.

        Raises:
            SetupError: the skill has no instructions, or the model cannot be asked; it says what to do.
        """
        problem = _without_instructions(skill)
        if problem is not None:
            raise SetupError("the skill cannot be given to a model", problems=(problem,))
        if isinstance(self._model, Ready):
            self._model.check()

    async def admit(self, call: Call) -> None:
        """Wait until the limits of the model let the call through."""
        if call.skill.instructions is not None:
            request, _ = self._request(call)
            await self._model.admit(request)

    async def invoke(self, call: Call) -> Reply:
        """Ask once. Only what the model said becomes the output: a failure of the call never does."""
        problem = _without_instructions(call.skill)
        if problem is not None:
            return Reply(status=Status.UNSUPPORTED, failure_kind="no_instructions", message=str(problem))
        request, notes = self._request(call)
        return _reply(await self._model.ask(request, timeout_s=call.timeout_s), notes)

    async def aclose(self) -> None:
        """Give back the connections of the model."""
        await self._model.aclose()

    def _request(self, call: Call) -> tuple[ChatRequest, tuple[str, ...]]:
        """Build what is asked; only the system message differs between the arms of a comparison."""
        question = read_question(call.input)
        system = self._system(call.skill) if has_skill(call) else None
        user = user_text(question.prompt, call.files, max_bytes=self._max_bytes)
        request = ChatRequest(
            user=user.text,
            system=None if system is None else system.text,
            tools=question.tools,
            tool_choice=question.tool_choice,
            params=question.params,
            seed=call.seed,
        )
        return request, (*(() if system is None else system.notes), *user.notes)

    def _system(self, skill: Skill) -> Told:
        key = (skill.source, skill.digest)
        if key not in self._systems:
            self._systems[key] = system_text(skill, max_bytes=self._max_bytes)
        return self._systems[key]


def _without_instructions(skill: Skill) -> Problem | None:
    if skill.instructions is not None:
        return None
    return Problem(
        where=str(skill.source),
        expected="instructions for a model (a SKILL.md)",
        found="a callable skill",
        hint="adapter=auto drives each skill as its own file says",
    )


def _reply(completion: Completion, notes: tuple[str, ...]) -> Reply:
    """Give what came of a turn as every adapter does: output only where the model has answered."""
    output, calls, n_bytes, n_wrong = None, None, None, 0
    if completion.status is Status.COMPLETED:
        text = completion.text or ""
        output, n_wrong = compact_json(text)
        n_bytes = len(text.encode(errors="replace"))
        called = [
            {"id": call.id, "name": call.name, "arguments": call.arguments} for call in completion.tool_calls
        ]
        calls, _ = compact_json(called)
    return Reply(
        status=completion.status,
        output=output,
        failure_kind=completion.failure_kind,
        message=completion.message,
        latency_ms=completion.latency_ms,
        output_bytes=n_bytes,
        output_encoding_errors=n_wrong,
        usage=completion.usage,
        retryable=completion.retryable,
        retry_after_s=completion.retry_after_s,
        request=completion.request,
        tool_calls=calls,
        response_model=completion.response_model,
        notes=(*notes, *completion.notes),
    )
