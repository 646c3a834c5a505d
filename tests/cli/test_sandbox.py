"""`skilleval sandbox` where no engine answers; with one it is tested in `tests/containers`."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from cli.conftest import SCRIPT


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("unix:///nowhere/docker.sock", "no Docker engine answers at unix:///nowhere/docker.sock"),
        ("tcp://127.0.0.1:9", "needs an engine with a unix socket, not tcp://127.0.0.1:9"),
    ],
)
def test_without_an_engine_nothing_is_pruned_and_that_is_an_error(
    folder: Path, environment: Mapping[str, str], address: str, said: str
) -> None:
    """Exit code 3, and the error says what to do."""
    done = subprocess.run(
        [str(SCRIPT), "sandbox", "prune"],
        cwd=folder,
        env={**environment, "DOCKER_HOST": address},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 3
    assert said in done.stderr
