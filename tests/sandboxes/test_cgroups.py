from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from naps import Nap

from skilleval.sandboxes.cgroups import (
    ControlGroups,
    GroupLimits,
    Hierarchy,
    find_hierarchies,
    sweep,
    usable_hierarchies,
)

LIMITS = GroupLimits(memory_bytes=64 << 20, processes=8, cpus=0.5)
DEAD = 4_194_305
"""No process has this id: it is above the highest that Linux allows."""


def _mount(root: str, mount: Path, kind: str, options: str = "rw") -> str:
    return f"31 23 0:28 {root} {mount} rw,relatime shared:1 - {kind} {kind} {options}"


def _write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def _v2(tmp_path: Path) -> Hierarchy:
    return Hierarchy(version=2, folder=tmp_path, controllers=frozenset({"memory", "pids", "cpu"}))


def _text(folder: Path, name: str) -> str:
    return (folder / name).read_text()


def test_version_1_has_one_tree_a_controller(tmp_path: Path) -> None:
    """Each controller is found at its own mount and membership; other controllers are of no use."""
    mounts = "\n".join(
        [
            _mount("/", tmp_path / "memory", "cgroup", "rw,memory"),
            _mount("/", tmp_path / "cpu,cpuacct", "cgroup", "rw,cpu,cpuacct"),
            _mount("/", tmp_path / "systemd", "cgroup", "rw,name=systemd"),
        ]
    )
    own = _write(tmp_path / "memory" / "mine")
    shared = _write(tmp_path / "cpu,cpuacct")
    found = find_hierarchies("9:name=systemd:/\n4:memory:/mine\n2:cpu,cpuacct:/\n0::/\n", mounts)
    assert {(one.version, one.folder.resolve(), one.controllers) for one in found} == {
        (1, own, frozenset({"memory"})),
        (1, shared, frozenset({"cpu"})),
    }


def test_a_mount_may_show_a_part_of_the_tree(tmp_path: Path) -> None:
    """In a container the mount begins at the container's own group."""
    own = _write(tmp_path / "inner")
    mounts = _mount("/docker/abc", tmp_path, "cgroup", "rw,pids")
    (found,) = find_hierarchies("8:pids:/docker/abc/inner", mounts)
    assert found.folder == own


def test_version_2_groups_are_made_where_controllers_are_handed_on(tmp_path: Path) -> None:
    """Our own group holds us and hands nothing on, so the place is the one above."""
    slice_ = _write(tmp_path / "app.slice", cgroup__procs="", cgroup__subtree_control="memory pids\n")
    _write(slice_ / "run.scope", cgroup__procs="1\n", cgroup__subtree_control="\n")
    found = find_hierarchies("0::/app.slice/run.scope\n", _mount("/", tmp_path, "cgroup2"))
    assert found == (Hierarchy(version=2, folder=slice_, controllers=frozenset({"memory", "pids"})),)


def test_nothing_is_looked_for_above_the_mount(tmp_path: Path) -> None:
    """Where no group hands controllers on, there is no place."""
    _write(tmp_path, cgroup__procs="", cgroup__subtree_control="memory")
    _write(tmp_path / "mount" / "own", cgroup__procs="", cgroup__subtree_control="")
    assert find_hierarchies("0::/own\n", _mount("/", tmp_path / "mount", "cgroup2")) == ()


def test_a_group_of_version_2_gets_its_limits(tmp_path: Path) -> None:
    """The folder above hands the controllers on; there is no swap beyond the memory."""
    groups = ControlGroups([_v2(tmp_path)], LIMITS)
    (folder,) = groups.take().folders
    assert _text(folder.parent, "cgroup.subtree_control") == "+cpu +memory +pids"
    assert (_text(folder, "memory.max"), _text(folder, "pids.max")) == (str(64 << 20), "8")
    assert _text(folder, "cpu.max") == "50000 100000"
    assert not (folder / "memory.swap.max").exists()  # a kernel without swap accounting has no such file
    assert folder.parent.name.startswith(f"skilleval-{os.getpid()}-")


