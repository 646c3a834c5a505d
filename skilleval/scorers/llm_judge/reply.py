"""What a judge replied, found among whatever it wrote around it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skilleval.scorers.values import is_number, shown

_MOST_OBJECTS = 100  # beginnings of objects that are tried; more are no reply to us
_NUMBER = r"[+-]?\d+(?:\.\d+)?"
_NAMED = r"(?:(?:final|overall)\s+)?(?:score|rating|grade)\s*(?:[:=]|\bis\b)\s*"
_RATING = re.compile(
    rf"(?P<named>{_NAMED})?(?P<value>{_NUMBER})(?:\s*(?:/|out of)\s*(?P<of>{_NUMBER}))?\.?", re.IGNORECASE
)
_LABEL = re.compile(
    r"(?:(?:final|overall)\s+)?(?:verdict|label|grade|answer|result)\s*[:=]\s*(.*)", re.IGNORECASE | re.DOTALL
)
_FENCE = re.compile(r"^\s*```[\w-]*\s*$", re.MULTILINE)
_AROUND = " \t\r\n*_`\"'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What a judge says of one check: a share of the scale (1 or 0 of an assertion), its evidence, and oddities."""

    score: float
    evidence: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The rulings of a reply by check, and what is wrong with it: then not every check has one."""

    rulings: Mapping[str, Ruling] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


class UnusableReplyError(ValueError):
    """A reply that says nothing clear; the message says why, in words for the judge and for people."""


def object_with(text: str, key: str) -> Mapping[str, Any] | None:
    """Give the one JSON object with a key in a reply, whatever stands around it; null where there is none.

    Raises:
        UnusableReplyError: there are several that differ, or a key comes twice: it is not clear what is meant.
    """
    found: list[Mapping[str, Any]] = []
    decoder, start = json.JSONDecoder(object_pairs_hook=_clear), text.find("{")
    for _ in range(_MOST_OBJECTS):
        if start < 0:
            break
        try:
            value, end = decoder.raw_decode(text, start)
        except UnusableReplyError:
            raise
        except (ValueError, RecursionError):
            end = start + 1
        else:
            found += [value] if key in value and value not in found else []
        start = text.find("{", end)
    if len(found) > 1:
        raise UnusableReplyError(f"it holds {len(found)} different objects with {key!r}")
    return found[0] if found else None


def _clear(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object; of a key with two values it is not for us to choose one."""
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made and made[key] != value:
            raise UnusableReplyError(f"an object has two values for {shown(key, 60)}")
        made[key] = value
    return made


def rating(text: str, scale: tuple[float, float]) -> Ruling:
    """Read a value on a scale: `8`, `8/10`, `Score: 8`, or an object with `score`; as a share of the scale.

    A denominator counts: that of the scale itself, or on a scale from 0 any other. Nothing is bent into the scale.

    Raises:
        UnusableReplyError: there is no such value, or it is not on the scale.
    """
    said = object_with(text, "score")
    if said is None:
        return Ruling(score=_share(_rating_in(text), scale))
    value, reason = said["score"], said.get("reason")
    match = _RATING.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None and not is_number(value):
        raise UnusableReplyError(f"{shown(value, 60)} is no number")
    score = _share(match, scale) if match else _on_scale(value, scale)
    return Ruling(score=score, evidence=reason if isinstance(reason, str) else "")


def labelled(text: str, labels: Mapping[str, float]) -> Ruling:
    """Read one of some labels, which has to be the whole reply, or the `label` of an object; letters count as written.

    Raises:
        UnusableReplyError: the reply is none of them.
    """
    said = object_with(text, "label")
    if said is not None:
        label, reason = said["label"], said.get("reason")
    else:
        bare = _FENCE.sub("", text).strip(_AROUND)
        named = _LABEL.fullmatch(bare)
        label, reason = (named[1] if named else bare).strip(_AROUND).removesuffix(".").rstrip(_AROUND), ""
    if not isinstance(label, str) or label not in labels:
        raise UnusableReplyError(f"{shown(label, 60)} is none of the labels {', '.join(labels)}")
    return Ruling(score=labels[label], evidence=reason if isinstance(reason, str) else "")


def _rating_in(text: str) -> re.Match[str]:
    """Find the value: the whole reply, else the one line that says what it is."""
    bare = _FENCE.sub("", text).strip()
    whole = _RATING.fullmatch(bare.replace("*", "").strip(_AROUND))
    if whole:
        return whole
    lines = [_RATING.fullmatch(line.replace("*", "").strip(_AROUND)) for line in bare.splitlines()]
    named = [line for line in lines if line and (line["named"] or line["of"])]
    if len(named) != 1:
        raise UnusableReplyError(f"{shown(text, 60)} is no number on the scale")
    return named[0]


def _share(match: re.Match[str], scale: tuple[float, float]) -> float:
    value, low, high = float(match["value"]), *scale
    if match["of"] is None or float(match["of"]) == high:
        return _on_scale(value, scale)
    of = float(match["of"])
    if low != 0 or of <= 0:
        raise UnusableReplyError(f"{match.group()} is not on the scale from {low:g} to {high:g}")
    return _on_scale(value, (0.0, of))


def _on_scale(value: float, scale: tuple[float, float]) -> float:
    low, high = scale
    if not low <= value <= high:  # nor is NaN
        raise UnusableReplyError(f"{shown(value, 60)} is not on the scale from {low:g} to {high:g}")
    return (value - low) / (high - low)
