"""Tries once, in a real container, what the engine makes of our walls and limits: only what was seen is promised."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from secrets import token_hex

from skilleval.errors import AdapterError
from skilleval.sandboxes.base import (
    CPU,
    ENVIRONMENT,
    FILE_SIZE,
    FILESYSTEM,
    MEMORY,
    NETWORK,
    OPEN_FILES,
    PROCESSES,
    PROCESSES_END,
    SYSTEM_CALLS,
    TMP_SIZE,
)
from skilleval.sandboxes.docker.blueprint import PREFIX, Blueprint, Rules, container
from skilleval.sandboxes.docker.engine import AbsentError, Engine, EngineError, Facts
from skilleval.sandboxes.requirements import Gap
from skilleval.sandboxes.resources import Resources

_SCRIPT = r"""
while read -r key value; do echo "$key $value"; done </proc/self/status
while read -r line; do echo "Device: ${line%%:*}"; done </proc/net/dev
while read -r line; do echo "Mount: $line"; done </proc/self/mountinfo
echo "Files: $(ulimit -n)"
echo "FileBlocks: $(ulimit -f)"
echo "CpuSeconds: $(ulimit -t)"
(: >/skilleval-probe) 2>/dev/null && echo "Writable: /"
[ -w /proc/1/oom_score_adj ] && echo "Writable: what steers its first process"
echo "Own: $$"
for name in python3 node; do command -v $name >/dev/null && echo "Has: $name"; done
echo "Last: word"
"""
_LAST = "Last:"
_SHELL = "/bin/sh"
_NEEDED = f"the image needs {_SHELL}; the engine must be able to start containers of it"
_BLOCK = 512
_MB = 1 << 20
_MANY_PROCESSES = 1000  # in a table of its own a program that is started at once has a small number
_FILTERING = "2"
_UPDATE = "use a newer engine or kernel"
_DEFAULT_RUNTIME = "use sandbox.runtime=null, or leave it out of what you require"


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What was seen: the guarantees that hold, why others do not, and which interpreters are there."""

    guarantees: frozenset[str]
    gaps: Mapping[str, Gap]
    programs: frozenset[str]


def probe(engine: Engine, facts: Facts, blueprint: Blueprint, rules: Rules) -> Findings:
    """Look around in a container that is made like all others.

    Raises:
        AdapterError: no container of this image can be started.
    """
    try:
        said = _said(engine, blueprint, (_SHELL, "-c", _SCRIPT), rules)
    except EngineError as error:
        raise _not_run(blueprint, str(error), _hint(facts, rules)) from None
    seen = Seen.of(said)
    if not seen.one(_LAST):  # what was seen otherwise is what could not be looked at
        raise _not_run(blueprint, said.strip().rpartition("\n")[2] or "it ended at once", _NEEDED)
    gaps = dict(_gaps(seen, facts, rules))
    asked = {
        ENVIRONMENT, PROCESSES_END, FILESYSTEM, SYSTEM_CALLS, MEMORY, PROCESSES, FILE_SIZE, OPEN_FILES, TMP_SIZE,
    }  # fmt: skip
    if not rules.network:
        asked.add(NETWORK)
    if rules.resources.cpus is not None or rules.resources.cpu_seconds is not None:
        asked.add(CPU)
    return Findings(
        guarantees=frozenset(asked - gaps.keys()), gaps=gaps, programs=frozenset(seen.all("Has:"))
    )


def finds(engine: Engine, blueprint: Blueprint, rules: Rules, word: str) -> bool:
    """Say whether a container finds a program by its name.

    Raises:
        AdapterError: no container of this image can be started.
    """
    words = (_SHELL, "-c", 'command -v -- "$1"', "sh", word)
    try:
        return bool(_said(engine, blueprint, words, rules).strip())
    except EngineError as error:
        raise _not_run(blueprint, str(error), _NEEDED) from None


def _not_run(blueprint: Blueprint, said: str, hint: str) -> AdapterError:
    return AdapterError(
        f"sandbox=docker cannot run a container of {blueprint.image.reference}: {said}", hint=hint
    )


def _hint(facts: Facts, rules: Rules) -> str:
    if rules.runtime is None or rules.runtime in facts.runtimes:
        return _NEEDED
    return f"choose sandbox.runtime from what the engine has: {', '.join(facts.runtimes)}"


