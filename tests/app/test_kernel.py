from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skilleval.app.kernel import executed, missing
from skilleval.errors import NotebookError
from skilleval.report.notebook.document import notebook_text
from skilleval.report.notebook.template import Cell

# The addresses on which the process that runs this listens, as /proc writes them: 0100007F is 127.0.0.1.
LISTENING = """import pathlib
own = {os.readlink(one) for one in pathlib.Path('/proc/self/fd').iterdir() if os.path.lexists(one)}
tables = [pathlib.Path('/proc/net', name).read_text().splitlines()[1:] for name in ('tcp', 'tcp6')]
rows = [line.split() for table in tables for line in table]
{row[1].split(':')[0] for row in rows if row[3] == '0A' and f'socket:[{row[9]}]' in own}"""


def notebook(*sources: str) -> str:
    """Give a notebook with a cell of text and these cells of code."""
    text = Cell(id="text", source="# T", line=1, is_text=True)
    code = [Cell(id=f"c{n}", source=source, line=1) for n, source in enumerate(sources, start=1)]
    return notebook_text([text, *code], about={})


def refusal(folder: Path, *sources: str, timeout_s: float = 60) -> NotebookError:
    """Execute cells that fail."""
    with pytest.raises(NotebookError) as failed:
        executed(notebook(*sources), folder=folder, watch=lambda *_: None, timeout_s=timeout_s)
    return failed.value


def test_cells_run_in_order_on_this_interpreter_in_the_folder(tmp_path: Path) -> None:
    """Outputs are kept and each cell is told of; nobody's settings are read, and only the loopback listens."""
    seen: list[tuple[int, int, str]] = []
    about = "[sys.executable, os.getcwd(), os.environ['IPYTHONDIR']]"
    text = executed(
        notebook("import os, sys\nx = 2", "print(x)", about, LISTENING),
        folder=tmp_path,
        watch=lambda *told: seen.append(told),
    )
    cells = json.loads(text)["cells"]
    assert seen == [(1, 4, "c1"), (2, 4, "c2"), (3, 4, "c3"), (4, 4, "c4")]
    assert cells[2]["outputs"] == [{"name": "stdout", "output_type": "stream", "text": ["2\n"]}]
    said = "".join(cells[3]["outputs"][0]["data"]["text/plain"])
    assert sys.executable in said
    assert str(tmp_path) in said
    assert str(Path.home() / ".ipython") not in said
    assert "execution" not in json.dumps([cell["metadata"] for cell in cells])
    assert cells[4]["outputs"][0]["data"]["text/plain"] == ["{'0100007F'}"]


def test_a_cell_that_fails_is_named_with_its_line(tmp_path: Path) -> None:
    """The error gives the number of the cell, its id, the line of the source and the reason, in plain characters."""
    source = "x = {}\n\ndef inner():\n    return x['\\x1b[2Jkey']\n\ninner()"
    error = refusal(tmp_path, "1", source, "2")
    (problem,) = error.problems
    assert problem.where == "cell 2 of 3 (c2)"
    assert problem.key == "line 4"
    assert problem.found.startswith("KeyError: ")
    assert "return x[" in problem.hint
    assert "\x1b" not in str(error)


def test_a_kernel_that_dies_is_told(tmp_path: Path) -> None:
    """A cell that ends the process is an error at this cell."""
    (problem,) = refusal(tmp_path, "1", "import os\nos._exit(7)").problems
    assert problem.where == "cell 2 of 2 (c2)"
    assert "died" in problem.found


def test_the_time_of_all_cells_is_bounded(tmp_path: Path) -> None:
    """What runs longer is stopped."""
    start = time.monotonic()
    error = refusal(tmp_path, "import time\ntime.sleep(60)", timeout_s=1)
    assert time.monotonic() - start < 55
    assert "all cells together have 1 s" in str(error)


def test_ctrl_c_kills_the_kernel(tmp_path: Path) -> None:
    """An interrupt ends the work at once, and no kernel is left behind."""
    source = "import os, pathlib, time\npathlib.Path('pid').write_text(str(os.getpid()))\ntime.sleep(60)"
    (tmp_path / "n.ipynb").write_text(notebook(source), encoding="utf-8")
    program = (
        "import pathlib\nfrom skilleval.app.kernel import executed\n"
        f"folder = pathlib.Path({str(tmp_path)!r})\n"
        "text = (folder / 'n.ipynb').read_text()\n"
        "try:\n    executed(text, folder=folder, watch=lambda *_: None)\n"
        "except KeyboardInterrupt:\n    print('stopped')\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        until(lambda: (tmp_path / "pid").is_file() and (tmp_path / "pid").read_text() != "")
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=90)
    assert said == "stopped\n"
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_what_is_not_installed_is_named() -> None:
    """A package that cannot be found is missing; here all are there."""
    assert missing(lambda name: None if name == "ipykernel" else name) == ("ipykernel",)
    assert missing() == ()


def is_gone(pid: int) -> bool:
    """Say whether a process ended, within a moment."""
    return until(lambda: not Path(f"/proc/{pid}").exists() or is_zombie(pid))


def is_zombie(pid: int) -> bool:
    """Say whether a process ended and only waits to be noticed."""
    try:
        os.kill(pid, 0)
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return True


def until(is_so: object) -> bool:
    """Wait until something is so, at most a minute."""
    assert callable(is_so)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if is_so():
            return True
        time.sleep(0.02)
    return False
