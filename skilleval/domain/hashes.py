"""One JSON text of a value, and hashes of it: what ids and keys are made of."""

from __future__ import annotations

import hashlib
import json


def canonical_json(value: object) -> str:
    """Give the one JSON text of a value: sorted keys, no spaces, NaN refused."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def content_hash(*parts: object) -> str:
    """Hash JSON values into 32 hexadecimal digits (128 bits of SHA-256)."""
    return short_hash(canonical_json(parts))


def short_hash(text: str) -> str:
    """Hash a text into 32 hexadecimal digits (128 bits of SHA-256)."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
