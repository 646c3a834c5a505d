"""What `docs/config.md` shows works as it stands there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from skilleval.config.compose import Composed
from skilleval.config.request import Request

Compose = Callable[..., Composed]

_DOCS = (Path(__file__).parents[2] / "docs" / "config.md").read_text(encoding="utf-8")
_WRITING = _DOCS[_DOCS.index("## Writing") : _DOCS.index("## Sweeps")]
_BLOCKS = re.findall(r"```yaml\n(.*?)```", _DOCS, re.DOTALL)


def test_the_settings_file_of_the_docs_says_what_it_shows(project: Path, composing: Compose) -> None:
    """The example chooses two scorers and a preset, and sets values beside them."""
    (text,) = (block for block in _BLOCKS if block.startswith("defaults:"))
    (project / "skilleval.yaml").write_text(text)
    settings = composing().settings
    assert list(settings.scorers) == ["exact", "contains"]
    assert (settings.analysis.preset, settings.runner.repeats) == ("eval_skills", 5)
    assert settings.scorers["exact"].options["strip"] is False


def test_the_scorer_of_the_docs_is_a_second_scorer(project: Path, composing: Compose) -> None:
    """The example file stands beside the shipped scorer."""
    (text,) = (block for block in _BLOCKS if block.startswith("# @package"))
    path = project / "conf" / "scorer" / "exact_folded.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert list(composing("scorer=[exact,exact_folded]").settings.scorers) == ["exact", "exact_folded"]


def test_the_docs_name_every_group(project: Path) -> None:
    """A new group is written down."""
    (listed,) = re.findall(r"Groups are\s(.*?)\. Every", _DOCS, re.DOTALL)
    assert set(re.findall(r"`(\w+)`", listed)) == Request(project=project).groups - {"hydra"}


@pytest.mark.parametrize("override", re.findall(r"\| `[\"']?([\w.+]+=[^|`]*?)[\"']?` \|", _WRITING))
def test_the_overrides_of_the_docs_compose(composing: Compose, override: str) -> None:
    """Each line of the table is an override as it stands there, without the quotes for the shell."""
    assert composing(override, skills=not override.startswith("+experiment")).overrides[-1] == override


def test_there_are_overrides_to_try() -> None:
    """The table is found."""
    assert len(re.findall(r"\| `[\"']?([\w.+]+=[^|`]*?)[\"']?` \|", _WRITING)) >= 7
