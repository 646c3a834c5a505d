"""The hostile programs, the sandboxes they are tried in, and what has to come of it.

A program attacks one promise. Where a sandbox makes that promise the program must be contained; where it does not,
the program is not run. A new sandbox is one more line in `ARENAS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TIME, OUTPUT, PROTOCOL, PROCESSES_END = "time", "output", "protocol", "processes_end"
"""What every trial promises in any sandbox: limits of time and output, that an odd program spoils nothing, and that
nothing of it stays alive."""

ALWAYS = frozenset({TIME, OUTPUT, PROTOCOL, PROCESSES_END})

DONE = "completed"
TIMEOUT = "timeout/timeout"
CPU_LIMIT = "skill_error/cpu_limit"
PROGRAM_MISSING = "skill_error/program_missing"
OUTPUT_LIMIT = "skill_error/output_limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A file in `programs/`: the promise it attacks, what it does, and how its row must end (one of `outcomes`).

    `brings` are further files of its folder, those in `bin` executable; `{root}` in them is a link to the root.
    """

    name: str
    attacks: str
    does: str
    outcomes: tuple[str, ...] = (DONE,)
    entrypoint: str = "python3 skill.py"
    brings: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arena:
    """A sandbox with its settings, and what it must promise beyond `ALWAYS` on a machine where the suite runs.

    One that needs a Docker engine is fought in only where tests with the marker `docker` are asked for, one that needs
    a program only where that is installed.
    """

    name: str
    overrides: tuple[str, ...]
    promises: frozenset[str]
    needs_engine: bool = False
    needs_program: str | None = None
    has_own_kernel: bool = False

    @property
    def title(self) -> str:
        """Give its name as users choose it."""
        kind, *more = self.overrides
        chosen = [word for word in more if word.startswith(("sandbox.mechanism=", "sandbox.runtime="))]
        return " ".join(f"`{word}`" for word in (kind, *chosen))

    @property
    def require(self) -> tuple[str, ...]:
        """Give the setting that makes a missing promise an error before the first trial."""
        return (f"sandbox.require=[{','.join(sorted(self.promises))}]",) if self.promises else ()

    def runs(self, program: Program) -> bool:
        """Say whether the program attacks something that is promised here."""
        return program.attacks in self.promises | ALWAYS


PROGRAMS = (
    Program(name="endless_loop", attacks=TIME, does="loops without end", outcomes=(TIMEOUT, CPU_LIMIT)),
    Program(name="ignore_signals", attacks=TIME, does="ignores every signal it can", outcomes=(TIMEOUT,)),
    Program(name="endless_stdout", attacks=OUTPUT, does="writes without end", outcomes=(OUTPUT_LIMIT,)),
    Program(
        name="endless_stderr", attacks=OUTPUT, does="writes errors without end", outcomes=(OUTPUT_LIMIT,)
    ),
    Program(name="close_stdin", attacks=PROTOCOL, does="closes its stdin early"),
    Program(name="not_text", attacks=PROTOCOL, does="answers with bytes that are not UTF-8"),
    Program(name="grandchild", attacks=PROCESSES_END, does="leaves a process in another session"),
    Program(name="fork_bomb", attacks="processes", does="starts processes without end"),
    Program(
        name="memory_hog",
        attacks="memory",
        does="takes memory without end",
        outcomes=("skill_error/memory_limit", DONE),  # the kernel ends it, or gives it no more
    ),
    Program(name="cpu_burner", attacks="cpu", does="burns all processors", outcomes=(CPU_LIMIT,)),
    Program(name="huge_file", attacks="file_size", does="writes one endless file"),
    Program(name="fill_tmp", attacks="tmp_size", does="fills the folder for temporary files"),
    Program(name="open_files", attacks="open_files", does="opens files without end"),
    Program(name="write_outside", attacks="filesystem", does="writes outside its folder"),
    Program(name="delete_own_folder", attacks="filesystem", does="deletes its own folder"),
    Program(name="file_names", attacks="filesystem", does="leaves links, `../`, line breaks in file names"),
    Program(name="read_files", attacks="filesystem", does="reads passwords, keys, other skills, results"),
    Program(
        name="program_by_link",
        attacks="filesystem",
        does="names its program through a link to the root",
        outcomes=(PROGRAM_MISSING,),
        entrypoint="../../root/bin/sh -c 'exec python3 skill.py'",
    ),
    Program(
        name="false_installation",
        attacks="filesystem",
        does="calls its folder an interpreter, made from the root",
        entrypoint="bin/program",
        brings={
            "bin/program": "#!/bin/sh\nexec python3 skill.py\n",
            "pyvenv.cfg": "home = {root}/bin\n",
            "conda-meta/history": "",
        },
    ),
    Program(
        name="change_attributes", attacks="filesystem", does="changes rights and times of files it may read"
    ),
    Program(name="kernel_doors", attacks="filesystem", does="opens what steers the kernel"),
    Program(name="read_environment", attacks="environment", does="looks for keys in every process"),
    Program(name="inherited_files", attacks="environment", does="looks for files left open"),
    Program(name="reach_tcp", attacks="network", does="talks to a service of this machine"),
    Program(name="reach_udp", attacks="network", does="sends to a service of this machine"),
    Program(name="reach_sockets", attacks="network", does="talks to unix sockets of this machine"),
    Program(name="kill_others", attacks="system_calls", does="kills its parent and all it sees"),
    Program(name="trace_parent", attacks="system_calls", does="reads the memory of its parent"),
    Program(name="narrow_others", attacks="system_calls", does="sets limits and priorities of others"),
    Program(name="leave_memory", attacks="system_calls", does="leaves shared memory and queues behind"),
    Program(name="other_families", attacks="network", does="opens sockets past the network"),
    Program(name="new_namespace", attacks="system_calls", does="makes namespaces of its own"),
    Program(name="mount", attacks="system_calls", does="mounts over its folder, takes another root"),
)

ALL_PROMISES = frozenset(program.attacks for program in PROGRAMS) - ALWAYS
_SMALL = (
    "sandbox.memory_mb=256",
    "sandbox.processes=64",
    "sandbox.cpu_seconds=1",
    "sandbox.file_size_mb=16",
    "sandbox.open_files=256",
)

ARENAS = (
    Arena(
        name="bubblewrap",
        overrides=("sandbox=process", "sandbox.mechanism=bubblewrap", "sandbox.tmp_mb=32", *_SMALL),
        promises=ALL_PROMISES,
    ),
    Arena(
        name="fallback",
        overrides=("sandbox=process", "sandbox.mechanism=fallback", *_SMALL),
        promises=ALL_PROMISES - {"tmp_size"},
    ),
    Arena(
        name="docker",
        overrides=("sandbox=docker", "sandbox.tmp_mb=32", *_SMALL),
        promises=ALL_PROMISES,
        needs_engine=True,
    ),
    Arena(
        name="gvisor",
        # Its own kernel takes 100 processes and 300 MB; calls end in it, so what they do there harms nobody.
        overrides=(
            "sandbox=docker",
            "sandbox.runtime=runsc",
            *_SMALL,
            "sandbox.memory_mb=512",
            "sandbox.processes=256",
        ),
        promises=ALL_PROMISES - {"cpu", "filesystem", "processes", "system_calls", "tmp_size"},
        needs_engine=True,
        needs_program="runsc",
        has_own_kernel=True,
    ),
    Arena(name="none", overrides=("sandbox=none",), promises=frozenset()),
)
