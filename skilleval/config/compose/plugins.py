"""What Hydra is taught: benchmarks and settings files are configs, and a user's `conf/` comes first and extends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hydra.core.config_search_path import ConfigSearchPath, SearchPathQuery
from hydra.core.object_type import ObjectType
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigLoadError, ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf

from skilleval.config.compose.benchmarks import (
    benchmark_file,
    benchmark_name,
    benchmark_names,
    benchmark_values,
)
from skilleval.config.compose.extending import SCHEME, ConfFolder
from skilleval.config.compose.session import Session, current_sources
from skilleval.config.request import BENCHMARK

PROVIDER = "skilleval"
PLANNED = "hydra_plugins.skilleval.PlannedSweeper"
ADAPTIVE = "hydra_plugins.skilleval.OptunaSweeper"


def register() -> None:
    """Make Hydra use the plugins; doing it again changes nothing."""
    # Jobs compose, and composing needs the sources below.
    from skilleval.config.compose.optuna_sweeper import OptunaSweeper
    from skilleval.config.compose.sweepers import PlannedSweeper

    plugins = Plugins.instance()
    for plugin in (SkillevalSource, ConfFolder, UserFolders):
        plugins.register(plugin)
    # Hydra takes launchers and sweepers by a name below `hydra_plugins` only; the class is looked up, not imported.
    plugins.class_name_to_class[PLANNED] = PlannedSweeper
    plugins.class_name_to_class[ADAPTIVE] = OptunaSweeper


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
        label, path = benchmark_file(self._sources.request, benchmark_name(config_path)) or (
            "shipped",
            Path(),
        )
        return label, str(path)

    def _values(self, config_path: str) -> dict[str, Any] | None:
        for layer in self._sources.layers:
            if layer.name == config_path.removesuffix(".yaml"):
                return dict(layer.values)
        return benchmark_values(self._sources.request, config_path)


class UserFolders(SearchPathPlugin):
    """Puts a user's folders of config groups before the shipped one, where Hydra itself would put them after."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Add the folders, and behind all the source of benchmarks and settings files."""
        sources = Session().sources
        if sources is None:
            return  # another program in this process uses Hydra for itself
        for label, folder in sources.request.conf_folders[:-1]:
            search_path.prepend(label, f"{SCHEME}://{folder}", SearchPathQuery(provider="main"))
        search_path.append(PROVIDER, "skilleval://")
