"""Composing the jobs of a sweep: what only differs in plain values is composed once and copied.

Hydra reads and merges every file anew for each job, although most jobs differ from the one before in one value. All
jobs of a sweep are composed from the files as they were when a process composed the first one of their kind.
"""

from __future__ import annotations

import io
import pickle
import secrets
from collections.abc import Sequence
from functools import lru_cache

from hydra._internal.config_loader_impl import ConfigLoaderImpl, get_overrides_dirname
from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from skilleval.config.trees import covers

_KINDS_HELD = 64


class Original:
    """A config that is copied again and again: pickled once, because reading that is faster than OmegaConf's copy.

    Classes are kept as they are. Hydra runs the files of its plugins again when it looks for plugins, so the class
    that a config was made with may not be the one that its name leads to.
    """

    def __init__(self, config: DictConfig) -> None:
        kinds: list[type] = []

        class Writer(pickle.Pickler):
            def persistent_id(self, obj: object) -> int | None:
                if not isinstance(obj, type):
                    return None
                kinds.append(obj)
                return len(kinds) - 1

        written = io.BytesIO()
        Writer(written).dump(config)
        self._kinds, self._bytes = kinds, written.getvalue()

    def copied(self) -> DictConfig:
        """Give a copy that shares nothing but classes."""
        kinds = self._kinds

        class Reader(pickle.Unpickler):
            def persistent_load(self, pid: int) -> type:
                return kinds[pid]

        config = Reader(io.BytesIO(self._bytes)).load()
        assert isinstance(config, DictConfig)
        return config


class SweepLoader(ConfigLoaderImpl):
    """Hydra's loader, but for jobs that differ in plain values alone.

    Engines carry it to other processes, job by job. Compositions stay behind: each process keeps its own.
    """

    def __init__(self, loader: ConfigLoader) -> None:
        super().__init__(loader.get_search_path())
        self._token = secrets.token_hex(8)  # of one launch of one sweep: files may change before the next one

    def load_sweep_config(self, master_config: DictConfig, sweep_overrides: list[str]) -> DictConfig:
        """Compose a job: the composition of its kind, with its own values in it."""
        given = OverridesParser.create().parse_overrides(sweep_overrides)
        plain = self._plain(master_config, given)
        if not plain:
            return super().load_sweep_config(master_config, sweep_overrides)
        rest = [str(one.input_line) for one in given if one not in plain]
        config = self._copied(master_config, rest)
        self._apply_overrides_to_config(plain, config)
        _name(config, [one for one in given if not one.is_hydra_override()])
        OmegaConf.copy_cache(from_config=master_config, to_config=config)
        return config

    def _copied(self, master_config: DictConfig, overrides: list[str]) -> DictConfig:
        """Give a copy of the composition that some overrides lead to."""
        held = _held(self._token)
        key = tuple(overrides)
        if key not in held:
            if len(held) >= _KINDS_HELD:
                held.clear()
            held[key] = Original(super().load_sweep_config(master_config, overrides))
        return held[key].copied()

    def _plain(self, master_config: DictConfig, given: Sequence[Override]) -> list[Override]:
        """Give the overrides that set one value and decide nothing else; Hydra may apply them last.

        Where the search path was changed, groups are not known here.
        """
        if len(master_config.hydra.runtime.config_sources) != len(self.get_sources()):
            return []
        return [
            one
            for one in given
            if self._is_plain(one)
            and not any(_touch(one.key_or_group, other.key_or_group) for other in given if other is not one)
        ]

    def _is_plain(self, one: Override) -> bool:
        sets_a_value = not (one.is_add() or one.is_force_add() or one.is_delete() or one.is_sweep_override())
        is_scalar = not isinstance(one.value(), dict | list)
        is_setting = one.package is None and not one.is_hydra_override() and "." in one.key_or_group
        return (
            sets_a_value and is_scalar and is_setting and not self.repository.group_exists(one.key_or_group)
        )


def _touch(one: str, other: str) -> bool:
    return covers(one, other) or covers(other, one)


def _name(config: DictConfig, given: Sequence[Override]) -> None:
    """Note in Hydra's own node what the job was asked for, as Hydra does when it composes one."""
    config.hydra.overrides.task = [str(one.input_line) for one in given]
    wanted = config.hydra.job.config.override_dirname
    config.hydra.job.override_dirname = get_overrides_dirname(
        overrides=list(given),
        kv_sep=wanted.kv_sep,
        item_sep=wanted.item_sep,
        exclude_keys=wanted.exclude_keys,
    )


@lru_cache(maxsize=1)
def _held(token: str) -> dict[tuple[str, ...], Original]:
    """Give the compositions that this process holds for the sweep that runs; those of the one before are let go."""
    assert token, "each loader has its own"
    return {}