def test_only_what_is_asked_for_is_limited(tmp_path: Path) -> None:
    """Without a limit of processors there is no need for their controller."""
    groups = ControlGroups([_v2(tmp_path)], GroupLimits(memory_bytes=1 << 20))
    (folder,) = groups.take().folders
    assert groups.controllers == {"memory"}
    assert _text(folder.parent, "cgroup.subtree_control") == "+memory"
    assert sorted(path.name for path in folder.iterdir()) == ["memory.max"]


def test_groups_of_version_1_lie_in_each_tree(tmp_path: Path) -> None:
    """One group is a folder in every tree, limited by the files of that version."""
    trees = [
        Hierarchy(version=1, folder=_write(tmp_path / name), controllers=frozenset({name}))
        for name in ("memory", "pids", "cpu")
    ]
    memory, pids, cpu = ControlGroups(trees, LIMITS).take().folders
    assert _text(memory, "memory.limit_in_bytes") == str(64 << 20)
    assert _text(pids, "pids.max") == "8"
    assert (_text(cpu, "cpu.cfs_quota_us"), _text(cpu, "cpu.cfs_period_us")) == ("50000", "100000")


def test_a_group_is_used_again_once_it_is_given_back(tmp_path: Path) -> None:
    """Two at a time need two; one after the other need one."""
    groups = ControlGroups([_v2(tmp_path)], LIMITS)
    one, other = groups.take(), groups.take()
    assert one.folders != other.folders
    groups.give_back(one)
    assert groups.take() is one


@pytest.mark.parametrize(
    ("stat", "is_used_again"),
    [
        ("cache 0\nrss 0\nshmem 0\n", True),
        ("cache 90000000\nrss 100000\nshmem 0\n", True),
        ("cache 90000000\nrss 0\nshmem 90000000\n", False),
        ("anon 90000000\nfile 0\n", False),
    ],
)
def test_a_group_that_holds_memory_is_not_used_again(tmp_path: Path, stat: str, is_used_again: bool) -> None:
    """Memory that outlived a trial is not charged to the next; what the kernel can take back is no matter."""
    groups = ControlGroups([_v2(tmp_path)], GroupLimits(memory_bytes=1 << 20))
    group = groups.take()
    _write(group.folders[0], memory__stat=stat)
    groups.give_back(group)
    assert (groups.take() is group) == is_used_again


def test_a_group_that_is_not_empty_is_not_used_again(tmp_path: Path) -> None:
    """A program that cannot be ended must not be counted with the next one."""
    groups = ControlGroups([_v2(tmp_path)], LIMITS)
    group = groups.take()
    _write(group.folders[0], cgroup__procs=f"{os.getppid()}\n")
    groups.give_back(group)
    assert groups.take() is not group


@pytest.mark.parametrize(
    ("files", "exhausted"),
    [
        ({"memory__events": "low 0\nmax 9\noom 1\noom_kill 1\n"}, "memory"),
        ({"memory__oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"}, "memory"),
        ({"pids__events": "max 1\n"}, "processes"),
        ({"pids__events": "max 1\n", "memory__events": "oom_kill 1\n"}, "memory"),
        ({"memory__events": "low 0\nmax 9\noom 0\noom_kill 0\n", "pids__events": "max 0\n"}, None),
        ({}, None),
    ],
)
def test_counters_tell_what_ran_out(tmp_path: Path, files: dict[str, str], exhausted: str | None) -> None:
    """Processes ended for memory, or refused; what was counted before the reset does not count."""
    groups = ControlGroups([_v2(tmp_path)], LIMITS)
    group = groups.take()
    assert group.exhausted is None
    _write(group.folders[0], **files)
    assert group.exhausted == exhausted
    groups.give_back(group)
    assert groups.take().exhausted is None


def test_everybody_in_a_group_is_ended(tmp_path: Path) -> None:
    """Each process is killed by its id; the group is over once nobody is listed."""
    group = ControlGroups([_v2(tmp_path)], LIMITS).take()
    with subprocess.Popen(["sleep", "30"]) as sleeper:
        _write(group.folders[0], cgroup__procs=f"{sleeper.pid}\n")
        assert not group.kill()
        assert sleeper.wait(timeout=120) == -9
    _write(group.folders[0], cgroup__procs="")
    assert group.kill()


