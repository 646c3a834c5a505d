"""`docker`: each trial in a container of its own, in an image, with walls and limits on all sides."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from skilleval.errors import AdapterError
from skilleval.sandboxes.base import FILESYSTEM, Command, Completed
from skilleval.sandboxes.docker.blueprint import (
    Blueprint,
    Rules,
    User,
    View,
    at_gate,
    container,
    evaluator_labels,
    idling,
)
from skilleval.sandboxes.docker.container import Container, FurtherProgram, Program, further_program, started
from skilleval.sandboxes.docker.engine import Engine, EngineError, Facts
from skilleval.sandboxes.docker.images import Images
from skilleval.sandboxes.docker.leftovers import remove_leftovers
from skilleval.sandboxes.docker.options import DockerOptions
from skilleval.sandboxes.docker.planning import PYTHON, Planner, opening
from skilleval.sandboxes.docker.pool import Removal, SharedContainers, WarmPool
from skilleval.sandboxes.docker.probing import finds, probe
from skilleval.sandboxes.docker.running import Go, execute
from skilleval.sandboxes.docker.session import ContainerSession, Dispose
from skilleval.sandboxes.docker.settled import settled
from skilleval.sandboxes.process import ProcessOptions, ProcessSandbox
from skilleval.sandboxes.proxy import Passage
from skilleval.sandboxes.requirements import Gap
from skilleval.sandboxes.starting import not_started

_STRANGER = 10001
_NOT_FOUND = 127
_SHARING = Gap(
    reason="sandbox.reuse=true lets trials find the temporary files of earlier ones",
    fix="use sandbox.reuse=false",
)


class DockerSandbox:
    """Programs see an image, their folder and nothing else of this machine; `guarantees` says what was seen to hold.

    Raises:
        AdapterError: no engine answers, it lacks the image, or it can start no container of it.
    """

    Options = DockerOptions
    name = "docker"
    shares_network = False
    serves_unguarded = False
    python = PYTHON

    def __init__(self, options: DockerOptions, hidden: Sequence[Path] = ()) -> None:
        self.options = options
        self._hidden = tuple(hidden)
        self._engine = Engine()
        try:
            self._facts = self._engine.facts()
            self._images = Images(self._engine, options.image, builds=options.build)
        except EngineError as error:
            raise AdapterError(
                f"the engine at {self._engine.address} does not say what it has: {error}"
            ) from None
        self._rules = Rules(
            resources=options.resources,
            runtime=options.runtime,
            network=options.network,
            labels=evaluator_labels(),
        )
        self._planner = Planner(options, self._engine, self._images, _user(self._facts), hidden)
        self._found = probe(self._engine, self._facts, self._empty(), self._rules)
        if options.allow_hosts and PYTHON not in self._found.programs:
            hint = f"name an image that has {PYTHON}, or leave allow_hosts empty"
            raise AdapterError(f"sandbox.allow_hosts needs {PYTHON} in the image {options.image}", hint=hint)
        self._removal = Removal()
        self._pool = WarmPool(self._at_gate, self._removal, options.pool)
        self._shared = SharedContainers(self._idling, self._removal)
        self._sessions: dict[str, ContainerSession] = {}
        self._has_program: dict[tuple[str, str], bool] = {}
        self._has_swept = False

    @property
    def guarantees(self) -> frozenset[str]:
        """What is really enforced."""
        return frozenset(self._found.guarantees - self.gaps.keys())

    @property
    def gaps(self) -> Mapping[str, Gap]:
        """Why the others are not."""
        return {**self._found.gaps, **({FILESYSTEM: _SHARING} if self.options.reuse else {})}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What does not hold here, in one sentence."""
        if not self.gaps:
            return ()
        causes = "; ".join(dict.fromkeys(f"{gap.reason}: {gap.fix}" for gap in self.gaps.values()))
        return (f"sandbox=docker does not enforce here: {', '.join(sorted(self.gaps))} ({causes})",)

    @property
    def facts(self) -> Mapping[str, object]:
        """What a run must record of it: the engine, and the digests of the layers of each image."""
        images = {name: list(layers) for name, layers in self._images.layers.items()}
        return {"engine": self._facts.version, "runtime": self.options.runtime, "images": images}

    @property
    def passages(self) -> tuple[Passage, ...]:
        """What programs asked of the way out, by target; nothing where there is none."""
        return () if self._planner.proxy is None else self._planner.proxy.passages

    @cached_property
    def companion(self) -> ProcessSandbox:
        """A sandbox with the same limits for programs of this machine, such as the scorers of a benchmark."""
        options = self.options
        shared = options.model_dump(exclude={"image", "build", "runtime", "pool", "reuse", "allow_hosts"})
        return ProcessSandbox(ProcessOptions(mechanism="auto", allow_hosts=(), **shared), self._hidden)

    def prepare(self, folder: Path) -> None:
        """Get all ready that programs of a folder need: the image that is to be built, and files they can read.

        Raises:
            AdapterError: the image cannot be built, or something cannot be read.
        """
        self._planner.check(folder)
        self._images.of(folder)

    def foresee(self, folder: Path) -> bool:
        """Say whether `prepare` would have an image built, which is not done here; what it refuses is refused.

        Raises:
            AdapterError: something cannot be read, or the image could not be built as it is asked for.
        """
        self._planner.check(folder)
        return self._images.is_wanting(folder)

    def lacks(self, word: str, folder: Path) -> bool:
        """Say whether programs of a folder would run in an image without a program of that name.

        Of an image that is still to be built nothing is known: then this is false.
        """
        if self._images.is_wanting(folder):
            return False
        blueprint = replace(self._empty(), image=self._images.of(folder))
        place = (blueprint.image.image_id, word)
        if place not in self._has_program:
            self._has_program[place] = finds(self._engine, blueprint, self._rules, word)
        return not self._has_program[place]

    async def run(self, command: Command) -> Completed:
        """Run a program to its end or its limit; on return, and on cancellation, nothing of it is alive.

        Where it cannot start, `not_started` begins with the cause: `program_not_found` (the image has none of that
        name), `program_missing` (no such file in the folder), `folder_not_found`, or `sandbox_failed`.
        """
        try:
            blueprint = await self._blueprint(command, serves=False)
            if isinstance(blueprint, Completed):
                return blueprint
            if self.options.reuse:
                return await self._run_shared(command, blueprint)
            return await self._run_alone(command, blueprint)
        except (EngineError, AdapterError) as error:
            return not_started("sandbox_failed", str(error))

    async def open(self, command: Command) -> ContainerSession | Completed:
        """Start a program to talk with; where it cannot start, `not_started` says why, as for `run`."""
        try:
            blueprint = await self._blueprint(command, serves=True)
            if isinstance(blueprint, Completed):
                return blueprint
            began = time.perf_counter()
            made = await self._at_gate(blueprint)
            if (absent := await self._checked(made, command, blueprint)) is not None:
                return absent
        except (EngineError, AdapterError) as error:
            return not_started("sandbox_failed", str(error))
        session = ContainerSession(command, self._go(command, made, began), self._disposing(made))
        self._sessions[made.name] = session
        is_open = False
        try:
            await session.send(opening(command) + command.stdin)
            is_open = True
        finally:
            if not is_open:
                await session.aclose()
        return session

    async def aclose(self) -> None:
        """Remove all containers, and give back what proxy and engine hold."""
        for session in tuple(self._sessions.values()):
            await session.aclose()
        for part in (self._pool, self._shared, self._removal):
            await part.aclose()
        if self._planner.proxy is not None:
            await self._planner.proxy.aclose()
        if "companion" in self.__dict__:
            await self.companion.aclose()
        self._engine.close()

    async def _run_alone(self, command: Command, blueprint: Blueprint) -> Completed:
        began = time.perf_counter()
        made = await self._pool.take(blueprint)
        is_over = False
        try:
            completed = await execute(command, self._go(command, made, began))
            completed = await self._with_cause(completed, made, command, blueprint)
            is_over = True
        finally:
            if not is_over:
                await settled(made.remove())
        self._removal.begin([made])
        self._pool.refill(blueprint)
        return completed

    async def _run_shared(self, command: Command, blueprint: Blueprint) -> Completed:
        began = time.perf_counter()
        made = await self._shared.take(blueprint)
        program: FurtherProgram | None = None
        is_reusable = False
        try:
            program = await further_program(
                made, at_gate(blueprint), user=str(blueprint.user), folder=blueprint.folder
            )
            completed = await execute(command, self._go(command, program, began))
            completed = await self._with_cause(completed, made, command, blueprint)
            is_reusable = completed.limit is None
        finally:
            if program is not None:
                program.stream.cut()
            if not is_reusable:
                await settled(made.remove())
        if is_reusable and program.left_nothing:
            self._shared.keep(blueprint, made)
        elif is_reusable:
            await self._shared.put_back(blueprint, made)
        return completed

    async def _with_cause(
        self, completed: Completed, made: Container, command: Command, blueprint: Blueprint
    ) -> Completed:
        """Tell a program that is not in the image from one that ends with the same exit code."""
        if completed.exit_code != _NOT_FOUND:
            return completed
        return await self._absent(made, command, blueprint) or completed

    async def _checked(self, made: Container, command: Command, blueprint: Blueprint) -> Completed | None:
        """Say of a program that is to be talked with that the image lacks it; then its container is gone."""
        absent: Completed | None = None
        is_there = False
        try:
            absent = await self._absent(made, command, blueprint)
            is_there = absent is None
        finally:
            if not is_there:
                await settled(made.remove())
        return absent

    async def _absent(self, made: Container, command: Command, blueprint: Blueprint) -> Completed | None:
        """Say which program of a command is not in its image; null where all are. Each is looked for once."""
        for word in dict.fromkeys((blueprint.argv[0], command.argv[0])):
            if not await self._is_there(word, made, blueprint):
                reason = f"{word} is not a program on the PATH of the image {blueprint.image.reference}"
                needed = "" if word == command.argv[0] else "; servers of skills and allow_hosts need it"
                return not_started("program_not_found", f"{reason}{needed}")
        return None

    async def _is_there(self, word: str, made: Container, blueprint: Blueprint) -> bool:
        """Say whether an image has a program; one that lies in what is shown of this machine is not its affair."""
        if ("/" in word and not word.startswith("/")) or _is_below(word, blueprint.view):
            return True
        place = (blueprint.image.image_id, word)
        if place not in self._has_program:
            self._has_program[place] = await made.has_program(word, blueprint.image.path)
        return self._has_program[place]

    async def _blueprint(self, command: Command, *, serves: bool) -> Blueprint | Completed:
        if not self._has_swept:
            self._has_swept = True
            await self._engine.call(remove_leftovers, self._engine)
        return await self._planner.blueprint(command, serves=serves)

    async def _at_gate(self, blueprint: Blueprint) -> Container:
        return await started(self._engine, container(blueprint, at_gate(blueprint), self._rules))

    async def _idling(self, blueprint: Blueprint) -> Container:
        return await started(self._engine, container(blueprint, idling(), self._rules))

    def _disposing(self, made: Container) -> Dispose:
        async def dispose() -> None:
            self._sessions.pop(made.name, None)
            await made.remove()

        return dispose

    def _go(self, command: Command, program: Program, began: float) -> Go:
        return Go(
            program=program,
            opening=opening(command),
            spawn_ms=(time.perf_counter() - began) * 1000,
            resources=self.options.resources,
        )

    def _empty(self) -> Blueprint:
        return Blueprint(
            image=self._images.named,
            argv=(),
            folder=Path("/"),
            environment=(),
            view=View(reads=()),
            user=self._planner.user,
        )


def _is_below(word: str, view: View) -> bool:
    """Say whether a program is named by a path in what a container shows of this machine."""
    return any(Path(word).is_relative_to(path) for path in (*view.reads, *view.writes))


def _user(facts: Facts) -> User:
    """Choose whom programs run as: the evaluator, whose files they must read, but never root."""
    if os.getuid() == 0 or facts.maps_users:
        return User(uid=_STRANGER, gid=_STRANGER)
    return User(uid=os.getuid(), gid=os.getgid())
