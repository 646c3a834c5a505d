"""What YAML, Hydra and OmegaConf say about a mistake, and how we say it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LIST_HINT = "write [{override /GROUP: OPTION}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """A mistake in our words; each text may refer to the groups of its pattern by number."""

    expected: str
    found: str = ""
    key: str = ""
    hint: str = ""


_HYDRA: tuple[tuple[str, Phrase], ...] = (
    (
        r"Ambiguous value for argument '(?s:([^=]*)=(.*?))'\n",
        Phrase(
            key=r"\1",
            expected="one value",
            found=r"several: \2",
            hint="a list is [a,b], one text is 'a,b' in quotes, several runs are -m",
        ),
    ),
    (
        r"Sweep parameters '([^=]*)=(.*)' requires --multirun",
        Phrase(key=r"\1", expected="one value", found=r"several: \2", hint="several runs are -m"),
    ),
    (
        r"Recursive interpolation detected",
        Phrase(expected="a value", found="a reference that leads back to itself"),
    ),
    (
        r"Interpolation key '(.*)' not found",
        Phrase(expected="a reference to a setting that is there", found=r"${\1}"),
    ),
    (
        r"Environment variable '(.*)' not found",
        Phrase(
            expected=r"the environment variable \1",
            found="that it is not set",
            hint=r"with a default: ${oc.env:\1,DEFAULT}",
        ),
    ),
    (
        r"Unsupported interpolation type (.*)",
        Phrase(expected="a reference such as ${paths.store} or ${oc.env:NAME}", found=r"${\1:…}"),
    ),
    (
        r"Could not delete from config. '(.*)' does not exist",
        Phrase(key=r"\1", expected="a setting that is there", found="that there is none to delete"),
    ),
    (
        r"Could not delete '([^=']*)=?.*'. No match in the defaults list",
        Phrase(key=r"\1", expected="the option in use behind ~", found="that another one is in use"),
    ),
    (
        r"Could not append to config. An item is already at '(.*)'",
        Phrase(
            key=r"\1",
            expected="a new key behind +",
            found="a setting that is there already",
            hint=r"write \1=VALUE without +",
        ),
    ),
    (
        r"hydra.searchpath must be a list of strings. Got: (.*)",
        Phrase(key="hydra.searchpath", expected="a list of folders", found=r"\1"),
    ),
    (
        r"Invalid value '(.*)', expected one of \[(.*)\]",
        Phrase(expected=r"one of \2", found=r"\1"),
    ),
    (
        r"Multiple values for (\S+)\. To override",
        Phrase(
            key="defaults",
            expected=r"override /\1: OPTION",
            found=r"\1: OPTION, although an option is chosen before",
            hint=_LIST_HINT,
        ),
    ),
    (
        r"Override '.*' is defined before '(.*)'",
        Phrase(key="defaults", expected="overrides at the end of the list", found=r"\1 behind them"),
    ),
    (
        r"(\S+) appears more than once in the final defaults list",
        Phrase(key="defaults", expected="each group once", found=r"\1 twice"),
    ),
    (
        r"defaults must be a list",
        Phrase(key="defaults", expected="a list", found="something else", hint=_LIST_HINT),
    ),
    (
        r"(?:Unsupported item value|Unsupported type|Too many keys) in default|Missing group name in",
        Phrase(
            key="defaults",
            expected="one group with the name of its option in each entry",
            found="another entry",
            hint=_LIST_HINT,
        ),
    ),
    (
        r"Key '(.*)' not in '\w+'",
        Phrase(expected="a key of Hydra's own", found=r"\1", hint="see --cfg hydra"),
    ),
    (
        r"Merge error: \w+ is not a subclass of \w+. value: (.*)",
        Phrase(expected="a mapping", found=r"\1"),
    ),
    (
        r"Value '([^']*)'.* (?:could not be converted to|is not a valid) (?:Float|Integer|float|int)",
        Phrase(expected="a number", found=r"\1"),
    ),
    (
        r"Value '([^']*)'.* (?:could not be converted to|is not a valid) (?:Boolean|bool)",
        Phrase(expected="true or false", found=r"\1"),
    ),
    (
        r"token recognition error|no viable alternative|mismatched input|extraneous input|missing \S+ at",
        Phrase(
            expected="a value",
            found="a reference that cannot be read",
            hint=r"a reference is ${paths.store}; a plain dollar sign before { is written \\${",
        ),
    ),
)

_YAML: tuple[tuple[str, str], ...] = (
    (
        r"expected the node content, but found '<stream end>'",
        "the end of the file, where a value should stand",
    ),
    (r"expected the node content", "a value missing"),
    (
        r"mapping values are not allowed here",
        "a colon where no key can stand; texts with a colon need quotes",
    ),
    (r"character '(?:\\t|\t)' that cannot start", "a tab; lines are indented with blanks"),
    (r"character '(.)' that cannot start", r"the character \1 at the start of a value; it needs quotes"),
    (r"could not find expected ':'", "a line that is neither KEY: VALUE nor part of a value"),
    (r"expected ',' or '\]'", "a list that is not closed with ]"),
    (r"expected ',' or '\}'", "a mapping that is not closed with }"),
    (r"expected <block end>", "an indentation that fits no line above"),
    (r"unexpected end of stream", "a quote that is not closed"),
    (r"duplicate key (.*)", r"the key \1 twice"),
    (
        r"undefined alias '?(.*?)'?$",
        r"the alias *\1 without its anchor &\1; a text that begins with * needs quotes",
    ),
    (r"scanning an alias", "a text that begins with *; it needs quotes"),
    (r"another document", "a second document behind ---"),
    (r"unhashable key", "a list or mapping as a key"),
    (r"could not determine a constructor", "a tag: values are plain"),
    (r"unknown escape character '(.*)'", r"the escape \\\1 in a text with double quotes; use single quotes"),
)


def hydra_phrase(text: str) -> Phrase | None:
    """Give our words for what Hydra or OmegaConf says, if we have any."""
    for pattern, phrase in _HYDRA:
        found = re.search(pattern, text)
        if found:
            return Phrase(
                expected=found.expand(phrase.expected),
                found=found.expand(phrase.found)[:120],
                key=found.expand(phrase.key),
                hint=found.expand(phrase.hint),
            )
    return None


def yaml_phrase(text: str) -> str:
    """Give our words for what YAML found."""
    for pattern, phrase in _YAML:
        found = re.search(pattern, text)
        if found:
            return found.expand(phrase)
    return "something that is not YAML"
