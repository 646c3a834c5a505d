"""The one door to Docker's own library: an engine on this machine, reached by its unix socket. All calls block."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from skilleval.errors import AdapterError

_VARIABLE = "DOCKER_HOST"
_DEFAULT = "unix:///var/run/docker.sock"
_SCHEME = "unix://"
_TIMEOUT_S = 60
_BUILD_S = 3600
_MAX_CALLS = 64
_MAX_WAITS = 1024  # a thread each, taken only where so many containers run at once
_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_KEPT_LINES = 20
_FIX = (
    'start an engine (on Debian: eval "$(scripts/docker-engine.sh)") and name it with DOCKER_HOST, '
    "or choose sandbox=process"
)
_T = TypeVar("_T")


class EngineError(OSError):
    """The engine could not do something, and said why."""


class AbsentError(EngineError):
    """The engine has no such container or image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image as the engine has it. `layers` are the digests of its content; unlike them its id carries a time."""

    reference: str
    image_id: str
    layers: tuple[str, ...]
    environment: Mapping[str, str]
    volumes: tuple[str, ...]

    @property
    def path(self) -> str:
        """Where programs are looked for in it."""
        return self.environment.get("PATH", _DEFAULT_PATH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What an engine says of itself: its version, what it can limit, and how it maps users."""

    version: str
    runtimes: tuple[str, ...]
    limits_memory: bool
    limits_processes: bool
    limits_cpus: bool
    maps_users: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """How a container or a command in it stands; `finished_at` is the engine's own clock, as ISO 8601 in UTC."""

    is_running: bool
    exit_code: int
    ran_out_of_memory: bool = False
    finished_at: str = ""


