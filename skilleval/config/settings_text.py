"""The text of a settings file changed at one place: everything else, comments included, stays as it is.

The YAML nodes say where a value stands; the text itself is cut there. Nothing is written anew by a YAML library, which
would fold lines, change quotes and move comments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import yaml
from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from skilleval.config.trees import placed

_DEFAULTS = "defaults"
_PLAIN = re.compile(r"[A-Za-z_][\w./-]*")
_UNREADABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_COMMENT = re.compile(r"\s*#")

_Step = tuple[CollectionNode, int]
"""A mapping or list, and which of its entries is meant."""


def with_value(text: str, key: str, value: Any) -> str:
    """Set what stands at a dotted key; what is missing on the way there is made."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, MappingNode):
        return _appended(text, _block(key.split("."), value, indent=0))
    node, parts = root, key.split(".")
    while True:
        found = next((pair for pair in node.value if pair[0].value == parts[0]), None)
        if found is None:
            return _inserted(text, node, parts, value)
        name, inner = found
        parts = parts[1:]
        if not parts or not isinstance(inner, MappingNode):
            return _replaced(text, name, inner, _flow(placed(".".join(parts), value) if parts else value))
        node = inner


def without_key(text: str, key: str) -> str:
    """Take out what stands at a dotted key, and what is empty without it; comments on lines of their own stay."""
    node: Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    steps: list[_Step] = []
    for part in key.split("."):
        assert isinstance(node, MappingNode), f"{key} stands in the file"
        number = next(number for number, (name, _) in enumerate(node.value) if name.value == part)
        steps.append((node, number))
        node = node.value[number][1]
    return _removed(text, steps)


