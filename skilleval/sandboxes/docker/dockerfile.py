"""What a Dockerfile of a stranger would have the engine fetch: building itself has no network, but the engine has one.

Engines differ in what they take for a comment or a continued line, so a file is read in every way they might read it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_ESCAPES = ("\\", "`")
_EMPTY = "scratch"
_IMAGE_OF_COPY = re.compile(r"--from=(\S+)", re.IGNORECASE)
_STAGE = re.compile(r"(\S+)\s+as\s+(\S+)", re.IGNORECASE)


def fetched(text: str, is_there: Callable[[str], bool]) -> str | None:
    """Give the first instruction that makes an engine fetch something, null where none does.

    `is_there` says whether the engine has an image. The text of an instruction is given with the reason.
    """
    for escape in _ESCAPES:
        for drops_comments in (True, False):
            instructions = _instructions(text.removeprefix("\ufeff"), escape, drops_comments=drops_comments)
            if (found := _first_fetching(instructions, is_there)) is not None:
                return found
    return None


def _first_fetching(instructions: Iterator[str], is_there: Callable[[str], bool]) -> str | None:
    stages: set[str] = set()
    n_stages = 0
    for instruction in instructions:
        word, rest = _word(instruction)
        if word == "add":
            return f"{instruction} (use COPY: what ADD names by an address is fetched)"
        if word == "from":
            source, name = _source(rest)
            if source.lower() not in {_EMPTY, *stages} and not is_there(source):
                return f"{instruction} (the engine has no image {source})"
            stages |= {str(n_stages), name.lower()}
            n_stages += 1
        if word == "copy" and (named := _IMAGE_OF_COPY.search(rest)):
            source = named[1].strip("\"'")
            if source.lower() not in stages and not is_there(source):
                return f"{instruction} (there is no stage and no image {source})"
    return None


def _word(instruction: str) -> tuple[str, str]:
    """Part the first word from the rest; a trigger for later is taken for what it triggers."""
    word, _, rest = re.sub(r"\s+", " ", instruction).partition(" ")
    return _word(rest) if word.lower() == "onbuild" else (word.lower(), rest)


def _source(rest: str) -> tuple[str, str]:
    """Give image and name of a stage; options such as `--platform` stand before them."""
    words = " ".join(word for word in rest.split(" ") if not word.startswith("--"))
    found = _STAGE.fullmatch(words)
    return (found[1], found[2]) if found else (words, "")


def _instructions(text: str, escape: str, *, drops_comments: bool) -> Iterator[str]:
    """Put lines together that belong together; comments and empty lines in between do not end an instruction."""
    begun = ""
    for line in (one.strip() for one in text.split("\n")):
        is_comment = line.startswith("#")
        if not line or (is_comment and (drops_comments or not begun)):
            continue
        if line.endswith(escape):
            begun += line[:-1]
            continue
        yield begun + line
        begun = ""
    if begun:
        yield begun
