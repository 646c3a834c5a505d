"""A paper kit of stored runs: their rows copied beside it, and everything that is written from them."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilleval.app.paper_groups import groups
from skilleval.app.stored import Stored, stored, stored_runs
from skilleval.errors import Problem, ResultsError, UsageError, WriteError
from skilleval.figures.export import pdf, svg
from skilleval.provenance import versions
from skilleval.report.paper.document import Options, Paper, Source
from skilleval.report.paper.files import MANIFEST as PAPER
from skilleval.report.paper.files import Kit, kit
from skilleval.report.text import json_text
from skilleval.results.find import find_run
from skilleval.results.schema import TABLES
from skilleval.results.store import MANIFEST, write_text

_DATA = "data"
_RENDERER = "vl-convert-python"
_EXECUTABLE = 0o755


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A paper kit on disk. `kept` are files of the author's that were there already and stayed as they were."""

    folder: Path
    files: tuple[str, ...]
    kept: tuple[str, ...]
    kit: Kit


def write_paper(references: Sequence[str], *, store: Path, out: Path, options: Options) -> Written:
    """Write a paper kit of some runs; one that is there is written anew, but for what belongs to the author.

    Raises:
        UsageError: a run is named twice, the folder holds something else, or the options fit no run.
        ResultsError: a run cannot be read.
        WriteError: the folder cannot be written.
    """
    before = _former(out)
    baseline_run = _as_run(options.baseline, references, store)
    named = [*references, *([options.baseline] if baseline_run else [])]
    found = _each_once(named, store, in_baseline=bool(baseline_run))
    options = replace(options, baseline=baseline_run or options.baseline)
    places = [(one.folder, _place(one, out, linked=options.linked)) for one in found]
    # Everything is computed before anything is written, so that a mistake leaves no half of a kit.
    made = kit(read_paper(places, options=options))
    rendered = drawn(made)
    with _whole(out, is_new=not before):
        if not options.linked:
            _copy(places, out)
        return _write(out, made, rendered, before)


@contextmanager
def _whole(out: Path, *, is_new: bool) -> Iterator[None]:
    """Leave nothing of a new kit whose writing was broken off: half of one would be refused as something else."""
    existed, is_whole = out.exists(), False
    try:
        yield
        is_whole = True
    finally:  # also on Ctrl-C
        if is_new and not is_whole:
            shutil.rmtree(out, ignore_errors=True)
            if existed:
                out.mkdir(exist_ok=True)


def read_paper(places: Sequence[tuple[Path, str]], *, options: Options) -> Paper:
    """Compute everything from rows; a place is where they lie, and their folder as seen from the paper.

    Raises:
        SkillevalError: rows cannot be read, or the options fit no run.
    """
    sources = []
    for path, folder in places:
        one = stored(path)
        run_id = str(one.manifest["run_id"])
        told = Source(run_id=run_id, folder=folder, manifest=one.manifest, digests=digests(path))
        sources.append((one, told))
    ids = {source.run_id for _, source in sources}
    baseline_run = options.baseline if options.baseline in ids else ""
    baseline = "" if baseline_run else options.baseline
    made = groups(sources, scorer=options.scorer, baseline=baseline, baseline_run=baseline_run)
    own = {**versions(), _RENDERER: importlib.metadata.version(_RENDERER)}
    return Paper(options=options, groups=made, versions=own)


def drawn(made: Kit) -> dict[str, bytes]:
    """Render the figures of a kit."""
    files: dict[str, bytes] = {}
    for picture in made.pictures:
        files[f"figures/{picture.stem}.svg"] = svg(picture.spec).encode("utf-8")
        files[f"figures/{picture.stem}.pdf"] = pdf(picture.spec)
    return files


def digests(folder: Path) -> dict[str, str]:
    """Give the SHA-256 of the manifest and of every table of a run."""
    parts = [
        folder / MANIFEST,
        *(path for name in TABLES for path in sorted((folder / name).glob("*.parquet"))),
    ]
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in parts
        if path.is_file()
    }


