from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skilleval.chat.openai_client import OpenAIProvider
from skilleval.chat.openai_options import build_access
from skilleval.domain.attempts import Status
from skilleval.errors import ConfigError, SetupError

Make = Callable[..., Any]


@pytest.mark.parametrize(
    ("options", "environ", "url"),
    [
        ({}, {}, "https://api.openai.com/v1"),
        ({"base_url_env": "TEA_URL"}, {}, "https://api.openai.com/v1"),
        ({"base_url_env": "TEA_URL"}, {"TEA_URL": "http://tea:1/v1"}, "http://tea:1/v1"),
        (
            {"base_url": "http://mine/v1", "base_url_env": "TEA_URL"},
            {"TEA_URL": "http://tea:1/v1"},
            "http://mine/v1",
        ),
    ],
)
def test_an_address_is_found(options: Any, environ: dict[str, str], url: str, make_options: Make) -> None:
    """What is set goes before the environment, and that before the company's own address."""
    assert build_access(make_options(**options), environ).url == url


@pytest.mark.parametrize(
    ("options", "environ", "key", "hint"),
    [
        ({"api_key_env": "TEA_KEY"}, {}, "model.api_key_env", "export TEA_KEY"),
        ({"api_key_env": "TEA_KEY"}, {"TEA_KEY": "  "}, "model.api_key_env", "export TEA_KEY"),
        ({"api_key_env": "TEA_KEY"}, {"TEA_KEY": "sk-“x”"}, "model.api_key_env", "typographic"),
        ({"base_url": "ftp://x"}, {}, "model.base_url", "e.g. http"),
        ({"base_url": "localhost:8000"}, {}, "model.base_url", "e.g. http"),
        ({"base_url": "http://x:99999999/v1"}, {}, "model.base_url", "e.g. http"),
        ({"base_url_env": "U"}, {"U": "nonsense"}, "model.base_url_env", "e.g. http"),
        ({"base_url": "http://me:secret@x/v1"}, {}, "model.base_url", "stored with the run"),
        ({"headers": {"Authorization": "Bearer secret"}}, {}, "model.headers", "stored with the run"),
    ],
)
def test_what_is_missing_is_said_before_the_first_trial(
    options: Any, environ: dict[str, str], key: str, hint: str, make_options: Make
) -> None:
    """An address or key that cannot work is bad usage: the setting and the way out are told, the secret is not."""
    with pytest.raises(SetupError) as caught:
        OpenAIProvider(make_options(**options), environ=environ).check()
    (problem,) = caught.value.problems
    assert (problem.key, caught.value.exit_code) == (key, 2)
    assert hint in problem.hint
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://user:hunter2@tea/v1",
        "http://user:hunter2@tea:99999/v1",
        "http://user:hunter2@[tea/v1",
        "http://user:hunter2\uff20tea/v1",
        "user:hunter2@tea/v1",
        "http:/user:hunter2@tea/v1",
        "http://tea/v1?api_key=hunter2",
        "http://tea:x/v1?api_key=hunter2",
        "http://tea/v1#hunter2",
    ],
)
def test_no_secret_of_an_address_is_told_or_stored(url: str, make_options: Make) -> None:
    """An address with a password or a query is refused, however it is written, and the error does not repeat it."""
    with pytest.raises(SetupError) as raised:
        build_access(make_options(base_url=url), {})
    (problem,) = raised.value.problems
    assert (problem.key, "hunter2" in str(problem)) == ("model.base_url", False)


def test_a_model_that_cannot_be_asked_is_unsupported(make_options: Make) -> None:
    """Asked without a check, the provider reports it as it reports everything."""
    import asyncio

    from skilleval.chat.base import ChatRequest

    provider = OpenAIProvider(make_options(api_key_env="TEA_KEY"), environ={})
    done = asyncio.run(provider.complete(ChatRequest(user="x"), timeout_s=1))
    assert (done.status, done.failure_kind, done.retryable) == (Status.UNSUPPORTED, "not_configured", False)
    assert "TEA_KEY" in (done.message or "")


def test_options_are_strict(make_options: Make) -> None:
    """A misspelt option names the right one."""
    with pytest.raises(ConfigError, match="did you mean base_url"):
        make_options(bass_url="x")


def test_a_key_is_in_no_representation(make_options: Make) -> None:
    """Whatever is logged, the key is not in it."""
    access = build_access(make_options(api_key_env="K"), {"K": "sk-tea"})
    assert access.key == "sk-tea"
    assert "sk-tea" not in repr(access)
