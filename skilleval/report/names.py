"""Names of rows, short and safe to look at: what is long is shortened in the middle, what tells rows apart stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from skilleval.report.document import Row
from skilleval.report.text import one_line

_LENGTH = 60
_LEAST = 16


def short_names(labels: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """Make labels that begin with the id of the skill short: the id gives way, what follows it is kept.

    Where two different labels would become one, as of ids that differ in the middle alone, both stay whole.
    """
    whole = [one_line(label) for label in labels]
    short = [
        _shortened(name, len(one_line(str(row.get("skill_id") or ""))))
        for name, row in zip(whole, rows, strict=True)
    ]
    shared = Counter(name for name, _ in {*zip(short, whole, strict=True)})
    return [cut if shared[cut] == 1 else name for cut, name in zip(short, whole, strict=True)]


def _shortened(name: str, id_length: int) -> str:
    rest = name[id_length:]
    return f"{_middle_out(name[:id_length], max(_LENGTH - len(rest), _LEAST))}{rest}"


def _middle_out(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[-tail:]}"
