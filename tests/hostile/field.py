"""A field on which hostile programs run as skills of one ordinary run, and what is found there afterwards."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
from hostile.cases import PROGRAMS, Arena, Program
from naps import Nap

ROOT = Path(__file__).parent.parent.parent
HERE = Path(__file__).parent
SCRIPT = Path(sys.executable).parent / "skilleval"
HARMLESS = "harmless"
SECRET_NAME = "HOSTILE_TEST_KEY"  # noqa: S105 - the name of a variable
_TIMEOUT_S = 300
_WATCHED = ("/", "/etc", "/usr/local", "/var/tmp", "/tmp", "/dev/shm", "/dev", "/run")  # noqa: S108 - watched, not used


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """What a run left: rows by program, complaints by program, and complaints about the whole."""

    code: int
    said: str
    rows: Mapping[str, Mapping[str, Any]]
    complaints: Mapping[str, Sequence[str]]
    left: Sequence[str]

    def outcome(self, program: Program) -> str:
        """Give status and cause of a program's row in one word."""
        row = self.rows.get(program.name)
        if row is None:
            return "no row"
        return "/".join(str(row[name]) for name in ("status", "failure_kind") if row[name] is not None)

    def faults(self, program: Program) -> list[str]:
        """Give everything that is wrong about a program; nothing if it was contained."""
        outcome = self.outcome(program)
        found = list(self.complaints[program.name])
        return found if outcome in program.outcomes else [*found, f"its row says {outcome}"]

    def faults_of_the_run(self) -> list[str]:
        """Give everything that is wrong about the whole: something is left, or the run did not go on to its end."""
        harmless = self.rows.get(HARMLESS, {})
        is_fine = harmless.get("status") == "completed" and harmless.get("passed") is True
        return [
            *self.left,
            *self.complaints[HARMLESS],
            *([] if is_fine else ["the harmless skill did not pass"]),
        ]


@dataclass(slots=True, kw_only=True)
class Field:
    """Skills, canaries and services below one folder. `secrets` are words that must not appear in any row."""

    root: Path
    nap: Nap = field(default_factory=Nap)
    mark: str = field(default_factory=lambda: f"hostile-{secrets.token_hex(6)}")
    secrets: dict[str, str] = field(
        default_factory=lambda: {
            name: f"canary-{secrets.token_hex(12)}" for name in ("environment", "home", "results", "skill")
        }
    )

    def path(self, *parts: str) -> Path:
        """Give a place on the field."""
        return self.root.joinpath(*parts)

    def prepare(self, programs: Sequence[Program], bystander: int) -> None:
        """Lay out the canaries, the skills and their one task."""
        self._write("outside/canary", "untouched")
        self._write("home/.ssh/id_rsa", self.secrets["home"])
        self._write("out/earlier/report.json", self.secrets["results"])
        self.path("root").symlink_to("/")
        for program in (*programs, Program(name=HARMLESS, attacks="", does="")):
            self._write_skill(program)
        aims = {
            **self.places(),
            "canary": str(self.path("outside", "canary")),
            "home": str(self.path("home")),
            "results": str(self.path("out")),
            "neighbour": str(self.path("skills", HARMLESS)),
            "tasks": str(self.path("tasks.json")),
            "secret_name": SECRET_NAME,
            "mark": self.mark,
            "watched": _WATCHED,
            "nap": self.nap.seconds,
            "bystander": bystander,
            "pid_namespace": str(Path("/proc/self/ns/pid").readlink()),
        }
        schema = {"properties": {"breached": {"const": False}}, "required": ["breached"]}
        expected = {"type": "schema", "schema": schema}
        self._write("tasks.json", json.dumps([{"id": "t", "inputData": aims, "expectedOutput": expected}]))

    def places(self) -> dict[str, Any]:
        """Give where the services listen."""
        return {
            "tcp_port": 4242,
            "udp_port": 4243,
            "socket_name": self.mark,
            "socket_file": str(self.path("outside", "socket")),
            "letter_box": str(self.path("outside", "letters")),
        }

    def runs(self) -> list[Path]:
        """Give the folders of runs that wrote results."""
        return [path for path in self.path("out").iterdir() if (path / "trials").is_dir()]

    def command(self, arena: Arena, programs: Sequence[Program], *more: str) -> list[str]:
        """Give the command line of the run; the harmless skill comes last."""
        skills = [str(self.path("skills", name)) for name in (*(one.name for one in programs), HARMLESS)]
        return [
            str(SCRIPT), "eval", "--skills", *skills, "--tasks", str(self.path("tasks.json")),
            "--output-dir", str(self.path("out")), "--format", "json", "--json",
            "runner.concurrency=2", "runner.timeout_ms=10000", *arena.overrides, *arena.require, *more,
        ]  # fmt: skip

    def environment(self) -> dict[str, str]:
        """Give the evaluator's environment, with a key in it and a home on the field."""
        home = self.path("home")
        return {
            **os.environ,
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            SECRET_NAME: self.secrets["environment"],
        }

    def _write(self, name: str, text: str) -> None:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def _write_skill(self, program: Program) -> None:
        name = program.name
        manifest = {
            "id": name,
            "name": name,
            "version": "1.0.0",
            "description": self.secrets["skill"],
            "adapterType": "subprocess",
            "entrypoint": program.entrypoint,
        }
        self._write(f"skills/{name}/skill.json", json.dumps(manifest))
        shutil.copy(HERE / "programs" / f"{name}.py", self.path("skills", name, "skill.py"))
        for file, text in program.brings.items():
            self._write(f"skills/{name}/{file}", text.format(root=self.path("root")))
            self.path("skills", name, file).chmod(0o755 if file.startswith("bin/") else 0o644)
        stage = self.path("skills", name, "hostile", "programs")
        stage.mkdir(parents=True)
        shutil.copy(HERE / "programs" / "stage.py", stage)


