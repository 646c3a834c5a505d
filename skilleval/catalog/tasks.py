"""Makes tasks of the `tasks` of a benchmark, in both dialects.

The first dialect writes `inputData`, `expectedOutput` and `evaluator`; the second writes `prompt` and an
`expectedOutput` whose `type` stands for the evaluator. Whatever is read under another name or filled in is said
in a notice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from skilleval.catalog.judging import canonical, implied_kind, judging_problems, nothing_to_check
from skilleval.catalog.notices import Notices
from skilleval.catalog.rules import misspelt, said, schema
from skilleval.domain.tasks import Evaluator, Task
from skilleval.errors import Problem

# An evaluator's key: the option it becomes, and the kinds on which it has an effect.
_OPTIONS: Mapping[str, tuple[str, frozenset[str]]] = {
    "caseSensitive": ("case_sensitive", frozenset({"exact", "contains", "regex"})),
    "strip": ("strip", frozenset({"exact"})),
    "tolerance": ("tolerance", frozenset({"exact", "numeric"})),
    "relTolerance": ("rel_tolerance", frozenset({"numeric"})),
    "stripUnits": ("strip_units", frozenset({"numeric"})),
    "wholeWords": ("whole_words", frozenset({"contains"})),
    "flags": ("flags", frozenset({"regex"})),
    "timeoutMs": ("timeout_ms", frozenset({"regex", "json_schema", "custom"})),
    "passAt": ("pass_at", frozenset({"custom"})),
    "customScorerPath": ("custom_scorer_path", frozenset({"custom"})),
}


def build_tasks(items: Sequence[Mapping[str, Any]], *, notices: Notices) -> tuple[Task, ...]:
    """Make tasks of items that keep the schema and have no `task_problems`."""
    return tuple(_task(item, f"tasks[{index}]", notices) for index, item in enumerate(items))


def task_problems(items: Sequence[Mapping[str, Any]], *, where: str, folder: Path) -> tuple[Problem, ...]:
    """Find what the schema cannot: repeated ids, keys without effect, an input given twice, no rule that could judge.

    `folder` is the benchmark's: files that it names are looked for there.
    """
    found = list(_repeated_ids(items, where))
    for index, item in enumerate(items):
        found += _effect_problems(item, f"tasks[{index}]", where)
        found += _prompt_problems(item, f"tasks[{index}]", where)
        found += judging_problems(item, f"tasks[{index}]", where, folder)
    return tuple(found)


def key_problems(items: Sequence[object], *, where: str, notices: Notices) -> tuple[Problem, ...]:
    """Refuse misspelt keys of tasks and note unknown ones; items that are no objects are passed over."""
    found: list[Problem] = []
    definitions = schema("benchmark")["$defs"]
    for index, item in enumerate(items):
        if not isinstance(item, Mapping):
            continue
        key = f"tasks[{index}]"
        found += strange_keys(item, definitions["task"]["properties"], key, where, notices)
        expected = item.get("expectedOutput")
        if isinstance(expected, Mapping):
            known = definitions["expectedOutput"]["properties"]
            found += strange_keys(expected, known, f"{key}.expectedOutput", where, notices)
    return tuple(found)


def note_unanswered(items: Sequence[Mapping[str, Any]], *, notices: Notices) -> None:
    """Say of which tasks nothing is expected that could be checked."""
    for index, item in enumerate(items):
        if nothing_to_check(item):
            key = f"tasks[{index}].expectedOutput"
            notices.add(key, "nothing to check, so that the task will be ungraded")


def strange_keys(
    members: Mapping[str, Any], known: Collection[str], key: str, where: str, notices: Notices
) -> Iterator[Problem]:
    """Give a problem for each misspelt key of an object and add a notice for each unknown one."""
    for name in members:
        if name in known:
            continue
        path = f"{key}.{name}" if key else name
        close = misspelt(name, known)
        if close is None:
            notices.add(path, f"unknown key {name}, without effect on the shipped scorers")
        else:
            hint = f"did you mean {close}?"
            yield Problem(where=where, key=path, expected="a known key", found=said(name), hint=hint)


def _repeated_ids(items: Sequence[Mapping[str, Any]], where: str) -> Iterator[Problem]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for index, item in enumerate(items):
        places[_id(item)].append(index)
    for task_id, (first, *others) in places.items():
        for other in others:
            found = f"{said(task_id)} at tasks[{first}] and tasks[{other}]"
            yield Problem(where=where, key=f"tasks[{other}].id", expected="an id of its own", found=found)


def _effect_problems(item: Mapping[str, Any], key: str, where: str) -> Iterator[Problem]:
    evaluator = item.get("evaluator", {})
    for name in evaluator:
        if name != "type" and canonical(evaluator["type"]) not in _OPTIONS[name][1]:
            expected = f"{name} only with {' or '.join(sorted(_OPTIONS[name][1]))}"
            found = f"it with {evaluator['type']}, where it has no effect"
            yield Problem(where=where, key=f"{key}.evaluator.{name}", expected=expected, found=found)
    if {"flags", "caseSensitive"} <= evaluator.keys():
        found = f"caseSensitive {said(evaluator['caseSensitive'])} beside flags {said(evaluator['flags'])}"
        expected = "caseSensitive or flags, not both"
        yield Problem(where=where, key=f"{key}.evaluator.flags", expected=expected, found=found)


def _prompt_problems(item: Mapping[str, Any], key: str, where: str) -> Iterator[Problem]:
    given = item.get("inputData", {})
    if "prompt" in item and given.get("prompt", item["prompt"]) != item["prompt"]:
        found = f"{said(item['prompt'])} beside {said(given['prompt'])} in inputData"
        yield Problem(where=where, key=f"{key}.prompt", expected="one prompt", found=found)


def _task(item: Mapping[str, Any], key: str, notices: Notices) -> Task:
    return Task(
        id=_id(item),
        input=_input(item, key, notices),
        expected=_expected(item["expectedOutput"], f"{key}.expectedOutput", notices),
        description=item.get("description", ""),
        evaluator=_evaluator(item, key, notices),
        timeout_ms=float(item["timeoutMs"]) if "timeoutMs" in item else None,
        tags=tuple(item.get("tags", ())),
        weight=float(item.get("weight", 1.0)),
    )


def _id(item: Mapping[str, Any]) -> str:
    # JSON Schema takes 1.0 for a whole number, and 1 and "1" would be one id in every table.
    return item["id"] if isinstance(item["id"], str) else str(int(item["id"]))


def _input(item: Mapping[str, Any], key: str, notices: Notices) -> Mapping[str, Any]:
    given: Mapping[str, Any] = item.get("inputData", {})
    if "prompt" not in item:
        return given
    notices.alias(f"{key}.prompt", "prompt", "the key prompt of inputData")
    return {"prompt": item["prompt"], **given}


def _expected(written: Mapping[str, Any], key: str, notices: Notices) -> Mapping[str, Any]:
    expected = {name: value for name, value in written.items() if name != "type"}
    if "criteria" in expected and "judgePrompt" not in expected:
        notices.alias(f"{key}.criteria", "criteria", "judgePrompt")
        expected["judgePrompt"] = expected.pop("criteria")
    return expected


def _evaluator(item: Mapping[str, Any], key: str, notices: Notices) -> Evaluator | None:
    stated = item["expectedOutput"].get("type")
    stated_kind = None if stated is None else _kind(stated, f"{key}.expectedOutput.type", notices)
    written = item.get("evaluator")
    if written is None:
        return _unwritten_evaluator(item["expectedOutput"], stated_kind, f"{key}.evaluator", notices)
    kind = _kind(written["type"], f"{key}.evaluator.type", notices)
    if stated_kind not in {None, kind}:
        message = f"evaluator {kind} is used, although expectedOutput.type says {stated_kind}"
        notices.add(f"{key}.evaluator.type", message)
    return Evaluator(kind=kind, options=_evaluator_options(written))


def _unwritten_evaluator(
    expected: Mapping[str, Any], stated: str | None, key: str, notices: Notices
) -> Evaluator | None:
    """Take the kind from what is expected, by its type or by a key that only one kind reads."""
    kind, source = (stated, "type") if stated is not None else implied_kind(expected) or (None, "")
    if kind is None:
        return None
    notices.filled_in(key, f"{kind}, from expectedOutput.{source}")
    return Evaluator(kind=kind)


def _evaluator_options(written: Mapping[str, Any]) -> Mapping[str, Any]:
    options = {_OPTIONS[name][0]: value for name, value in written.items() if name != "type"}
    if "flags" not in options:
        return options
    # The letters say all three at once: what is not there is off.
    letters = options.pop("flags")
    return {
        **options,
        "case_sensitive": "i" not in letters,
        "multiline": "m" in letters,
        "dotall": "s" in letters,
    }


def _kind(word: str, key: str, notices: Notices) -> str:
    kind = canonical(word)
    if kind != word:
        notices.alias(key, word, kind)
    return kind
