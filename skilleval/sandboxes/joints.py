"""How a program without network is reached, and reaches named hosts: by the relay of `inside.py` beside it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from skilleval.sandboxes import inside
from skilleval.sandboxes.base import Command

_RELAY = Path(inside.__file__).absolute()
_PYTHON = Path(sys.executable)


def joints_of(command: Command, proxy: Path | None) -> Mapping[str, object]:
    """Give the orders for the relay; empty where the program needs none. `proxy` is the socket of the way out."""
    found: dict[str, object] = {}
    if command.exposes is not None and command.exposes.socket is not None:
        found["exposes"] = [command.exposes.port, str(command.exposes.socket)]
    if proxy is not None:
        found["proxy"] = str(proxy)
    return found


def seeing_relay(command: Command, proxy: Path | None) -> Command:
    """Let a program see what its relay needs."""
    further = () if proxy is None else (proxy,)
    return replace(command, reads=(*command.reads, _RELAY, _PYTHON, *further))


def with_relay(argv: tuple[str, ...], joints: Mapping[str, object]) -> tuple[str, ...]:
    """Start a program with the relay beside it."""
    return (str(_PYTHON), "-I", "-S", str(_RELAY), json.dumps(joints), *argv)
