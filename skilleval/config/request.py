"""What is to be composed: overrides, and the places where settings are looked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skilleval.config.shipped import shipped

PROJECT_FILE = "skilleval.yaml"
EXPERIMENT = "experiment"
"""The group of small diffs over all other groups; it has no place until one is asked for."""
BENCHMARK = "benchmark"
"""The group whose options are found benchmarks, beside the files in `conf/`."""


def default_user_file() -> Path:
    """Give the user's settings file: `config.yaml` in `$XDG_CONFIG_HOME/skilleval`, else `~/.config/skilleval`."""
    from platformdirs.unix import Unix

    return Unix("skilleval").user_config_path / "config.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One composition.

    `project` is the folder that may hold `skilleval.yaml`, `conf/` and `benchmarks/`. `config_file` replaces its
    `skilleval.yaml`; `user_file` replaces the file in the user's configuration folder.
    """

    project: Path
    overrides: tuple[str, ...] = ()
    config_name: str = "eval"
    config_file: Path | None = None
    config_dirs: tuple[Path, ...] = ()
    user_file: Path | None = None

    @property
    def conf_folders(self) -> tuple[tuple[str, Path], ...]:
        """The existing folders with config groups and what to call them; the first one wins."""
        own = [("config dir", folder) for folder in self.config_dirs]
        project = self.project / "conf"
        main = shipped("conf")
        if project.is_dir() and project.resolve() != main:
            own.append(("project conf", project))
        return (*((name, folder.resolve()) for name, folder in own), ("shipped", main))

    @property
    def benchmark_folders(self) -> tuple[tuple[str, Path], ...]:
        """The folders searched for benchmarks and what to call them; the first one wins."""
        own, main = self.project / "benchmarks", shipped("benchmarks")
        named = (("shipped", main),)
        return named if own.resolve() == main else (("project conf", own), *named)

    @property
    def groups(self) -> frozenset[str]:
        """The groups in which an option can be chosen, Hydra's own and nested ones left out."""
        folders = [
            path for _, folder in self.conf_folders for path in folder.glob("*/") if any(path.glob("*.yaml"))
        ]
        return frozenset({BENCHMARK, *(path.name for path in folders)})