def _former(out: Path) -> Mapping[str, Any]:
    """Read what an earlier kit in this folder says of itself; empty where there is none.

    Raises:
        UsageError: the folder holds something that is no kit.
    """
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return {}
    try:
        found = json.loads((out / PAPER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if isinstance(found, dict) and isinstance(found.get("files"), dict):
        return found
    problem = Problem(where="--out", expected="a new folder, or that of a paper kit", found=str(out))
    raise UsageError("the folder holds something else", problems=(problem,), hint="name another one")


def _as_run(baseline: str, references: Sequence[str], store: Path) -> str:
    """Give the id of the run that a baseline names, empty where it names none and so may be a skill."""
    if not baseline:
        return ""
    try:
        folder = find_run(baseline, store)
    except ResultsError:
        folders = [find_run(reference, store) for reference in references]
        folder = next((one for one in folders if one.name == baseline), Path())
    return str(stored(folder).manifest["run_id"]) if (folder / MANIFEST).is_file() else ""


def _each_once(references: Sequence[str], store: Path, *, in_baseline: bool) -> tuple[Stored, ...]:
    """Open the runs; one that is named twice would count twice. The baseline may be one of them.

    Raises:
        UsageError: a run is named twice.
    """
    found = stored_runs(references, store)
    own = list(references[:-1] if in_baseline else references)
    ids = [str(stored(find_run(one, store)).manifest["run_id"]) for one in own]
    kept: dict[str, Stored] = {}
    for one in found:
        kept.setdefault(str(one.manifest["run_id"]), one)
    twice = sorted({one for one in ids if ids.count(one) > 1})
    if twice:
        problem = Problem(where="RUNS", expected="each run once", found=f"{', '.join(twice)} twice")
        raise UsageError("a run that is counted twice looks surer than it is", problems=(problem,))
    return tuple(kept.values())


def _place(one: Stored, out: Path, *, linked: bool) -> str:
    """Say where the rows of a run lie, as seen from the paper."""
    if linked:
        return Path(os.path.relpath(one.folder.resolve(), out.resolve())).as_posix()
    return f"{_DATA}/{one.manifest['run_id']}"


def _copy(places: Sequence[tuple[Path, str]], out: Path) -> None:
    """Put the rows beside the paper.

    Raises:
        WriteError: the folder cannot be written.
    """
    try:
        for source, folder in places:
            target = out / folder
            if target.resolve() == source.resolve():
                continue
            _copy_run(source, target)
    except OSError as error:
        msg = f"cannot write {out}: {error.strerror}"
        raise WriteError(msg) from None


def _copy_run(source: Path, target: Path) -> None:
    """Put the rows of a run in a place; those that were there stay until all others are."""
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        for name in digests(source):
            (beside / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, beside / name)
        shutil.rmtree(target, ignore_errors=True)
        beside.replace(target)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _write(out: Path, made: Kit, rendered: Mapping[str, bytes], before: Mapping[str, Any]) -> Written:
    """Write all files, remove those of an earlier kit that this one has not, and keep what is the author's."""
    files = {name: text.encode("utf-8") for name, text in made.texts.items()} | dict(rendered)
    kept = tuple(name for name in made.yours if (out / name).exists())
    try:
        for name, content in files.items():
            _write_bytes(out / name, content)
        for name in set(before.get("files", {})) - set(files):
            if _is_inside(out, name):
                (out / name).unlink(missing_ok=True)
        (out / "reproduce.sh").chmod(_EXECUTABLE)
    except OSError as error:
        msg = f"cannot write {out}: {error.strerror}"
        raise WriteError(msg) from None
    for name, text in made.yours.items():
        if name not in kept:
            write_text(out / name, text)
    facts = {**made.facts, "files": file_digests(files)}
    write_text(out / PAPER, json_text(facts, indent=1) + "\n")
    return Written(folder=out, files=(*sorted(files), PAPER), kept=kept, kit=made)


def file_digests(files: Mapping[str, bytes]) -> dict[str, str]:
    """Give the SHA-256 of each file, by name."""
    return {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)}


def _is_inside(out: Path, name: str) -> bool:
    """Say whether a name that a file gave leads to a file of the kit, and nowhere else."""
    return (out / name).resolve().is_relative_to(out.resolve()) and not name.startswith(_DATA)


def _write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
