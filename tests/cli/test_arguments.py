"""Several values behind one option, overrides at any place."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from skilleval.cli.arguments import Command, Many, is_override, overrides_and_words


@click.command(cls=Command, example="tool --many a b")
@click.argument("words", nargs=-1)
@click.option("--many", cls=Many)
@click.option("--other")
@click.option("--flag", is_flag=True)
def tool(words: tuple[str, ...], many: tuple[str, ...], other: str | None, *, flag: bool) -> None:
    """Print what was understood."""
    click.echo(f"{list(many)} {other} {flag} {list(words)}")


@pytest.mark.parametrize(
    ("arguments", "understood"),
    [
        ("--many a b", "['a', 'b'] None False []"),
        ("--many a,b --many c", "['a', 'b', 'c'] None False []"),
        ("--many=a b", "['a', 'b'] None False []"),
        ("--many a b --flag", "['a', 'b'] None True []"),
        ("--many a b key=1 c", "['a', 'b'] None False ['key=1', 'c']"),
        ("--many a b +x=1 ~y", "['a', 'b'] None False ['+x=1', '~y']"),
        ("--other o --many a", "['a'] o False []"),
        ("--many a --other o b", "['a'] o False ['b']"),
        ("w --many a - b", "['a', '-', 'b'] None False ['w']"),
        ("--many ./a=b c", "['./a=b', 'c'] None False []"),
        ("--many x=1 y", "['x=1', 'y'] None False []"),
        ("key=1 --flag", "[] None True ['key=1']"),
        ("", "[] None False []"),
    ],
)
def test_values_run_until_an_option_or_an_override(arguments: str, understood: str) -> None:
    """The first value is taken as it is; then an override or an option ends the list."""
    result = CliRunner().invoke(tool, arguments.split())
    assert result.output.strip() == understood


def test_an_option_without_a_value_is_an_error() -> None:
    """--many needs at least one value."""
    assert CliRunner().invoke(tool, ["--many"]).exit_code == 2


def test_a_path_with_a_comma_stays_whole(tmp_path: Path) -> None:
    """Commas separate values unless the whole is an existing path."""
    path = tmp_path / "a,b"
    path.mkdir()
    assert CliRunner().invoke(tool, ["--many", str(path)]).output.startswith(f"['{path}']")


def test_help_shows_an_example() -> None:
    """Every command's help ends with an example that is not re-wrapped."""
    assert "Example:\n  tool --many a b\n" in CliRunner().invoke(tool, ["--help"]).output


@pytest.mark.parametrize(
    ("token", "override"),
    [
        ("a=1", True),
        ("a.b=1", True),
        ("+a=1", True),
        ("++a.b=1", True),
        ("~a", True),
        ("group@pkg=x", True),
        ("hydra/launcher=joblib", True),
        ("./a=1", False),
        ("/a=1", False),
        ("skill", False),
        ("~/skill", False),
        ("=1", False),
    ],
)
def test_overrides_are_told_from_paths(token: str, override: bool) -> None:
    """KEY=VALUE, +KEY=VALUE and ~KEY are overrides; paths are not."""
    assert is_override(token) is override
    assert overrides_and_words([token]) == (([token], []) if override else ([], [token]))
