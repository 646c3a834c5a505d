"""Our sweeper over Hydra's basic one: the plan is written first, and what is done already is not launched again."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from skilleval.config.compose.launching import LaunchError, loss_words, losses
from skilleval.config.compose.ledger import Grid, Ledger, PlannedJob, key_of
from skilleval.config.compose.loading import SweepLoader
from skilleval.config.compose.messages import FOREIGN
from skilleval.config.compose.overrides import parse_overrides
from skilleval.config.compose.task import Task
from skilleval.errors import ConfigError, Problem

log = logging.getLogger(__name__)

_BROKEN = 3


class RecordingSweeper(Sweeper):
    """What our sweepers share: the task with its books, and the launcher.

    Hydra's basic sweeper cannot be extended: Hydra runs the files of its own plugins again when it looks for plugins,
    and a class made before is no longer the one that its methods know.
    """

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Get the launcher ready."""
        assert isinstance(task_function, Task)
        self.task = task_function
        self.config = config
        self.hydra_context = HydraContext(
            config_loader=SweepLoader(hydra_context.config_loader), callbacks=hydra_context.callbacks
        )
        self.jobs = Plugins.instance().instantiate_launcher(
            hydra_context=self.hydra_context, task_function=task_function, config=config
        )

    def launch(self, batch: Sequence[Sequence[str]], start: int) -> None:
        """Launch a batch, and note what broke on its way.

        Raises:
            LaunchError: no job could begin.
        """
        before = self._begun()
        try:
            returns = self.jobs.launch([list(job) for job in batch], initial_job_idx=start)
        except losses() as error:
            if self._begun() == before:
                msg = f"the launcher lost its process before a job began: {loss_words(error)}"
                raise LaunchError(msg) from None
            log.warning("a process of the launcher is gone: %s", loss_words(error))
            if isinstance(error, BrokenExecutor):
                self._launch_rest(batch, start, before)
            return
        note_broken(self.task, returns, batch)

    def _begun(self) -> set[tuple[Any, ...]]:
        """Give each start of a job that is known."""
        return {(one["key"], one["started_at"]) for one in ledger_of(self.task).outcomes()}

    def _launch_rest(self, batch: Sequence[Sequence[str]], start: int, before: set[tuple[Any, ...]]) -> None:
        """Go on with the jobs that nobody began: a pool ends as a whole when one of its processes is killed."""
        ledger = ledger_of(self.task)
        begun = {key for key, _ in self._begun() - before}
        rest = [job for job in batch if ledger.place(job, 0).key not in begun]
        if rest:
            self.launch(rest, start)


class PlannedSweeper(RecordingSweeper):
    """Runs the product of all swept values, each job once."""

    def __init__(self, max_batch_size: int | None = None, params: Mapping[str, Any] | None = None) -> None:
        self._max_batch_size = max_batch_size
        self._params = params

    def sweep(self, arguments: list[str]) -> Any:
        """Plan all jobs, then launch those that are left, in one batch unless batches are limited."""
        ledger = ledger_of(self.task)
        grid = planned_grid(parsed_sweep(self._params, arguments, self.hydra_context))
        left = [list(overrides) for overrides in ledger.left(grid)]
        self.validate_batch_is_legal(list(self._representatives(left)))
        ledger.plan(grid)
        size = self._max_batch_size or max(len(left), 1)
        for start in range(0, len(left), size):
            self._launch(left[start : start + size], start)

    def _launch(self, batch: list[list[str]], start: int) -> None:
        """Launch a batch; a job whose own combination cannot be composed is noted, and the rest goes on without it."""
        try:
            self.launch(batch, start)
        except FOREIGN as error:
            # A launcher composes jobs itself: what it cannot compose takes all that come later with it.
            left = ledger_of(self.task).left()
            remaining = [job for job in batch if tuple(job) in left]
            fitting = [job for job in remaining if self._composes(job)]
            if len(fitting) == len(remaining):
                raise error from None
            self._launch(fitting, start)

    def _composes(self, overrides: list[str]) -> bool:
        try:
            self.validate_batch_is_legal([overrides])
        except FOREIGN as error:
            ledger = ledger_of(self.task)
            place = ledger.place(overrides, 0)
            ledger.begin(place, overrides)
            reason = f"its settings do not fit together: {error}"
            ledger.end(place, {"exit_code": 2, "error": reason, "is_refused": True})
            return False
        return True

    def _representatives(self, jobs: Sequence[list[str]]) -> Iterator[list[str]]:
        """Give jobs that between them show every swept option of a group once, and one value of every other key.

        Composing costs as much as many a job: what is only another value of a plain setting is checked by the job.
        """
        groups = self.task.sources.request.groups
        seen: set[str] = set()
        for overrides in jobs:
            shown = {text if key_of(text) in groups else key_of(text) for text in overrides}
            if shown - seen:
                seen |= shown
                yield overrides


