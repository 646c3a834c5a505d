"""Sending a run to an object store: tables and reports first, the manifest that lists them last.

Nothing is overwritten but the manifest, and that only by who saw the one before. So a run is there as a whole or not at
all, also while it is sent anew after it was gone on with; sending it again completes what was cut off.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from skilleval.errors import ResultsError
from skilleval.results.places.address import Address
from skilleval.results.places.bucket import AbsentError, Bucket, TakenError
from skilleval.results.places.spool import (
    Known,
    State,
    address_of,
    index_of,
    read_state,
    replace_file,
    sha256_of,
    write_state,
)
from skilleval.results.store.folders import MANIFEST, journals, read_manifest

_LEFT = re.compile(r"journal-\d+\.jsonl|\..*")
"""Names that stay here: locks, files that are half written, and what becomes a table."""
_MARK_LENGTH = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What was sent: the address of the run, and how many objects were new there, its manifest included."""

    address: Address
    n_objects: int


def check_place(folder: Path) -> None:
    """Check that the object store behind a folder can be reached; any other folder is left alone.

    Raises:
        ResultsError: it cannot.
    """
    address = address_of(folder)
    if address is not None:
        Bucket(address).check(address.key)


def send_run(folder: Path, address: Address | None = None) -> Sent | None:
    """Send a run to the address that its folder stands for, or to another one; null where there is none.

    Its journals have to be tables already.

    Raises:
        ResultsError: another writer sent a run of this id, or it is being written.
        WriteError: the object store does not take it; what is here is complete, and can be sent again.
    """
    own = address_of(folder)
    target = address or own
    if target is None:
        return None
    if journals(folder):
        raise ResultsError(f"{folder} has rows that are no tables yet: it cannot be sent")
    manifest = {**read_manifest(folder), "objects": {}}
    is_own = target == own
    before = read_state(folder) if is_own else State()
    bucket = Bucket(target)
    files, n_new = _send_files(bucket, folder, target, before)
    body = json.dumps({**manifest, "objects": index_of(files)}, indent=2, ensure_ascii=False).encode() + b"\n"
    etag, is_new = _send_manifest(bucket, target.below(MANIFEST), body, before.etag)
    if is_own:
        # What is here has to be what is there, or the list of an earlier version would be taken for that of this one.
        replace_file(folder / MANIFEST, body)
        write_state(folder, State(etag=etag, manifest=sha256_of(folder / MANIFEST), files=files))
    return Sent(address=target, n_objects=n_new + is_new)


def _send_files(bucket: Bucket, folder: Path, target: Address, before: State) -> tuple[dict[str, Known], int]:
    files: dict[str, Known] = {}
    n_new = 0
    for path in _files(folder):
        name, sha256 = path.relative_to(folder).as_posix(), sha256_of(path)
        known = before.files.get(name)
        if known is None or known.sha256 != sha256:
            sent_as, is_new = _send(bucket, path, target, name, sha256)
            known = Known(object=sent_as, sha256=sha256)
            n_new += is_new
        files[name] = known
    return files, n_new


def _files(folder: Path) -> list[Path]:
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(path for path in found if _is_sent(path.relative_to(folder)))


def _is_sent(name: Path) -> bool:
    return name != Path(MANIFEST) and not any(_LEFT.fullmatch(part) for part in name.parts)


def _send(bucket: Bucket, path: Path, target: Address, name: str, sha256: str) -> tuple[str, bool]:
    """Send a file under its own name or, where that is taken by other content, under one that tells its own.

    Gives that name, and whether the object was not there already.
    """
    try:
        return name, bucket.create(target.below(name).key, path, sha256)
    except TakenError:
        stem, dot, suffix = name.rpartition(".")
        name = f"{stem}.{sha256[:_MARK_LENGTH]}{dot}{suffix}" if dot else f"{name}.{sha256[:_MARK_LENGTH]}"
        try:
            return name, bucket.create(target.below(name).key, path, sha256)
        except TakenError:
            msg = f"{target.below(name)} is not what its name says: somebody else wrote it"
            raise ResultsError(msg, hint="move it away, then send the run again") from None


def _send_manifest(bucket: Bucket, place: Address, body: bytes, seen: str | None) -> tuple[str, bool]:
    """Send a manifest unless it is there already; give its ETag, and whether it was new."""
    try:
        current, etag = bucket.read(place.key)
    except AbsentError:
        seen = None  # the run was removed there: it is sent like a new one
    else:
        if current == body:
            return etag, False
    try:
        return bucket.replace(place.key, body, seen=seen), True
    except TakenError:
        msg = f"{place} was written by another process: it is not replaced"
        hint = "the run was gone on with elsewhere; keep that one, or send yours to another place with --to"
        raise ResultsError(msg, hint=hint) from None


def send_file(path: Path) -> None:
    """Send a small file that has one writer, e.g. the file of a job; a folder without an address is left alone.

    Raises:
        WriteError: the object store does not take it.
    """
    address = address_of(path)
    if address is not None:
        Bucket(address).put(address.key, path.read_bytes())
