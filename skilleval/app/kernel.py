"""Executing notebooks: each gets a kernel of its own, on this interpreter and in the notebook's folder.

The kernel talks through sockets in a temporary folder, and listens on no port but one of the loopback, where it takes
the output of its own children. It reads no settings of the user's IPython, and is killed when the work ends, however
it does.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from skilleval.app.stopping import STOPPER, Stopper
from skilleval.errors import NotebookError, Problem
from skilleval.report.notebook.document import read_notebook, text_of
from skilleval.report.text import one_line

NEEDED = ("nbclient", "ipykernel")
TIMEOUT_S = 600.0

_LAUNCHER = ("-m", "ipykernel_launcher", "-f", "{connection_file}")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LINE = re.compile(r"Cell In ?\[\d+\], line (\d+)|<ipython-input[^>]*>, line (\d+)")

Watch = Callable[[int, int, str], None]
"""Told of each cell of code that begins: its number, how many there are, and its id."""


def missing(find: Callable[[str], object] = find_spec) -> tuple[str, ...]:
    """Name the packages that executing a notebook needs and that are not installed."""
    return tuple(name for name in NEEDED if find(name) is None)


def executed(text: str, *, folder: Path, watch: Watch, timeout_s: float = TIMEOUT_S) -> str:
    """Execute a notebook in a folder and give its text with all outputs.

    Raises:
        NotebookError: a cell failed, the kernel died, or all cells together took too long.
        KeyboardInterrupt: the user stopped it; the kernel is killed.
    """
    stopper, outer = Stopper(), STOPPER.get()
    with tempfile.TemporaryDirectory(prefix="nb-") as scratch, ThreadPoolExecutor(max_workers=1) as pool:
        execution = _Execution(read_notebook(text), folder, Path(scratch), watch)
        # In a thread of its own: a notebook that calls us runs an event loop, and Ctrl-C belongs to the main thread.
        future = pool.submit(lambda: asyncio.run(execution.run(timeout_s, (stopper, outer))))
        try:
            future.result()
        except KeyboardInterrupt:
            stopper.stop()  # the pool waits until the kernel is gone
            raise
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
    return text_of(execution.node)


class _Execution:
    """One notebook on its way through a kernel."""

    def __init__(self, node: Any, folder: Path, scratch: Path, watch: Watch) -> None:
        self.node = node
        self._folder = folder
        self._scratch = scratch
        self._watch = watch
        self._places = [place for place, cell in enumerate(node.cells) if cell.cell_type == "code"]
        self._at = 0

    async def run(self, timeout_s: float, stoppers: tuple[Stopper | None, ...]) -> None:
        """Execute all cells, unless a stopper ends it.

        Raises:
            NotebookError: a cell failed, the kernel died, or the time ran out.
        """
        task = asyncio.ensure_future(self._bounded(timeout_s))
        listening = [one for one in stoppers if one is not None]
        for one in listening:
            one.attach(asyncio.get_running_loop(), task)
        try:
            await task
        finally:
            for one in listening:
                one.detach()

    async def _bounded(self, timeout_s: float) -> None:
        from nbclient.exceptions import CellExecutionError, DeadKernelError

        limit = asyncio.timeout(timeout_s)
        try:
            async with limit:
                await self._execute()
        except CellExecutionError as error:
            raise self._failed(f"{error.ename}: {error.evalue}", _line_of(error.traceback)) from None
        except (TimeoutError, DeadKernelError, RuntimeError, OSError) as error:
            # A client that is cancelled says that the kernel died: the limit knows better.
            if not limit.expired():
                raise self._failed(f"the kernel died: {error}", None) from None
            hint = f"all cells together have {timeout_s:g} s"
            raise self._failed("it was still running when the time was up", None, hint=hint) from None

    async def _execute(self) -> None:
        from nbclient import NotebookClient

        client = NotebookClient(
            self.node,
            km=self._kernel(),
            timeout=None,
            record_timing=False,
            shutdown_kernel="immediate",
            resources={"metadata": {"path": str(self._folder)}},
            on_cell_start=self._begin,
        )
        await client.async_execute(
            cleanup_kc=True, env=self._environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def _kernel(self) -> Any:
        """Make a kernel of this interpreter, whatever kernels are installed under its name."""
        from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
        from jupyter_client.manager import AsyncKernelManager

        class Ours(KernelSpecManager):
            def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
                return KernelSpec(
                    argv=[sys.executable, *_LAUNCHER], display_name=kernel_name, language="python"
                )

        file = str(self._scratch / "k.json")
        return AsyncKernelManager(kernel_spec_manager=Ours(), transport="ipc", connection_file=file)

    def _environment(self) -> dict[str, str]:
        own = {
            name: str(self._scratch) for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")
        }
        return {**os.environ, **own, "PYDEVD_DISABLE_FILE_VALIDATION": "1"}

    async def _begin(self, cell: Any, cell_index: int) -> None:
        if cell.cell_type == "code":
            self._at = self._places.index(cell_index)
            self._watch(self._at + 1, len(self._places), cell.id)

    def _failed(self, reason: str, line: int | None, *, hint: str = "") -> NotebookError:
        """Say which cell failed, at which of its lines, and why."""
        cell = self.node.cells[self._places[self._at]]
        lines = cell.source.splitlines() or [""]
        number = line if line is not None and 1 <= line <= len(lines) else 1
        problem = Problem(
            where=f"cell {self._at + 1} of {len(self._places)} ({cell.id})",
            key=f"line {number}",
            expected="a cell that runs to its end",
            found=one_line(_COLOUR.sub("", reason), limit=300),
            hint=one_line(f"the line: {lines[number - 1].strip()}", limit=160),
        )
        return NotebookError("the notebook was not executed", problems=(problem,), hint=hint)


def _line_of(traceback: str) -> int | None:
    """Find the line of the cell at which it failed: the last one the traceback names."""
    found = _LINE.findall(_COLOUR.sub("", traceback))
    return int(next(filter(None, found[-1]))) if found else None
