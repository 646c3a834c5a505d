"""Asking models: requests, completions, providers. The one way to a model, for subjects and judges alike."""

from __future__ import annotations

from typing import Any

from skilleval.chat.openai_client import OpenAIProvider

PROVIDERS: dict[str, Any] = {"openai": OpenAIProvider}
"""Kind → class with an `Options` model; built as `kind(options)`."""
