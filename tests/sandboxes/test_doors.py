from __future__ import annotations

import os
import socket
import sys
import tempfile
from pathlib import Path

import pytest

from skilleval.sandboxes.doors import LONGEST, Door, Pin, socket_folder

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can hold on to a socket")


def _reached(path: Path) -> bytes:
    with socket.socket(socket.AF_UNIX) as guest:
        guest.settimeout(10)
        guest.connect(str(path))
        return guest.recv(100)


def _greeted(door: socket.socket, said: bytes) -> None:
    guest, _ = door.accept()
    with guest:
        guest.sendall(said)


def _serving(path: Path, said: bytes) -> socket.socket:
    """Listen at a path, with one guest greeted in advance."""
    door = socket.socket(socket.AF_UNIX)
    door.bind(str(path))
    door.listen()
    door.settimeout(10)
    with socket.socket(socket.AF_UNIX) as guest:
        guest.connect(str(path))
        _greeted(door, said)
        assert guest.recv(100) == said
    return door


@linux
def test_a_link_is_never_followed_to_a_socket(tmp_path: Path) -> None:
    """What a server puts in its socket's place leads nowhere."""
    with _serving(tmp_path / "host", b"host"):
        (tmp_path / "door").symlink_to(tmp_path / "host")
        with pytest.raises(OSError, match=r"door"):
            Pin(tmp_path / "door")


@linux
@pytest.mark.parametrize("kind", ["file", "folder", "nothing"])
def test_only_a_socket_is_held_on_to(kind: str, tmp_path: Path) -> None:
    """Whatever else stands there is an error, and no descriptor stays open."""
    path = tmp_path / "door"
    if kind == "file":
        path.touch()
    elif kind == "folder":
        path.mkdir()
    n_before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(OSError, match=r"door"):
        Pin(path)
    assert len(list(Path("/proc/self/fd").iterdir())) == n_before


@linux
def test_a_socket_that_is_held_on_to_cannot_be_swapped(tmp_path: Path) -> None:
    """It is still the one that was there, after another has taken its place."""
    path = tmp_path / "door"
    with _serving(path, b"own") as own:
        pin = Pin(path)
        path.unlink()
        with _serving(path, b"host"), socket.socket(socket.AF_UNIX) as guest:
            guest.connect(str(pin.path))
            _greeted(own, b"own")
            assert guest.recv(100) == b"own"
        pin.close()
        pin.close()


def test_a_door_refuses_until_somebody_listens(tmp_path: Path) -> None:
    """A guest who comes too early is told so, instead of waiting."""
    door = Door(tmp_path / "door")
    with pytest.raises(ConnectionRefusedError):
        _reached(tmp_path / "door")
    door.close()


def test_a_door_that_cannot_be_made_names_its_path(tmp_path: Path) -> None:
    """The reason and the place are told, whatever the system says."""
    for path in (tmp_path / "absent" / "door", tmp_path / ("x" * 200)):
        with pytest.raises(OSError, match=r".") as caught:
            Door(path)
        assert (caught.value.filename, bool(caught.value.strerror)) == (str(path), True)


def test_a_folder_for_sockets_is_short_wherever_temporary_files_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deep TMPDIR takes no program its sockets."""
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with socket_folder("skilleval-test-") as folder:
        path = Path(folder, "socket")
        assert len(os.fsencode(path)) <= LONGEST
        Door(path).close()
        assert path.is_socket()


def test_where_every_folder_for_sockets_is_too_deep_the_reason_is_told() -> None:
    """The error says what to set."""
    with pytest.raises(OSError, match=r"set TMPDIR"):
        socket_folder("x" * 120)