class Engine:
    """A Docker engine. `call` and `wait_for` make a blocking call in a thread, so that the event loop goes on.

    Raises:
        AdapterError: no engine answers, or it is not on this machine.
    """

    def __init__(self, address: str | None = None) -> None:
        import docker

        self.address = address or os.environ.get(_VARIABLE) or _DEFAULT
        if not self.address.startswith(_SCHEME):
            hint = f"name an engine of this machine, such as {_VARIABLE}={_DEFAULT}: others cannot show its folders"
            raise AdapterError(
                f"sandbox=docker needs an engine with a unix socket, not {self.address}", hint=hint
            )
        self.socket = Path(self.address.removeprefix(_SCHEME))
        _knock(self.socket)  # the library would leave its own socket open where nobody answers
        try:
            self._api: Any = docker.APIClient(
                base_url=self.address, version="auto", timeout=_TIMEOUT_S, max_pool_size=_MAX_WAITS
            )
        except docker.errors.DockerException as error:
            raise _silent(self.address, _said(error)) from None
        self._calls = ThreadPoolExecutor(_MAX_CALLS, thread_name_prefix="skilleval-docker")
        self._waits = ThreadPoolExecutor(_MAX_WAITS, thread_name_prefix="skilleval-docker-wait")

    @property
    def api_version(self) -> str:
        """The version of the interface that both sides speak."""
        return str(self._api.api_version)

    def facts(self) -> Facts:
        """Ask what the engine is."""
        with _mapped():
            info = self._api.info()
        security = " ".join(info.get("SecurityOptions") or ())
        return Facts(
            version=info["ServerVersion"],
            runtimes=tuple(sorted(info.get("Runtimes") or ())),
            limits_memory=bool(info.get("MemoryLimit") and info.get("SwapLimit")),
            limits_processes=bool(info.get("PidsLimit")),
            limits_cpus=bool(info.get("CpuCfsQuota")),
            maps_users="name=rootless" in security or "name=userns" in security,
        )

    def image(self, reference: str) -> Image | None:
        """Look an image up by name, tag or id; null where the engine does not have it. Nothing is pulled."""
        try:
            with _mapped():
                found = self._api.inspect_image(reference)
        except AbsentError:
            return None
        config = found.get("Config") or {}
        return Image(
            reference=reference,
            image_id=found["Id"],
            layers=tuple((found.get("RootFS") or {}).get("Layers") or ()),
            environment=dict(word.split("=", 1) for word in config.get("Env") or () if "=" in word),
            volumes=tuple(sorted(config.get("Volumes") or ())),
        )

    def build(self, folder: Path, tag: str) -> None:
        """Build an image from a folder's Dockerfile, without network.

        Raises:
            EngineError: it cannot be built; the message ends with the last lines of the build.
        """
        lines: list[str] = []
        with _mapped():
            steps = self._api.build(
                path=str(folder),
                tag=tag,
                network_mode="none",
                rm=True,
                forcerm=True,
                pull=False,
                decode=True,
                timeout=_BUILD_S,
                use_config_proxy=False,
            )
            for step in steps:
                lines += str(step.get("stream", "")).splitlines()
                if "error" in step:
                    said = "\n".join([*(line for line in lines if line.strip())][-_KEPT_LINES:])
                    raise EngineError(f"{step['error']}\n{said}".strip())

    def create(self, name: str, config: Mapping[str, Any]) -> None:
        """Create a container."""
        with _mapped():
            self._api.create_container_from_config(dict(config), name=name)

    def start(self, name: str) -> None:
        """Start a container; its first program runs when this returns."""
        with _mapped():
            self._api.start(name)

    def wait(self, name: str) -> None:
        """Wait until a container runs no more; one that is gone already is no fault."""
        with contextlib.suppress(AbsentError), _mapped():
            self._api.wait(name, timeout=None)

    def state(self, name: str) -> State:
        """Say how a container stands."""
        with _mapped():
            state = self._api.inspect_container(name)["State"]
        return State(
            is_running=state["Running"],
            exit_code=state["ExitCode"],
            ran_out_of_memory=state["OOMKilled"],
            finished_at=state["FinishedAt"],
        )

    def kill(self, name: str) -> None:
        """End a container; one that has ended is no fault. Its output must be read meanwhile, or cut off before."""
        with contextlib.suppress(EngineError), _mapped():
            self._api.kill(name)

    def remove(self, name: str) -> None:
        """Take a container away, running or not; one that is gone is no fault."""
        with contextlib.suppress(AbsentError), _mapped():
            self._api.remove_container(name, force=True, v=True)

    def logs(self, name: str) -> str:
        """Give what a container wrote, where it was created with a log."""
        with _mapped():
            return bytes(self._api.logs(name)).decode("utf-8", "replace")

    def labelled(self, label: str) -> dict[str, Mapping[str, str]]:
        """Give the labels of all containers that carry one, by their ids."""
        with _mapped():
            found = self._api.containers(all=True, filters={"label": label})
        return {one["Id"]: one["Labels"] for one in found}

    def prepare_command(self, name: str, words: Sequence[str], *, user: str, folder: Path) -> str:
        """Get a further command of a running container ready, and give its id."""
        with _mapped():
            made = self._api.exec_create(name, list(words), stdin=True, user=user, workdir=str(folder))
        return str(made["Id"])

    def command_state(self, command_id: str) -> State:
        """Say how a further command of a container stands."""
        with _mapped():
            state = self._api.exec_inspect(command_id)
        return State(is_running=state["Running"], exit_code=state["ExitCode"] or 0)

    def lacked_memory(self, name: str, since: float) -> bool:
        """Say whether anything in a container was ended for lack of memory since then, while the container goes on."""
        now = f"{time.time():.9f}"  # without an end it would wait for news
        filters = {"container": name, "event": "oom"}
        with _mapped():
            return any(
                True for _ in self._api.events(since=f"{since:.9f}", until=now, filters=filters, decode=True)
            )

    def count_processes(self, name: str) -> int:
        """Count what runs in a container."""
        with _mapped():
            return len(self._api.top(name, "-o pid")["Processes"])

    def has_file(self, name: str, path: str) -> bool:
        """Say whether there is a file of that path in a container."""
        url = f"{self._api.base_url}/v{self.api_version}/containers/{name}/archive"
        with _mapped():
            return bool(self._api.head(url, params={"path": path}, timeout=_TIMEOUT_S).ok)

    async def call(self, function: Callable[..., _T], *arguments: Any, **options: Any) -> _T:
        """Make a short call in a thread."""
        return await self._elsewhere(self._calls, partial(function, *arguments, **options))

    async def ended(self, name: str) -> None:
        """Wait in a thread until a container runs no more."""
        await self._elsewhere(self._waits, partial(self.wait, name))

    def close(self) -> None:
        """Give back threads and connections."""
        self._calls.shutdown()
        self._waits.shutdown()
        self._api.close()

    async def _elsewhere(self, executor: Executor, work: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(executor, work)


@contextlib.contextmanager
def _mapped() -> Iterator[None]:
    """Turn what Docker's library raises into faults of ours."""
    from docker.errors import DockerException, NotFound

    try:
        yield
    except NotFound as error:
        raise AbsentError(_said(error)) from None
    except EngineError:
        raise
    except (DockerException, OSError, TypeError) as error:
        raise EngineError(_said(error)) from None


def _said(error: Exception) -> str:
    """Say what went wrong; what is raised on the way to the engine has no words of the engine's."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "Timeout" in kinds:
        return f"the engine did not answer within {_TIMEOUT_S} s"
    if "ConnectionError" in kinds:
        return "the engine answers no more: it has ended, or it was started again"
    return str(getattr(error, "explanation", None) or error)


def _knock(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        try:
            one.connect(str(path))
        except OSError as error:
            raise _silent(f"{_SCHEME}{path}", error.strerror or str(error)) from None


def _silent(address: str, reason: str) -> AdapterError:
    return AdapterError(f"sandbox=docker: no Docker engine answers at {address}: {reason}", hint=_FIX)
