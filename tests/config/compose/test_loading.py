"""Jobs that only differ in values are composed by copying, and come out as Hydra itself composes them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.config_loader import ConfigLoader
from hydra.errors import ConfigCompositionException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from skilleval.config.compose.loading import Original, SweepLoader
from skilleval.config.compose.session import loader_of, read_sources
from skilleval.config.request import Request

RequestFor = Callable[..., Request]


def master(loader: ConfigLoader) -> DictConfig:
    """Compose what all jobs of a sweep share."""
    return loader.load_configuration("eval", ["skill_set=examples", "hydra.verbose=false"], RunMode.MULTIRUN)


@pytest.mark.parametrize(
    "job",
    [
        ["runner.seed=3"],
        ["runner.seed=3", "runner.repeats=2", "scorer=exact"],
        ["scorer=[exact,contains]", "report.title='a, b = ü ${experiment_name}'"],
        ["+scorers.exact.extra=1", "scorers.exact.strip=false", "scorer=exact"],
        ["scorers.exact.strip=false", "scorers.exact={kind:exact,strip:true}", "scorer=exact"],
        ["report.formats=[html]", "experiment_name=other", "runner.seed=null"],
        ["~gate.rules", "runner.seed=4"],
        ["adapter=replay", "adapter.path=a.jsonl", "runner.seed=5"],
    ],
)
def test_a_job_is_composed_as_hydra_composes_it(request_for: RequestFor, job: list[str]) -> None:
    """Settings, choices, overrides and the name of the job are the same, with the first job as with later ones."""
    with loader_of(read_sources(request_for())) as hydras:
        shared = master(hydras)
        ours = SweepLoader(hydras)
        wanted = hydras.load_sweep_config(shared, ["skill_set=examples", *job])
        for _ in range(2):
            composed = ours.load_sweep_config(shared, ["skill_set=examples", *job])
            assert composed == wanted
            assert list(composed.hydra.overrides.task) == list(wanted.hydra.overrides.task)
            composed.hydra.job.num = 7  # what a launcher writes into one job is not seen by the next one


@pytest.mark.parametrize("job", ["runner.sed=1", "scorers.exact.strip.more=1"])
def test_what_hydra_refuses_is_refused(request_for: RequestFor, job: str) -> None:
    """A key that is not there is not added by a job."""
    with loader_of(read_sources(request_for())) as hydras:
        shared = master(hydras)
        for loader in (hydras, SweepLoader(hydras)):
            with pytest.raises(ConfigCompositionException):
                loader.load_sweep_config(shared, ["skill_set=examples", job])


def test_jobs_of_a_kind_are_composed_once(request_for: RequestFor, project: Path) -> None:
    """Files that change while a sweep runs change no job of a kind that was composed; the next sweep reads them."""
    option = project / "conf" / "scorer" / "mine.yaml"
    option.parent.mkdir(parents=True)
    text = "# @package scorers.mine\nkind: exact\nstrip: true\n"
    option.write_text(text)
    with loader_of(read_sources(request_for())) as hydras:
        shared = master(hydras)
        ours = SweepLoader(hydras)

        def strip(loader: ConfigLoaderImpl, seed: int) -> object:
            job = ["skill_set=examples", "scorer=mine", f"runner.seed={seed}"]
            return loader.load_sweep_config(shared, job).scorers.mine.strip

        assert strip(ours, 1) is True
        option.write_text(text.replace("true", "false"))
        assert strip(ours, 2) is True
        assert strip(pickle.loads(pickle.dumps(ours)), 3) is True  # noqa: S301 - our own bytes
        assert strip(SweepLoader(hydras), 4) is False


def test_classes_that_cannot_be_found_by_name_are_no_obstacle() -> None:
    """Hydra makes classes of plugins anew; a copy has the class that its original has, and values of its own."""

    @dataclass
    class Launcher:
        n_jobs: int = 2

    original = OmegaConf.structured(Launcher)
    copied = Original(original).copied()
    assert OmegaConf.get_type(copied) is Launcher
    copied.n_jobs = 3
    assert original.n_jobs == 2
