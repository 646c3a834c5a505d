"""Reads YAML as the JSON it stands for: dates stay texts, `on` and `no` are words, keys are texts."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from skilleval.catalog.documents import key_path
from skilleval.errors import CatalogError, Problem

_MOST_REPEATED = 200_000
"""Values: an alias repeats what it names, and a few lines can stand for more than any memory holds."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_RESOLVERS = {
    "tag:yaml.org,2002:null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "tag:yaml.org,2002:bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "tag:yaml.org,2002:int": (r"[-+]?[0-9]+", list("-+0123456789")),
    "tag:yaml.org,2002:float": (
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?",
        list("-+.0123456789"),
    ),
    "tag:yaml.org,2002:merge": (r"<<", ["<"]),
}
"""The plain scalars of YAML 1.2; PyYAML goes by 1.1, where `no` is false and `12:30` a number."""


class _Loader(yaml.CSafeLoader):
    """Reads YAML 1.2, with an error for a key that comes twice."""

    yaml_implicit_resolvers: Any = {}  # noqa: RUF012 - the library's own attribute of the class

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002 - the signature of the library
        """Make a mapping whose keys are all different."""
        seen: set[str] = set()
        for name, _ in node.value:
            if not isinstance(name, yaml.ScalarNode) or name.tag == "tag:yaml.org,2002:merge":
                continue
            if name.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {name.value} again", name.start_mark
                )
            seen.add(name.value)
        return super().construct_mapping(node, deep=deep)

    def construct_whole(self, node: yaml.ScalarNode) -> int:
        """Read a whole number as JSON would: 010 is ten."""
        return int(self.construct_scalar(node))

    def construct_number(self, node: yaml.ScalarNode) -> float:
        """Read a decimal number."""
        return float(self.construct_scalar(node))


for _tag, (_pattern, _first) in _RESOLVERS.items():
    _Loader.add_implicit_resolver(_tag, re.compile(f"(?:{_pattern})$"), _first)
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_whole)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_number)


def read_yaml(path: Path) -> Any:
    """Read a YAML file strictly: UTF-8, one document, no repeated keys, only values that JSON has.

    Raises:
        CatalogError: says the place of what is wrong, by line and column or by key.
    """
    where = str(path)
    try:
        value = yaml.load(path.read_bytes(), Loader=_Loader)  # noqa: S506 - a safe loader of ours
        return _Plain(where).value(value, ())
    except OSError as error:
        raise _refused(where, "", "a file that can be read", error.strerror or str(error)) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise _refused(where, place, "YAML", error.problem or str(error)) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise _refused(where, "", "YAML in UTF-8", " ".join(str(error).split())) from None
    except RecursionError:
        raise _refused(where, "", "YAML of reasonable depth", "values that are nested too deeply") from None
    except ValueError:  # more digits than Python makes a number of
        raise _refused(where, "", "numbers of reasonable length", "an integer that is too long") from None


class _Plain:
    """Makes plain JSON values of what YAML gave, each of its own, and counts what aliases repeat."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._seen: set[int] = set()
        self._n_repeated = 0

    def value(self, value: Any, place: tuple[str | int, ...]) -> Any:
        """Give the value as JSON has it."""
        if isinstance(value, dict):
            self._count(value)
            return {
                self._key(name, place): self.value(item, (*place, str(name))) for name, item in value.items()
            }
        if isinstance(value, list):
            self._count(value)
            return [self.value(item, (*place, index)) for index, item in enumerate(value)]
        is_sound = not isinstance(value, str) or _is_sound(value)
        is_finite = not isinstance(value, float) or math.isfinite(value)
        if (value is None or isinstance(value, str | int | float)) and is_sound and is_finite:
            return value
        raise _refused(self._where, key_path(place), "a value that JSON has", ascii(value))

    def _count(self, value: dict[Any, Any] | list[Any]) -> None:
        if id(value) in self._seen:
            self._n_repeated += 1 + len(value)
        self._seen.add(id(value))
        if self._n_repeated > _MOST_REPEATED:
            found = f"aliases that repeat more than {_MOST_REPEATED}"
            raise _refused(self._where, "", "a document of reasonably many values", found)

    def _key(self, name: Any, place: tuple[str | int, ...]) -> str:
        # The codes of answers are written as numbers everywhere.
        is_code = isinstance(name, int) and not isinstance(name, bool)
        if is_code or (isinstance(name, str) and _is_sound(name)):
            return str(name)
        raise _refused(self._where, key_path(place), "keys that are texts", ascii(name))


def _is_sound(text: str) -> bool:
    return text.isascii() or _SURROGATE.search(text) is None


def _refused(where: str, key: str, expected: str, found: str) -> CatalogError:
    problem = Problem(where=where, key=key, expected=expected, found=found)
    return CatalogError(f"{where} cannot be used", problems=(problem,))