def _said(engine: Engine, blueprint: Blueprint, words: tuple[str, ...], rules: Rules) -> str:
    name = f"{PREFIX}{token_hex(8)}"
    config = container(blueprint, words, replace(rules, keeps_log=True))
    try:
        engine.create(name, config)
        engine.start(name)
        engine.wait(name)
        return engine.logs(name)
    except AbsentError as error:
        raise EngineError(str(error)) from None
    finally:
        engine.remove(name)


@dataclass(frozen=True, slots=True)
class Seen:
    """What the script wrote: a word, and what belongs to it."""

    lines: Sequence[tuple[str, str]]

    @classmethod
    def of(cls, text: str) -> Seen:
        """Read the lines."""
        pairs = (line.partition(" ") for line in text.splitlines())
        return cls([(key, value.strip()) for key, _, value in pairs])

    def all(self, key: str) -> list[str]:
        """Give everything that was said of a word."""
        return [value for name, value in self.lines if name == key]

    def one(self, key: str) -> str:
        """Give what was said first of a word; "" where nothing was."""
        return next(iter(self.all(key)), "")

    def is_at_most(self, key: str, limit: int) -> bool:
        """Say whether a number was said that is no larger."""
        said = self.one(key)
        return said.isdecimal() and int(said) <= limit


def _gaps(seen: Seen, facts: Facts, rules: Rules) -> Iterator[tuple[str, Gap]]:
    resources = rules.resources
    checks = {
        PROCESSES_END: (_is_alone(seen), "shows containers the processes of others"),
        ENVIRONMENT: (_is_alone(seen), "shows containers the processes of others"),
        FILESYSTEM: (_is_powerless(seen), "lets programs change files beyond their own"),
        SYSTEM_CALLS: (_is_filtered(seen), "does not filter calls of the kernel"),
        MEMORY: (facts.limits_memory, "cannot limit memory and swap"),
        PROCESSES: (facts.limits_processes, "cannot limit processes"),
        CPU: (_has_cpu_limit(seen, facts, resources), "cannot limit the time or the share of processors"),
        FILE_SIZE: (
            seen.is_at_most("FileBlocks:", resources.file_size_mb * _MB // _BLOCK), "does not limit files",
        ),
        OPEN_FILES: (seen.is_at_most("Files:", resources.open_files), "does not limit open files"),
        TMP_SIZE: (_has_tmp_limit(seen, resources), "does not limit /tmp"),
    }  # fmt: skip
    if not rules.network:
        checks[NETWORK] = (_sees_loopback_only(seen), "gives containers a network")
    who = "the engine" if rules.runtime is None else f"runtime {rules.runtime}"
    fix = _UPDATE if rules.runtime is None else _DEFAULT_RUNTIME
    for name, (holds, reason) in checks.items():
        if not holds:
            yield name, Gap(reason=f"{who} {reason}", fix=fix)


def _is_alone(seen: Seen) -> bool:
    return seen.is_at_most("Own:", _MANY_PROCESSES)


def _is_powerless(seen: Seen) -> bool:
    rights = [seen.one(name) for name in ("CapBnd:", "CapPrm:", "CapEff:")]
    is_root = seen.one("Uid:").split()[:1] in ([], ["0"])
    has_none = all(right and not int(right, 16) for right in rights)
    return has_none and not is_root and not seen.all("Writable:")


def _is_filtered(seen: Seen) -> bool:
    return seen.one("Seccomp:") == _FILTERING and seen.one("NoNewPrivs:") == "1"


def _has_cpu_limit(seen: Seen, facts: Facts, resources: Resources) -> bool:
    if resources.cpus is not None:
        return facts.limits_cpus
    # Where calls are not filtered by Linux they do not reach it: gVisor shows a limit of time, and forgets it.
    return _is_filtered(seen) and seen.is_at_most("CpuSeconds:", resources.cpu_seconds or 0)


def _has_tmp_limit(seen: Seen, resources: Resources) -> bool:
    mounts = [mount for mount in seen.all("Mount:") if " /tmp " in mount]
    sizes = [re.search(r"size=(\d+)k", mount) for mount in mounts]
    return any(size and int(size[1]) * 1024 <= resources.tmp_bytes for size in sizes)


def _sees_loopback_only(seen: Seen) -> bool:
    devices = [one for one in seen.all("Device:") if "|" not in one]
    return set(devices) <= {"lo"}
