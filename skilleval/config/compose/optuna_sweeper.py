"""A sweeper that looks for the best settings with Optuna: each job is chosen by what the earlier ones came to."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.override_parser.types import IntervalSweep, Override, RangeSweep

from skilleval.config.compose.ledger import SEARCH, Grid, Outcome, key_of
from skilleval.config.compose.sweepers import RecordingSweeper, fixed, ledger_of, parsed_sweep
from skilleval.config.compose.task import Task
from skilleval.errors import ConfigError, Problem, UsageError

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.study import Study
    from optuna.trial import Trial

_DIRECTIONS = ("maximize", "minimize")
_OVERRIDES = "overrides"
_SEED_DIGITS = 8


class OptunaSweeper(RecordingSweeper):
    """Runs `n_trials` jobs, each with the settings that promise most for one figure of a run's summary."""

    def __init__(  # noqa: PLR0913 - the settings of conf/hydra/sweeper/optuna.yaml
        self,
        *,
        objective: str,
        direction: str,
        n_trials: int,
        n_jobs: int,
        seed: int | None,
        scorer: str | None = None,
        skill: str | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        self._objective, self._direction = objective, direction
        self._scorer, self._skill = scorer, skill
        self._n_trials, self._n_jobs, self._seed = n_trials, n_jobs, seed
        self._params = params

    def sweep(self, arguments: list[str]) -> Any:
        """Ask for settings, run them, tell what they came to; what was run before is known from the folder."""
        self._check_direction()
        asked = parsed_sweep(self._params, arguments, self.hydra_context)
        shared = list(fixed(asked))
        space = {key: distribution(one) for key, one in asked.items() if one.is_sweep_override()}
        if not space:
            raise UsageError(
                "nothing is swept: a search needs a setting to change",
                hint="e.g. 'model.params.temperature=interval(0,1)'",
            )
        ledger = ledger_of(self.task)
        values = {key_of(key): [str(asked[key].input_line).partition("=")[2]] for key in space}
        ledger.plan(Grid(overrides=tuple(shared), values=values))
        study = self._study(ledger.folder)
        self._finish(study, len(study.trials))
        while (done := len(study.trials)) < self._n_trials:
            last = min(done + self._n_jobs, self._n_trials)
            trials = [self._asked(study, space, number) for number in range(done, last)]
            for trial in trials:
                chosen = [f"{key}={_written(value)}" for key, value in trial.params.items()]
                trial.set_user_attr(_OVERRIDES, [*shared, *chosen])
            self._run(study, trials, done)

    def _asked(self, study: Study, space: dict[str, BaseDistribution], number: int) -> Trial:
        """Ask for the settings of a job; its own seed lets a search that was stopped go on as if it never was."""
        study.sampler = _optuna().samplers.TPESampler(seed=self._seed_of(number))
        return study.ask(space)

    def _seed_of(self, number: int) -> int | None:
        if self._seed is None:
            return None
        return int(hashlib.sha256(f"{self._seed} {number}".encode()).hexdigest()[:_SEED_DIGITS], 16)

    def _check_direction(self) -> None:
        if self._direction not in _DIRECTIONS:
            problem = Problem(
                where="config",
                key="hydra.sweeper.direction",
                expected=" or ".join(_DIRECTIONS),
                found=self._direction,
            )
            raise ConfigError("the search has no direction", problems=(problem,))

    def _study(self, folder: Path) -> Study:
        optuna = _optuna()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        storage = optuna.storages.JournalStorage(
            optuna.storages.journal.JournalFileBackend(str(folder / SEARCH))
        )
        study: Study = optuna.create_study(
            study_name=folder.name,
            storage=storage,
            direction=self._direction,
            load_if_exists=True,
        )
        return study

    def _finish(self, study: Study, known: int) -> None:
        """Run again what a killed search left without an end; it goes on in its own runs."""
        left = [trial for trial in study.trials[:known] if not trial.state.is_finished()]
        for trial in left:
            overrides = trial.user_attrs.get(_OVERRIDES)
            if overrides is None:
                study.tell(trial.number, state=_optuna().trial.TrialState.FAIL)
            else:
                self._launch(study, [overrides], [trial.number], trial.number)

    def _run(self, study: Study, trials: Sequence[Trial], first: int) -> None:
        batch = [trial.user_attrs[_OVERRIDES] for trial in trials]
        self._launch(study, batch, [trial.number for trial in trials], first)

    def _launch(
        self, study: Study, batch: Sequence[Sequence[str]], numbers: Sequence[int], first: int
    ) -> None:
        """Run some settings; those that the search came upon before are not run again."""
        finished = {place for place in map(tuple, batch) if _outcome(self.task, place) is not None}
        fresh = list(dict.fromkeys(place for place in map(tuple, batch) if place not in finished))
        if fresh:
            self.launch(fresh, first)
        state = _optuna().trial.TrialState
        for number, overrides in zip(numbers, batch, strict=True):
            outcome = _outcome(self.task, overrides)
            value = None if outcome is None else self._figure(outcome)
            if value is None:
                study.tell(number, state=state.FAIL)
            else:
                study.tell(number, value)

    def _figure(self, outcome: Outcome) -> float | None:
        """Give what a job came to: the mean over the rows of its summary that are asked for; null without any.

        Raises:
            UsageError: no summary has such a figure.
        """
        rows = [
            row
            for row in outcome.get("summary", ())
            if self._scorer in {None, row.get("scorer")} and self._skill in {None, row.get("skill_id")}
        ]
        figures = [row.get(self._objective) for row in rows]
        numbers = [float(one) for one in figures if isinstance(one, int | float)]
        if rows and all(self._objective not in row for row in rows):
            known = sorted(name for name, value in rows[0].items() if isinstance(value, int | float))
            problem = Problem(
                where="config",
                key="hydra.sweeper.objective",
                expected=f"a figure of the summary: {', '.join(known)}",
                found=self._objective,
            )
            raise ConfigError("there is no such figure", problems=(problem,))
        return math.fsum(numbers) / len(numbers) if numbers else None


def _outcome(task: Task, overrides: Sequence[str]) -> Outcome | None:
    """Give how the job with these overrides ended; null where it has not, or is to be run again."""
    ledger = ledger_of(task)
    return next((one for one in ledger.finished() if one["overrides"] == list(overrides)), None)


def distribution(override: Override) -> BaseDistribution:
    """Say in Optuna's words what a sweep may choose from.

    Raises:
        ConfigError: it is a form that has no distribution.
    """
    found = _optuna().distributions
    value = override.value()
    is_log = "log" in getattr(value, "tags", ())
    if isinstance(value, IntervalSweep):
        low, high = value.start, value.end
        if isinstance(low, int) and isinstance(high, int):  # of `int(interval(1,9))`
            return found.IntDistribution(low, high, log=is_log)
        return found.FloatDistribution(float(low or 0), float(high or 0), log=is_log)  # type: ignore[no-any-return]
    if isinstance(value, RangeSweep) or override.is_choice_sweep():
        return found.CategoricalDistribution(list(override.sweep_string_iterator()))  # type: ignore[no-any-return]
    problem = Problem(
        where="command line", key=str(override.input_line), expected="interval(…), range(…) or choice(…)"
    )
    raise ConfigError("the search cannot choose from this", problems=(problem,))


def _written(value: Any) -> str:
    """Write a chosen value as an override has it; a choice is written already."""
    return value if isinstance(value, str) else repr(value)


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise UsageError(
            "hydra/sweeper=optuna needs the package optuna", hint="pip install 'skilleval[optuna]'"
        ) from None
    return optuna
