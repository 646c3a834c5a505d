"""HTTP skills on loopback at concurrency 32, beside a bare loop with one httpx client for each of 32 workers."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from evaluated import trial_seconds
from rows import Row

CONCURRENCY = 32
SHARE = 0.7
SERVER = """
import asyncio, json

async def met(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            lines = head.lower().split(b"\\r\\n")
            length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
            given = json.loads(await reader.readexactly(length))["input"]
            if "nap_s" in given:
                await asyncio.sleep(given["nap_s"])
            body = json.dumps({"result": given.get("a", 0) + given.get("b", 1)}).encode()
            writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\n"
                         b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
    except asyncio.IncompleteReadError:
        writer.close()

async def main():
    server = await asyncio.start_server(met, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""


@contextmanager
def http_server() -> Iterator[int]:
    """Run the server, which adds `a` and `b`, after a nap where one is asked for; give its port."""
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield int(server.stdout.readline())
        finally:
            server.kill()


def write_http_skill(folder: Path, port: int) -> Path:
    """Write a skill that is asked at a port of this machine."""
    folder.mkdir()
    manifest = {
        "id": "adder",
        "name": "Adder",
        "version": "1.0.0",
        "adapterType": "http",
        "entrypoint": f"http://127.0.0.1:{port}/",
    }
    (folder / "skill.json").write_text(json.dumps(manifest))
    return folder


async def bare_seconds(port: int, n_tasks: int) -> float:
    """Ask as often, each worker with a client of its own."""
    pending = iter(range(n_tasks))

    async def work() -> None:
        async with httpx.AsyncClient() as client:
            for i in pending:
                message = {"skillId": "adder", "version": "1.0.0", "input": {"a": i, "b": 1}}
                answer = await client.post(f"http://127.0.0.1:{port}/", json=message)
                assert answer.json() == {"result": i + 1}

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(CONCURRENCY)))
    return time.perf_counter() - started


def rows(*, quick: bool) -> list[Row]:
    """Measure in turns and compare the best of each."""
    n_tasks, turns = (1000, 2) if quick else (5000, 3)
    with tempfile.TemporaryDirectory() as folder, http_server() as port:
        ours, bare = _measured(Path(folder), port, n_tasks, turns)
    share = min(bare) / min(ours)
    row = Row(
        what=f"HTTP skill on loopback, {n_tasks:,} trials, concurrency {CONCURRENCY}",
        value=f"{n_tasks / min(ours):,.0f} trials/s",
        floor=f"bare httpx loop {n_tasks / min(bare):,.0f}/s",
        ratio=share,
        goal=f"≥ {SHARE:.2f} of the floor",
        met=share >= SHARE,
    )
    return [row]


def _measured(root: Path, port: int, n_tasks: int, turns: int) -> tuple[list[float], list[float]]:
    ours, bare = [], []
    skill = write_http_skill(root / "adder", port)
    for i in range(turns):
        (root / str(i)).mkdir()
        bare.append(asyncio.run(bare_seconds(port, n_tasks)))
        ours.append(trial_seconds(root / str(i), skill, n_tasks, f"runner.concurrency={CONCURRENCY}"))
    return ours, bare
