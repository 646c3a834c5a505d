"""Who chooses the option of a group: the primary config, a settings file, an experiment or the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skilleval.config.compose.contributions import Contribution
from skilleval.config.compose.layer_files import choosing_file
from skilleval.config.compose.overrides import experiments, parse_overrides
from skilleval.config.compose.session import Sources
from skilleval.config.settings_text import group_of


def read_choices(sources: Sources, group: str) -> tuple[Contribution, ...]:
    """Give every choice of an option of a group, weakest first: the last one holds. The value is one name or a list."""
    request = sources.request
    primary = choosing_file(request, request.config_name)
    files = [(layer.layer, layer.path, layer.values) for layer in sources.layers]
    said = [*([primary] if primary else []), *files, *experiments(request)]
    chosen = [
        Contribution(layer=layer, source=str(path), values={group: option})
        for layer, path, values in said
        for option in list(_options(values, group))[:1]  # of two choices in one list the first one holds
    ]
    given = [
        Contribution(
            layer="command line",
            source=str(one.input_line),
            values={group: None if one.is_delete() else one.value()},
        )
        for one in parse_overrides(request.overrides)
        if one.key_or_group == group and not isinstance(one.value(), dict)
    ]
    return (*chosen, *given)


def _options(values: Mapping[str, Any], group: str) -> Iterator[Any]:
    for entry in values.get("defaults") or []:
        if isinstance(entry, Mapping):
            yield from (option for name, option in entry.items() if group_of(str(name)) == group)
