"""Results on an object store: runs are written in a spool on this machine, sent when they end, fetched to be read.

A journal needs appending and flushing, and a lock needs a file system; an object store has neither. So every folder of
an `s3://` place has a twin in the spool, which all other code knows as an ordinary folder. Only finding, opening and
ending a run go through here.
"""

from __future__ import annotations

from skilleval.results.places.address import Address
from skilleval.results.places.fetching import fetch_run, fetch_runs, fetch_sweeps
from skilleval.results.places.sending import Sent, check_place, send_file, send_run
from skilleval.results.places.spool import address_of, is_elsewhere, is_waiting, local_place, shown_place

__all__ = [
    "Address",
    "Sent",
    "address_of",
    "check_place",
    "fetch_run",
    "fetch_runs",
    "fetch_sweeps",
    "is_elsewhere",
    "is_waiting",
    "local_place",
    "send_file",
    "send_run",
    "shown_place",
]
