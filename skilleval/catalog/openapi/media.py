"""The media types of OpenAPI contents: which of them are JSON, and the schemas that stand there."""

from __future__ import annotations

from openapi_pydantic.v3.v3_1 import MediaType

from skilleval.catalog.openapi.document import ApiDocument, Node

JSON = "application/json"

_ALSO_JSON = frozenset({JSON, "text/json", "application/*", "*/*"})
_ASIDE = ("schema", "encoding", "example", "examples")


def json_media(document: ApiDocument, content: Node) -> tuple[str, Node] | None:
    """Give the plainest media type of a content that is JSON, and what is said of it; null where none is.

    Raises:
        CatalogError: the document is malformed at this point.
    """
    kinds = [str(node.place[-1]) for node in document.members(content)]
    found = sorted(filter(is_json, kinds), key=lambda kind: _plain(kind) != JSON)
    if not found:
        return None
    media = content.child(found[0])
    document.read(MediaType, media, without=_ASIDE)
    return JSON if "*" in found[0] else found[0], media


def is_json(kind: str) -> bool:
    """Say whether a media type, or what stands for any, is JSON."""
    plain = _plain(kind)
    return plain in _ALSO_JSON or (plain.startswith("application/") and plain.endswith("+json"))


def listed(content: Node) -> str:
    """Name the media types of a content."""
    return " or ".join(content.value or ("nothing",))


def _plain(kind: str) -> str:
    return kind.partition(";")[0].strip().lower()
