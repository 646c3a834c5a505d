"""What a container is made from, as the engine reads it: pure data, all limits and walls in it."""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilleval.sandboxes.docker.engine import Image
from skilleval.sandboxes.docker.profile import seccomp_profile
from skilleval.sandboxes.resources import Resources

PREFIX = "skilleval-"
RUN_LABEL = "skilleval.run"
PID_LABEL = "skilleval.pid"
STARTED_LABEL = "skilleval.pid_started"
NAMESPACE_LABEL = "skilleval.pid_namespace"

READY = b"."
GATE = 'printf .; while IFS= read -r line; do [ -n "$line" ] || exec "$@"; export "$line"; done'
"""Says that it stands, takes variables line by line, and turns into the program at an empty line.

Without it nobody would know when the program begins, and no container could be kept ready for one. When the other end
of its stdin is closed, as it is when skilleval dies, it ends and the container with it.
"""
IDLE = "printf .; while read -r line; do :; done"
"""Keeps a container running in which further commands are run."""

_SHELL = "/bin/sh"
_TEMPORARY = "/tmp"  # noqa: S108 - within a container of its own
_HOSTNAME = "sandbox"
_MB = 1 << 20
_OWN_PROCESSES = 2  # the first process of the container, and the shell of one that is kept
_CPU_GRACE_S = 5  # at the first limit a program gets a signal that says why, at the second it is killed
_OOM_SCORE = 500  # where the machine itself runs out of memory, trials go before everything else
_SMALL = "size=64k,mode=755,nosuid,nodev"
_NOTHING = "/dev/null"
_READ_ONLY = (
    *("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"),  # the engine's own list
    "/proc/1/oom_score_adj",  # the first process runs as the program's user
)


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Whom programs in a container run as."""

    uid: int
    gid: int

    def __str__(self) -> str:
        """Write as the engine reads it."""
        return f"{self.uid}:{self.gid}"


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What of this machine a container shows, at the same paths: read-only, writable, and what of it is covered."""

    reads: tuple[Path, ...]
    writes: tuple[Path, ...] = ()
    covered: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Blueprint:
    """A container for one program. Equal blueprints make containers that can stand in for each other.

    `environment` is what is known before the trial. One that `serves` has no limit of CPU time.
    """

    image: Image
    argv: tuple[str, ...]
    folder: Path
    environment: tuple[tuple[str, str], ...]
    view: View
    user: User
    serves: bool = False

    def __hash__(self) -> int:
        """Hash what tells blueprints apart; an image is told by its id."""
        return hash((self.image.image_id, self.argv, self.folder, self.environment, self.view, self.serves))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What holds for all containers of a sandbox."""

    resources: Resources
    runtime: str | None
    network: bool
    labels: Mapping[str, str]
    keeps_log: bool = False


def at_gate(blueprint: Blueprint) -> tuple[str, ...]:
    """Give the command line of a container that waits to become its program."""
    return (_SHELL, "-c", GATE, "sh", *blueprint.argv)


def idling() -> tuple[str, ...]:
    """Give the command line of a container that waits for commands."""
    return (_SHELL, "-c", IDLE)


def container(blueprint: Blueprint, words: tuple[str, ...], rules: Rules) -> dict[str, Any]:
    """Give the engine's description of a container that runs a command line."""
    own = {"HOME": _TEMPORARY, "TMPDIR": _TEMPORARY}
    environment = {**own, **dict(blueprint.environment)}
    return {
        "Image": blueprint.image.image_id,
        "Entrypoint": list(words),
        "Cmd": [],
        "User": str(blueprint.user),
        "WorkingDir": str(blueprint.folder),
        "Env": [f"{name}={value}" for name, value in environment.items()],
        "Labels": dict(rules.labels),
        "Hostname": _HOSTNAME,
        "Healthcheck": {"Test": ["NONE"]},
        "OpenStdin": True,
        "StdinOnce": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "HostConfig": {
            **_walls(rules),
            **_limits(rules.resources, serves=blueprint.serves),
            "Mounts": _mounts(blueprint.view),
            "Tmpfs": _temporaries(blueprint, rules.resources),
        },
    }


