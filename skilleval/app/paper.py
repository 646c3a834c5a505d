"""A paper kit of stored runs: their rows copied beside it, and everything that is written from them."""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skilleval.app.paper_files import Contents, Placed, file_digest, file_digests, former, place
from skilleval.app.paper_groups import groups
from skilleval.app.stored import Stored, stored, stored_runs
from skilleval.errors import Problem, ResultsError, UsageError
from skilleval.figures.export import pdf, svg
from skilleval.provenance import versions
from skilleval.report.paper.document import Options, Paper, Source
from skilleval.report.paper.files import MANIFEST as PAPER
from skilleval.report.paper.files import Kit, kit
from skilleval.report.text import json_text
from skilleval.results.find import find_run
from skilleval.results.schema import TABLES
from skilleval.results.store import MANIFEST

_DATA = "data"
_RENDERER = "vl-convert-python"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A paper kit on disk, and what became of files that were there already."""

    folder: Path
    files: tuple[str, ...]
    placed: Placed
    kit: Kit


def write_paper(references: Sequence[str], *, store: Path, out: Path, options: Options) -> Written:
    """Write a paper kit of some runs; one that is there is written anew, but for what belongs to the author.

    Raises:
        UsageError: a run is named twice, the folder holds something else, or the options fit no run.
        ResultsError: a run cannot be read.
        WriteError: the folder cannot be written.
    """
    own = former(out)
    baseline_run = _as_run(options.baseline, references, store)
    named = [*references, *([options.baseline] if baseline_run else [])]
    found = _each_once(named, store, in_baseline=bool(baseline_run))
    options = replace(options, baseline=baseline_run or options.baseline)
    places = [(one.folder, _place(one, out, linked=options.linked)) for one in found]
    # Everything is computed before anything is written, so that a mistake leaves no half of a kit.
    made = kit(read_paper(places, options=options))
    rendered = drawn(made)
    contents = _contents(made, rendered, places, out)
    placed = place(out, contents, own)
    return Written(folder=out, files=(*sorted(contents.files), PAPER), placed=placed, kit=made)


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
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in parts if path.is_file()}


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


def _contents(
    made: Kit, rendered: Mapping[str, bytes], places: Sequence[tuple[Path, str]], out: Path
) -> Contents:
    """Gather what the folder is to hold; rows that lie where they should are not copied onto themselves."""
    files = {name: text.encode("utf-8") for name, text in made.texts.items()} | dict(rendered)
    copied: dict[str, tuple[Path, str]] = {}
    lying: set[str] = set()
    recorded = {run["folder"]: run["digests"] for run in made.facts["runs"]}
    for source, folder in places:
        for name, digest in recorded[folder].items():
            file = f"{folder}/{name}"
            if (out / folder).resolve() == source.resolve():
                lying.add(file)
            else:
                copied[file] = (source / name, digest)
    return Contents(
        files=files,
        yours={name: text.encode("utf-8") for name, text in made.yours.items()},
        rows=copied,
        lying=frozenset(lying),
        manifest=json_text({**made.facts, "files": file_digests(files)}, indent=1) + "\n",
    )
