"""The models of a run: the one under test and its judges, with prices and the meter that all of them share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from skilleval.adapters.base import close_all
from skilleval.chat import PROVIDERS
from skilleval.chat.meter import Meter, Role
from skilleval.chat.model import ChatModel
from skilleval.chat.options import Price
from skilleval.chat.pricing import PriceTable
from skilleval.clock import Clock
from skilleval.config.settings import PartSettings, PricingSettings, Settings
from skilleval.domain.hashes import content_hash
from skilleval.errors import SetupError
from skilleval.registry import part
from skilleval.scorers.llm_judge import Judges

NONE, SAME = "none", "same"
_LIMITS = frozenset({"requests_per_minute", "tokens_per_minute", "retries", "price"})
"""Options of a model that say nothing about what it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Who is asked in a run; null where nobody is."""

    subject: ChatModel | None
    judge: ChatModel | None
    second_judge: ChatModel | None
    meter: Meter
    prices: PriceTable
    judge_section: str = "judge"
    """Where the settings of the judge stand: those of one that is the subject's are in `model`."""

    @property
    def asked(self) -> tuple[ChatModel, ...]:
        """All of them that there are, each once."""
        found = (self.subject, self.judge, self.second_judge)
        return tuple(dict.fromkeys(one for one in found if one is not None))

    @property
    def judges(self) -> Judges:
        """Those that judge."""
        return Judges(first=self.judge, second=self.second_judge)

    def check(self) -> None:
        """Check what only a run needs: the keys, and under a budget in money the prices.

        Raises:
            SkillevalError: something is missing.
        """
        if self.subject is not None:
            self.subject.check()
        self.check_judges()

    def check_judges(self) -> None:
        """Check the judges alone, where no skill is called.

        Raises:
            SkillevalError: something is missing.
        """
        for section, one in ((self.judge_section, self.judge), ("second_judge", self.second_judge)):
            if one is not None:
                with _told_of(section):
                    one.check()

    async def aclose(self) -> None:
        """Give back connections."""
        await close_all(self.asked)


@contextmanager
def _told_of(section: str) -> Iterator[None]:
    """Name the settings of a judge where a provider speaks of `model`: it does not know whom it is asked for."""
    try:
        yield
    except SetupError as error:
        problems = tuple(
            replace(
                one,
                key=one.key.replace("model.", f"{section}.", 1),
                hint=one.hint.replace("model.", f"{section}."),
            )
            for one in error.problems
        )
        raise SetupError(error.message, problems=problems, hint=error.hint) from None


def build_models(settings: Settings, *, clock: Clock | None = None) -> Models:
    """Make the models that the settings name.

    Raises:
        ConfigError: an option cannot be used, or there is no such provider.
    """
    prices = price_table(settings.pricing)
    meter = Meter(usd=settings.budget.usd, tokens=settings.budget.tokens)

    def model(key: str, of: PartSettings, role: Role) -> ChatModel | None:
        if of.kind == NONE:
            return None
        kind = part(PROVIDERS, of.kind, key=f"{key}.kind", group="providers")
        options = kind.Options.parse(of.options, where="config", prefix=key)
        return ChatModel(kind(options), options, prices, meter, clock or Clock(), role=role)

    subject, of_judge = model("model", settings.model, Role.SUBJECT), judge_settings(settings)
    is_the_same = subject is not None and of_judge == settings.model
    return Models(
        subject=subject,
        # The very same model keeps its limits for both roles together.
        judge=subject.for_role(Role.JUDGE)
        if subject and is_the_same
        else model("judge", of_judge, Role.JUDGE),
        second_judge=model("second_judge", settings.second_judge, Role.JUDGE),
        meter=meter,
        prices=prices,
        judge_section="model" if settings.judge.kind == SAME else "judge",
    )


def judge_settings(settings: Settings) -> PartSettings:
    """Give the settings of the judge: its own, or those of the subject with another name or parameters."""
    own, subject = settings.judge, settings.model
    if own.kind != SAME or subject.kind == NONE:
        return PartSettings(kind=NONE, options={}) if own.kind == SAME else own
    changes = {name: own.options[name] for name in ("name",) if own.options.get(name)}
    params = {**subject.options.get("params", {}), **own.options.get("params", {})}
    if changes:  # the price of one model says nothing about another one
        changes["price"] = None
    return PartSettings(kind=subject.kind, options={**subject.options, **changes, "params": params})


def price_table(pricing: PricingSettings) -> PriceTable:
    """Give the prices that the settings name."""
    own = {name: Price(**price.model_dump()) for name, price in pricing.overrides.items()}
    return PriceTable(table=pricing.table, overrides=own)


def model_digest(settings: PartSettings) -> str:
    """Hash what decides about a model's answers: where it is asked and how, not how fast or for how much."""
    return content_hash(settings.kind, {k: v for k, v in settings.options.items() if k not in _LIMITS})


def key_variables(settings: Settings) -> Iterator[str]:
    """Name the environment variables that hold keys of models."""
    for one in (settings.model, judge_settings(settings), settings.second_judge):
        if name := one.options.get("api_key_env"):
            yield str(name)


def model_facts(settings: Settings, models: Models) -> dict[str, Any]:
    """Describe the models for the manifest; credentials are named, never held."""

    def told(of: PartSettings) -> Mapping[str, Any] | None:
        return None if of.kind == NONE else {"kind": of.kind, **of.options}

    return {
        "model": told(settings.model),
        "judge": told(judge_settings(settings)),
        "second_judge": told(settings.second_judge),
        "prices": models.prices.version,
    }
