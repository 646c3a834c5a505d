"""One process at a time writes a run; the lock dies with its process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skilleval.errors import ResultsError, WriteError
from skilleval.results.locks import RunLock, is_locked, maybe_locked

_HOLDER = (
    "import sys, time; from pathlib import Path; from skilleval.results.locks import RunLock;"
    "lock = RunLock(Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"
)


def test_a_second_writer_is_refused_at_once(tmp_path: Path) -> None:
    """The lock is held by one only, and free again after its release, which may come twice."""
    lock = RunLock(tmp_path)
    with pytest.raises(ResultsError, match="in use by another process"):
        RunLock(tmp_path)
    with maybe_locked(tmp_path) as ours:
        assert not ours
    assert is_locked(tmp_path)
    lock.release()
    lock.release()
    assert not is_locked(tmp_path)
    with RunLock(tmp_path):
        assert is_locked(tmp_path)


def test_a_killed_writer_frees_the_run(tmp_path: Path) -> None:
    """SIGKILL leaves no lock behind, though it leaves the file."""
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(ResultsError, match="in use"):
            RunLock(tmp_path)
        holder.kill()
    with RunLock(tmp_path) as lock:
        lock.check()


def test_asking_does_not_keep_a_writer_out(tmp_path: Path) -> None:
    """Whoever asks whether a run is live holds its lock for an instant; a writer waits that long."""
    with RunLock(tmp_path):
        pass
    program = (
        "import sys, time; from pathlib import Path; from skilleval.results.locks import is_locked;"
        "print('asking', flush=True); end = time.monotonic() + 1\n"
        "while time.monotonic() < end: is_locked(Path(sys.argv[1]))"
    )
    asker = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with asker:
        assert asker.stdout
        asker.stdout.readline()
        for _ in range(50):
            RunLock(tmp_path).release()


@pytest.mark.parametrize("may_go_on", [True, False])
@pytest.mark.parametrize("moved", [True, False])
def test_a_folder_that_went_away_is_noticed(tmp_path: Path, *, moved: bool, may_go_on: bool) -> None:
    """Removed or moved while it is written: the writer is told what to do, and to go on only where that is possible."""
    folder = tmp_path / "run"
    folder.mkdir()
    with RunLock(folder, may_go_on=may_go_on) as lock:
        lock.check()
        if moved:
            folder.rename(tmp_path / "elsewhere")
        else:
            (folder / ".lock").unlink()
        with pytest.raises(WriteError, match="removed or moved away") as caught:
            lock.check()
    assert ("--resume" in caught.value.hint) == may_go_on
    assert caught.value.hint.endswith("run again, in a folder that stays")


def test_a_run_that_is_not_there_has_no_lock(tmp_path: Path) -> None:
    """No folder is made by asking or locking."""
    gone = tmp_path / "gone"
    assert not is_locked(gone)
    with pytest.raises(ResultsError, match="not there"):
        RunLock(gone)
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="cannot write"):
        RunLock(tmp_path / "file")
    assert not gone.exists()
