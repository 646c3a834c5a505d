"""Verifying a paper kit: everything is computed again from its rows and held against what stands in its files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilleval.app.paper import digests, drawn, read_paper
from skilleval.app.paper_files import is_unfinished
from skilleval.errors import Problem, ResultsError, SkillevalError
from skilleval.report.paper.differences import (
    Difference,
    Kind,
    number_differences,
    spec_differences,
    text_differences,
    without_spaces,
)
from skilleval.report.paper.document import SCHEMA
from skilleval.report.paper.files import MANIFEST as PAPER
from skilleval.report.paper.files import Kit, folders_of, kit, options_of
from skilleval.report.paper.names import PREFIX
from skilleval.results.find import find_run
from skilleval.results.store import read_manifest

_MACROS = re.compile(rf"\\({PREFIX}[A-Z][A-Za-z]*)")
_COMMENT = re.compile(r"(?<!\\)(?:\\\\)*%")
_SPEC = ".vl.json"
_COMPARED = ("title", "options", "methods", "runs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What came of it. `versions` names what has another version here than where the kit was written."""

    folder: Path
    differences: tuple[Difference, ...]
    n_files: int
    n_numbers: int
    versions: tuple[str, ...]

    @property
    def numbers_equal(self) -> bool:
        """True where rows and numbers are those of the kit, whatever became of words."""
        return all(one.kind in {Kind.WORDING, Kind.DRAWING} for one in self.differences)

    @property
    def sentence(self) -> str:
        """Say what came of it."""
        kinds = [one.kind.value for one in self.differences]
        if not kinds:
            return f"all {self.n_files} files and {self.n_numbers} numbers are what the rows give"
        if self.numbers_equal:
            what = " and ".join(kind for kind in (Kind.WORDING, Kind.DRAWING) if kind.value in kinds)
            return f"{what} differs; numbers equal"
        told = ", ".join(f"{kind} ({kinds.count(kind)}×)" for kind in dict.fromkeys(kinds))
        return f"{len(kinds)} {'difference' if len(kinds) == 1 else 'differences'}: {told}"


def verify(folder: Path, *, again: Sequence[str] = (), store: Path) -> Verification:
    """Recompute a paper kit from its rows; `again` are runs that repeat those of the kit, compared by digest.

    Raises:
        ResultsError: the folder holds no paper kit, or its rows cannot be read at all.
    """
    facts = _facts(folder)
    try:
        options, runs = options_of(facts), folders_of(facts)
        recorded = {str(name): str(digest) for name, digest in facts["files"].items()}
        numbers = [dict(one) for one in facts["numbers"]]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _no_kit(folder, "parts of it are missing") from None
    found = list(_data(folder, runs))
    try:
        made = kit(read_paper([(folder / place, place) for _, place, _ in runs], options=options))
    except SkillevalError as error:
        return _unreadable(folder, found, error)
    found += _again(folder, runs, again, store)
    files = drawn(made)
    found += _texts(folder, made)
    found += _drawings(folder, files, recorded)
    found += number_differences(PAPER, numbers, made.facts["numbers"])
    found += _of_manifest(facts, made)
    found += _unknown_macros(folder, made)
    found += _unknown_files(recorded, {*made.texts, *files})
    return Verification(
        folder=folder,
        differences=tuple(found),
        n_files=len(made.texts) + len(files),
        n_numbers=len(numbers),
        versions=tuple(_versions(facts, made)),
    )


