"""What Hydra is taught: found benchmarks and settings files are configs, and a user's `conf/` comes first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hydra.core.config_search_path import ConfigSearchPath, SearchPathQuery
from hydra.core.object_type import ObjectType
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigLoadError, ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf

from skilleval.config.compose.session import Session, current_sources
from skilleval.config.request import Request

PROVIDER = "skilleval"
BENCHMARK = "benchmark"


def register() -> None:
    """Make Hydra use the plugins; doing it again changes nothing."""
    for plugin in (SkillevalSource, UserFolders):
        Plugins.instance().register(plugin)


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


class SkillevalSource(ConfigSource):
    """Serves one config a found benchmark, and the settings files as `user_file` and `project_file`."""

    def __init__(self, provider: str, path: str) -> None:
        super().__init__(provider=provider, path=path)
        self._sources = current_sources()

    @staticmethod
    def scheme() -> str:
        """Give the scheme in Hydra's search path."""
        return "skilleval"

    def available(self) -> bool:
        """Say that the source can always be asked."""
        return True

    def is_group(self, config_path: str) -> bool:
        """Say whether this is the group of benchmarks."""
        return config_path.rstrip("/") in {"", BENCHMARK}

    def is_config(self, config_path: str) -> bool:
        """Say whether this is a settings file or a found benchmark."""
        return self._values(config_path) is not None

    def load_config(self, config_path: str) -> ConfigResult:
        """Give the config."""
        values = self._values(config_path)
        if values is None:
            msg = f"Config not found: {config_path}"
            raise ConfigLoadError(msg)
        config = OmegaConf.create(values)
        return ConfigResult(
            provider=self.provider, path=self.full_path(), config=config, header={"package": None}
        )

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Give the names of found benchmarks; settings files are no options of any group."""
        if config_path.rstrip("/") == BENCHMARK and results_filter is not ObjectType.GROUP:
            return benchmark_names(self._sources.request)
        return [BENCHMARK] if config_path == "" and results_filter is not ObjectType.CONFIG else []

    def file_of(self, config_path: str) -> tuple[str, str]:
        """Give the layer and the file that a config comes from."""
        for layer in self._sources.layers:
            if layer.name == config_path:
                return layer.layer, str(layer.path)
        label, path = benchmark_file(self._sources.request, _option(config_path)) or ("shipped", Path())
        return label, str(path)

    def _values(self, config_path: str) -> dict[str, Any] | None:
        for layer in self._sources.layers:
            if layer.name == config_path.removesuffix(".yaml"):
                return dict(layer.values)
        name = _option(config_path)
        if not name or benchmark_file(self._sources.request, name) is None:
            return None
        return {"defaults": ["named", "_self_"], "name": name}


class UserFolders(SearchPathPlugin):
    """Puts a user's folders of config groups before the shipped one, where Hydra itself would put them after."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Add the folders, and behind all the source of benchmarks and settings files."""
        sources = Session().sources
        if sources is None:
            return  # another program in this process uses Hydra for itself
        for label, folder in sources.request.conf_folders[:-1]:
            search_path.prepend(label, f"file://{folder}", SearchPathQuery(provider="main"))
        search_path.append(PROVIDER, "skilleval://")


def _option(config_path: str) -> str:
    """Give the option's name where the path leads into the group of benchmarks, else ""."""
    group, _, name = config_path.removesuffix(".yaml").partition("/")
    return name if group == BENCHMARK else ""
