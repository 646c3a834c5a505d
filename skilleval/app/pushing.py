"""Sending runs to an object store: when they end, and later on where that was cut off."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from skilleval.config.settings import PathSettings
from skilleval.errors import Problem, ResultsError, UsageError, WriteError
from skilleval.results.find import find_run, runs
from skilleval.results.locks import RunLock
from skilleval.results.places import (
    Address,
    address_of,
    check_place,
    is_elsewhere,
    is_waiting,
    local_place,
    send_run,
)
from skilleval.results.store import compact

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """One run that is on an object store now, and how many objects had to be sent for it."""

    folder: Path
    address: str
    n_objects: int


def check_places(paths: PathSettings) -> None:
    """Check that the places of results can be reached, before anything runs.

    Raises:
        ResultsError: an object store cannot be reached, or an address cannot be used.
        UsageError: reports would go to an object store without their tables.
    """
    store = paths.store or paths.output_dir
    check_place(local_place(store))
    if is_elsewhere(paths.output_dir) and local_place(store) != local_place(paths.output_dir):
        problem = Problem(where="config", key="paths.store", expected="null", found=store)
        hint = "a run is sent as a whole; tables on an object store may have their reports in a folder, not vice versa"
        raise UsageError("reports on an object store need their tables there", problems=(problem,), hint=hint)


def send(folder: Path) -> None:
    """Send a run that has ended to the object store that its folder stands for, if it does.

    Raises:
        WriteError: it was not sent; it is complete here.
    """
    try:
        sent = send_run(folder)
    except ResultsError as error:
        command = shlex.join(["skilleval", "push", str(folder)])
        hint = f"the run is complete in {folder}; send it with: {command}"
        raise WriteError(f"the run was not sent: {error}", hint=hint) from None
    if sent is not None:
        log.info("sent to %s", sent.address)


def push(references: Sequence[str], *, store: Path, to: str | None) -> Iterator[Pushed]:
    """Send stored runs to where their settings said, or copy them below another address; one by one.

    Without a reference, all runs of an object store that are in the spool and not there yet.

    Raises:
        UsageError: no address is known for a run.
        ResultsError: a run is not found, is being written, or was written by somebody else.
        WriteError: the object store does not take it.
    """
    target = None if to is None else _target(to)
    for folder in _folders(references, store):
        address = address_of(folder) if target is None else target.below(folder.name)
        if address is None:
            hint = "name it: --to s3://BUCKET/PREFIX"
            raise UsageError(f"{folder} is a run of no object store", hint=hint)
        with RunLock(folder) as lock:
            compact(folder, lock=lock)
            sent = send_run(folder, address)
        if sent is not None:
            yield Pushed(folder=folder, address=str(sent.address), n_objects=sent.n_objects)


def _target(to: str) -> Address:
    address = Address.read(to)
    if address is None:
        problem = Problem(where="--to", expected="s3://BUCKET or s3://BUCKET/PREFIX", found=to)
        raise UsageError("runs are sent to an object store", problems=(problem,))
    return address


def _folders(references: Sequence[str], store: Path) -> tuple[Path, ...]:
    """Give the runs that are named; all of the store where none is, which has to be an object store."""
    if references:
        return tuple(dict.fromkeys(find_run(one, store, with_shards=True) for one in references))
    if not is_elsewhere(store):
        raise UsageError(
            "no run is named", hint="give runs, or the object store with --store s3://BUCKET/PREFIX"
        )
    return tuple(folder for folder in runs(store) if is_waiting(folder))
