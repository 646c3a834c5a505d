"""A user's folder of config groups: its files extend those of the same name behind them.

Hydra's own way is that the first file of a name hides all others, so a file with one key would lack all the rest. Here
a file that has no defaults list of its own is laid over the one behind it, key by key: over the next folder's, the
shipped one or a found benchmark. With a defaults list of its own a file stands alone, as in Hydra.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigLoadError, ConfigResult, ConfigSource
from omegaconf import OmegaConf

from skilleval.config.compose.benchmarks import benchmark_file, benchmark_name, benchmark_values
from skilleval.config.compose.layer_files import read_mapping
from skilleval.config.compose.session import current_sources
from skilleval.config.trees import merged
from skilleval.errors import ConfigError, Problem

SCHEME = "skilleval-conf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What one file adds to a config: its layer, where it is, its package header and its values."""

    layer: str
    path: Path
    package: str | None
    values: Mapping[str, Any]


class ConfFolder(ConfigSource):
    """Serves a user's folder of config groups, each file laid over those of the same name behind it."""

    def __init__(self, provider: str, path: str) -> None:
        super().__init__(provider=provider, path=path)
        self._request = current_sources().request

    @staticmethod
    def scheme() -> str:
        """Give the scheme in Hydra's search path."""
        return SCHEME

    def available(self) -> bool:
        """Say whether the folder is there."""
        return Path(self.path).is_dir()

    def is_group(self, config_path: str) -> bool:
        """Say whether there is such a folder of options."""
        return (Path(self.path) / config_path).is_dir()

    def is_config(self, config_path: str) -> bool:
        """Say whether there is such a file."""
        return self._file(Path(self.path), config_path).is_file()

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Give the names of the groups and options in a group."""
        inside = Path(self.path) / config_path
        groups = {path.name for path in inside.iterdir() if path.is_dir() and path.name != "__pycache__"}
        options = {path.stem for path in inside.glob("*.yaml")}
        kinds = {ObjectType.GROUP: groups, ObjectType.CONFIG: options}
        return sorted(kinds[results_filter] if results_filter else groups | options)

    def load_config(self, config_path: str) -> ConfigResult:
        """Give the file laid over those behind it."""
        pieces = self.pieces(config_path)
        if not pieces:
            msg = f"Config not found: {config_path}"
            raise ConfigLoadError(msg)
        values: dict[str, Any] = {}
        for piece in pieces:
            values = merged(values, piece.values)
        package = next((piece.package for piece in reversed(pieces) if piece.package), None)
        return ConfigResult(
            provider=self.provider,
            path=self.full_path(),
            config=OmegaConf.create(values),
            header={"package": package},
        )

    def pieces(self, config_path: str) -> tuple[Piece, ...]:
        """Give what each file adds to a config, weakest first.

        Raises:
            ConfigError: a file cannot be read or its header cannot be understood.
        """
        found: list[Piece] = []
        for piece in self._from_here(config_path):
            found.insert(0, piece)
            if "defaults" in piece.values:
                break
        return tuple(found)

    def _from_here(self, config_path: str) -> Iterator[Piece]:
        folders = self._request.conf_folders
        here = [folder for _, folder in folders].index(Path(self.path))
        for layer, folder in folders[here:]:
            path = self._file(folder, config_path)
            if path.is_file():
                yield Piece(layer=layer, path=path, package=self._package(path), values=read_mapping(path))
        values = benchmark_values(self._request, config_path)
        named = benchmark_file(self._request, benchmark_name(config_path))
        if values and named:
            yield Piece(layer=named[0], path=named[1], package=None, values=values)

    def _file(self, folder: Path, config_path: str) -> Path:
        return folder / self._normalize_file_name(config_path)

    def _package(self, path: Path) -> str | None:
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            return self._get_header_dict(text)["package"]
        except ValueError:
            problem = Problem(where=str(path), expected="# @package NAME", found=text.strip().splitlines()[0])
            raise ConfigError("the header of a file cannot be read", problems=(problem,)) from None
