"""What this machine offers: interpreters, engines, sandboxes, extras, keys; and how to get what is missing."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from skilleval import __version__
from skilleval.errors import AdapterError
from skilleval.sandboxes.docker.engine import Engine
from skilleval.sandboxes.process import ProcessSandbox
from skilleval.sandboxes.requirements import Gap

_KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY")
_NOT_NEEDED = "not needed: nothing here uses it yet"
_OLDEST_PYTHON = (3, 11)
_QUESTION_S = 10
_OF_EXTRA = re.compile(r"""(?P<package>[\w.-]+).*;\s*extra\s*==\s*['"](?P<extra>[\w-]+)['"]""")
"""What the metadata of a package says of an extra, e.g. `s3fs>=2026.9; extra == 's3'`."""
_ANY_LIMITS = {
    "mechanism": "auto",
    "network": False,
    "allow_hosts": (),
    "pass_env": (),
    "read": (),
    "memory_mb": 1024,
    "cpus": None,
    "cpu_seconds": 1,
    "processes": 64,
    "file_size_mb": 1,
    "open_files": 64,
    "tmp_mb": 1,
}
"""Options that ask for every guarantee as the shipped settings do: the processors by their time, not by a share.

How wide the limits are does not matter where nothing runs.
"""


class State(StrEnum):
    """How a check came out; only `broken` makes the command fail."""

    OK = "ok"
    MISSING = "missing"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at: what was found, and what to do if it is needed."""

    area: str
    name: str
    state: State
    found: str
    fix: str = ""


def diagnose() -> tuple[Check, ...]:
    """Look at everything; nothing is installed, started or sent anywhere."""
    return (*_python(), *_interpreters(), *_sandboxes(), *_engines(), *_extras(), *_keys(), *_folders())


def _python() -> Iterator[Check]:
    new_enough = sys.version_info[:2] >= _OLDEST_PYTHON
    yield Check(
        area="python",
        name="Python",
        state=State.OK if new_enough else State.BROKEN,
        found=f"{platform.python_version()} at {sys.executable}",
        fix="" if new_enough else "use Python 3.11 or newer",
    )
    yield Check(area="python", name="skilleval", state=State.OK, found=__version__)


def _interpreters() -> Iterator[Check]:
    for name, package in (("python3", "python3"), ("node", "nodejs"), ("bash", "bash")):
        yield _program("interpreter", name, ("--version",), f"install it, e.g. apt-get install {package}")


def _sandboxes() -> Iterator[Check]:
    yield Check(area="sandbox", name="none", state=State.OK, found="isolates nothing")
    sandbox = ProcessSandbox(ProcessSandbox.Options.parse(_ANY_LIMITS, where="doctor"))
    enforced = ", ".join(sorted(sandbox.guarantees))
    yield Check(
        area="sandbox",
        name="process",
        state=State.MISSING if sandbox.gaps else State.OK,
        found=f"{sandbox.mechanism} enforces {enforced}",
        fix="; ".join(_remedies(sandbox.gaps)),
    )


def _remedies(gaps: Mapping[str, Gap]) -> Iterator[str]:
    for gap in dict.fromkeys(gaps.values()):
        missing = ", ".join(sorted(name for name, other in gaps.items() if other == gap))
        yield f"for {missing}: {gap.reason}; {gap.fix}"


def _engines() -> Iterator[Check]:
    try:
        engine = Engine()
    except AdapterError as error:
        found = error.message.partition(": ")[2] or error.message
        yield Check(area="engine", name="docker", state=State.MISSING, found=found, fix=error.hint)
        return
    try:
        facts = engine.facts()
    finally:
        engine.close()
    found = f"Docker {facts.version} at {engine.address}, runtimes {', '.join(facts.runtimes)}"
    yield Check(area="engine", name="docker", state=State.OK, found=found)


def _extras() -> Iterator[Check]:
    """Look for the packages of each extra; their names alone are looked up, nothing is imported."""
    for extra, packages in _wanted(requires("skilleval") or ()).items():
        found = {package: _installed(package) for package in packages}
        is_there = all(found.values())
        yield Check(
            area="extra",
            name=extra,
            state=State.OK if is_there else State.MISSING,
            found=", ".join(f"{package} {known or 'is not installed'}" for package, known in found.items()),
            fix="" if is_there else f"pip install 'skilleval[{extra}]'",
        )


def _wanted(requirements: Iterable[str]) -> dict[str, list[str]]:
    """Give the packages of each extra, as the metadata of skilleval names them."""
    extras: dict[str, list[str]] = {}
    for one in requirements:
        if said := _OF_EXTRA.match(one):
            extras.setdefault(said["extra"], []).append(said["package"])
    return dict(sorted(extras.items()))


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _keys() -> Iterator[Check]:
    for name in _KEYS:
        is_set = bool(os.environ.get(name))
        fix = "" if is_set else _NOT_NEEDED
        found = "set" if is_set else "not set"
        yield Check(area="key", name=name, state=State.OK if is_set else State.MISSING, found=found, fix=fix)


def _folders() -> Iterator[Check]:
    here = Path.cwd()
    writable = os.access(here, os.W_OK)
    yield Check(
        area="folder",
        name="working folder",
        state=State.OK if writable else State.BROKEN,
        found=f"{here} {'can' if writable else 'cannot'} be written to",
        fix="" if writable else "choose another with --output-dir",
    )


def _program(area: str, name: str, question: tuple[str, ...], fix: str) -> Check:
    path = shutil.which(name)
    if path is None:
        return Check(area=area, name=name, state=State.MISSING, found="not on the PATH", fix=fix)
    try:
        asked = subprocess.run(  # noqa: S603 - a known program with a fixed question
            [path, *question], capture_output=True, text=True, timeout=_QUESTION_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check(area=area, name=name, state=State.MISSING, found=f"{path}: {error}", fix=fix)
    lines = (asked.stdout or asked.stderr).strip().splitlines()
    said = lines[0] if lines else "no answer"
    if asked.returncode != 0:
        return Check(area=area, name=name, state=State.MISSING, found=f"{path}: {said}", fix=fix)
    return Check(area=area, name=name, state=State.OK, found=f"{said} at {path}")
