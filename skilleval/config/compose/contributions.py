"""Which file or override says what: everything that went into a composition, in the order it was merged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hydra.core.default_element import ResultDefault
from hydra.plugins.config_source import ConfigSource
from hydra.types import RunMode
from omegaconf import OmegaConf

from skilleval.config.compose.extending import ConfFolder
from skilleval.config.compose.origins import Origins
from skilleval.config.compose.overrides import parse_overrides, source_of
from skilleval.config.compose.plugins import SkillevalSource
from skilleval.config.compose.session import Sources, loader_of
from skilleval.config.trees import leaves, placed


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What one source says: its layer, the file or override, and its values by dotted key."""

    layer: str
    source: str
    values: Mapping[str, Any]


def read_contributions(sources: Sources) -> tuple[Contribution, ...]:
    """Give every source of a composition in the order of merging: a later one wins."""
    request = sources.request
    with loader_of(sources) as loader:
        defaults = loader.compute_defaults_list(
            config_name=request.config_name, overrides=list(request.overrides), run_mode=RunMode.RUN
        )
        origins = Origins(loader, request)
        found = [
            one
            for default in defaults.defaults
            if _is_ours(default)
            for one in _contributed(origins, default)
        ]
    set_values = {override.input_line for override in defaults.config_overrides}
    given = [
        Contribution(
            layer="command line",
            source=str(override.input_line),
            values=dict(leaves(placed(override.key_or_group, override.value()))),
        )
        for override in parse_overrides(request.overrides)
        if override.input_line in set_values and not override.is_delete()
    ]
    return (*found, *given)


def _is_ours(default: ResultDefault) -> bool:
    path = default.config_path or ""
    return not path.startswith("hydra/") and not (default.package or "").startswith("hydra")


def _contributed(origins: Origins, default: ResultDefault) -> Iterator[Contribution]:
    """Give what a config says, file by file where one is laid over another."""
    path = default.config_path or ""
    for layer, file, values in _said(origins.of(path), path):
        kept = {key: value for key, value in values.items() if key not in {"defaults", "hydra"}}
        yield Contribution(layer=layer, source=file, values=dict(leaves(placed(default.package or "", kept))))


def _said(source: ConfigSource, path: str) -> list[tuple[str, str, Mapping[str, Any]]]:
    if isinstance(source, ConfFolder):
        return [(piece.layer, str(piece.path), piece.values) for piece in source.pieces(path)]
    config = OmegaConf.to_container(source.load_config(path).config)
    values = {str(key): value for key, value in config.items()} if isinstance(config, dict) else {}
    if isinstance(source, SkillevalSource):
        return [(*source.file_of(path), values)]
    layer = "shipped" if source.provider == "main" else source.provider
    return [(layer, source_of(source.path, path), values)]