def _walls(rules: Rules) -> dict[str, Any]:
    profile = seccomp_profile()
    security = ["no-new-privileges:true", *([] if profile is None else [f"seccomp={profile}"])]
    return {
        "NetworkMode": "default" if rules.network else "none",
        "IpcMode": "none",  # else /dev/shm is one more place to write to
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "ReadonlyPaths": list(_READ_ONLY),
        "SecurityOpt": security,
        "Init": True,  # the first process of a container ignores signals, also those that end it at a limit
        "LogConfig": {"Type": "json-file" if rules.keeps_log else "none", "Config": {}},
        **({} if rules.runtime is None else {"Runtime": rules.runtime}),
    }


def _limits(resources: Resources, *, serves: bool) -> dict[str, Any]:
    memory = resources.memory_mb * _MB
    found: dict[str, Any] = {
        "Memory": memory,
        "MemorySwap": memory,  # both together: no swap on top
        "PidsLimit": resources.processes + _OWN_PROCESSES,
        "OomScoreAdj": _OOM_SCORE,
        "Ulimits": list(_ulimits(resources, serves=serves)),
    }
    return found if resources.cpus is None else {**found, "NanoCpus": int(resources.cpus * 1e9)}


def _ulimits(resources: Resources, *, serves: bool) -> list[dict[str, Any]]:
    limits = {"core": (0, 0), "nofile": (resources.open_files, resources.open_files)}
    limits["fsize"] = (resources.file_size_mb * _MB, resources.file_size_mb * _MB)
    if resources.cpu_seconds is not None and not serves:
        limits["cpu"] = (resources.cpu_seconds, resources.cpu_seconds + _CPU_GRACE_S)
    return [{"Name": name, "Soft": soft, "Hard": hard} for name, (soft, hard) in limits.items()]


def _mounts(view: View) -> list[dict[str, Any]]:
    shown = [_bound(path, path, read_only=True) for path in view.reads]
    shown += [_bound(path, path, read_only=False) for path in view.writes]
    return [
        *shown,
        *(_bound(Path(_NOTHING), path, read_only=True) for path in view.covered if path.is_file()),
    ]


def _bound(source: Path, target: Path, *, read_only: bool) -> dict[str, Any]:
    return {
        "Type": "bind",
        "Source": str(source),
        "Target": str(target),
        "ReadOnly": read_only,
        "BindOptions": {"NonRecursive": True},  # what is mounted below would stay writable
    }


def _temporaries(blueprint: Blueprint, resources: Resources) -> dict[str, str]:
    """Give the file systems in memory: for temporary files, and over whatever must not be seen or kept."""
    roomy = f"size={resources.tmp_bytes},mode=1777,nosuid,nodev"
    view = blueprint.view
    shown = (*view.reads, *view.writes)
    # The home of root is closed to others in most images, and with it all that is shown below.
    homes = [home for home in {Path("/root"), Path.home()} if any(_is_below(path, home) for path in shown)]
    return {
        **{str(home): _SMALL for home in homes},
        **{str(path): f"{_SMALL},ro" for path in view.covered if path.is_dir()},
        **dict.fromkeys(
            blueprint.image.volumes, roomy
        ),  # else they would be kept on the disk, without a limit
        _TEMPORARY: roomy,
    }


def _is_below(path: Path, root: Path) -> bool:
    return path != root and path.is_relative_to(root)


def evaluator_labels() -> Mapping[str, str]:
    """Give the labels that say which process made a container, so that nobody else is taken for it later."""
    pid = os.getpid()
    return {
        RUN_LABEL: secrets.token_hex(8),
        PID_LABEL: str(pid),
        STARTED_LABEL: started(pid) or "",
        NAMESPACE_LABEL: own_namespace(),
    }


def started(pid: int) -> str | None:
    """Give when a process began, in ticks since the machine did; null where there is none of that id."""
    try:
        stat = Path("/proc", str(pid), "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return stat.rpartition(") ")[2].split()[19]


def own_namespace() -> str:
    """Name the world in which process ids of ours mean something: this boot of the machine and our part of it."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def own_exit_code(code: int) -> int:
    """Give an exit code as the process sandbox does: the first process of a container reports signals as 128 + n."""
    return 128 - code if code - 128 in signal.valid_signals() else code
