from __future__ import annotations

import socket
from pathlib import Path

import httpx
import pytest
from served_runs import served

from skilleval.errors import ResultsError, UsageError
from skilleval.serving.server import listening


def test_only_loopback_is_listened_on(tmp_path: Path) -> None:
    """No other address is taken, whatever it is called."""
    for host in ("0.0.0.0", "::", "", "192.168.0.1", "example.org", "localhost"):  # noqa: S104 - refused
        with pytest.raises(UsageError, match="to this machine alone"):
            listening(tmp_path, host=host, port=0)


def test_both_families_of_loopback_work(tmp_path: Path) -> None:
    """127.0.0.1 and ::1 are answered with the address that is told."""
    for host in ("127.0.0.1", "::1"):
        with served(tmp_path, host) as address:
            assert httpx.get(address, timeout=120).status_code == 200


def test_a_port_that_is_taken_is_a_mistake(tmp_path: Path) -> None:
    """The error names the port and the way out."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(UsageError) as caught:
            listening(tmp_path, host="127.0.0.1", port=port)
    assert f"port {port} of 127.0.0.1 is in use" in str(caught.value)
    assert "--port 0" in caught.value.hint


def test_a_folder_that_is_not_there_takes_no_port(tmp_path: Path) -> None:
    """The folder is looked at first."""
    with pytest.raises(ResultsError, match="there is no folder"):
        listening(tmp_path / "nowhere", host="127.0.0.1", port=0)
