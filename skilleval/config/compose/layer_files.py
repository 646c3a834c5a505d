"""The two settings files a person keeps, read with the same YAML rules as `conf/`."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import MarkedYAMLError, YAMLError

from skilleval.config.request import PROJECT_FILE, Request, default_user_file
from skilleval.config.trees import without
from skilleval.errors import ConfigError, Problem

SUBTREES = {"scorer": "scorers"}
"""Groups whose values stand elsewhere than under the group's own name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerFile:
    """A settings file: its name in the defaults list, what to call it, where it is, and what it says."""

    name: str
    layer: str
    path: Path
    values: Mapping[str, Any]

    def without_groups(self, groups: Iterable[str]) -> LayerFile:
        """Give the file as if it said nothing about some config groups: they were chosen by somebody else."""
        values = dict(self.values)
        for group in groups:
            values = without(values, SUBTREES.get(group, group.replace("/", ".")))
        return replace(self, values=values)

    def choices_only(self) -> LayerFile:
        """Give the file with its defaults list alone."""
        kept = {"defaults": self.values["defaults"]} if "defaults" in self.values else {}
        return replace(self, values=kept)


def read_layers(request: Request) -> tuple[LayerFile, LayerFile]:
    """Read the user's and the project's file; a file that does not exist says nothing.

    Raises:
        ConfigError: a file cannot be read, or `-c FILE` names none.
    """
    user = request.user_file or default_user_file()
    project = request.config_file or request.project / PROJECT_FILE
    if request.config_file is not None and not project.is_file():
        problem = Problem(where=str(project), expected="a settings file", found="no such file")
        raise ConfigError("the settings file cannot be read", problems=(problem,))
    return (
        LayerFile(name="user_file", layer="user file", path=user, values=_read(user)),
        LayerFile(name="project_file", layer="project file", path=project, values=_read(project)),
    )


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        return parse_mapping(path.read_text(encoding="utf-8"), path)
    except (OSError, UnicodeDecodeError) as error:
        problem = Problem(where=str(path), expected="a readable UTF-8 file", found=str(error))
        raise ConfigError("the settings file cannot be read", problems=(problem,)) from None


def parse_mapping(text: str, path: Path) -> dict[str, Any]:
    """Parse the text of a settings file.

    Raises:
        ConfigError: it is no YAML (with the line), or no mapping.
    """
    try:
        values = OmegaConf.to_container(OmegaConf.load(io.StringIO(text)))
    except (YAMLError, OmegaConfBaseException, OSError) as error:
        raise yaml_error(error, path) from None
    # OmegaConf takes a lone word for a key without a value.
    if not isinstance(values, dict) or (list(values.values()) == [None] and ":" not in text):
        problem = Problem(where=str(path), expected="a mapping of settings", found=text.strip()[:80])
        raise ConfigError("the settings file cannot be used", problems=(problem,))
    return {str(key): value for key, value in values.items()}


def yaml_error(error: Exception, path: Path | str) -> ConfigError:
    """Say where a file stops being YAML."""
    where, found = str(path), str(error)
    mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
    if mark is not None:
        where, found = f"{path}:{mark.line + 1}:{mark.column + 1}", str(error.problem).removeprefix("found ")  # type: ignore[attr-defined]  # an untyped class
    return ConfigError("a file is not YAML", problems=(Problem(where=where, expected="YAML", found=found),))


def parse_scalar(text: str) -> Any:
    """Parse one value as YAML reads it behind a key; what is no YAML is text."""
    try:
        parsed = OmegaConf.to_container(OmegaConf.create(f"value: {text}"))
    except (YAMLError, OmegaConfBaseException):
        return text
    return parsed["value"] if isinstance(parsed, dict) and set(parsed) == {"value"} else text
