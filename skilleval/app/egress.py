"""Where a configuration can send data: which hosts, which fields, and which environment variables are read for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from skilleval.app.parts import adapter_kind, adapter_options
from skilleval.app.prepare import Prepared
from skilleval.domain import Skill
from skilleval.sandboxes.base import NETWORK

ANYWHERE = "any host"
_HTTP_FIELDS = ("skillId", "version", "input", "seed", "repeat")


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """One way out: who sends, where to, what, and with which variables of the environment."""

    sender: str
    host: str
    fields: tuple[str, ...]
    variables: tuple[str, ...]
    why: str


def destinations(prepared: Prepared) -> tuple[Destination, ...]:
    """Give every way out of a run, without sending anything."""
    return tuple(one for skill in prepared.skills for one in _of_skill(prepared, skill))


def _of_skill(prepared: Prepared, skill: Skill) -> Iterator[Destination]:
    settings = prepared.settings
    kind = adapter_kind(settings.adapter, skill)
    if kind not in prepared.adapters:  # stored attempts are scored again: nothing calls the skill
        return
    if kind == "http":
        yield _request(skill, {**adapter_options(settings.adapter, kind), **skill.adapter_options})
    if kind != "replay":
        yield from _of_program(prepared, skill)


def _of_program(prepared: Prepared, skill: Skill) -> Iterator[Destination]:
    """Tell where a program that runs here can send what it is given."""
    options, sandbox = prepared.settings.sandbox.options, prepared.sandbox
    is_open = sandbox.serves_unguarded and bool(skill.adapter_options.get("serve"))
    if NETWORK in sandbox.guarantees and not is_open:
        hosts = [str(host) for host in options.get("allow_hosts", ())]
        why = "sandbox.allow_hosts lets it through"
    else:
        hosts, why = [ANYWHERE], f"a skill under sandbox={sandbox.name} may use the network as it likes"
    for host in hosts:
        yield Destination(
            sender=_name(skill),
            host=host,
            fields=("input", "seed", "repeat"),
            variables=tuple(str(name) for name in options.get("pass_env", ())),
            why=why,
        )


def _request(skill: Skill, options: Mapping[str, Any]) -> Destination:
    address = skill.entrypoint if "://" in skill.entrypoint else str(options.get("base_url", ""))
    variable = str(options.get("auth_token_env_key", ""))
    uses_token = options.get("auth_type", "none") != "none" and variable
    return Destination(
        sender=_name(skill),
        host=urlsplit(address).netloc or "127.0.0.1 (its own server)",
        fields=(*_HTTP_FIELDS, *(["Authorization"] if uses_token else [])),
        variables=(variable,) if uses_token else (),
        why="the http adapter asks it for each trial",
    )


def _name(skill: Skill) -> str:
    return f"{skill.id} {skill.version}"
