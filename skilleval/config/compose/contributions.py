"""Which file or override says what: everything that went into a composition, in the order it was merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.default_element import ResultDefault
from hydra.plugins.config_source import ConfigSource
from hydra.types import RunMode
from omegaconf import OmegaConf

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
        found = [_contribution(loader, default) for default in defaults.defaults if _is_ours(default)]
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


def _contribution(loader: ConfigLoader, default: ResultDefault) -> Contribution:
    path = default.config_path or ""
    source = next(source for source in loader.get_sources() if source.is_config(path))
    config = OmegaConf.to_container(source.load_config(path).config)
    values = (
        {key: value for key, value in config.items() if key not in {"defaults", "hydra"}}
        if isinstance(config, dict)
        else {}
    )
    layer, file = _origin(source, path)
    return Contribution(layer=layer, source=file, values=dict(leaves(placed(default.package or "", values))))


def _origin(source: ConfigSource, path: str) -> tuple[str, str]:
    if isinstance(source, SkillevalSource):
        return source.file_of(path)
    return "shipped" if source.provider == "main" else source.provider, source_of(source.path, path)
