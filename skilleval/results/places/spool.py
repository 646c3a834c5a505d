"""The spool: a folder on this machine for every folder on an object store, and what is known of both.

The twin of `s3://bucket/prefix` is `<user cache>/skilleval/object_store/<endpoint>/<bucket>/<prefix>`: its path alone
says which address it stands for.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from skilleval.errors import ResultsError, WriteError
from skilleval.results.locks import is_locked
from skilleval.results.places.address import Address
from skilleval.results.store.folders import MANIFEST, write_text

_STATE = ".objects.json"
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_N_HEAD = 2
"""Parts of a path in the spool before the prefix: endpoint and bucket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One object that a run consists of: its name below the run, and the SHA-256 of its content."""

    object: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What was last sent or fetched: the manifest by its ETag and local SHA-256, and the object behind each file."""

    etag: str | None = None
    manifest: str | None = None
    files: Mapping[str, Known] = field(default_factory=dict)


def endpoint_url() -> str | None:
    """Give the endpoint that the environment names; null for that of the store itself."""
    return next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), None)


def _endpoint() -> str:
    """Name the endpoint by host and port alone: an address may hold a password before them."""
    url = endpoint_url()
    return "aws" if url is None else quote(urlsplit(url).netloc.rpartition("@")[2], safe="") or "aws"


def _root() -> Path:
    from platformdirs.unix import Unix

    return Unix("skilleval").user_cache_path.resolve() / "object_store"


def is_elsewhere(place: str | Path) -> bool:
    """Say whether a place is an address on an object store.

    Raises:
        ResultsError: it is one that cannot be used.
    """
    return Address.read(place) is not None


def local_place(place: str | Path) -> Path:
    """Give the folder in which results of a place are written and read: itself, or its twin in the spool.

    Raises:
        ResultsError: it is an address that cannot be used.
    """
    address = Address.read(place)
    if address is None:
        return Path(place)
    parts = [part for part in address.key.split("/") if part]
    return _root().joinpath(_endpoint(), address.bucket, *(quote(part, safe="") for part in parts))


def address_of(folder: Path) -> Address | None:
    """Give the address that a folder of the spool stands for; null for any other folder.

    Raises:
        ResultsError: it belongs to another endpoint than the one that the environment names.
    """
    absolute = folder.absolute()
    root = _root()
    if not absolute.is_relative_to(root):
        return None
    endpoint, *rest = absolute.relative_to(root).parts or ("",)
    if len(rest) + 1 < _N_HEAD:
        return None
    if endpoint != _endpoint():
        msg = f"{folder} belongs to the object store at {unquote(endpoint)}"
        raise ResultsError(msg, hint=f"set {_ENDPOINTS[1]} to it, or name another run")
    return Address(rest[0], "/".join(unquote(part) for part in rest[1:]))


def shown_place(place: str | Path) -> str:
    """Name a place as a user knows it: by its address where it has or is one. A `Path` of one has lost a slash."""
    address = Address.read(place) or address_of(Path(place))
    return str(place if address is None else address)


def read_state(folder: Path) -> State:
    """Read what was last sent or fetched; a file that is damaged knows nothing."""
    try:
        said = json.loads((folder / _STATE).read_text(encoding="utf-8"))
        files = {name: Known(**one) for name, one in said["files"].items()}
        return State(etag=said["etag"], manifest=said["manifest"], files=files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return State()


def write_state(folder: Path, state: State) -> None:
    """Keep what was sent or fetched.

    Raises:
        WriteError: it cannot be written.
    """
    write_text(
        folder / _STATE,
        json.dumps({"etag": state.etag, "manifest": state.manifest, "files": index_of(state.files)}) + "\n",
    )


def index_of(files: Mapping[str, Known]) -> dict[str, dict[str, str]]:
    """Give the objects of a run as its manifest lists them."""
    return {name: {"object": one.object, "sha256": one.sha256} for name, one in sorted(files.items())}


def listed(manifest: Mapping[str, Any]) -> dict[str, Known]:
    """Give the objects that a fetched manifest lists; none for one that was written here.

    Raises:
        ResultsError: a name leads out of the folder, or the list is none.
    """
    try:
        files = {str(name): Known(**one) for name, one in (manifest.get("objects") or {}).items()}
    except (TypeError, AttributeError):
        raise ResultsError("the list of objects in a manifest cannot be read") from None
    for name in (*files, *(one.object for one in files.values())):
        if name.startswith("/") or not set(name.split("/")).isdisjoint({"", ".", ".."}):
            raise ResultsError("the list of objects in a manifest names one outside of its run")
    return files


def is_unsent(folder: Path, state: State) -> bool:
    """Say whether the manifest here holds what the object store does not have."""
    path = folder / MANIFEST
    return path.is_file() and sha256_of(path) != state.manifest


def is_waiting(folder: Path) -> bool:
    """Say whether a run of the spool, which nobody is writing, was not sent yet."""
    return address_of(folder) is not None and is_unsent(folder, read_state(folder)) and not is_locked(folder)


def replace_file(path: Path, body: bytes) -> None:
    """Write a file whole or not at all.

    Raises:
        WriteError: it cannot be written.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(body)
        beside.replace(path)
    except OSError as error:
        raise WriteError(f"cannot write {path}: {error.strerror}") from None
    finally:
        beside.unlink(missing_ok=True)


def sha256_of(path: Path) -> str:
    """Hash a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
