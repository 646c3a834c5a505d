from __future__ import annotations

import asyncio
import os
from io import FileIO

import pytest

from skilleval.sandboxes.pipes import Inflow, Outflow


def _pipe() -> tuple[FileIO, FileIO]:
    reader, writer = os.pipe()
    return FileIO(reader, "r"), FileIO(writer, "w")


@pytest.mark.parametrize("n_bytes", [0, 1, 65_536, 1_000_000])
def test_an_inflow_writes_all_and_closes(n_bytes: int) -> None:
    """Whatever its size, the data arrives complete and is followed by the end of the file."""

    async def arrived() -> bytes:
        reader, writer = _pipe()
        inflow = Inflow(writer, b"x" * n_bytes)
        inflow.start()
        data = await asyncio.to_thread(reader.readall)
        reader.close()
        inflow.close()
        return data

    assert asyncio.run(arrived()) == b"x" * n_bytes


def test_an_inflow_nobody_reads_can_be_closed() -> None:
    """Closing gives up what is not written yet, and may be repeated."""

    async def left_open() -> bool:
        reader, writer = _pipe()
        inflow = Inflow(writer, b"x" * 1_000_000)
        inflow.start()
        was_open = not writer.closed
        inflow.close()
        inflow.close()
        reader.close()
        return was_open and writer.closed

    assert asyncio.run(left_open())


def test_an_outflow_keeps_the_first_bytes_and_counts_all() -> None:
    """Beyond the limit bytes are counted, not kept, and the overflow is told once."""

    async def outcome() -> tuple[bytes, int, int]:
        told: list[bool] = []
        reader, writer = _pipe()
        outflow = Outflow(reader, 4, lambda: told.append(True))
        outflow.start()
        writer.write(b"abcdef")
        await asyncio.sleep(0.01)
        writer.write(b"gh")
        outflow.close()
        writer.close()
        return outflow.kept, outflow.seen, len(told)

    assert asyncio.run(outcome()) == (b"abcd", 8, 1)


def test_an_outflow_closes_though_the_other_end_is_held() -> None:
    """Closing takes what is there and does not wait for an end that never comes."""

    async def kept() -> bytes:
        reader, writer = _pipe()
        outflow = Outflow(reader, 100, lambda: None)
        outflow.start()
        writer.write(b"partial")
        outflow.close()
        writer.close()
        return outflow.kept

    assert asyncio.run(kept()) == b"partial"
