"""Found benchmarks as options of a group: no config file has to be written for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skilleval.config.request import BENCHMARK, Request


def benchmark_file(request: Request, name: str) -> tuple[str, Path] | None:
    """Give the file of a found benchmark and what its folder is called; the project's own comes first."""
    if not name or "/" in name or name.startswith("."):
        return None
    for label, folder in request.benchmark_folders:
        for path in (folder / name / "benchmark.json", folder / f"{name}.json"):
            if path.is_file():
                return label, path
    return None


def benchmark_names(request: Request) -> list[str]:
    """Give the names of all found benchmarks: the folder's, or the file's without `.json`."""
    folders = [folder for _, folder in request.benchmark_folders]
    nested = {path.parent.name for folder in folders for path in folder.glob("*/benchmark.json")}
    flat = {path.stem for folder in folders for path in folder.glob("*.json")}
    return sorted(nested | flat)


def benchmark_name(config_path: str) -> str:
    """Give the option's name where the path of a config leads into the group of benchmarks, else ""."""
    group, _, name = config_path.removesuffix(".yaml").partition("/")
    return name if group == BENCHMARK else ""


def benchmark_values(request: Request, config_path: str) -> dict[str, Any] | None:
    """Give the config of a found benchmark."""
    name = benchmark_name(config_path)
    if benchmark_file(request, name) is None:
        return None
    return {"defaults": ["named", "_self_"], "name": name}