def _facts(folder: Path) -> dict[str, Any]:
    if is_unfinished(folder):
        problem = Problem(where=str(folder), expected="a whole kit", found="one whose writing was broken off")
        hint = "wait, if it is being written now; else write it again: skilleval paper"
        raise ResultsError("this paper kit is not finished", problems=(problem,), hint=hint)
    try:
        found = json.loads((folder / PAPER).read_text(encoding="utf-8"))
    except OSError as error:
        raise _no_kit(folder, f"{PAPER}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise _no_kit(folder, f"{PAPER}: {error}") from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise _no_kit(folder, f"{PAPER} is not of the schema {SCHEMA}")
    return found


def _no_kit(folder: Path, why: str) -> ResultsError:
    problem = Problem(where=str(folder), expected="a folder that `skilleval paper` wrote", found=why)
    return ResultsError("this is no paper kit", problems=(problem,))


def _unreadable(folder: Path, found: Sequence[Difference], error: SkillevalError) -> Verification:
    """Say which rows are not what they were, where nothing can be recomputed from them.

    Raises:
        ResultsError: the rows are what they were, so that the fault is not theirs.
    """
    if not found:
        raise ResultsError(
            f"nothing can be recomputed from the rows of {folder}",
            problems=error.problems,
            hint=error.message,
        ) from None
    last = Difference(file=str(folder), kind=Kind.DATA, what="nothing can be recomputed", found=error.message)
    return Verification(folder=folder, differences=(*found, last), n_files=0, n_numbers=0, versions=())


def _data(folder: Path, runs: Sequence[tuple[str, str, Mapping[str, str]]]) -> Iterator[Difference]:
    """Hold the rows against their digests."""
    for _, place, recorded in runs:
        present = digests(folder / place) if (folder / place).is_dir() else {}
        for name in dict.fromkeys((*recorded, *present)):
            file = f"{place}/{name}"
            if name not in present:
                yield Difference(file=file, kind=Kind.MISSING, expected=recorded[name])
            elif name not in recorded:
                yield Difference(file=file, kind=Kind.UNKNOWN, what="was not there when the kit was written")
            elif present[name] != recorded[name]:
                told: dict[str, Any] = {"found": present[name], "expected": recorded[name]}
                yield Difference(file=file, kind=Kind.DATA, what="SHA-256", **told)


def _texts(folder: Path, made: Kit) -> Iterator[Difference]:
    for name, expected in made.texts.items():
        content = _content(folder / name)
        if content is None:
            yield Difference(file=name, kind=Kind.MISSING)
            continue
        found = content.decode("utf-8", "backslashreplace")
        if name.endswith(_SPEC):
            yield from spec_differences(name, found, expected)
        elif found != expected:
            yield from text_differences(name, found, expected)


def _drawings(folder: Path, files: Mapping[str, bytes], recorded: Mapping[str, str]) -> Iterator[Difference]:
    """Compare drawings byte for byte, whose specifications are compared as texts.

    A drawing that is as it was written, but comes out in another way here, was made by another renderer.
    """
    for name, expected in files.items():
        content = _content(folder / name)
        if content is None:
            yield Difference(file=name, kind=Kind.MISSING)
        elif hashlib.sha256(content).hexdigest() != recorded.get(name):
            yield Difference(file=name, kind=Kind.CHANGED, what="was changed after it was written")
        elif content != expected and name.endswith(".svg"):  # a PDF may hold a date
            yield Difference(file=name, kind=Kind.DRAWING, what="is drawn in another way here")


def _content(path: Path) -> bytes | None:
    """Read a file; null where there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}"
        raise ResultsError(msg) from None


def _of_manifest(facts: Mapping[str, Any], made: Kit) -> Iterator[Difference]:
    """Compare what `paper.json` says beside numbers and digests, which are compared by themselves."""
    for key in _COMPARED:
        found, expected = _undigested(facts.get(key)), _undigested(made.facts[key])
        if found != expected:
            told: dict[str, Any] = {"found": json.dumps(found), "expected": json.dumps(expected)}
            yield Difference(file=PAPER, kind=Kind.WORDING, what=key, **told)
    tables = [side.get("tables") for side in (facts, made.facts)]
    # A name or a mark that moved to another cell is no mere wording; only captions and headers are.
    kind = None if _cells(tables[0]) == _cells(tables[1]) else Kind.NUMBER
    texts = [json.dumps(side, indent=0) for side in tables]
    yield from (
        Difference(file=PAPER, kind=kind or one.kind, what="tables", found=one.found, expected=one.expected)
        for one in text_differences(PAPER, texts[0], texts[1])
    )


def _cells(tables: Any) -> str:
    """Give the rows of tables but for spaces; what is no table stands for itself, so that it equals none."""
    listed = tables if isinstance(tables, list) else [tables]
    rows = [one.get("rows") if isinstance(one, dict) else one for one in listed]
    return without_spaces(json.dumps(rows, ensure_ascii=False))


def _undigested(value: Any) -> Any:
    if isinstance(value, list):
        return [
            {key: item for key, item in one.items() if key != "digests"} if isinstance(one, dict) else one
            for one in value
        ]
    return value


def _unknown_macros(folder: Path, made: Kit) -> Iterator[Difference]:
    """Name the macros of the author's article that no number stands behind."""
    known = {one["macro"] for one in made.facts["numbers"]}
    content = _content(folder / "main.tex") or b""
    for at, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        for macro in _MACROS.findall(_COMMENT.split(line, maxsplit=1)[0]):
            if macro not in known:
                what = "a macro that no number stands behind"
                yield Difference(file="main.tex", kind=Kind.UNKNOWN, line=at, what=what, found=f"\\{macro}")


def _unknown_files(recorded: Mapping[str, str], made: set[str]) -> Iterator[Difference]:
    for name in sorted(set(recorded) - made):
        yield Difference(file=name, kind=Kind.UNKNOWN, what="the rows give no such file")


def _versions(facts: Mapping[str, Any], made: Kit) -> Iterator[str]:
    then, now = facts.get("versions"), made.facts["versions"]
    for name in sorted(now):
        before = then.get(name) if isinstance(then, dict) else None
        if before != now[name]:
            yield f"{name} {before} → {now[name]}"


def _again(
    folder: Path,
    runs: Sequence[tuple[str, str, Mapping[str, str]]],
    again: Sequence[str],
    store: Path,
) -> Iterator[Difference]:
    """Say where a run made again evaluated something else: other files of a skill, other tasks, other scorers."""
    if not again:
        return
    repeated = [_evaluated(read_manifest(find_run(one, store))) for one in again]
    for run_id, place, _ in runs:
        own = _evaluated(read_manifest(folder / place))
        nearest = min(repeated, key=lambda other: len(_apart(own, other)))
        for name in _apart(own, nearest):
            told: dict[str, Any] = {
                "found": nearest.get(name, "nothing"),
                "expected": own.get(name, "nothing"),
            }
            yield Difference(file=f"run {run_id} made again", kind=Kind.DATA, what=name, **told)


def _evaluated(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Give what a run evaluated, and by what: digests by name."""
    benchmark = manifest["benchmark"]
    skills = {
        f"skill {one.get('id')} {one.get('version')}": str(one.get("digest"))
        for one in manifest.get("skills") or ()
    }
    scorers = {
        f"scorer {name}": json.dumps(about, sort_keys=True) for name, about in manifest["scorers"].items()
    }
    return {f"benchmark {benchmark['id']}": str(benchmark["digest"]), **skills, **scorers}


def _apart(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    return [name for name in dict.fromkeys((*one, *other)) if one.get(name) != other.get(name)]
