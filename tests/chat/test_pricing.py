from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pytest

from skilleval.chat.options import Price
from skilleval.chat.pricing import PriceTable
from skilleval.domain.attempts import Usage

OPENAI = "https://api.openai.com/v1"
LOCAL = "http://127.0.0.1:8377/v1"
TABLE = PriceTable(table="genai_prices", overrides={})


def _price(**changes: Any) -> Price:
    return Price(**({"input": 0.5, "output": 1.5} | changes))


def _usage(n_input: int | None = 1000, n_output: int | None = 100, cached: int | None = None) -> Usage:
    return Usage(input_tokens=n_input, output_tokens=n_output, cached_tokens=cached)


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        (_usage(), (1000 * 0.15 + 100 * 0.6) / 1e6),
        (_usage(cached=400), (600 * 0.15 + 400 * 0.075 + 100 * 0.6) / 1e6),
        (_usage(0, 0), 0.0),
    ],
)
def test_the_table_knows_cached_tokens(usage: Usage, usd: float) -> None:
    """gpt-4o-mini costs 0.15, cached 0.075, and 0.6 a million out."""
    assert TABLE.cost_usd("gpt-4o-mini", OPENAI, usage) == pytest.approx(usd)


@pytest.mark.parametrize(
    ("model", "endpoint"),
    [
        ("no-such-model", OPENAI),
        ("no-such-model", None),
        ("gpt-4o-mini", LOCAL),
        ("gpt-surely-not", OPENAI),
    ],
)
def test_an_unknown_price_is_null(model: str, endpoint: str | None) -> None:
    """Never 0: not for a model that nobody knows, nor for one where nobody knows who serves it."""
    assert TABLE.cost_usd(model, endpoint, _usage()) is None
    assert not TABLE.known(model, endpoint)


@pytest.mark.parametrize(
    "usage", [_usage(None), _usage(n_output=None), _usage(None, None), _usage(10, 1, 40)]
)
def test_counts_that_are_not_known_have_no_cost(usage: Usage) -> None:
    """Half of the tokens is not half of the cost; counts that contradict each other are none."""
    assert TABLE.cost_usd("gpt-4o-mini", OPENAI, usage) is None


def test_a_name_alone_is_enough_where_no_address_is_known() -> None:
    """A provider from Python need not say where it asks."""
    assert TABLE.known("gpt-4o-mini")
    assert TABLE.known("gpt-4o-mini", OPENAI)


def test_the_models_own_price_goes_first() -> None:
    """Own price, then override, then table; whatever the table knows."""
    table = PriceTable(table="genai_prices", overrides={"gpt-4o-mini": _price(input=2.0)})
    assert table.cost_usd("gpt-4o-mini", OPENAI, _usage()) == pytest.approx((2000 + 150) / 1e6)
    own = _price(input=0.0, output=0.0)
    assert table.cost_usd("gpt-4o-mini", OPENAI, _usage(), own=own) == 0.0


@pytest.mark.parametrize(("cached_input", "usd"), [(0.05, 0.0005 + 0.000001), (None, 0.00051)])
def test_cached_tokens_cost_what_is_said_or_as_much_as_others(cached_input: float | None, usd: float) -> None:
    """Null says nothing of a rebate."""
    price = _price(output=0.0, cached_input=cached_input)
    usage = _usage(1020, 5, 20)
    assert TABLE.cost_usd("m", LOCAL, usage, own=price) == pytest.approx(usd)


def test_without_a_table_only_what_is_given_is_known() -> None:
    """`table: none` asks nobody."""
    table = PriceTable(table="none", overrides={"mine": _price()})
    assert table.known("mine", LOCAL)
    assert not table.known("gpt-4o-mini", OPENAI)
    assert table.version == "none"


def test_the_table_has_a_version() -> None:
    """The manifest can say which prices were asked."""
    assert TABLE.version == f"genai-prices {version('genai-prices')}"
