"""`custom`: hands skills over to an adapter class of somebody else, `module:Class`, which runs within skilleval."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import reduce
from typing import Annotated, Any

from pydantic import Field

from skilleval.adapters.base import Adapter, Call, Checking, close_all
from skilleval.domain.attempts import Reply, Status
from skilleval.domain.skills import Skill
from skilleval.errors import Problem, SetupError, SkillevalError
from skilleval.sandboxes.base import Sandbox
from skilleval.strict import StrictModel

_CLASS = "adapterClass"
_OPTIONS = "adapter.custom.options"


class CustomOptions(StrictModel):
    """`conf/adapter/custom.yaml`.

    `allow` are patterns of the classes that a `skill.json` may name: their code runs with the rights of the
    evaluator, and a skill of a stranger must not choose it.
    """

    adapter_class: str
    allow: Annotated[tuple[str, ...], Field(strict=False)]
    options: Mapping[str, Any]


class CustomAdapter:
    """Builds one adapter a class. It promises no isolation, because nothing is known of what the classes do."""

    Options = CustomOptions
    kind = "custom"

    def __init__(self, options: CustomOptions, sandbox: Sandbox) -> None:
        self._options = options
        self._sandbox = sandbox
        self._adapters: dict[str, Adapter] = {}

    def check(self, skill: Skill) -> None:
        """Make sure that a skill's class can be used, before the first trial.

        Raises:
            SkillevalError: none is named or allowed, it cannot be imported or built, or it refuses the skill.
        """
        adapter = self._adapter(skill)
        if isinstance(adapter, Checking):
            adapter.check(skill)

    async def invoke(self, call: Call) -> Reply:
        """Have the class call the skill."""
        try:
            adapter = self._adapter(call.skill)
        except SkillevalError as error:
            message = "; ".join(str(problem) for problem in error.problems) or error.message
            return Reply(status=Status.UNSUPPORTED, failure_kind="not_configured", message=message)
        return await adapter.invoke(call)

    async def aclose(self) -> None:
        """Close all that was built."""
        await close_all(self._adapters.values())

    def _adapter(self, skill: Skill) -> Adapter:
        reference = self._reference(skill)
        if reference not in self._adapters:
            self._adapters[reference] = self._built(reference, skill)
        return self._adapters[reference]

    def _reference(self, skill: Skill) -> str:
        if self._options.adapter_class:
            return self._options.adapter_class
        named = skill.metadata.get(_CLASS)
        if not isinstance(named, str) or ":" not in named:
            hint = "name it there, or for all skills with adapter.custom.adapter_class=module:Class"
            raise _refusal(skill, "module:Class", "nothing" if named is None else str(named), hint)
        if not any(fnmatchcase(named, pattern) for pattern in self._options.allow):
            allowed = " or ".join(self._options.allow) or "no class of the skill's choice"
            hint = f"its code runs with your rights: allow it with adapter.custom.allow=['{named}']"
            raise _refusal(skill, allowed, named, hint)
        return named

    def _built(self, reference: str, skill: Skill) -> Adapter:
        module, _, name = reference.partition(":")
        try:
            found: Any = reduce(getattr, name.split("."), importlib.import_module(module))
        except (ImportError, AttributeError, ValueError) as error:
            raise _refusal(skill, "a class that can be imported", f"{reference}: {error}") from None
        missing = [part for part in ("Options", "kind", "invoke", "aclose") if not hasattr(found, part)]
        if missing:
            raise _refusal(skill, "an adapter class", f"{reference} without {', '.join(missing)}")
        options = found.Options.parse(self._options.options, where="config", prefix=_OPTIONS)
        adapter: Adapter = found(options, self._sandbox)
        return adapter


def _refusal(skill: Skill, expected: str, found: str, hint: str = "") -> SetupError:
    problem = Problem(
        where=str(skill.source), key=f"metadata.{_CLASS}", expected=expected, found=found, hint=hint
    )
    return SetupError("a custom skill cannot be called", problems=(problem,))
