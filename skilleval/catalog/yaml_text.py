"""Reads YAML as the JSON it stands for: dates stay texts, `on` and `no` are words, keys are texts.

Frontmatter is read with every scalar as it is written: `1.10` and `true` are texts there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from dataclasses import dataclass
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

    def __init__(self, stream: str | bytes) -> None:
        super().__init__(stream)
        self.repeated: list[tuple[str, int]] = []

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


class _Written(_Loader):
    """Keeps scalars as they are written, but for nulls, and notes keys that come twice instead of refusing them."""

    yaml_implicit_resolvers: Any = {}  # noqa: RUF012 - the library's own attribute of the class

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002 - the signature of the library
        """Make a mapping in which the last of equal keys counts, as for readers of frontmatter elsewhere."""
        seen: set[str] = set()
        for name, _ in node.value:
            if isinstance(name, yaml.ScalarNode) and name.value in seen:
                self.repeated.append((name.value, name.start_mark.line))
            seen |= {name.value} if isinstance(name, yaml.ScalarNode) else set()
        return yaml.CSafeLoader.construct_mapping(self, node, deep=deep)


for _tag in ("tag:yaml.org,2002:null", "tag:yaml.org,2002:merge"):
    _pattern, _first = _RESOLVERS[_tag]
    _Written.add_implicit_resolver(_tag, re.compile(f"(?:{_pattern})$"), _first)


@dataclass(frozen=True, slots=True)
class WrittenYaml:
    """A YAML value whose scalars are as written; `repeated` names keys that come twice, with their line."""

    value: Any
    repeated: tuple[tuple[str, int], ...]


def read_yaml(path: Path) -> Any:
    """Read a YAML file strictly: UTF-8, one document, no repeated keys, only values that JSON has.

    Raises:
        CatalogError: says the place of what is wrong, by line and column or by key.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _refused(str(path), "", "a file that can be read", error.strerror or str(error)) from None
    return _loaded(_Loader, data, str(path), 1).value


def written_yaml(text: str, *, where: str, first_line: int) -> WrittenYaml:
    """Read a piece of YAML with its scalars as written; `first_line` is its place in the file, for messages.

    Raises:
        CatalogError: as for `read_yaml`, but for keys that come twice.
    """
    return _loaded(_Written, text, where, first_line)


def _loaded(kind: type[_Loader], data: str | bytes, where: str, first_line: int) -> WrittenYaml:
    try:
        loader = kind(data)
        value = _Plain(where).value(loader.get_single_data(), ())
        repeated = tuple((key, line + first_line) for key, line in loader.repeated)
        return WrittenYaml(value, repeated)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + first_line}, column {mark.column + 1}" if mark else ""
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
