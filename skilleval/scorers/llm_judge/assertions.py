"""The form with assertions: one verdict for each, matched by its id, with a quotation as evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skilleval.domain.scores import EVIDENCE_NOT_FOUND, Verdict
from skilleval.scorers.base import Finding, ScoringRecord
from skilleval.scorers.checks import about
from skilleval.scorers.llm_judge.asking import Answer
from skilleval.scorers.llm_judge.evidence import Quotable
from skilleval.scorers.llm_judge.reply import Reading, Ruling, UnusableReplyError, object_with
from skilleval.scorers.llm_judge.votes import Ballot
from skilleval.scorers.values import shown

RESULTS = "assertion_results"
_TRUTHS = {"true": True, "false": False}

Assertion = Mapping[str, Any]


def asserted(record: ScoringRecord) -> tuple[Assertion, ...]:
    """Give the assertions of a task, each with `id` and `text`; `weight` and `required` where the task says them."""
    listed = record.expected.get("assertions")
    items = listed if isinstance(listed, list | tuple) else []
    return tuple(_assertion(item, number) for number, item in enumerate(items, start=1))


def _assertion(item: Any, number: int) -> Assertion:
    if isinstance(item, Mapping):
        return {**item, "id": str(item.get("id", f"a{number}")), "text": str(item.get("text", ""))}
    return {"id": f"a{number}", "text": str(item)}


def read_rulings(text: str, assertions: Sequence[Assertion], quotable: Quotable) -> Reading:
    """Read the verdicts of a reply; whatever is missing, unknown, doubled or unclear is a fault, and no verdict."""
    try:
        said = object_with(text, RESULTS)
    except UnusableReplyError as error:
        return Reading(faults=(str(error),))
    entries = None if said is None else said[RESULTS]
    if not isinstance(entries, list):
        return Reading(faults=(f"there is no JSON object with a list {RESULTS!r}",))
    found, faults = _matched(entries, assertions)
    rulings: dict[str, Ruling] = {}
    for one in assertions:
        given = found.get(one["id"], [])
        passed = _truth(given[0].get("passed")) if len(given) == 1 else None
        if passed is None:
            faults.append(_fault(one["id"], given))
        else:
            rulings[one["id"]] = _ruling(given[0], quotable, passed=passed)
    return Reading(rulings=rulings, faults=tuple(faults))


def assertion_finding(assertion: Assertion, answers: Sequence[Answer]) -> Finding:
    """Say what all answers come to about one assertion: its verdict is that of the majority of those asked."""
    ballot = Ballot.of(assertion["id"], answers)
    n_for = sum(ruling.score == 1 for ruling in ballot.rulings)
    n_against = len(ballot.rulings) - n_for
    if 2 * max(n_for, n_against) <= ballot.n_asked:
        return about_assertion(assertion, ballot.silent() if ballot.causes else ballot.torn(n_for))
    passed = n_for > n_against
    agreeing = [ruling for ruling in ballot.rulings if (ruling.score == 1) == passed]
    remarks = dict.fromkeys(remark for ruling in agreeing for remark in ruling.remarks)
    told = [
        "" if passed else "not fulfilled, the judge says",
        *remarks,
        ballot.agreement(n_for),
        ballot.shortfall,
    ]
    finding = Finding(
        verdict=Verdict.PASSED if passed else Verdict.FAILED,
        score=float(passed),
        reason="; ".join(piece for piece in told if piece),
        evidence=agreeing[0].evidence,
    )
    return about_assertion(assertion, finding)


def about_assertion(assertion: Assertion, finding: Finding) -> Finding:
    """Give a finding the id and the text of its assertion."""
    return about(assertion, finding, default_id=assertion["id"], check=assertion["text"])


def _matched(
    entries: Sequence[Any], assertions: Sequence[Assertion]
) -> tuple[dict[str, list[Mapping[str, Any]]], list[str]]:
    """Lay each entry to the assertion it names; those that name none clearly are faults."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    faults: list[str] = []
    for entry in entries:
        if not isinstance(entry, Mapping):
            faults.append(f"{shown(entry, 60)} is no object")
            continue
        try:
            found.setdefault(_named(entry, assertions), []).append(entry)
        except UnusableReplyError as error:
            faults.append(str(error))
    return found, faults


def _named(entry: Mapping[str, Any], assertions: Sequence[Assertion]) -> str:
    """Give the id of the assertion an entry is about: the one it names, else the only one with its text."""
    said_id, text = entry.get("id"), entry.get("text")
    by_text = [one["id"] for one in assertions if isinstance(text, str) and _same(one["text"], text)]
    if any(one["id"] == said_id for one in assertions):
        if by_text and said_id not in by_text:
            raise UnusableReplyError(f"the id {shown(said_id, 60)} stands with the text of {by_text[0]!r}")
        return str(said_id)
    if len(by_text) == 1:
        return str(by_text[0])
    raise UnusableReplyError(f"no assertion has the id {shown(said_id, 60)}")


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def _truth(passed: Any) -> bool | None:
    if isinstance(passed, str):
        return _TRUTHS.get(passed.strip().lower())
    return passed if isinstance(passed, bool) else None


def _fault(check_id: str, given: Sequence[Mapping[str, Any]]) -> str:
    if not given:
        return f"{check_id!r} has no verdict"
    if len(given) > 1:
        return f"{check_id!r} has {len(given)} verdicts"
    return f"`passed` of {check_id!r} is {shown(given[0].get('passed'), 60)}, neither true nor false"


def _ruling(entry: Mapping[str, Any], quotable: Quotable, *, passed: bool) -> Ruling:
    said = entry.get("evidence")
    evidence = said if isinstance(said, str) else "" if said is None else shown(said)
    remarks = ["the judge wrote `passed` as a text"] if isinstance(entry.get("passed"), str) else []
    # What is missing cannot be quoted: the evidence of a failure is what the judge says about it.
    if passed and not evidence.strip():
        remarks.append("no evidence given")
    elif passed and not quotable.holds(evidence):
        remarks.append(EVIDENCE_NOT_FOUND)
    return Ruling(score=float(passed), evidence=evidence, remarks=tuple(remarks))
