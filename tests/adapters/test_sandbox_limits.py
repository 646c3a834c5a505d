from __future__ import annotations

import asyncio
from pathlib import Path

from skilleval.adapters.base import Call
from skilleval.adapters.subprocess_rpc import SubprocessAdapter, SubprocessOptions
from skilleval.domain.attempts import Reply, Status
from skilleval.domain.skills import Skill
from skilleval.sandboxes.process import ProcessOptions, ProcessSandbox


def _skill(folder: Path) -> Skill:
    (folder / "skill.sh").write_text('exec dd if=/dev/zero of="$TMPDIR/big" bs=1M count=4\n')
    return Skill(
        id="big",
        version="1.0.0",
        name="Big",
        adapter="subprocess",
        entrypoint="sh skill.sh",
        folder=folder,
        source=folder / "skill.json",
        digest="0" * 64,
    )


def _reply(folder: Path) -> Reply:
    call = Call(
        skill=_skill(folder),
        task_id="t",
        input={},
        repeat=0,
        seed=0,
        try_index=0,
        timeout_s=20.0,
        trial_id="0",
    )
    options = ProcessOptions(
        mechanism="fallback",
        network=False,
        allow_hosts=(),
        pass_env=(),
        read=(),
        memory_mb=256,
        cpus=None,
        cpu_seconds=None,
        processes=64,
        file_size_mb=1,
        open_files=64,
        tmp_mb=16,
    )

    async def invoked() -> Reply:
        sandbox = ProcessSandbox(options)
        adapter = SubprocessAdapter(SubprocessOptions(max_output_bytes=10_000), sandbox)
        reply = await adapter.invoke(call)
        await sandbox.aclose()
        return reply

    return asyncio.run(invoked())


def test_a_limit_of_the_sandbox_is_a_failure_of_the_skill_with_its_own_name(tmp_path: Path) -> None:
    """The row says which resource ran out and how much there was, not only that a signal came."""
    reply = _reply(tmp_path)
    assert (reply.status, reply.failure_kind) == (Status.SKILL_ERROR, "file_size_limit")
    assert reply.message == "reached the sandbox's limit of file size: 1 MB a file"
