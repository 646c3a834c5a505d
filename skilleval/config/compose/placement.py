"""Options of some groups stand elsewhere than under the group's name: the header of their file says where.

A header that was copied and not changed puts two options into one block, where they become one without a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hydra.core.default_element import ResultDefault
from hydra.plugins.config_source import ConfigSource
from hydra.types import RunMode

from skilleval.config.compose.choices import read_choices
from skilleval.config.compose.extending import ConfFolder
from skilleval.config.compose.layer_files import SUBTREES
from skilleval.config.compose.origins import Origins
from skilleval.config.compose.overrides import parse_overrides, source_of
from skilleval.config.compose.session import Sources, loader_of
from skilleval.config.request import EXPERIMENT
from skilleval.config.settings_text import group_of
from skilleval.errors import ConfigError, Problem

_GLOBAL = "_global_"


def check_placement(sources: Sources) -> None:
    """Refuse chosen options that do not stand in the block that belongs to them.

    Raises:
        ConfigError: names each file with the header it needs, two options in one block, or an option chosen twice.
    """
    twice = tuple(_chosen_twice(sources))
    if twice:
        raise ConfigError("an option is chosen twice", problems=twice)
    if not _may_be_misplaced(sources):
        return
    request = sources.request
    with loader_of(sources) as loader:
        defaults = loader.compute_defaults_list(
            config_name=request.config_name, overrides=list(request.overrides), run_mode=RunMode.RUN
        )
        chosen = [default for default in defaults.defaults if _is_chosen(default)]
        origins = Origins(loader, request)
        problems = tuple(_wrong_headers(origins, chosen)) or tuple(_shared_blocks(origins, chosen))
    if problems:
        raise ConfigError("an option does not stand in its own block", problems=problems)


def _chosen_twice(sources: Sources) -> Iterator[Problem]:
    """Give the lists in force that name an option more than once: Hydra takes it once, without a word."""
    said = [entry for layer in sources.layers for entry in layer.values.get("defaults") or []]
    listed = [
        (str(key), options) for entry in said if isinstance(entry, dict) for key, options in entry.items()
    ]
    given = [one for one in parse_overrides(sources.request.overrides) if not one.is_sweep_override()]
    listed += [(str(one.key_or_group), one.value()) for one in given]
    for group in dict.fromkeys(group_of(key) for key, options in listed if _repeated(options)):
        held = read_choices(sources, group)[-1:] if group in sources.request.groups else ()
        for one in held:
            if _repeated(one.values[group]):
                where = f"{one.layer}: {one.source}" if one.layer == "command line" else one.source
                found = f"{', '.join(_repeated(one.values[group]))} again"
                yield Problem(where=where, key=group, expected="each option once", found=found)


def _repeated(options: object) -> list[str]:
    names = [str(option) for option in options] if isinstance(options, list) else []
    return sorted({name for name in names if names.count(name) > 1})


def _may_be_misplaced(sources: Sources) -> bool:
    """Say whether files or places of a user's own are in use: looking closer costs time, and most runs have none."""
    said = [str(layer.values.get(key, "")) for layer in sources.layers for key in ("defaults", "hydra")]
    texts = [*sources.request.overrides, *said]
    return len(sources.request.conf_folders) > 1 or any("@" in text or "searchpath" in text for text in texts)


def _is_chosen(default: ResultDefault) -> bool:
    """Leave out what an option of the group takes from its neighbours, e.g. `exact@exact` in `task.yaml`."""
    group = _group(default.config_path or "")
    return group in {*SUBTREES, EXPERIMENT} and _group(default.parent or "") != group


def _group(config_path: str) -> str:
    group, slash, _ = config_path.partition("/")
    return group if slash else ""


def _needed(config_path: str) -> str:
    group = _group(config_path)
    return f"{SUBTREES[group]}.{Path(config_path).name}" if group in SUBTREES else _GLOBAL


def _wrong_headers(origins: Origins, chosen: list[ResultDefault]) -> Iterator[Problem]:
    for path in dict.fromkeys(default.config_path or "" for default in chosen):
        source = origins.of(path)
        found, needed = source.load_config(path).header["package"], _needed(path)
        if found == needed:
            continue
        yield Problem(
            where=_file(source, path),
            expected=f"the first line # @package {needed}",
            found=f"# @package {found}" if found else "a file that does not begin with such a line",
            hint=f"options of the group {_group(path)} stand where that line says",
        )


def _shared_blocks(origins: Origins, chosen: list[ResultDefault]) -> Iterator[Problem]:
    """Give two options whose right headers were overruled, e.g. by `+scorer@scorers.exact=contains`."""
    first: dict[str, str] = {}
    for default in chosen:
        block, path = default.package or "", default.config_path or ""
        before = first.setdefault(block, path)
        if block and before != path:
            yield Problem(
                where=_file(origins.of(path), path),
                key=block,
                expected="a block of its own",
                found=f"the block of {before}",
                hint="give it another place, as in +GROUP@PLACE=OPTION",
            )


def _file(source: ConfigSource, path: str) -> str:
    return (
        str(source.pieces(path)[-1].path) if isinstance(source, ConfFolder) else source_of(source.path, path)
    )