def test_version_2_ends_all_at_once_where_it_can(tmp_path: Path) -> None:
    """Nobody can be born between two looks at the list."""
    groups = ControlGroups([_v2(tmp_path)], LIMITS)
    folder = groups.take().folders[0]
    groups.close()
    _write(folder, cgroup__kill="", cgroup__procs=f"{os.getppid()}\n")
    again = ControlGroups([_v2(tmp_path)], LIMITS)
    group = again.take()
    _write(group.folders[0], cgroup__kill="", cgroup__procs="")
    assert group.kill()


def test_a_process_of_another_namespace_is_left_alone(tmp_path: Path) -> None:
    """0 stands for a process without an id here: to kill it would be to kill our own group."""
    group = ControlGroups([_v2(tmp_path)], LIMITS).take()
    _write(group.folders[0], cgroup__procs=f"0\n{os.getpid()}\n")
    assert group.processes() == []
    assert group.kill()


def test_what_dead_evaluators_left_is_removed(tmp_path: Path) -> None:
    """Their ids are in the names; folders of the living and of others stay."""
    left = _write(tmp_path / f"skilleval-{DEAD}-0")
    (left / "0").mkdir()
    ours, other = tmp_path / f"skilleval-{os.getpid()}-0", tmp_path / "skilleval-notes"
    ours.mkdir()
    other.mkdir()
    sweep([_v2(tmp_path)])
    assert sorted(tmp_path.iterdir()) == sorted([ours, other])


@pytest.fixture
def real() -> Iterator[ControlGroups]:
    """Give groups of this machine; they are gone afterwards."""
    groups = ControlGroups(usable_hierarchies(), GroupLimits(memory_bytes=64 << 20, processes=8))
    if groups.controllers != {"memory", "pids"}:
        pytest.skip("no control groups here: run as root, or in a scope that hands controllers on")
    before = _groups()
    yield groups
    groups.close()
    assert _groups() <= before


def _groups() -> set[Path]:
    """Give the control groups of this process."""
    return {path for one in usable_hierarchies() for path in one.folder.glob(f"skilleval-{os.getpid()}-*")}


def _inside(groups: ControlGroups, program: str) -> tuple[int, str | None]:
    """Run a Python program in a group; give its exit code and what ran out."""
    group = groups.take()
    script = 'for file in "$@"; do echo 0 > "$file"; done; exec "$PYTHON" -I -S -c "$PROGRAM"'
    done = subprocess.run(
        ["/bin/sh", "-c", script, "sh", *map(str, group.entrances)],
        env={"PYTHON": sys.executable, "PROGRAM": program},
        stderr=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    exhausted = group.exhausted
    while not group.kill():
        time.sleep(0.01)
    groups.give_back(group)
    return done.returncode, exhausted


@pytest.mark.hostile
def test_memory_and_processes_run_out_for_real(real: ControlGroups) -> None:
    """The kernel ends a hog and refuses a crowd; the group is as good as new for the next program."""
    assert _inside(real, "bytearray(1 << 28)") == (-9, "memory")
    crowd = "import subprocess, sys\nfor _ in range(20): subprocess.Popen(['/bin/sleep', '5'])"
    assert _inside(real, crowd) == (1, "processes")
    assert _inside(real, "pass") == (0, None)


@pytest.mark.hostile
def test_who_left_its_session_is_ended_with_its_group(real: ControlGroups, nap: Nap) -> None:
    """A group cannot be left, whatever a program does to its sessions and parents."""
    group = real.take()
    script = f'for file in "$@"; do echo 0 > "$file"; done; setsid sh -c "setsid sleep {nap.seconds} & :"'
    subprocess.run(["/bin/sh", "-c", script, "sh", *map(str, group.entrances)], timeout=120, check=True)
    nap.wait_for(1)
    while not group.kill():
        time.sleep(0.01)
    assert nap.sleepers() == []
    real.give_back(group)
