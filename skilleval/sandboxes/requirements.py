"""Guarantees that a run demands of its sandbox: what is missing is an error before the first trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from skilleval.errors import AdapterError, ConfigError, Problem
from skilleval.sandboxes.base import GUARANTEES, Sandbox
from skilleval.strict import nearest

_KEY = "sandbox.require"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Why a guarantee cannot be given here, and what to do about it."""

    reason: str
    fix: str


@runtime_checkable
class Explaining(Protocol):
    """A sandbox that knows why it does not give a guarantee."""

    @property
    def gaps(self) -> Mapping[str, Gap]:
        """Reasons and remedies, by guarantee."""


def check_guarantees(required: Sequence[str], sandbox: Sandbox) -> None:
    """See to it that a sandbox enforces what is required.

    Raises:
        ConfigError: there is no guarantee of such a name.
        AdapterError: it is not enforced here; each problem says why and what to do.
    """
    unknown = tuple(_unknown(name) for name in required if name not in GUARANTEES)
    if unknown:
        raise ConfigError("the sandbox cannot be asked for this", problems=unknown)
    missing = [name for name in dict.fromkeys(required) if name not in sandbox.guarantees]
    if missing:
        problems = tuple(_missing(name, sandbox) for name in missing)
        raise AdapterError("the sandbox does not enforce what is required", problems=problems)


def _unknown(name: str) -> Problem:
    hint = nearest(name, list(GUARANTEES))
    return Problem(where="config", key=_KEY, expected="guarantees", found=name, hint=hint)


def _missing(name: str, sandbox: Sandbox) -> Problem:
    gap = _gap(name, sandbox)
    return Problem(
        where="config", key=_KEY, expected=f"{name} ({GUARANTEES[name]})", found=gap.reason, hint=gap.fix
    )


def _gap(name: str, sandbox: Sandbox) -> Gap:
    if not isinstance(sandbox, Explaining):
        return Gap(reason=f"sandbox={sandbox.name}, which does not enforce it", fix="use sandbox=process")
    turned_off = Gap(
        reason="a setting of the sandbox that turns it off", fix=f"leave {name} out or turn it on"
    )
    return sandbox.gaps.get(name, turned_off)
