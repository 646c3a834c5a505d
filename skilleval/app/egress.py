"""Where a configuration can send data: which hosts, which fields, and which environment variables are read for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from skilleval.app.models import judge_settings
from skilleval.app.parts import adapter_kind, adapter_options
from skilleval.app.prepare import CHAT, Prepared
from skilleval.domain.skills import Skill
from skilleval.sandboxes.base import NETWORK

ANYWHERE = "any host"
_OF_SUBJECT = ("prompt", "input files", "SKILL.md and its references")
_OF_JUDGE = ("prompt", "input files", "what is expected", "output")
_HTTP_FIELDS = ("skillId", "version", "input", "seed", "repeat")
_MCP_FIELDS = ("input", "seed", "repeat")
_AUTH_HEADERS = {"bearer": "Authorization", "api_key": "X-API-Key"}


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
    of_skills = (one for skill in prepared.skills for one in _of_skill(prepared, skill))
    return (*of_skills, *_of_models(prepared))


def _of_skill(prepared: Prepared, skill: Skill) -> Iterator[Destination]:
    settings = prepared.settings
    kind = adapter_kind(settings.adapter, skill)
    if kind not in prepared.adapters:  # stored attempts are scored again: nothing calls the skill
        return
    options = {**adapter_options(settings.adapter, kind), **skill.adapter_options}
    is_asked = kind == "http" or (kind == "mcp" and "://" in skill.entrypoint)
    if is_asked:
        yield _request(skill, kind, options)
    if kind == "custom" or ":" in kind:  # or the class itself is the kind
        yield _of_class(skill)
    elif kind != "replay" and (not is_asked or "serve" in options):
        yield from _of_program(prepared, skill)


def _of_models(prepared: Prepared) -> Iterator[Destination]:
    """Tell where prompts, files, skills and answers go: to the model under test, and to those that judge."""
    settings, models = prepared.settings, prepared.models
    asked = (
        ("model", CHAT in prepared.adapters and models.subject, settings.model, _OF_SUBJECT),
        ("judge", models.judge, judge_settings(settings), _OF_JUDGE),
        ("second judge", models.second_judge, settings.second_judge, _OF_JUDGE),
    )
    for role, model, of, fields in asked:
        if not model:
            continue
        variables = [
            str(of.options[name]) for name in ("api_key_env", "base_url_env") if of.options.get(name)
        ]
        yield Destination(
            sender=f"{role} {model.model}",
            host=urlsplit(model.endpoint or "").netloc or ANYWHERE,
            fields=fields,
            variables=tuple(variables),
            why="each trial asks it" if role == "model" else "checks that a model judges ask it",
        )


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


def _of_class(skill: Skill) -> Destination:
    """An adapter class from elsewhere runs with our rights: only its author knows where it sends what."""
    return Destination(
        sender=_name(skill),
        host=ANYWHERE,
        fields=("input", "seed", "repeat"),
        variables=("any",),
        why="an adapter class of its own runs within skilleval, where no sandbox holds it",
    )


def _request(skill: Skill, kind: str, options: Mapping[str, Any]) -> Destination:
    address = skill.entrypoint if "://" in skill.entrypoint else str(options.get("base_url", ""))
    variable, auth = str(options.get("auth_token_env_key", "")), str(options.get("auth_type", "none"))
    uses_token = auth != "none" and variable
    header = _AUTH_HEADERS.get(auth) or str(options.get("auth_header", ""))
    fields = _MCP_FIELDS if kind == "mcp" else _HTTP_FIELDS
    return Destination(
        sender=_name(skill),
        host=urlsplit(address).netloc or "127.0.0.1 (its own server)",
        fields=(*fields, *([header] if uses_token else [])),
        variables=(variable,) if uses_token else (),
        why=f"the {kind} adapter asks it for each trial",
    )


def _name(skill: Skill) -> str:
    return f"{skill.id} {skill.version}"
