"""Handing over to Hydra's own program: its sweepers and launchers run the jobs, its flags print what they print."""

from __future__ import annotations

import json
import logging
import os
import secrets
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hydra
from hydra.conf import HydraConf
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from skilleval.config.compose.composing import (
    Composed,
    SweepJob,
    build_composed,
    choices_of,
    compose_config,
    known_values,
)
from skilleval.config.compose.messages import FOREIGN, config_error
from skilleval.config.compose.overrides import parse_overrides, quote
from skilleval.config.compose.session import Sources, read_sources, serving
from skilleval.config.request import Request
from skilleval.config.shipped import shipped
from skilleval.errors import ConfigError, Problem, SkillevalError, UsageError

Outcome = dict[str, Any]
"""How a job ended: JSON values with at least `job`, `overrides` and `exit_code`."""

_INTERRUPTED = 130
_NEVER_ENDED = 3
_SWEEP_FLAGS = frozenset({"-m", "--multirun"})
_SHOW_FLAGS = (
    "-c",
    "--cfg",
    "-i",
    "--info",
    "-h",
    "--help",
    "--hydra-help",
    "--version",
    "-sc",
    "--shell-completion",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What Hydra calls in each job. It is plain data, so that launchers can carry it to other processes."""

    job: Callable[[Composed], Mapping[str, Any]]
    sources: Sources
    sweep_dir: Path | None = None
    outcomes: list[Outcome] = field(default_factory=list)

    def __call__(self, config: DictConfig) -> Outcome:
        """Run the job on its composed config; a user's mistake ends this job and no other one."""
        node = HydraConfig.get()
        overrides = tuple(str(text) for text in node.overrides.task)
        sweep = self._sweep_job(node)
        start: Outcome = {"job": sweep.job_num if sweep else 0, "overrides": list(overrides)}
        # Written first, so that a job that is killed is known to have been there.
        self._keep({**start, "exit_code": _NEVER_ENDED, "error": "the job never ended"})
        sources = replace(self.sources, request=replace(self.sources.request, overrides=overrides))
        try:
            composed = build_composed(config, choices_of(node), sources, sweep=sweep)
            outcome = {**start, **self.job(composed)}
        except SkillevalError as error:
            outcome = {**start, "exit_code": error.exit_code, "error": str(error)}
        self._keep(outcome)
        if sweep and outcome["exit_code"] == _INTERRUPTED:
            raise KeyboardInterrupt  # the user stopped the sweep, not this one job
        return outcome

    def _sweep_job(self, node: HydraConf) -> SweepJob | None:
        if self.sweep_dir is None:
            return None
        return SweepJob(sweep_id=self.sources.sweep_id, sweep_dir=self.sweep_dir, job_num=int(node.job.num))

    def _keep(self, outcome: Outcome) -> None:
        if self.sweep_dir is None:
            self.outcomes[:] = [outcome]
            return
        path = self.sweep_dir / "jobs" / f"{outcome['job']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(".tmp")
        beside.write_text(json.dumps(outcome, ensure_ascii=False), encoding="utf-8")
        beside.replace(path)

    def read_outcomes(self) -> tuple[Outcome, ...]:
        """Give how each job ended, in the order of their numbers."""
        if self.sweep_dir is None:
            return tuple(self.outcomes)
        found = [json.loads(path.read_text("utf-8")) for path in (self.sweep_dir / "jobs").glob("*.json")]
        return tuple(sorted(found, key=lambda outcome: int(outcome["job"])))


def run_hydra(  # noqa: PLR0913 - keywords: each place where settings are looked for has its own name
    argv: Sequence[str],
    job: Callable[[Composed], Mapping[str, Any]],
    *,
    project: Path,
    config_name: str = "eval",
    config_file: Path | None = None,
    config_dirs: Sequence[Path] = (),
    user_file: Path | None = None,
) -> tuple[Outcome, ...]:
    """Run Hydra's program on overrides and its own flags (`-m`, `--cfg`, `--info`, `--config-dir`, …).

    `job` is called once a job, maybe in another process: it has to be a top-level function, and gives JSON values
    with `exit_code`. Gives how each job ended; nothing where a flag only prints.

    Raises:
        ConfigError: the settings cannot be composed at all. A job of a sweep that fails alone gives its outcome.
    """
    own_name, rest = _taken(argv, ("--config-name", "-cn"))
    folders, rest = _taken(rest, ("--config-dir", "-cd"))
    overrides = [text for text in rest if _is_override(text)]
    flags = [text for text in rest if not _is_override(text)]
    request = Request(
        project=project,
        overrides=tuple(overrides),
        config_name=own_name[-1] if own_name else config_name,
        config_file=config_file,
        config_dirs=(*_existing(folders), *config_dirs),
        user_file=user_file,
    )
    task = Task(job=job, sources=read_sources(request))
    if not any(text.partition("=")[0] in _SHOW_FLAGS for text in flags):
        task = _planned(task, flags)
    return _hand_over(task, flags)


def _is_override(text: str) -> bool:
    return not text.startswith("-") and ("=" in text or text.startswith("~"))


def _taken(argv: Sequence[str], names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Take an option with a value out of a command line: its values, and what is left."""
    values, rest = [], []
    tokens = iter(argv)
    for token in tokens:
        name, equals, value = token.partition("=")
        if name not in names:
            rest.append(token)
        else:
            values.append(value if equals else next(tokens, ""))
    return values, rest


def _existing(folders: Sequence[str]) -> list[Path]:
    for folder in folders:
        if not Path(folder).is_dir():
            problem = Problem(where="--config-dir", expected="a folder with config groups", found=folder)
            raise ConfigError("there is no such folder", problems=(problem,))
    return [Path(folder) for folder in folders]


def _planned(task: Task, flags: Sequence[str]) -> Task:
    """Find out whether this is a sweep, and give it one name and one folder that all its jobs share."""
    request = task.sources.request
    fixed = [str(one.input_line) for one in parse_overrides(request.overrides) if not one.is_sweep_override()]
    sweep_id = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    sources = replace(task.sources, sweep_id=sweep_id)
    alone = replace(sources, request=replace(request, overrides=tuple(fixed)))
    config = compose_config(alone)
    if not _SWEEP_FLAGS & set(flags) and config.hydra.mode is not RunMode.MULTIRUN:
        return task
    with serving(alone):
        sweep_dir = request.project.absolute() / str(config.hydra.sweep.dir)
    swept = OmegaConf.select(config, "hydra.sweeper.params") or {}
    return replace(task, sources=sources.without_groups([str(key) for key in swept]), sweep_dir=sweep_dir)


def _hand_over(task: Task, flags: Sequence[str]) -> tuple[Outcome, ...]:
    request = task.sources.request
    # A job may change what the folder's name is made of; the sweep's own folder is the same for all.
    shared = [f"hydra.sweep.dir={quote(str(task.sweep_dir))}"] if task.sweep_dir else []
    main = hydra.main(config_path=str(shipped("conf")), config_name=request.config_name, version_base="1.3")
    try:
        # Overrides first: argparse takes them in one piece only, and `--info` would swallow one behind it.
        with serving(task.sources), _as_program([*request.overrides, *shared, *flags]):
            main(task)()
    except SystemExit as stop:
        if stop.code not in {None, 0}:
            raise UsageError(
                "Hydra cannot use these options", hint="see skilleval eval --hydra-help"
            ) from None
    except KeyboardInterrupt:
        if task.sweep_dir is None:
            raise
        return _interrupted(task.read_outcomes())
    except BrokenPipeError:
        raise  # whoever read the output of a flag has left
    except FOREIGN as error:
        if _raised_in_job(error):
            raise
        raise config_error(error, task.sources, lambda: known_values(task.sources)) from None
    return task.read_outcomes()


def _interrupted(outcomes: tuple[Outcome, ...]) -> tuple[Outcome, ...]:
    """Tell how far a sweep came that the user stopped, also where no job was running at that moment."""
    if any(outcome["exit_code"] == _INTERRUPTED for outcome in outcomes):
        return outcomes
    rest: Outcome = {"job": len(outcomes), "overrides": [], "exit_code": _INTERRUPTED}
    return (*outcomes, {**rest, "error": "the sweep was stopped before this job"})


@contextmanager
def _as_program(argv: Sequence[str]) -> Iterator[None]:
    """Lend Hydra what it takes from the process: it reads `sys.argv`, and `--info` sets up the root logger.

    With `HYDRA_FULL_ERROR` it raises its exceptions instead of printing them and leaving.
    """
    root = logging.getLogger()
    before = sys.argv, os.environ.get("HYDRA_FULL_ERROR"), root.level, list(root.handlers)
    sys.argv = ["skilleval", *argv]
    os.environ["HYDRA_FULL_ERROR"] = "1"
    try:
        yield
    finally:
        sys.argv, full_error, level, handlers = before
        root.setLevel(level)
        root.handlers[:] = handlers
        if full_error is None:
            del os.environ["HYDRA_FULL_ERROR"]
        else:
            os.environ["HYDRA_FULL_ERROR"] = full_error


def _raised_in_job(error: BaseException) -> bool:
    """Say whether an exception comes out of a job: then it is no mistake in the settings."""
    return any(frame.f_code is Task.__call__.__code__ for frame, _ in traceback.walk_tb(error.__traceback__))
