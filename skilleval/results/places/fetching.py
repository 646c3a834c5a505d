"""Fetching from an object store into the spool: manifests to find runs by, and the objects of the runs that are read.

What is known by its ETag is not fetched again, and what was written here and not sent yet is never overwritten.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from skilleval.errors import ResultsError, WriteError
from skilleval.results.places.address import Address
from skilleval.results.places.bucket import AbsentError, Bucket
from skilleval.results.places.spool import (
    Known,
    address_of,
    is_unsent,
    listed,
    local_place,
    read_state,
    replace_file,
    sha256_of,
    write_state,
)
from skilleval.results.store.folders import MANIFEST

_DEPTH = 2
"""How far below a root runs and sweeps are looked for, as on a disk."""
_SWEEP = "sweep.json"


def fetch_runs(root: Path) -> frozenset[Path] | None:
    """Fetch the manifests of all runs below a folder of the spool; give the folders of runs that are gone there.

    Null where the folder is an ordinary one.

    Raises:
        ResultsError: the object store cannot be read.
    """
    address = address_of(root)
    if address is None:
        return None
    bucket = Bucket(address)
    found = _below(bucket.list(address.key), address, MANIFEST)
    folders = {_folder(address, root, key): (key, etag) for key, etag in found.items()}
    stale = {folder: (key, etag) for folder, (key, etag) in folders.items() if not _is_current(folder, etag)}
    bodies = bucket.read_all([key for key, _ in stale.values()])
    for folder, (key, etag) in stale.items():
        if key in bodies:
            _keep_manifest(folder, bodies[key], etag)
    here = (path.parent for pattern in ("", "*/", "*/*/") for path in root.glob(f"{pattern}{MANIFEST}"))
    return frozenset(one for one in here if one not in folders and _is_sent(one))


def _below(keys: Mapping[str, str], address: Address, name: str) -> dict[str, str]:
    """Choose the objects of a name that stand at most so far below an address."""
    n_own = len(address.key.split("/")) if address.key else 0
    return {
        key: etag
        for key, etag in keys.items()
        if (parts := key.split("/"))[-1] == name and len(parts) - 1 - n_own <= _DEPTH and _is_plain(parts)
    }


def _is_plain(parts: list[str]) -> bool:
    return set(parts).isdisjoint({"", ".", ".."})


def _folder(address: Address, root: Path, key: str) -> Path:
    folder = Address(address.bucket, key.rpartition("/")[0])
    return root if folder == address else local_place(str(folder))


def _is_current(folder: Path, etag: str) -> bool:
    """Say whether the manifest here is the one of this ETag, or one that was not sent yet."""
    state = read_state(folder)
    return (folder / MANIFEST).is_file() and (state.etag == etag or is_unsent(folder, state))


def _is_sent(folder: Path) -> bool:
    state = read_state(folder)
    return state.etag is not None and not is_unsent(folder, state)


def _keep_manifest(folder: Path, body: bytes, etag: str) -> None:
    replace_file(folder / MANIFEST, body)
    _date(folder / MANIFEST, body)
    sha256 = hashlib.sha256(body).hexdigest()
    write_state(folder, replace(read_state(folder), etag=etag, manifest=sha256))


def _date(path: Path, body: bytes) -> None:
    """Give a fetched manifest the age of its run, not that of its fetching: it tells runs of one second apart."""
    try:
        moment = datetime.fromisoformat(json.loads(body)["started_at"]).timestamp()
    except (ValueError, TypeError, KeyError):
        return  # who reads the manifest tells what is wrong with it
    os.utime(path, (moment, moment))


def fetch_run(folder: Path, *, is_renewed: bool = False) -> None:
    """Fetch what a run consists of, as far as it is not here; any folder that is no twin is left alone.

    `is_renewed` looks for a newer manifest first; otherwise that is asked for only where there is none here.

    Raises:
        ResultsError: the object store cannot be read, or an object is not what the manifest says.
        WriteError: there is no room for it.
    """
    address = address_of(folder)
    if address is None:
        return
    if is_renewed or not (folder / MANIFEST).is_file():
        _renew(folder, address)
    files = _wanted(folder)
    if not files:
        return
    bucket = Bucket(address)
    for name, known in files.items():
        _fetch(bucket, address, folder / name, known)
    state = read_state(folder)
    write_state(folder, replace(state, files={**state.files, **files}))


def _renew(folder: Path, address: Address) -> None:
    state = read_state(folder)
    if is_unsent(folder, state):
        return
    try:
        body, etag = Bucket(address).read(address.below(MANIFEST).key)
    except AbsentError:
        return
    if etag != state.etag or not (folder / MANIFEST).is_file():
        _keep_manifest(folder, body, etag)


def _wanted(folder: Path) -> dict[str, Known]:
    """Give the objects that the manifest lists and that are not here."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return {}  # who reads the manifest tells what is wrong with it
    state = read_state(folder)
    if is_unsent(folder, state):
        return {}  # what is here is newer
    here = state.files
    wanted = listed(manifest) if isinstance(manifest, dict) else {}
    return {
        name: known
        for name, known in wanted.items()
        if here.get(name) != known or not (folder / name).is_file()
    }


def _fetch(bucket: Bucket, address: Address, path: Path, known: Known) -> None:
    place = address.below(known.object)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        bucket.fetch(place.key, beside)
        if sha256_of(beside) != known.sha256:
            msg = f"{place} is not what its run was sent with: its content has changed"
            raise ResultsError(msg)
        beside.replace(path)
    except AbsentError:
        raise ResultsError(f"{place} is gone, although the manifest of its run lists it") from None
    except OSError as error:
        raise WriteError(f"cannot write {path}: {error.strerror}") from None
    finally:
        beside.unlink(missing_ok=True)


def fetch_sweeps(root: Path) -> None:
    """Fetch the plans of all sweeps below a folder of the spool, and what their jobs say.

    Raises:
        ResultsError: the object store cannot be read.
    """
    address = address_of(root)
    if address is None:
        return
    bucket = Bucket(address)
    keys = bucket.list(address.key)
    plans = _below(keys, address, _SWEEP)
    jobs = tuple(f"{key.removesuffix(_SWEEP)}jobs/" for key in plans)
    own = {key: etag for key, etag in keys.items() if key in plans or _is_job(key, jobs)}
    paths = {key: _folder(address, root, key) / key.rpartition("/")[2] for key in own}
    stale = [key for key, path in paths.items() if not _is_same(path, own[key])]
    for key, body in bucket.read_all(stale).items():
        replace_file(paths[key], body)


def _is_job(key: str, jobs: tuple[str, ...]) -> bool:
    return key.startswith(jobs) and key.endswith(".json") and _is_plain(key.split("/"))


def _is_same(path: Path, etag: str) -> bool:
    """Compare by MD5, which the ETag of a small object usually is; where it is not, the file is fetched again."""
    try:
        return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest() == etag.strip('"')
    except OSError:
        return False
