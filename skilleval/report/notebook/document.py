"""Cells as the text of a notebook, and back: the same cells give the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from skilleval.report.notebook.template import Cell

_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_LANGUAGE = {
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "pygments_lexer": "ipython3",
}


def notebook_text(cells: Iterable[Cell], *, about: Mapping[str, Any]) -> str:
    """Give the text of a notebook that was not executed; `about` goes into its metadata, which nothing shows."""
    library = _library()
    built = [_node(library.v4, cell) for cell in cells]
    metadata = {"kernelspec": _KERNEL, "language_info": _LANGUAGE, "skilleval": dict(about)}
    node = library.v4.new_notebook(cells=built, metadata=metadata)
    library.validate(node)
    return text_of(node)


def _library() -> Any:
    """Load the library of the format, which has no types."""
    import nbformat

    return nbformat


def _node(v4: Any, cell: Cell) -> Any:
    new = v4.new_markdown_cell if cell.is_text else v4.new_code_cell
    metadata = {"tags": list(cell.tags)} if cell.tags else {}
    return new(cell.source, id=cell.id, metadata=metadata)


def read_notebook(text: str) -> Any:
    """Read the nodes of a notebook that was written here."""
    return _library().reads(text, as_version=4)


def text_of(node: Any) -> str:
    """Give the text of a notebook; what executing adds and what differs between machines is left out."""
    node.metadata["language_info"] = _LANGUAGE
    for cell in node.cells:
        cell.metadata.pop("execution", None)
    # Not checked here: which outputs cells of users give is between them and what shows them.
    text: str = _library().v4.writes(node)
    return text if text.endswith("\n") else f"{text}\n"
