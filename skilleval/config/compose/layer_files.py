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

from skilleval.config.compose.phrases import Phrase, hydra_phrase, yaml_phrase
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
        LayerFile(name="user_file", layer="user file", path=user, values=_values(user)),
        LayerFile(name="project_file", layer="project file", path=project, values=_values(project)),
    )


def _values(path: Path) -> dict[str, Any]:
    return read_mapping(path) if path.is_file() else {}


def read_mapping(path: Path) -> dict[str, Any]:
    """Read a file of settings.

    Raises:
        ConfigError: it cannot be read, is no YAML (with the line), or no mapping.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        found = f"bytes that are no UTF-8 at byte {error.start}"
    except OSError as error:
        found = (error.strerror or "a file that cannot be opened").lower()
    else:
        return parse_mapping(text, path)
    problem = Problem(where=str(path), expected="a readable UTF-8 file", found=found)
    raise ConfigError("the settings file cannot be read", problems=(problem,))


def choosing_file(request: Request, name: str) -> tuple[str, Path, Mapping[str, Any]] | None:
    """Give the file whose defaults list a config takes, with its layer and values: the first one that has a list."""
    for layer, folder in request.conf_folders:
        path = folder / f"{name}.yaml"
        values = read_mapping(path) if path.is_file() else {}
        if "defaults" in values:
            return layer, path, values
    return None


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
    """Say where a file stops being YAML, or which value in it cannot be read."""
    if isinstance(error, OmegaConfBaseException):
        phrase = hydra_phrase(str(error)) or Phrase(expected="a value", found="one that cannot be read")
        problem = Problem(
            where=str(path),
            key=str(error.full_key or ""),
            expected=phrase.expected,
            found=phrase.found,
            hint=phrase.hint,
        )
        return ConfigError("a settings file cannot be read", problems=(problem,))
    where, said = str(path), str(error)
    mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
    if mark is not None:
        where, said = f"{path}:{mark.line + 1}:{mark.column + 1}", f"{error.context}: {error.problem}"  # type: ignore[attr-defined]  # an untyped class
    problem = Problem(where=where, expected="YAML", found=yaml_phrase(said))
    return ConfigError("a file is not YAML", problems=(problem,))


def parse_scalar(text: str) -> Any:
    """Parse one value as YAML reads it behind a key; what is no YAML is text."""
    try:
        parsed = OmegaConf.to_container(OmegaConf.create(f"value: {text}"))
    except (YAMLError, OmegaConfBaseException):
        return text
    return parsed["value"] if isinstance(parsed, dict) and set(parsed) == {"value"} else text
