"""Command lines as our users write them: several values behind one option, and Hydra overrides at any place.

The values of a many-valued option run until a token that starts with `-` or looks like `key=value`; repeating the
option and commas work too: `--format json markdown`, `--format json,markdown`, `--format json --format markdown`.
"""

from __future__ import annotations

import functools
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from skilleval.cli.console import Screen, forget_stdout
from skilleval.errors import InterruptionsKept, SkillevalError, UnforeseenError

log = logging.getLogger(__name__)

_OVERRIDE = re.compile(r"(?:\+{0,2}[A-Za-z_][\w./@-]*=|~[A-Za-z_])")


def is_override(token: str) -> bool:
    """Say whether a token is a Hydra override, e.g. `runner.repeats=3`, `+experiment=demo`, `~gate`."""
    return _OVERRIDE.match(token) is not None


class Many(click.Option):
    """An option that takes one or more values. Commas separate, unless the whole text is an existing path."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("multiple", True)
        super().__init__(*args, **kwargs)

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Split commas, then convert each value."""
        if value is None:
            return ()
        split = [one for text in value for one in _split(str(text))]
        return super().type_cast_value(ctx, split)


def _split(text: str) -> list[str]:
    if "," not in text or os.path.lexists(text):
        return [text]
    return [one for one in text.split(",") if one]


class Command(click.Command):
    """A command whose `Many` options may be followed by several values, with an example in its help."""

    def __init__(self, *args: Any, example: str = "", **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", {"help_option_names": ["-h", "--help"]})
        super().__init__(*args, **kwargs)
        self.example = example

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat a many-valued option before each of its values, then parse as usual."""
        many = {name for option in self.params if isinstance(option, Many) for name in option.opts}
        return super().parse_args(ctx, list(_repeated(args, many)))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the example, unwrapped."""
        if self.example:
            with formatter.section("Example"):
                formatter.write("".join(f"  {line}\n" for line in self.example.strip().splitlines()))
        super().format_epilog(ctx, formatter)


def _repeated(args: Sequence[str], many: set[str]) -> Iterator[str]:
    """Put the option's name before each further value: `--format a b` becomes `--format a --format b`."""
    option = ""  # the many-valued option whose values we are among
    has_value = False
    for word in args:
        if word.startswith("-") and word != "-":
            name, _, value = word.partition("=")
            option = name if name in many else ""
            has_value = bool(value)
        elif option and has_value:
            if is_override(word):
                option = ""
            else:
                yield option
        has_value = has_value or not word.startswith("-")
        yield word


def overrides_and_words(tokens: Iterable[str]) -> tuple[list[str], list[str]]:
    """Part positional arguments into Hydra overrides and plain words."""
    overrides: list[str] = []
    words: list[str] = []
    for token in tokens:
        (overrides if is_override(token) else words).append(token)
    return overrides, words


_COMMON = (
    click.option(
        "-c",
        "--config",
        "config_file",
        metavar="FILE",
        help="Use this project file instead of skilleval.yaml.",
    ),
    click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document on stdout and nothing else."
    ),
    click.option("--no-color", is_flag=True, help="Do not colour the output."),
    click.option("-v", "--verbose", is_flag=True, help="Say on stderr what is being done."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """The options that every command shares."""

    config_file: Path | None
    screen: Screen


def common_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the shared options; said before the command or after it, they mean the same."""

    @functools.wraps(function)
    def wrapper(
        *args: Any, config_file: str | None, as_json: bool, no_color: bool, verbose: bool, **kwargs: Any
    ) -> Any:
        ctx = click.get_current_context()
        outer: dict[str, Any] = ctx.ensure_object(dict)
        outer["config_file"] = config_file or outer.get("config_file")
        for key, value in (("as_json", as_json), ("no_color", no_color), ("verbose", verbose)):
            outer[key] = value or outer.get(key, False)
        if isinstance(ctx.command, click.Group):
            return function(*args, **kwargs)
        common = _common(outer)
        return _guarded(common, functools.partial(function, common, *args, **kwargs))

    for option in reversed(_COMMON):
        wrapper = option(wrapper)
    return wrapper


def _guarded(common: Common, command: Callable[[], Any]) -> Any:
    """Run a command; whatever goes wrong is told as was asked for, and gives a documented exit code."""
    try:
        with InterruptionsKept():
            return command()
    except SkillevalError as error:
        told = error
    except BrokenPipeError:  # the reader of what Hydra prints has gone
        return forget_stdout()
    except (click.exceptions.Exit, click.ClickException, click.Abort):
        raise
    except Exception as error:  # noqa: BLE001 - the last door: no traceback reaches a user, and no wrong exit code
        told = _unforeseen(error)
    common.screen.error(told)
    return click.get_current_context().exit(told.exit_code)


def _unforeseen(error: Exception) -> UnforeseenError:
    """Tell of a mistake that is ours; the traceback is there for who asks."""
    log.info("traceback", exc_info=error)
    hint = "this is a fault of skilleval; run again with -v for the place, and report it"
    return UnforeseenError(f"{type(error).__name__}: {error}", hint=hint)


def _common(values: dict[str, Any]) -> Common:
    color = not values["no_color"] and "NO_COLOR" not in os.environ
    screen = Screen(json=values["as_json"], color=color, verbose=values["verbose"])
    screen.configure_logging()
    return Common(config_file=Path(values["config_file"]) if values["config_file"] else None, screen=screen)
