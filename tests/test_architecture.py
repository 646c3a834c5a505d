"""The house rules, checked by reading the imports of every module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "skilleval"

# What of ours a package or module may import, besides itself. The order is that of the data flow.
FOUNDATION = {"errors", "domain", "strict", "clock"}
MAY_IMPORT = {
    "": {"api"},
    "api": {"app", "errors"},
    "errors": set(),
    "domain": {"errors"},
    "strict": {"errors"},
    "clock": set(),
    "registry": {"errors", "strict"},
    "provenance": {""},
    "outcome": {"domain"},
    "config": {"errors", "strict"},
    "catalog": {"errors", "domain", "strict"},
    "plan": FOUNDATION,
    "sharding": FOUNDATION,
    "sandboxes": FOUNDATION - {"domain"},
    "chat": FOUNDATION,
    "adapters": FOUNDATION | {"sandboxes.base", "sandboxes.doors", "sandboxes.programs", "chat"},
    "scorers": FOUNDATION | {"sandboxes.base", "chat.base"},
    "runner": FOUNDATION | {"adapters.base"},
    "results": FOUNDATION | {"sharding"},
    "analytics": FOUNDATION | {"results.schema"},
    "figures": {"errors"},
    "report": {"errors", "figures"},
    "serving": {"errors", "app", "report"},
}
EVERYTHING = {"app", "cli", "__main__"}

# Which module may open which library.
DOORS = {
    "hydra": {"cli", "config.compose"},
    "omegaconf": {"config.compose"},
    "docker": {"sandboxes.docker"},
    "openai": {"chat.openai_client"},
    "genai_prices": {"chat.pricing"},
    "httpx2": {"adapters.mcp", "chat.openai_client"},
    "langchain_core": {"adapters.langchain_child"},
    "openapi_pydantic": {"catalog.openapi"},
    "httpx": {"adapters.http"},
    "mcp": {"adapters.mcp"},
    "jsonschema": {"catalog", "scorers.json_schema"},
    "pandera": {"results.schema"},
    "pyarrow": {"results.store"},
    "s3fs": {"results.places.bucket"},
    "botocore": {"results.places.bucket"},
    "fsspec": {"results.places.bucket"},
    "altair": {"figures", "report"},
    "vl_convert": {"figures", "report"},
    "nbformat": {"report.notebook"},
    "nbclient": {"app.kernel"},
    "jupyter_client": {"app.kernel"},
    "rich": {"cli", "report.terminal", "report.comparison"},
    "click": {"cli"},
    "yaml": {"config.compose", "config.settings_text", "catalog.yaml_text"},
    "jinja2": {"report"},
    "scipy": {"analytics"},
    "starlette": {"serving"},
    "uvicorn": {"serving"},
    "polars": {"analytics", "results", "figures", "report", "app"},
    "msgspec": {"results.journal"},
    "rapidfuzz": {"catalog.find"},
    "regex": {"scorers.patterns", "scorers.compat"},
}

# Modules that must not be loaded by `--help`, `--version`, completion and argument errors.
HEAVY = (
    "polars",
    "pyarrow",
    "altair",
    "openai",
    "pandera",
    "scipy",
    "pydantic",
    "hydra",
    "omegaconf",
    "rich",
    "jsonschema",
    "nbformat",
)


def modules() -> list[str]:
    """Name every module of the package, e.g. `results.store`."""
    paths = (path.relative_to(PACKAGE).with_suffix("") for path in PACKAGE.rglob("*.py"))
    return sorted(".".join(path.parts).removesuffix("__init__").removesuffix(".") for path in paths)


def source(module: str) -> Path:
    """Give the file of a module."""
    path = PACKAGE.joinpath(*module.split(".")) if module else PACKAGE
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def imports(module: str) -> Iterator[str]:
    """Give every module that is imported anywhere in a module, also inside functions."""
    for node in ast.walk(ast.parse(source(module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{module}: relative import"
            yield node.module
            if node.module == "skilleval":
                yield from (f"skilleval.{alias.name}" for alias in node.names)


def own_imports(module: str) -> set[str]:
    """Give the imported modules of ours, without the leading `skilleval.`."""
    found = (name.removeprefix("skilleval").removeprefix(".") for name in imports(module) if is_ours(name))
    return {
        name
        for name in found
        if (PACKAGE / name.replace(".", "/")).with_suffix(".py").exists() or is_package(name)
    }


def is_ours(name: str) -> bool:
    """Say whether a module is ours."""
    return name == "skilleval" or name.startswith("skilleval.")


def is_package(name: str) -> bool:
    """Say whether a name of ours is a package."""
    return (PACKAGE / name.replace(".", "/") / "__init__.py").exists()


def within(name: str, rooms: set[str]) -> bool:
    """Say whether a module is one of the rooms or inside one."""
    return any(name == room or (room and name.startswith(f"{room}.")) for room in rooms)


@pytest.mark.parametrize("module", modules())
def test_arrows_run_one_way(module: str) -> None:
    """A module imports only what the table allows for its room."""
    room = module.split(".", maxsplit=1)[0]
    if room in EVERYTHING:
        return
    allowed = MAY_IMPORT[room] | {room}
    strangers = {name for name in own_imports(module) if not within(name, allowed)}
    assert not strangers, f"{module} may not import {sorted(strangers)}"


@pytest.mark.parametrize("module", modules())
def test_each_library_has_one_door(module: str) -> None:
    """A library is imported only where the table says."""
    opened = {name.split(".", maxsplit=1)[0] for name in imports(module)} & DOORS.keys()
    wrong = {name for name in opened if not within(module, DOORS[name])}
    assert not wrong, f"{module} may not import {sorted(wrong)}"


@pytest.mark.parametrize("registry", ["adapters", "sandboxes", "scorers"])
def test_only_the_composition_root_reads_registries(registry: str) -> None:
    """No module outside `app` imports the package that holds a registry by its own name."""
    readers = {
        module
        for module in modules()
        if registry in own_imports(module) and module.split(".", maxsplit=1)[0] not in {"app", registry}
    }
    assert not readers


@pytest.mark.parametrize("module", modules())
def test_the_sizes_of_the_house(module: str) -> None:
    """A function has at most 60 lines, a module at most 400."""
    text = source(module).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= 60, f"{module}.{node.name} has {length} lines"


def test_only_two_places_catch_everything() -> None:
    """`except Exception` stands around a trial, and at the last door of the command line."""
    broad = [
        module
        for module in modules()
        for node in ast.walk(ast.parse(source(module).read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler)
        and (
            node.type is None
            or (isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"})
        )
    ]
    assert broad == ["cli.arguments", "runner"]


def test_module_names_say_what_they_hold() -> None:
    """No drawer for odds and ends."""
    banned = {"utils", "helpers", "manager", "handler", "common", "misc"}
    assert not banned & {part for module in modules() for part in module.split(".")}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["eval", "--help"], ["--version"], ["eval", "--runs", "x"], ["nonsense"]]
)
def test_help_and_argument_errors_load_nothing_heavy(arguments: list[str]) -> None:
    """What must be instant imports neither Polars nor anything like it."""
    import json
    import subprocess
    import sys

    program = (
        "import json, sys\n"
        f"sys.argv = ['skilleval', *{arguments!r}]\n"
        "from skilleval.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "print('\\n' + json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert "click" in loaded
    assert not set(HEAVY) & set(loaded)