@contextmanager
def a_field() -> Iterator[Field]:
    """Give an empty field where runs usually write, which is no folder for temporary files."""
    with tempfile.TemporaryDirectory(dir=ROOT / "outputs", prefix="hostile-") as folder:
        yield Field(root=Path(folder))


def fight(arena: Arena, programs: Sequence[Program]) -> Aftermath:
    """Run the programs as skills of one run in a sandbox, and look at everything afterwards."""
    with a_field() as field, subprocess.Popen(["sleep", str(2 * _TIMEOUT_S)]) as bystander:
        try:
            field.prepare(programs, bystander.pid)
            skills = _digests(field)
            before = read_mounts() | abandoned_groups()
            done = _run(field, field.command(arena, programs))
            if not field.path("heard.json").exists() or not field.runs():
                raise RuntimeError(f"{arena.name}: the run did not start\n{done.stderr}")
            left = list(_left(field, bystander, before, done))
            return Aftermath(
                code=done.returncode,
                said=done.stderr,
                rows=_rows(field),
                complaints={name: list(_complaints(field, name, skills)) for name in skills},
                left=left,
            )
        finally:
            bystander.kill()
            field.nap.wake()


FOUGHT: dict[Arena, Aftermath] = {}
"""How the sandboxes did that were fought in so far, for the table at the end."""


def aftermath(arena: Arena) -> Aftermath:
    """Fight once for all tests of a sandbox, with all programs that attack what it promises."""
    if arena not in FOUGHT:
        FOUGHT[arena] = fight(arena, [program for program in PROGRAMS if arena.runs(program)])
    return FOUGHT[arena]


def read_mounts() -> frozenset[str]:
    """Give everything that is mounted, as this process sees it."""
    return frozenset(Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines())


def abandoned_groups() -> frozenset[str]:
    """Give the control groups of evaluators that are dead."""
    groups = Path("/sys/fs/cgroup").rglob("skilleval-*")
    return frozenset(str(one) for one in groups if not Path("/proc", one.name.split("-")[1]).exists())


def _run(field: Field, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    orders = json.dumps({**field.places(), "log": str(field.path("heard.json"))})
    return subprocess.run(
        [sys.executable, str(HERE / "enclave.py"), orders, *command],
        cwd=field.root,
        env=field.environment(),
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )


def _rows(field: Field) -> dict[str, dict[str, Any]]:
    (folder,) = field.runs()
    scores = pl.read_parquet(folder / "scores" / "*.parquet").select("trial_id", "passed")
    trials = pl.read_parquet(folder / "trials" / "*.parquet")
    rows = trials.join(scores, on="trial_id", how="left")
    return {row["skill_id"]: row for row in rows.to_dicts()}


def _left(
    field: Field,
    bystander: subprocess.Popen[bytes],
    before: frozenset[str],
    done: subprocess.CompletedProcess[str],
) -> Iterator[str]:
    """Find what no program may leave, whoever it was."""
    if bystander.poll() is not None:
        yield "the bystander was ended"
    yield from (f"mounted: {line}" for line in read_mounts() - before)
    yield from (f"control group: {group}" for group in abandoned_groups() - before)
    if field.path("outside", "canary").read_text(encoding="utf-8") != "untouched":
        yield "the canary was changed"
    if any(secret in done.stdout + done.stderr for secret in field.secrets.values()):
        yield "a secret was printed"


def _complaints(field: Field, name: str, skills: Mapping[str, str]) -> Iterator[str]:
    """Find what a program did, by its name."""
    row = _rows(field).get(name)
    if row is None:
        yield "no row"
        return
    told = json.loads(row["output"]) if row["output"] is not None else {}
    if told.get("breached"):
        yield f"managed {told['detail']}"
    if told and told["breached"] is None:
        yield f"did not attack: {told['detail']}"
    texts = [str(row[column]) for column in ("output", "stdout", "stderr", "message")]
    yield from (
        f"the secret of {at} is in its row" for at, one in field.secrets.items() if one in "".join(texts)
    )
    if _digests(field)[name] != skills[name]:
        yield "its folder was changed"
    if name in json.loads(field.path("heard.json").read_text(encoding="utf-8")):
        yield "a service heard it"
    if name == "grandchild" and field.nap.sleepers():
        yield "its process is alive"
    marked = f"{field.mark}-{name}"
    places = [*map(Path, _WATCHED), field.path("outside"), field.path("home"), field.path("out")]
    yield from (f"wrote {place / marked}" for place in places if (place / marked).exists())


def _digests(field: Field) -> dict[str, str]:
    found = {}
    for folder in field.path("skills").iterdir():
        files = sorted(
            path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
        )
        texts = [path.relative_to(folder).as_posix().encode() + path.read_bytes() for path in files]
        found[folder.name] = sha256(b"\0".join(texts)).hexdigest()
    return found
