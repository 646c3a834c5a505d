from __future__ import annotations

import json
from pathlib import Path

import pytest
from containers.boxes import command, sandbox, used

from skilleval.errors import AdapterError
from skilleval.sandboxes.base import Completed
from skilleval.sandboxes.docker import DockerSandbox
from skilleval.sandboxes.docker.engine import Engine
from skilleval.sandboxes.docker.images import context_digest

pytestmark = pytest.mark.docker
_BASE = "FROM skilleval-base:py311\nUSER 0\n"


def _tag(folder: Path) -> str:
    return f"skilleval-skill:{context_digest(folder)[:32]}"


def _run(folder: Path, *argv: str) -> tuple[Completed, object]:
    async def work(made: DockerSandbox) -> tuple[Completed, object]:
        made.prepare(folder)
        return await made.run(command(folder, *argv)), made.facts["images"]

    return used(work, build=True)


def test_a_skill_brings_its_own_image(folder: Path) -> None:
    """It is built from the skill's Dockerfile, without network, and what it consists of is recorded."""
    (folder / "Dockerfile").write_text(
        f"{_BASE}RUN echo inside >/word && ls /sys/class/net >/net\nENV PATH=/usr/bin\n"
    )
    done, images = _run(folder, "sh", "-c", "cat /word /net; echo $PATH; id -u")
    assert done.stdout.split() == [b"inside", b"lo", b"/usr/bin", b"10001"]
    assert isinstance(images, dict)
    assert set(images) == {"skilleval-base:py311", _tag(folder)}
    (base,) = images["skilleval-base:py311"]
    assert images[_tag(folder)][0] == base
    assert len(images[_tag(folder)]) == 2


def test_an_image_is_built_once(folder: Path) -> None:
    """The digest of what it is built from is its tag: the same files give the image that is there."""
    (folder / "Dockerfile").write_text(f"{_BASE}RUN cat /proc/sys/kernel/random/uuid >/word\n")
    assert _run(folder, "cat", "/word")[0].stdout == _run(folder, "cat", "/word")[0].stdout


def test_an_image_that_cannot_be_built_is_an_error_with_the_last_words(folder: Path) -> None:
    """The file, the step that failed and what it said are told before the first trial."""
    (folder / "Dockerfile").write_text(f"{_BASE}RUN echo what went wrong && exit 3\n")
    made = sandbox(build=True)
    with pytest.raises(AdapterError, match=r"(?s)Dockerfile: .*returned a non-zero code: 3.*what went wrong"):
        made.prepare(folder)
    made_file = folder / "Dockerfile"
    made_file.write_text("FROM surely-no-such-image:1\n")
    with pytest.raises(AdapterError, match="surely-no-such-image"):
        made.prepare(folder)


@pytest.mark.parametrize("line", ["ADD http://127.0.0.1:9/word /word", "COPY --from=surely-none:1 /a /b"])
def test_an_engine_is_not_made_to_fetch_for_a_stranger(folder: Path, line: str) -> None:
    """A build has no network, but the engine has one: what it would fetch itself is refused before it is asked."""
    (folder / "Dockerfile").write_text(f"{_BASE}{line}\n")
    made = sandbox(build=True)
    with pytest.raises(AdapterError, match=f"found {line}"):
        made.prepare(folder)
    (folder / "Dockerfile").rename(folder / "other")
    (folder / "Dockerfile").symlink_to("other")
    with pytest.raises(AdapterError, match="found a link"):
        made.prepare(folder)


def test_a_dockerfile_is_ignored_unless_asked_for(folder: Path) -> None:
    """Building runs commands of a stranger: that is the user's choice."""
    (folder / "Dockerfile").write_text("FROM surely-no-such-image:1\n")

    async def work(made: DockerSandbox) -> Completed:
        made.prepare(folder)
        return await made.run(command(folder, "true"))

    assert used(work).exit_code == 0


def test_places_that_an_image_wants_kept_are_in_memory(folder: Path) -> None:
    """A VOLUME would be written to the engine's disk without a limit."""
    (folder / "Dockerfile").write_text(f"{_BASE}RUN mkdir -m 777 /kept\nVOLUME /kept\n")
    done, _ = _run(
        folder, "sh", "-c", "echo x >/kept/file; while read -r line; do echo $line; done </proc/mounts"
    )
    (mount,) = [line for line in done.stdout.decode().splitlines() if " /kept " in line]
    assert mount.startswith("tmpfs ")
    assert "size=8192k" in mount


def test_an_engine_tells_what_it_is() -> None:
    """Version, runtimes and limits are known before anything runs."""
    engine = Engine()
    try:
        facts = engine.facts()
    finally:
        engine.close()
    assert "runc" in facts.runtimes
    assert (facts.limits_memory, facts.limits_processes, facts.limits_cpus) == (True, True, True)
    assert json.dumps(facts.version)


def test_an_image_without_a_shell_is_said_to_lack_it(folder: Path) -> None:
    """Nothing can be looked at in it, so nothing is claimed: neither of its walls nor of the engine."""
    (folder / "Dockerfile").write_text("FROM scratch\nCOPY Dockerfile /\n")
    engine, tag = Engine(), "skilleval-test-bare:1"
    try:
        engine.build(folder, tag)
        with pytest.raises(AdapterError, match=f"cannot run a container of {tag}: .*/bin/sh") as raised:
            sandbox(image=tag)
        assert raised.value.hint.startswith("the image needs /bin/sh")
    finally:
        engine.close()


def test_a_runtime_that_the_engine_lacks_is_said_with_those_that_it_has() -> None:
    """The option is named, not the image."""
    with pytest.raises(AdapterError, match="surely-none") as raised:
        sandbox(runtime="surely-none")
    assert "sandbox.runtime" in raised.value.hint
    assert "runc" in raised.value.hint