def with_choice(text: str, group: str, option: str | Sequence[str]) -> str:
    """Choose the option of a group in the defaults list, in place of what the file chose before."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    entry = f"override /{group}: {_option(option)}"
    steps = _choices(root, group)
    if len(steps) > 1:
        return with_choice(_removed(text, steps[-1]), group, option)
    if steps:
        name, inner = steps[0][-1][0].value[steps[0][-1][1]].value[0]
        return _replaced(text, name, inner, _option(option))
    if not isinstance(root, MappingNode):
        return _appended(text, f"{_DEFAULTS}:\n  - {entry}\n")
    found = next((pair for pair in root.value if pair[0].value == _DEFAULTS), None)
    if found is None:
        return _begun(text, root, entry)
    name, defaults = found
    if isinstance(defaults, SequenceNode) and defaults.value:
        return _listed(text, defaults, entry)
    return _replaced(text, name, defaults, f"[{{{entry}}}]")


def without_choice(text: str, group: str) -> str:
    """Take every choice of a group out of the defaults list."""
    steps = _choices(yaml.compose(text, Loader=yaml.SafeLoader), group)
    return without_choice(_removed(text, steps[-1]), group) if steps else text


def group_of(entry: str) -> str:
    """Give the group that an entry of a defaults list chooses or overrides, e.g. of `override /scorer`."""
    return entry.rsplit(maxsplit=1)[-1].lstrip("/") if entry.strip() else ""


def _choices(root: Node | None, group: str) -> list[list[_Step]]:
    """Give the way to each entry of the defaults list that overrides a group."""
    if not isinstance(root, MappingNode):
        return []
    return [
        [(root, outer), (defaults, number)]
        for outer, (key, defaults) in enumerate(root.value)
        if key.value == _DEFAULTS and isinstance(defaults, SequenceNode)
        for number, item in enumerate(defaults.value)
        if isinstance(item, MappingNode) and len(item.value) == 1
        for name in [str(item.value[0][0].value)]
        if name.startswith("override ") and group_of(name) == group
    ]


def _ends(text: str, node: Node) -> int:
    """Give where the last character of a node stands: YAML itself counts what follows as part of a block."""
    if isinstance(node, CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _ends(text, last[1] if isinstance(last, tuple) else last)
    end = int(node.end_mark.index)
    is_block = isinstance(node, ScalarNode) and node.style in {"|", ">"}
    return len(text[:end].rstrip()) if is_block else end


def _line_end(text: str, index: int) -> int:
    end = text.find("\n", index)
    return len(text) if end < 0 else end


def _appended(text: str, block: str) -> str:
    return f"{text}\n{block}" if text and not text.endswith("\n") else text + block


def _inserted(text: str, node: MappingNode, parts: Sequence[str], value: Any) -> str:
    """Put a new entry behind the last one of a mapping."""
    if node.flow_style:
        entry = f"{parts[0]}: {_flow(placed('.'.join(parts[1:]), value) if parts[1:] else value)}"
        at = _ends(text, node.value[-1][1]) if node.value else int(node.start_mark.index) + 1
        return text[:at] + (f", {entry}" if node.value else entry) + text[at:]
    block = _block(parts, value, indent=int(node.start_mark.column)).rstrip("\n")
    at = _line_end(text, _ends(text, node))
    return f"{text[:at]}\n{block}{text[at:] or chr(10)}"


def _listed(text: str, defaults: SequenceNode, entry: str) -> str:
    """Put a new entry behind the last one of the defaults list."""
    end = _ends(text, defaults.value[-1])
    if defaults.flow_style:
        return f"{text[:end]}, {{{entry}}}{text[end:]}"
    at = _line_end(text, end)
    return f"{text[:at]}\n{' ' * int(defaults.start_mark.column)}- {entry}{text[at:] or chr(10)}"


def _begun(text: str, root: MappingNode, entry: str) -> str:
    """Put a defaults list before the first key of a file."""
    at = int(root.start_mark.index)
    if root.flow_style:
        inside = f"{_DEFAULTS}: [{{{entry}}}]{', ' if root.value else ''}"
        return f"{text[: at + 1]}{inside}{text[at + 1 :]}"
    indent = " " * int(root.start_mark.column)
    at = _above_comments(text, text.rfind("\n", 0, at) + 1)
    return f"{text[:at]}{indent}{_DEFAULTS}:\n{indent}  - {entry}\n{text[at:]}"


def _above_comments(text: str, at: int) -> int:
    """Give where the comments above a key begin; the first words of a file are about the file, not about the key."""
    lines = text[:at].splitlines(keepends=True)
    own = len(lines)
    while own and _COMMENT.match(lines[own - 1]):
        own -= 1
    above = "".join(lines[:own])
    return len(above) if above.strip() else at


def _replaced(text: str, name: Node, node: Node, new: str) -> str:
    start, end = int(node.start_mark.index), _ends(text, node)
    is_block = isinstance(node, CollectionNode) and not node.flow_style
    if not is_block and start != end:
        return text[:start] + new + text[end:]
    # Nothing, or a block on the lines below: the value goes behind the colon, before a comment that stands there.
    colon = text.find(":", int(name.end_mark.index)) + 1 or len(text)
    rest = text[colon : _line_end(text, colon)] if is_block else ""
    return f"{text[:colon]} {new}{rest}{text[max(colon, end) :]}"


def _removed(text: str, steps: Sequence[_Step]) -> str:
    """Take an entry out, or the outermost thing that would be empty without it."""
    *outer, (node, number) = steps
    if len(node.value) == 1 and outer:
        return _removed(text, outer)
    first, last = _span(node.value[number])
    start, end = int(first.start_mark.index), _ends(text, last)
    if not node.flow_style:
        return _without_lines(text, start, end, last)
    if number + 1 < len(node.value):
        end = int(_span(node.value[number + 1])[0].start_mark.index)
    elif number:
        start = _ends(text, _span(node.value[number - 1])[1])
    return text[:start] + text[end:]


def _span(entry: Any) -> tuple[Node, Node]:
    """Give the first and the last node of an entry: key and value of a mapping, an item of a list twice."""
    first, last = entry if isinstance(entry, tuple) else (entry, entry)
    return first, last


def _without_lines(text: str, start: int, end: int, value: Node) -> str:
    first, last = text.rfind("\n", 0, start) + 1, _line_end(text, end) + 1
    lines = text[first:last].splitlines(keepends=True)
    is_text = isinstance(value, ScalarNode)
    kept = [] if is_text else [line for line in lines if _COMMENT.match(line)]
    return text[:first] + "".join(kept) + text[last:]


def _block(parts: Sequence[str], value: Any, *, indent: int) -> str:
    *outer, last = parts
    lines = [f"{' ' * (indent + 2 * depth)}{part}:" for depth, part in enumerate(outer)]
    lines.append(f"{' ' * (indent + 2 * len(outer))}{last}: {_flow(value)}")
    return "\n".join(lines) + "\n"


def _option(option: str | Sequence[str]) -> str:
    if not isinstance(option, str):
        return f"[{', '.join(_option(one) for one in option)}]"
    is_plain = _PLAIN.fullmatch(option) and yaml.safe_load(option) == option
    return option if is_plain else _flow(option)


def _flow(value: Any) -> str:
    """Write a value on one line. Texts stand in quotes: bare words may be something else in YAML."""
    match value:
        case dict():
            return f"{{{', '.join(f'{_option(str(key))}: {_flow(item)}' for key, item in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(_flow(item) for item in value)}]"
        case float() if value != value or abs(value) == float("inf"):  # noqa: PLR0124 - NaN differs from itself
            return {"nan": ".nan", "inf": ".inf", "-inf": "-.inf"}[repr(value)]
    text = json.dumps(value, ensure_ascii=False)
    return _UNREADABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
