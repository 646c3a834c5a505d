"""Where a model of the OpenAI protocol is asked, and with which key: found out before the first trial."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field

from skilleval.chat.options import ModelOptions
from skilleval.errors import Problem, SetupError

OPENAI_URL = "https://api.openai.com/v1"
STARS = "***"
_EXAMPLE = "e.g. http://127.0.0.1:8000/v1"

SHORTEST_KEY = 6
_OWN_HEADERS = frozenset({"authorization", "api-key", "x-api-key", "cookie", "proxy-authorization"})


class OpenAIOptions(ModelOptions):
    """Options of a model behind the OpenAI protocol; each is explained in `conf/model/openai.yaml`."""

    base_url: str
    base_url_env: str
    api_key_env: str
    seed_param: bool
    system_role: Literal["auto", "system", "user"]
    headers: Mapping[str, str]
    max_output_bytes: Annotated[int, Field(ge=1)]
    max_retry_after_s: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    use_proxy_env: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """An address and the key that opens it; the key is in no representation."""

    url: str
    key: str = field(repr=False)

    @property
    def is_openai(self) -> bool:
        """Is it the company itself, which may be told of organisation and project?"""
        return urlsplit(self.url).hostname == urlsplit(OPENAI_URL).hostname

    def redacted(self, text: str) -> str:
        """Give a text without the key; one that is too short for a key would be found in any word."""
        return text.replace(self.key, STARS) if len(self.key) >= SHORTEST_KEY else text


def build_access(options: OpenAIOptions, environ: Mapping[str, str]) -> Access:
    """Find address and key.

    Raises:
        SetupError: the address cannot be asked, the key is not set, or a credential stands among the headers.
    """
    for name in options.headers:
        if name.lower() in _OWN_HEADERS:
            hint = "use model.api_key_env: headers are stored with the run"
            raise _refusal("headers", "headers without credentials", name, hint)
    return Access(url=_address(options, environ), key=_key(options, environ))


def _address(options: OpenAIOptions, environ: Mapping[str, str]) -> str:
    given = environ.get(options.base_url_env, "").strip() if options.base_url_env else ""
    url = options.base_url or given or OPENAI_URL
    where = "base_url" if options.base_url or not given else "base_url_env"
    try:
        parts = urlsplit(url)
        is_sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise _refusal(where, "an address", _shown(url), _EXAMPLE) from None
    if parts.username or parts.password:
        hint = "use model.api_key_env: the address is stored with the run"
        raise _refusal(where, "an address without credentials", f"{parts.scheme}://{STARS}", hint)
    if not is_sound:
        raise _refusal(where, "an http or https address", _shown(url), _EXAMPLE)
    if parts.query or parts.fragment:  # the path of each request goes behind the address
        hint = "use model.api_key_env for a key, and model.headers for what else an endpoint asks for"
        found = f"{parts.scheme}://{parts.netloc}{parts.path}?{STARS}"
        raise _refusal(where, "an address without ? and #", found, hint)
    return url


def _shown(url: str) -> str:
    """Give an address that cannot be used, without what may be secret in it: a password, a query."""
    return STARS if "@" in unicodedata.normalize("NFKC", url) else url.partition("?")[0]


def _key(options: OpenAIOptions, environ: Mapping[str, str]) -> str:
    name = options.api_key_env
    if not name:
        return ""
    key = environ.get(name, "").strip()
    if not key:
        hint = f"export {name}=…, or name another variable; model.api_key_env='' where no key is needed"
        raise _refusal("api_key_env", f"a key in the environment variable {name}", "none", hint)
    if not (key.isascii() and key.isprintable()):
        hint = f"look for line breaks and typographic characters in {name}"
        raise _refusal("api_key_env", "a key of ASCII characters", "others in it", hint)
    return key


def _refusal(key: str, expected: str, found: str, hint: str) -> SetupError:
    problem = Problem(where="config", key=f"model.{key}", expected=expected, found=found, hint=hint)
    return SetupError("the model cannot be asked", problems=(problem,))
