"""Takes a file of evals apart into cases, each as far as it can be understood."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilleval.catalog.evals.assertions import assertions_of
from skilleval.catalog.evals.documents import read_evals_document
from skilleval.catalog.evals.findings import Findings, Said
from skilleval.catalog.evals.shapes import (
    BEHAVIOUR,
    PROMPTS,
    WRAPPERS,
    Item,
    Shape,
    is_criterion,
    n_criteria,
    prompt_of,
    shape_of,
)
from skilleval.errors import CatalogError

_KNOWN = frozenset(
    {
        "id", "name", "prompt", "expected_output", "files", "assertions", "expectations", "tool_assertions",
        "should_trigger", "polarity", "params", "tools", "tool_choice", "script", "file_checks", "timeoutMs",
        "timeout_ms", "tags", "weight",
    }
)  # fmt: skip
_CHECKS = ("tool_assertions", "script", "file_checks")
_POLARITY: Mapping[str, bool] = {"positive": True, "negative": False}
_DEFAULTS: Mapping[str, tuple[str, ...]] = {
    "": ("target", "judge", "tools"),
    "target": ("params",),
    "judge": ("params",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalCase:
    """One case as it is written. `id` is null where none is given, `trigger` where it says nothing of triggering.

    `criteria` counts what it expects under keys of other tools.
    """

    place: str
    id: str | None
    prompt: str | None
    raw: Mapping[str, Any]
    assertions: tuple[Mapping[str, Any], ...]
    expected_output: str | None
    criteria: Mapping[str, int]
    trigger: bool | None

    @property
    def has_checks(self) -> bool:
        """Say whether something of ours judges it."""
        own = any(self.raw.get(key) for key in _CHECKS)
        return bool(self.assertions) or self.expected_output is not None or own

    @property
    def is_trigger_only(self) -> bool:
        """Say whether it only asks whether the skill is used."""
        return self.trigger is not None and not self.has_checks


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalsFile:
    """A file of evals that was taken apart; `kind` is `evals`, `trigger`, `mixed`, `config` or `not-evals`."""

    path: Path
    digest: str
    kind: str
    shape: Shape
    cases: tuple[EvalCase, ...] = ()
    findings: Findings
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def criteria(self) -> Mapping[str, int]:
        """What is expected under keys of other tools, by the cases or beside them for all."""
        return _criteria(self.shape, self.cases)

    @property
    def skill_name(self) -> str | None:
        """The skill that the file says it is for."""
        name = self.shape.about.get("skill_name")
        return name if isinstance(name, str) else None


def read_evals_file(path: Path, *, strict: bool = False) -> EvalsFile:
    """Take a file of evals apart; mistakes in it are kept in its findings.

    Raises:
        CatalogError: the file cannot be read or parsed.
    """
    findings = Findings(str(path), is_strict=strict)
    document = read_evals_document(path, findings)
    shape = shape_of(document.value)
    cases = tuple(case for item in shape.items if (case := _case(item, shape, findings)) is not None)
    kind = _kind(shape, cases)
    _say_all(shape, kind, cases, findings)
    return EvalsFile(
        path=document.path,
        digest=document.digest,
        kind=kind,
        shape=shape,
        cases=cases,
        findings=findings,
        defaults=_defaults(shape.about, findings),
    )


def parsed_or_none(path: Path, findings: Findings) -> EvalsFile | None:
    """Take a file apart whose mistakes are somebody else's affair; null, with the problems, where it cannot be read."""
    try:
        return read_evals_file(path)
    except CatalogError as error:
        findings.problems += error.problems
        return None


def _kind(shape: Shape, cases: tuple[EvalCase, ...]) -> str:
    if shape.stranger is not None:
        return "not-evals"
    if shape.n_elsewhere:
        return "config"
    if cases and all(case.is_trigger_only for case in cases):
        return "trigger"
    return "mixed" if any(case.trigger is not None for case in cases) else "evals"


def _case(item: Item, shape: Shape, findings: Findings) -> EvalCase | None:
    value, place = item.value, item.place
    if not isinstance(value, dict):
        findings.problem(place, expected="an object", found=value)
        return None
    trigger = _trigger(item, shape.prompt_key, findings)
    known = _KNOWN | {shape.prompt_key or "", *PROMPTS, *({"expected"} if item.trigger is not None else ())}
    _check_keys(place, value, known - {"vars.prompt"} | {"vars"}, findings)
    criteria = {key: n for key in value if is_criterion(key) and (n := n_criteria(value[key]))}
    prompt = prompt_of(value, shape.prompt_key)
    return EvalCase(
        place=place,
        id=_id(place, value, findings),
        prompt=prompt if isinstance(prompt, str) and prompt.strip() else None,
        raw=value,
        assertions=assertions_of(place, value, findings),
        expected_output=findings.text(place, value, "expected_output"),
        criteria=criteria,
        trigger=trigger,
    )


