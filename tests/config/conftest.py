"""A project folder of its own for each test, and composing in it without any file of the person who runs the test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skilleval.config.compose import Composed, compose_settings
from skilleval.config.request import Request

Compose = Callable[..., Composed]
"""Composes overrides in the test's project; the example skills are chosen unless `skills=False`."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def user_file(tmp_path: Path) -> Path:
    """Where the user's settings file would be."""
    return tmp_path / "home" / "config.yaml"


@pytest.fixture
def composing(project: Path, user_file: Path) -> Compose:
    """Compose in the project."""

    def compose(*overrides: str, skills: bool = True) -> Composed:
        given = ["skill_set=examples", *overrides] if skills else list(overrides)
        return compose_settings(given, project=project, user_file=user_file)

    return compose


@pytest.fixture
def request_for(project: Path, user_file: Path) -> Callable[..., Request]:
    """Make a request for overrides in the project."""
    return lambda *overrides: Request(project=project, user_file=user_file, overrides=overrides)
