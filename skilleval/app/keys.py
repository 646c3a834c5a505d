"""The keys that a run hands over: values of variables that no row may hold, and those that are not set."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skilleval.adapters.token import Token
from skilleval.app.models import key_variables
from skilleval.app.parts import adapter_kind, adapter_options
from skilleval.config.settings import Settings
from skilleval.domain.skills import Skill
from skilleval.results.redaction import Redactor

_SHORTEST = 6
"""Characters: shorter values stand in texts by chance."""
_NO_KEYS = frozenset(
    (
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "PWD",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TERM",
        "TMPDIR",
        "HOSTNAME",
    )
)
_WORDS = frozenset(
    (
        "default",
        "development",
        "disabled",
        "enabled",
        "localhost",
        "production",
        "staging",
        "testing",
        "warning",
    )
)


def build_redactor(settings: Settings, skills: Sequence[Skill]) -> Redactor:
    """Make what keeps patterns of `privacy.redact`, and the keys that skills are given, out of every row."""
    names = dict.fromkeys(
        (*passed_variables(settings), *_token_variables(settings, skills), *key_variables(settings))
    )
    values = {part for name in names for part in _secret_parts(name, os.environ.get(name, ""))}
    # One key may be the beginning of another one: the longer one goes first, or its rest would stay.
    hidden = [Token(value) for value in sorted(values, key=lambda value: (-len(value), value))]
    return Redactor(settings.privacy.redact, hidden)


def passed_variables(settings: Settings) -> tuple[str, ...]:
    """Name the variables that programs get from the evaluator's environment."""
    return tuple(str(name) for name in settings.sandbox.options.get("pass_env", ()))


def unset_variables(settings: Settings) -> list[str]:
    """Warn of variables that are to be handed over and do not exist."""
    absent = [name for name in passed_variables(settings) if name not in os.environ]
    return [f"sandbox.pass_env names {name}, which is not set here: skills do not see it" for name in absent]


def _token_variables(settings: Settings, skills: Sequence[Skill]) -> Iterator[str]:
    """Name what holds the tokens of requests: a program with the evaluator's rights could find and print them."""
    for skill in skills:
        kind = adapter_kind(settings.adapter, skill)
        of_run: Mapping[str, Any] = adapter_options(settings.adapter, kind)
        for options in (of_run, skill.adapter_options):
            if name := options.get("auth_token_env_key"):
                yield str(name)


def _secret_parts(name: str, value: str) -> Iterator[str]:
    """Give a value, and each line of it, where it may be a secret at all."""
    value = value.strip()
    if name in _NO_KEYS or name.startswith("LC_") or value.lower() in _WORDS or _is_path(value):
        return
    for part in (value, *value.splitlines()):
        if len(part.strip()) >= _SHORTEST:
            yield part.strip()


def _is_path(value: str) -> bool:
    """Say whether it names a file of this machine; a key that begins with a slash does not."""
    first = value.partition(os.pathsep)[0]
    return first.startswith("/") and os.path.exists(first)  # noqa: PTH110 - Path fails where a name is too long
