from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from sandboxes.docker.images import blueprint, image, rules

from skilleval.sandboxes.docker.blueprint import (
    GATE,
    View,
    at_gate,
    container,
    evaluator_labels,
    own_exit_code,
    started,
)


def test_a_container_has_all_walls() -> None:
    """Nothing of the machine but what is named: no network, no rights, no place to write, own filter, not root."""
    made = container(blueprint(), at_gate(blueprint()), rules())
    host = made["HostConfig"]
    security, seccomp = host["SecurityOpt"]
    assert made["User"] == "10001:10001"
    assert (host["NetworkMode"], host["IpcMode"], host["ReadonlyRootfs"]) == ("none", "none", True)
    assert (host["CapDrop"], security, host["Init"]) == (["ALL"], "no-new-privileges:true", True)
    assert "io_uring_setup" in json.loads(seccomp.removeprefix("seccomp="))["syscalls"][0]["names"]
    assert host["LogConfig"]["Type"] == "none"
    assert "/proc/1/oom_score_adj" in host["ReadonlyPaths"]
    assert "Runtime" not in host


def test_a_container_has_all_limits() -> None:
    """Memory without swap, processes, processors, files and temporary files, in the engine's units."""
    host = container(blueprint(), (), rules())["HostConfig"]
    assert (host["Memory"], host["MemorySwap"]) == (67_108_864, 67_108_864)
    assert (host["PidsLimit"], host["NanoCpus"]) == (12, 500_000_000)
    limits = {one["Name"]: (one["Soft"], one["Hard"]) for one in host["Ulimits"]}
    assert limits == {"core": (0, 0), "nofile": (99, 99), "fsize": (2_097_152, 2_097_152), "cpu": (7, 12)}
    assert host["Tmpfs"] == {"/tmp": "size=3145728,mode=1777,nosuid,nodev"}  # noqa: S108 - in a container


def test_who_serves_many_trials_has_no_limit_of_cpu_time() -> None:
    """That limit is meant for one trial."""
    host = container(blueprint(serves=True), (), rules())["HostConfig"]
    assert {one["Name"] for one in host["Ulimits"]} == {"core", "nofile", "fsize"}


def test_runtime_network_and_log_are_asked_for() -> None:
    """What is not the default appears only where it is chosen."""
    host = container(blueprint(), (), rules(runtime="runsc", network=True, keeps_log=True))["HostConfig"]
    assert (host["Runtime"], host["NetworkMode"], host["LogConfig"]["Type"]) == (
        "runsc",
        "default",
        "json-file",
    )


def test_files_are_shown_at_their_own_paths(tmp_path: Path) -> None:
    """Reads read-only, writes writable; what is covered is an empty file or folder."""
    secret, results = tmp_path / "secret", tmp_path / "results"
    secret.write_text("x")
    results.mkdir()
    view = View(reads=(tmp_path,), writes=(Path("/box"),), covered=(secret, results))
    host = container(blueprint(view=view), (), rules())["HostConfig"]
    mounts = [(one["Source"], one["Target"], one["ReadOnly"]) for one in host["Mounts"]]
    assert mounts == [
        (str(tmp_path), str(tmp_path), True),
        ("/box", "/box", False),
        ("/dev/null", str(secret), True),
    ]
    assert host["Tmpfs"][str(results)] == "size=64k,mode=755,nosuid,nodev,ro"


def test_a_closed_home_is_covered_where_something_below_it_is_shown() -> None:
    """Else programs could not get there: images keep the home of root to root."""
    below = View(reads=(Path("/root/skills/one"),))
    assert "/root" in container(blueprint(view=below), (), rules())["HostConfig"]["Tmpfs"]
    assert "/root" not in container(blueprint(), (), rules())["HostConfig"]["Tmpfs"]


def test_places_that_an_image_keeps_are_in_memory() -> None:
    """They would be written to the engine's disk without a limit."""
    made = container(blueprint(image=image(volumes=("/kept",))), (), rules())
    assert made["HostConfig"]["Tmpfs"]["/kept"] == "size=3145728,mode=1777,nosuid,nodev"


def test_the_gate_stands_before_the_program() -> None:
    """No word of the command line is read by the shell."""
    words = at_gate(blueprint(argv=("a b", "$(x)")))
    assert words == ("/bin/sh", "-c", GATE, "sh", "a b", "$(x)")


def test_equal_blueprints_stand_in_for_each_other() -> None:
    """Another image, program, folder or view is another container."""
    assert blueprint() == blueprint()
    assert hash(blueprint()) == hash(blueprint())
    for other in (
        blueprint(argv=("x",)),
        blueprint(image=image(image_id="sha256:9")),
        blueprint(environment=()),
        blueprint(serves=True),
    ):
        assert other != blueprint()


@pytest.mark.parametrize(
    ("told", "code"), [(0, 0), (1, 1), (127, 127), (128, 128), (137, -9), (152, -24), (193, 193), (255, 255)]
)
def test_signals_are_negative_exit_codes(told: int, code: int) -> None:
    """A number above 128 is a signal only where there is one of that number."""
    assert own_exit_code(told) == code


def test_labels_tell_the_evaluator_apart_from_all_others() -> None:
    """Its id alone could belong to somebody else by now: the moment it began is there too."""
    labels = evaluator_labels()
    assert labels["skilleval.pid"] == str(os.getpid())
    assert labels["skilleval.pid_started"] == started(os.getpid())
    assert labels["skilleval.run"]
    assert "pid:[" in labels["skilleval.pid_namespace"]
    assert started(2**22 + 1) is None