def _check_keys(place: str, value: Mapping[str, Any], known: Collection[str], findings: Findings) -> None:
    for key in value:
        if key not in known and not is_criterion(key):
            findings.stranger(place, key, _KNOWN)


def _id(place: str, value: Mapping[str, Any], findings: Findings) -> str | None:
    written = value.get("id")
    if written is None:
        return None
    if isinstance(written, str) and written.strip():
        return written.strip()
    is_whole = isinstance(written, int | float) and not isinstance(written, bool) and written == int(written)
    if is_whole:
        return str(int(written))
    findings.problem(f"{place}.id", expected="a text or a whole number", found=written)
    return None


def _trigger(item: Item, prompt_key: str | None, findings: Findings) -> bool | None:
    value = item.value
    if item.trigger is not None:
        return item.trigger
    if "should_trigger" in value:
        if isinstance(value["should_trigger"], bool):
            return value["should_trigger"]
        findings.problem(
            f"{item.place}.should_trigger", expected="true or false", found=value["should_trigger"]
        )
        return None
    if "polarity" in value:
        if value["polarity"] in _POLARITY:
            return _POLARITY[value["polarity"]]
        findings.problem(f"{item.place}.polarity", expected="positive or negative", found=value["polarity"])
        return None
    return True if prompt_key == "trigger" else None


def _defaults(about: Mapping[str, Any], findings: Findings) -> Mapping[str, Any]:
    defaults = about.get("defaults", {})
    if not isinstance(defaults, dict) or not any(key in defaults for key in _DEFAULTS[""]):
        return {}
    for outer, known in _DEFAULTS.items():
        inside = defaults.get(outer, {}) if outer else defaults
        place = f"defaults.{outer}" if outer else "defaults"
        if not isinstance(inside, dict):
            findings.problem(place, expected="an object", found=inside)
            continue
        for key in inside:
            if key not in known:
                findings.stranger(place, key, known)
    return defaults


def _say_all(shape: Shape, kind: str, cases: tuple[EvalCase, ...], findings: Findings) -> None:
    """Say what was read otherwise than it is written, and what is odd."""
    if shape.stranger is not None:
        expected = "evals: a list of cases, or an object with evals"
        findings.problem("", expected=expected, found=Said(shape.stranger))
    _say_shape(shape, cases, findings)
    _say_triggers(kind, cases, findings)
    for key, count in _criteria(shape, cases).items():
        if key != BEHAVIOUR:
            said = f"{count} criteria of another tool, which are not judged: write them as assertions"
            findings.notices.add(key, said)


def _criteria(shape: Shape, cases: tuple[EvalCase, ...]) -> Counter[str]:
    found = Counter({key: n_criteria(value) for key, value in shape.about.items() if is_criterion(key)})
    for case in cases:
        found.update(dict(case.criteria))
    return found


def _say_shape(shape: Shape, cases: tuple[EvalCase, ...], findings: Findings) -> None:
    notices = findings.notices
    if shape.n_elsewhere:
        notices.add(
            f"{shape.wrapper}", f"{shape.n_elsewhere} lists of cases in other files, which are not read"
        )
    if shape.prompt_key not in {None, PROMPTS[0]} and cases:
        notices.alias(cases[0].place, f"{shape.prompt_key}", PROMPTS[0])
    if shape.wrapper not in {None, WRAPPERS[0]}:
        notices.alias(f"{shape.wrapper}", f"{shape.wrapper}", WRAPPERS[0])


def _say_triggers(kind: str, cases: tuple[EvalCase, ...], findings: Findings) -> None:
    for case in cases:
        if case.trigger is False and case.assertions:
            said = "must not trigger, and yet has assertions: are they meant to fail?"
            findings.notices.add(case.place, said)
    if kind == "trigger" and len({case.trigger for case in cases}) == 1:
        what = "must" if cases[0].trigger else "must not"
        said = f"all queries {what} trigger: without the other kind nothing can be told apart"
        findings.notices.add(cases[0].place, said)
