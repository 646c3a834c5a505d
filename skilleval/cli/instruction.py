"""The options of instruction skills, as users of agent-skills-eval know them; each is short for a setting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilleval.cli.arguments import Many
from skilleval.errors import UsageError

if TYPE_CHECKING:
    from skilleval.catalog.peer_config import PeerConfig

_OPTIONS = (
    click.option("--target", metavar="MODEL", help="Model that instruction skills (SKILL.md) are given to."),
    click.option("--judge", metavar="MODEL", help="Model that judges assertions (the target)."),
    click.option("--base-url", metavar="URL", help="Where both are asked (OPENAI_BASE_URL)."),
    click.option("--api-key-env", metavar="NAME", help="Variable that holds the key (OPENAI_API_KEY)."),
    click.option(
        "--baseline", is_flag=True, help="Ask the model without the skill as well, to see the uplift."
    ),
    click.option(
        "--old", metavar="REF|DIR", help="Ask with an old edition of the skill as well: git ref or folder."
    ),
    click.option("--include", cls=Many, metavar="GLOB...", help="Only skills whose path or id matches."),
    click.option("--exclude", cls=Many, metavar="GLOB...", help="No skill whose path or id matches."),
    click.option("--strict", is_flag=True, help="Refuse what the Agent Skills specification forbids."),
    click.option("--budget-usd", type=float, metavar="USD", help="Stop, resumably, once this is spent."),
    click.option("--budget-tokens", type=int, metavar="N", help="Stop, resumably, after so many tokens."),
)
_SETTINGS = {
    "target": "model.name",
    "judge": "judge.name",
    "base_url": "model.base_url",
    "api_key_env": "model.api_key_env",
    "old": "skill_set.old",
    "budget_usd": "budget.usd",
    "budget_tokens": "budget.tokens",
}
"""Option → the setting it is short for."""
_INSTRUCTED = ("target", "baseline", "old", "strict", "include", "exclude")
"""Options that make sense for instruction skills alone."""
_WITH, _WITHOUT, _OLD = "with_skill", "without_skill", "old_skill"
_EVALS = "benchmark=evals"
_MODEL = "model=openai"
PEER_CONFIG = "agent-skills-eval"


def instruction_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of instruction skills."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def instruction_overrides(options: Mapping[str, Any], overrides: Sequence[str]) -> Iterator[str]:
    """Turn the options into overrides; `overrides` are those that the user wrote, which choose for themselves."""
    from skilleval.config.compose import quote

    if any(options[name] for name in _INSTRUCTED):
        yield from _choices(options, overrides)
    for name, key in _SETTINGS.items():
        if options[name] is not None:
            yield f"{key}={quote(options[name])}"
    for name in ("include", "exclude"):
        if options[name]:
            yield f"skill_set.{name}={quote(list(options[name]))}"
    if options["strict"]:
        yield "skill_set.strict=true"
    arms = [_WITH, *([_WITHOUT] if options["baseline"] else []), *([_OLD] if options["old"] else [])]
    if len(arms) > 1:
        yield f"skill_set.modes={quote(arms)}"


def _choices(options: Mapping[str, Any], overrides: Sequence[str]) -> Iterator[str]:
    """Choose the skills' own evals, and a model of the usual protocol, unless the user has chosen something."""
    chosen = {override.partition("=")[0].lstrip("+") for override in overrides}
    if not (options.get("benchmark") or options.get("tasks") or {"benchmark", "benchmark.name"} & chosen):
        yield _EVALS
    if options["target"] and "model" not in chosen:
        yield _MODEL


def is_peer_config(path: Path | None) -> bool:
    """Say whether a file is a config of agent-skills-eval, as its name tells."""
    return path is not None and path.stem.startswith(PEER_CONFIG)


def peer_overrides(config: PeerConfig, overrides: Sequence[str]) -> Iterator[str]:
    """Turn a config of agent-skills-eval into overrides, weaker than those that the user wrote."""
    from skilleval.config.compose import quote

    chosen = {override.partition("=")[0].lstrip("+") for override in overrides}
    if not {"benchmark", "benchmark.name"} & chosen:
        yield _EVALS
    if "model" not in chosen:
        yield _MODEL
    for key, value in config.settings.items():
        # Parameters of a request are keys that the composed settings do not know yet: `+` lays them over those there.
        added = "+" if isinstance(value, Mapping) else ""
        try:
            yield f"{added}{key}={quote(value)}"
        except UsageError as error:
            msg = f"{key} cannot be taken over: {error.message}"
            raise UsageError(msg, hint=error.hint) from None
