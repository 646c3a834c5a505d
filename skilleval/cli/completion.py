"""What the shell offers when a user presses Tab: read from folder names and plain lines, so that it is instant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from skilleval.config.shipped import shipped
from skilleval.report import WRITERS

_KEY = re.compile(r"^(\w+):[^#]*(?:#\s*(.*))?$", re.MULTILINE)


def words(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer groups, options of a group, and settings; files for whatever looks like a path or like nothing else."""
    if incomplete.startswith((".", "/", "~")):
        return [CompletionItem(incomplete, type="file")]
    group, equals, _ = incomplete.partition("=")
    offered = _choices(group) if equals else [*_groups(), *_settings()]
    found = [item for item in offered if item.value.startswith(incomplete)]
    return found if found and incomplete else [CompletionItem(incomplete, type="file")]


def formats(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the report formats."""
    return [CompletionItem(name) for name in WRITERS if name.startswith(incomplete)]


def benchmarks(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the ids of shipped and own benchmarks, else files."""
    found = [CompletionItem(name) for name in _benchmark_ids() if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


def stored_runs(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer `latest` and the ids of stored runs, newest first, else files."""
    ids = sorted({path.parent.name for path in Path("outputs").glob("*/*/manifest.json")}, reverse=True)
    found = [CompletionItem(name) for name in ("latest", *ids) if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


def _folders() -> list[Path]:
    return [folder for folder in (Path("conf"), shipped("conf")) if folder.is_dir()]


def _groups() -> Iterator[CompletionItem]:
    names = {path.name for folder in _folders() for path in folder.iterdir() if path.is_dir()} - {"hydra"}
    yield from (CompletionItem(f"{name}=", help="choose an option of this group") for name in sorted(names))


def _choices(group: str) -> list[CompletionItem]:
    if group == "benchmark":
        return [CompletionItem(f"{group}={name}") for name in _benchmark_ids()]
    names = {path.stem for folder in _folders() for path in (folder / group).glob("*.yaml")}
    return [CompletionItem(f"{group}={name}") for name in sorted(names)]


def _settings() -> Iterator[CompletionItem]:
    for path in sorted(shipped("conf").glob("*/default.yaml")):
        if path.parent.name != "hydra":
            for key, doc in _KEY.findall(path.read_text(encoding="utf-8")):
                yield CompletionItem(f"{path.parent.name}.{key}=", help=doc)


def _benchmark_ids() -> list[str]:
    roots = (Path("benchmarks"), shipped("benchmarks"))
    return sorted({path.parent.name for root in roots for path in root.glob("*/benchmark.json")})
