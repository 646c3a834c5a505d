from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from skilleval.config.shipped import shipped
from skilleval.errors import ConfigError
from skilleval.sandboxes.docker.options import DockerOptions


def _shipped() -> dict[str, Any]:
    values = yaml.safe_load((shipped("conf") / "sandbox" / "docker.yaml").read_text(encoding="utf-8"))
    return {name: value for name, value in values.items() if name not in {"kind", "require"}}


def test_the_shipped_file_gives_every_option() -> None:
    """A fresh container for each trial, no network, nothing built: the strictest is the default."""
    options = DockerOptions.parse(_shipped(), where="test")
    assert (options.pool, options.reuse, options.network, options.build) == (0, False, False, False)
    assert options.image == "skilleval-base:py311"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pool": 2, "reuse": True}, "pool to be 0 where reuse is true"),
        ({"network": True, "allow_hosts": ["a.example"]}, "no hosts in allow_hosts where network is true"),
        ({"allow_hosts": ["http://a.example/x"]}, "host or host:port"),
        ({"memory_mb": 8}, "memory_mb"),
        ({"image": ""}, "image"),
        ({"pool": -1}, "pool"),
        ({"read": ["/surely/not/there"]}, "an existing file or folder"),
        ({"read": [str(Path.home())]}, "a path inside a home folder"),
        ({"cpuz": 1}, "cpuz"),
    ],
)
def test_options_without_effect_or_sense_are_refused(changes: dict[str, Any], said: str) -> None:
    """Each mistake is an error that names it."""
    with pytest.raises(ConfigError, match=said):
        DockerOptions.parse({**_shipped(), **changes}, where="test")