def ledger_of(task: Task) -> Ledger:
    """Give the books of the sweep that a task belongs to."""
    assert task.ledger is not None, "a sweep has its books"
    return task.ledger


def parsed_sweep(
    params: Any, arguments: Sequence[str], hydra_context: HydraContext | None
) -> dict[str, Override]:
    """Parse what is asked of a sweeper, by key; the command line wins over the sweeper's own parameters."""
    assert hydra_context is not None
    parser = OverridesParser.create(config_loader=hydra_context.config_loader)
    texts = [*(f"{key}={value}" for key, value in (params or {}).items()), *arguments]
    return {override.get_key_element(): override for override in parser.parse_overrides(texts)}


def planned_grid(overrides: dict[str, Override]) -> Grid:
    """Lay out the product of all swept values. Values that are said twice make one job."""
    swept = {key: _values(one) for key, one in overrides.items() if one.is_sweep_override()}
    (batch,) = BasicSweeper.split_arguments(list(overrides.values()), None)
    jobs = dict.fromkeys(tuple(job) for job in batch)
    return Grid(
        overrides=tuple(fixed(overrides)),
        values={key_of(key): list(values.values()) for key, values in swept.items()},
        jobs=tuple(PlannedJob(overrides=job, settings=dict(_settings(job, swept))) for job in jobs),
    )


def fixed(overrides: dict[str, Override]) -> Iterator[str]:
    """Give the overrides that all jobs share."""
    for key, one in overrides.items():
        if not one.is_sweep_override():
            yield f"{key}={one.get_value_element_as_str()}"


def _values(override: Override) -> dict[str, str]:
    """Give the values of a swept key: as they are written in an override, and as they are meant."""
    if not override.is_discrete_sweep():
        problem = Problem(
            where="command line",
            key=str(override.input_line),
            expected="values to try one by one: a,b or range(…)",
            found="an interval",
            hint="hydra/sweeper=optuna looks for the best value in it",
        )
        raise ConfigError("an interval cannot be swept as a whole", problems=(problem,))
    key = override.get_key_element()
    found = {text: meant(f"{key}={text}") for text in override.sweep_string_iterator()}
    if not found:
        problem = Problem(
            where="command line", key=str(override.input_line), expected="at least one value", found="none"
        )
        raise ConfigError("there is nothing to sweep", problems=(problem,))
    return found


def meant(override: str) -> str:
    """Give the value of an override without the quotes of the command line."""
    (one,) = parse_overrides([override])
    value = one.value()
    return str(value) if isinstance(value, str) else override.partition("=")[2]


def _settings(job: Sequence[str], swept: dict[str, dict[str, str]]) -> Iterator[tuple[str, str]]:
    for text in job:
        key, _, value = text.partition("=")
        if key in swept:
            yield key_of(key), swept[key][value]


def note_broken(task: Task, returns: Sequence[JobReturn], batch: Sequence[Sequence[str]]) -> None:
    """Note what became of jobs that broke outside of what they note themselves, e.g. on the way to their process."""
    ledger = ledger_of(task)
    known = {tuple(one["overrides"]) for one in ledger.outcomes()}
    for job, overrides in zip(returns, batch, strict=True):
        if job.status is JobStatus.FAILED and tuple(overrides) not in known:
            place = ledger.place(overrides, 0)
            error = job._return_value  # noqa: SLF001 - the public property raises it
            ledger.begin(place, overrides)
            ledger.end(place, {"exit_code": _BROKEN, "error": f"the job broke: {error}"})
