"""Handing over to Hydra's own program: its sweepers and launchers run the jobs, its flags print what they print."""

from __future__ import annotations

import logging
import os
import secrets
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hydra
from hydra.core.override_parser.types import Override
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from skilleval.config.compose.composing import Composed, compose_config, known_values, without_hydra
from skilleval.config.compose.launching import engines_quiet
from skilleval.config.compose.ledger import Ledger, Outcome, SweepPlan
from skilleval.config.compose.messages import FOREIGN, config_error
from skilleval.config.compose.overrides import parse_overrides, quote, refuse_split
from skilleval.config.compose.session import read_sources, serving
from skilleval.config.compose.task import INTERRUPTED, Task
from skilleval.config.request import Request
from skilleval.config.shipped import shipped
from skilleval.errors import ConfigError, InterruptionsKept, Problem, UsageError

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
class Again:
    """A sweep that is gone on with: its id and its folder."""

    sweep_id: str
    folder: Path


def run_hydra(  # noqa: PLR0913 - keywords: each place where settings are looked for has its own name
    argv: Sequence[str],
    job: Callable[[Composed], Mapping[str, Any]],
    *,
    project: Path,
    ledger: Callable[[Path], Ledger],
    config_name: str = "eval",
    config_file: Path | None = None,
    config_dirs: Sequence[Path] = (),
    user_file: Path | None = None,
    again: Again | None = None,
) -> tuple[Outcome, ...]:
    """Run Hydra's program on overrides and its own flags (`-m`, `--cfg`, `--info`, `--config-dir`, …).

    `job` is called once a job, maybe in another process: it has to be a top-level function, and gives JSON values
    with `exit_code`. `ledger` makes the books of a sweep from its folder; `again` names a sweep to go on with. Gives
    how each job ended; nothing where a flag only prints.

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
    if any(text.partition("=")[0] in _SHOW_FLAGS for text in flags):
        return _hand_over(task, flags)
    task, plan = _planned(task, flags, ledger, again)
    if task.ledger is None or plan is None:
        return _hand_over(task, flags)
    with task.ledger.opened(plan):
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


def _planned(
    task: Task, flags: Sequence[str], ledger: Callable[[Path], Ledger], again: Again | None
) -> tuple[Task, SweepPlan | None]:
    """Find out whether this is a sweep, and give it one name and one folder that all its jobs share."""
    request = task.sources.request
    alone_overrides = [str(one.input_line) for one in parse_overrides(request.overrides) if not _sweeps(one)]
    sweep_id = again.sweep_id if again else f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    sources = replace(task.sources, sweep_id=sweep_id)
    alone = replace(sources, request=replace(request, overrides=tuple(alone_overrides)))
    config = compose_config(alone)
    if not _SWEEP_FLAGS & set(flags) and config.hydra.mode is not RunMode.MULTIRUN:
        refuse_split(request.overrides)
        return task, None
    with serving(alone):
        written = str(config.hydra.sweep.dir)
        # An address on an object store is no path below the project.
        sweep_dir = Path(written) if "://" in written else request.project.absolute() / written
        experiment = str(config.experiment_name)
    swept = OmegaConf.select(config, "hydra.sweeper.params") or {}
    sources = sources.without_groups([str(key) for key in swept])
    choices = config.hydra.runtime.choices
    plan = SweepPlan(
        sweep_id=sweep_id,
        experiment=experiment,
        sweeper=str(choices.get("hydra/sweeper")),
        launcher=str(choices.get("hydra/launcher")),
        request=_request(request, flags),
        config=_plain(config),
    )
    return replace(task, sources=sources, ledger=ledger(again.folder if again else sweep_dir)), plan


def _sweeps(override: Override) -> bool:
    return bool(override.is_sweep_override())


def _request(request: Request, flags: Sequence[str]) -> dict[str, Any]:
    """Say what composing the sweep again takes, as JSON values."""
    return {
        "argv": [*request.overrides, *flags],
        "config_name": request.config_name,
        "config_file": str(request.config_file) if request.config_file else None,
        "config_dirs": [str(folder) for folder in request.config_dirs],
    }


def _plain(config: DictConfig) -> dict[str, Any]:
    """Give the settings that all jobs begin with; references stay as they are written."""
    values = OmegaConf.to_container(without_hydra(config), resolve=False)
    assert isinstance(values, dict)
    return {str(key): value for key, value in values.items()}


def _hand_over(task: Task, flags: Sequence[str]) -> tuple[Outcome, ...]:
    request = task.sources.request
    ledger = task.ledger
    # A job may change what the folder's name is made of; the sweep's own folder is the same for all.
    shared = [f"hydra.sweep.dir={quote(str(ledger.folder))}"] if ledger else []
    main = hydra.main(config_path=str(shipped("conf")), config_name=request.config_name, version_base="1.3")
    try:
        # Overrides first: argparse takes them in one piece only, and `--info` would swallow one behind it.
        with (
            InterruptionsKept(),
            serving(task.sources),
            engines_quiet(),
            _as_program([*request.overrides, *shared, *flags]),
        ):
            main(task)()
    except SystemExit as stop:
        if stop.code not in {None, 0}:
            raise UsageError(
                "Hydra cannot use these options", hint="see skilleval eval --hydra-help"
            ) from None
    except KeyboardInterrupt:
        if ledger is None:
            raise
        ledger.stop()
        return _interrupted(ledger.outcomes())
    except BrokenPipeError:
        raise  # whoever read the output of a flag has left
    except FOREIGN as error:
        if _raised_in_job(error):
            raise
        raise config_error(error, task.sources, lambda: known_values(task.sources)) from None
    return ledger.outcomes() if ledger else tuple(task.outcomes)


def _interrupted(outcomes: tuple[Outcome, ...]) -> tuple[Outcome, ...]:
    """Tell how far a sweep came that the user stopped, also where no job was running at that moment."""
    if any(outcome["exit_code"] == INTERRUPTED for outcome in outcomes):
        return outcomes
    rest: Outcome = {"job": len(outcomes), "overrides": [], "exit_code": INTERRUPTED}
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
