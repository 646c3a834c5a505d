"""A value in a file of another tool, with its place: what is not as it should be is told with file and key."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NoReturn

from skilleval.errors import Problem, ResultsError

_PLAIN = re.compile(r"[\w-]+")
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Node:
    """A value, the file it stands in, and its dotted place there. A member that is absent or null is not known."""

    value: Any
    where: str
    key: str = ""

    def __getitem__(self, name: str) -> Node:
        """Give a member that has to be there.

        Raises:
            ResultsError: this is no object, or the member is absent or null.
        """
        found = self.get(name)
        if found.value is None:
            state = "null" if name in self.value else "no such key"
            raise unusable(self.where, found.key, "a value", state)
        return found

    def get(self, name: str) -> Node:
        """Give a member that may be absent: null then.

        Raises:
            ResultsError: this is no object.
        """
        step = name if _PLAIN.fullmatch(name) else f'["{name}"]'
        key = f"{self.key}.{step}".lstrip(".")
        return Node(self._is(dict, "an object").get(name), self.where, key)

    def items(self) -> Iterator[Node]:
        """Give the items of a list; a list that is absent has none.

        Raises:
            ResultsError: this is no list.
        """
        if self.value is None:
            return
        for index, item in enumerate(self._is(list, "a list")):
            yield Node(item, self.where, f"{self.key}[{index}]")

    def members(self) -> Iterator[tuple[str, Node]]:
        """Give the members of an object with their names; an object that is absent has none.

        Raises:
            ResultsError: this is no object.
        """
        if self.value is None:
            return
        for name in self._is(dict, "an object"):
            yield str(name), self.get(name)

    def text(self) -> str:
        """Give a text.

        Raises:
            ResultsError: it is none.
        """
        return str(self._is(str, "a text"))

    def name(self) -> str:
        """Give an id: a text that is not empty, or a number as text.

        Raises:
            ResultsError: it is neither.
        """
        is_id = isinstance(self.value, str | int) and not isinstance(self.value, bool)
        if not is_id or self.value == "":
            self.refuse("an id")
        return str(self.value)

    def number(self) -> float:
        """Give a finite number.

        Raises:
            ResultsError: it is none.
        """
        is_number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        if not is_number or not math.isfinite(self.value):
            self.refuse("a finite number")
        return float(self.value)

    def amount(self) -> float:
        """Give a number that cannot be negative, such as a time.

        Raises:
            ResultsError: it is none.
        """
        number = self.number()
        if number < 0:
            self.refuse("a number of 0 or more")
        return number

    def share(self) -> float:
        """Give a number from 0 to 1.

        Raises:
            ResultsError: it is none.
        """
        number = self.number()
        if not 0 <= number <= 1:
            self.refuse("a number from 0 to 1")
        return number

    def whole(self) -> int:
        """Give a whole number of 0 or more.

        Raises:
            ResultsError: it is none.
        """
        number = self.amount()
        if not number.is_integer():
            self.refuse("a whole number")
        return int(number)

    def truth(self) -> bool:
        """Give true or false.

        Raises:
            ResultsError: it is neither.
        """
        return bool(self._is(bool, "true or false"))

    def moment(self) -> datetime:
        """Give a time in UTC; one that names no offset is taken for UTC.

        Raises:
            ResultsError: it is no time as ISO 8601 writes it.
        """
        try:
            moment = datetime.fromisoformat(self.text())
        except ValueError:
            self.refuse("a time as ISO 8601 writes it")
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)

    def refuse(self, expected: str) -> NoReturn:
        """Tell that this value is not what was expected.

        Raises:
            ResultsError: always.
        """
        raise unusable(self.where, self.key, expected, shown(self.value))

    def _is(self, kind: type, expected: str) -> Any:
        if not isinstance(self.value, kind):
            self.refuse(expected)
        return self.value


def shown(value: Any) -> str:
    """Show a value in an error: what it is, and its beginning where it is short enough to tell anything."""
    kinds = {dict: "an object", list: "a list", type(None): "nothing"}
    if type(value) in kinds:
        return kinds[type(value)]
    said = repr(value)
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"


def unusable(where: str, key: str, expected: str, found: str, hint: str = "") -> ResultsError:
    """Make the one error that a file of another tool leads to."""
    problem = Problem(where=where, key=key, expected=expected, found=found, hint=hint)
    return ResultsError("the results cannot be imported", problems=(problem,))


def naive_times(node: Node, keys: Iterable[str]) -> tuple[str, ...]:
    """Say that times had to be taken for UTC, where one of these members names no offset."""
    found = node.value if isinstance(node.value, dict) else {}
    known = [found[key] for key in keys if isinstance(found.get(key), str) and found[key]]
    if not any(datetime.fromisoformat(text).tzinfo is None for text in known):
        return ()
    return (f"{node.where}: times name no offset: they are taken for UTC",)
