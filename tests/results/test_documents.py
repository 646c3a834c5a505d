"""Documents at the top of a folder of results are read, or it is said why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from skilleval.errors import ResultsError
from skilleval.results.documents import DocumentKind

KIND = DocumentKind(name="tea.json", noun="recipe", of="tea", needed=("leaf", "water"))


def test_a_whole_document_is_read(tmp_path: Path) -> None:
    """Keys that are not needed are given too."""
    (tmp_path / "tea.json").write_text('{"leaf": 1, "water": null, "cup": 2}')
    assert KIND.read(tmp_path) == {"leaf": 1, "water": None, "cup": 2}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "is no tea: it has no tea.json"),
        ("{", "tea.json cannot be read"),
        ("[" * 200_000, "tea.json cannot be read: it is nested too deeply"),
        ('{"leaf": 1}', "tea.json is no recipe of a tea: it lacks water"),
        ("[]", "it lacks leaf, water"),
    ],
)
def test_what_is_no_document_is_refused(tmp_path: Path, text: str | None, said: str) -> None:
    """The file and what is wrong with it are named, be it absent, damaged, too deep or of another kind."""
    if text is not None:
        (tmp_path / "tea.json").write_text(text)
    with pytest.raises(ResultsError, match=said):
        KIND.read(tmp_path)
