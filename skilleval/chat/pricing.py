"""What completions cost: the model's own price, else an override, else a dated table; unknown is never 0."""

from __future__ import annotations

import math
from collections.abc import Mapping

from skilleval.chat.options import Price
from skilleval.domain.attempts import Usage

_PER = 1_000_000
_PROBE = Usage(input_tokens=1, output_tokens=1)


class PriceTable:
    """Prices in USD. The table `genai_prices` is that of the installed package: nothing is ever fetched."""

    def __init__(self, *, table: str, overrides: Mapping[str, Price]) -> None:
        self._table = table
        self._overrides = dict(overrides)

    @property
    def version(self) -> str:
        """Which table is asked, for the manifest, e.g. `genai-prices 0.0.79`."""
        if self._table == "none":
            return "none"
        from importlib.metadata import version

        return f"genai-prices {version('genai-prices')}"

    def cost_usd(
        self, model: str, endpoint: str | None, usage: Usage, *, own: Price | None = None
    ) -> float | None:
        """Give the cost of a call; null where the price or a count of tokens is not known.

        `endpoint` is where the model is asked: prices depend on who serves it. Without one the name alone decides.
        """
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        price = own or self._overrides.get(model)
        if price is not None:
            return _cost_usd(price, usage.input_tokens, usage.output_tokens, usage.cached_tokens or 0)
        return _table_cost_usd(model, endpoint, usage) if self._table == "genai_prices" else None

    def known(self, model: str, endpoint: str | None = None, *, own: Price | None = None) -> bool:
        """Say whether calls of a model have a price. This loads the table, which takes a moment."""
        return self.cost_usd(model, endpoint, _PROBE, own=own) is not None


def _cost_usd(price: Price, n_input: int, n_output: int, n_cached: int) -> float:
    cached = price.input if price.cached_input is None else price.cached_input
    return ((n_input - n_cached) * price.input + n_cached * cached + n_output * price.output) / _PER


def _table_cost_usd(model: str, endpoint: str | None, usage: Usage) -> float | None:
    from genai_prices import Usage as Counts
    from genai_prices import calc_price

    counts = Counts(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens or 0,
    )
    try:
        found = calc_price(counts, model, provider_api_url=endpoint)
    except (LookupError, ValueError):  # nobody there has such a model; counts that contradict each other
        return None
    price = found.model_price
    if getattr(price, "input_mtok", None) is None or getattr(price, "output_mtok", None) is None:
        return None
    cost = float(found.total_price)
    return cost if math.isfinite(cost) else None
