"""The settings of a run as frozen, strict models. They have no defaults: defaults live in `conf/`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from skilleval.strict import StrictModel

Texts = Annotated[tuple[str, ...], Field(strict=False)]
"""A list of texts in YAML, a tuple here: frozen to its leaves."""

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


Arm = Literal["with_skill", "without_skill", "old_skill"]


class PartSettings(StrictModel):
    """A replaceable part: its kind in a registry and the options for it, which the part itself validates."""

    kind: Annotated[str, Field(min_length=1)]
    options: Mapping[str, Any]


def _split_part(values: object) -> object:
    """Part a flat mapping (`kind` and options side by side, as in YAML) into kind and options.

    A nested block may come from the file of another part; its `kind` says nothing new and is dropped.
    """
    if isinstance(values, PartSettings):
        return values
    if not isinstance(values, Mapping) or "kind" not in values:
        msg = "a mapping with the key `kind`"
        raise ValueError(msg)
    options = {key: _bare(key, value) for key, value in values.items() if key != "kind"}
    return {"kind": values["kind"], "options": options}


def _bare(key: str, value: Any) -> Any:
    if not isinstance(value, Mapping) or "kind" not in value:
        return value
    if value["kind"] != key:
        msg = f"{key}.kind to be {key}: the block `{key}` holds the options of that kind"
        raise ValueError(msg)
    return {name: option for name, option in value.items() if name != "kind"}


Part = Annotated[PartSettings, BeforeValidator(_split_part)]


class SkillSetSettings(StrictModel):
    """Which skills are evaluated: files or folders; `only_runnable` leaves out those without their interpreter.

    `modes` are the arms of instruction skills, `old` says where that of `old_skill` is found.
    """

    name: str
    paths: Annotated[Texts, Field(min_length=1)]
    skip_invalid: bool
    only_runnable: bool
    modes: Annotated[tuple[Arm, ...], Field(strict=False, min_length=1)]
    old: str | None
    include: Texts
    exclude: Texts
    strict: bool

    @model_validator(mode="after")
    def _whole_arms(self) -> SkillSetSettings:
        if len(set(self.modes)) < len(self.modes):
            msg = "each mode once"
            raise ValueError(msg)
        if "old_skill" in self.modes and self.old is None:
            msg = "skill_set.old (a git ref or a folder) beside the mode old_skill"
            raise ValueError(msg)
        return self


class BenchmarkSettings(StrictModel):
    """Which benchmark: its id or file, a file whose tasks replace its own, and the folders searched for the id."""

    name: Annotated[str, Field(min_length=1)]
    tasks: str | None
    data: str | None
    roots: Texts


class RunnerSettings(StrictModel):
    """How trials are run."""

    repeats: Annotated[int, Field(ge=1)]
    concurrency: Annotated[int, Field(ge=1)]
    timeout_ms: Positive
    retries: Annotated[int, Field(ge=0)]
    backoff_base_s: NotNegative
    backoff_factor: Annotated[float, Field(ge=1, allow_inf_nan=False)]
    backoff_max_s: NotNegative
    jitter: Share
    seed: int
    isolation: Literal["trial", "worker"]
    worker_trials: Annotated[int, Field(ge=1)]
    latency: Literal["concurrent", "serial"]
    cache: Literal["auto", "off", "reuse"]
    resume: bool


class PlanSettings(StrictModel):
    """Which part of the plan runs: shard `shard`, counted from 0, of `shards`; `durations` balances them."""

    shards: Annotated[int, Field(ge=1, le=100_000)]
    shard: Annotated[int, Field(ge=0)]
    durations: Annotated[str, Field(min_length=1)] | None

    @model_validator(mode="after")
    def _one_of_them(self) -> PlanSettings:
        if self.shard >= self.shards:
            msg = f"a shard from 0 to {self.shards - 1} (plan.shards={self.shards})"
            raise ValueError(msg)
        return self


class CompositeWeights(StrictModel):
    """Weights of the parts of the composite score; only their proportions matter."""

    completion: NotNegative
    partial: NotNegative
    speed: NotNegative
    reliability: NotNegative

    @model_validator(mode="after")
    def _some_weight(self) -> CompositeWeights:
        total = self.completion + self.partial + self.speed + self.reliability
        if total <= 0:
            msg = "at least one weight above 0"
            raise ValueError(msg)
        if not math.isfinite(total):
            msg = "weights whose sum is a finite number"
            raise ValueError(msg)
        return self


class PriceSettings(StrictModel):
    """USD per million tokens of a model; `cached_input` null: as `input`."""

    input: NotNegative
    output: NotNegative
    cached_input: NotNegative | None = None


class PricingSettings(StrictModel):
    """Where prices come from, and those that differ."""

    table: Literal["genai_prices", "none"]
    overrides: dict[str, PriceSettings]


class BudgetSettings(StrictModel):
    """What a run may spend, judges included; null: no limit."""

    usd: Positive | None
    tokens: Annotated[int, Field(gt=0)] | None


class AnalysisSettings(StrictModel):
    """How rows become numbers."""

    preset: Literal["default", "eval_skills"]
    level: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
    k: Annotated[int, Field(ge=1, le=1000)] | None
    reused_latency: bool
    interval: Literal[
        "agresti_coull_t", "clustered_t", "wilson_neff", "wilson", "clopper_pearson", "bootstrap", "bca"
    ]
    family: Annotated[str, Field(min_length=1)] | None
    resamples: Annotated[int, Field(ge=100, le=1_000_000)]
    composite: CompositeWeights


class GateRule(StrictModel):
    """One rule: a threshold on a metric of the summary, or the most that a metric may get worse.

    A rule names only what it needs, so its keys, unlike settings, have defaults.
    """

    metric: str | None = None
    regression: str | None = None
    at_least: Finite | None = None
    at_most: Finite | None = None
    bound: Literal["low", "point", "high"] = "point"
    skill: str = "*"
    scorer: str = "*"
    tag: str | None = None
    slice: dict[str, str] = Field(default_factory=dict)
    significance: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] | None = None
    relative: bool = False
    missing: Literal["fail", "skip"] = "fail"

    @model_validator(mode="after")
    def _one_kind(self) -> GateRule:
        wrong = next((said for is_wrong, said in self._rules() if is_wrong), None)
        if wrong is not None:
            raise ValueError(wrong)
        return self

    def _rules(self) -> Iterator[tuple[bool, str]]:
        yield (self.metric is None) == (self.regression is None), "either metric or regression"
        if self.regression is None:
            limits = (self.at_least, self.at_most)
            yield limits == (None, None), "at_least or at_most beside metric"
            yield None not in limits, "one of at_least and at_most; two limits are two rules"
            yield self.significance is not None, "significance beside regression only"
            yield self.relative, "relative beside regression only"
        else:
            yield self.at_least is not None, "at_most beside regression: how much worse it may get"
            yield self.at_most is None or self.at_most < 0, "at_most, 0 or more, beside regression"
            yield self.bound != "point", "significance beside regression, and bound beside metric only"


class GateSettings(StrictModel):
    """When the exit code says no. `rules` may be left out: gate files of users are older than they are."""

    min_completion: Share
    exit_on_fail: bool
    fail_on_error: bool
    rules: Annotated[tuple[GateRule, ...], Field(strict=False)] = ()


class ReportSettings(StrictModel):
    """What is written for people; the names of formats are known to the registry of writers.

    All but `formats` and `title` may be left out: report files of users are older than the rest.
    """

    formats: Texts
    title: str | None
    max_trials: Annotated[int, Field(ge=0)] | None = None
    execute: bool = True
    template: str | None = None
    templates: Texts = ()


class PrivacySettings(StrictModel):
    """What must not be stored; the patterns are compiled where they are used."""

    redact: Texts


class PathSettings(StrictModel):
    """Where results go and where shipped files are. Relative paths start at the working directory."""

    output_dir: Annotated[str, Field(min_length=1)]
    store: str | None
    cache: Annotated[str, Field(min_length=1)]
    shipped_examples: str
    shipped_benchmarks: str


SCORERS = "scorers"
PARTS = ("adapter", "model", "judge", "second_judge", "sandbox", SCORERS)
"""Settings whose keys depend on the kind that is chosen."""


class Settings(StrictModel):
    """Everything a run is told."""

    experiment_name: Annotated[str, Field(pattern=r"^\w[\w.-]*$")]
    """One folder name: it may not lead out of the output folder."""
    skill_set: SkillSetSettings
    benchmark: BenchmarkSettings
    adapter: Part
    model: Part
    judge: Part
    second_judge: Part
    pricing: PricingSettings
    budget: BudgetSettings
    scorers: Annotated[dict[str, Part], Field(min_length=1)]
    sandbox: Part
    runner: RunnerSettings
    plan: PlanSettings
    analysis: AnalysisSettings
    gate: GateSettings
    report: ReportSettings
    privacy: PrivacySettings
    paths: PathSettings
