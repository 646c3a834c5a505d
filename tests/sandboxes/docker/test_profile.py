from __future__ import annotations

import json
from typing import Any

import pytest

from skilleval.sandboxes.docker.profile import seccomp_profile_of
from skilleval.sandboxes.seccomp import EXAMINED, REFUSED


def _rules(machine: str = "x86_64") -> list[dict[str, Any]]:
    profile = seccomp_profile_of(machine)
    assert profile is not None
    rules: list[dict[str, Any]] = json.loads(profile)["syscalls"]
    return rules


@pytest.mark.parametrize(
    ("machine", "architecture"), [("x86_64", "SCMP_ARCH_X86_64"), ("aarch64", "SCMP_ARCH_AARCH64")]
)
def test_calls_of_other_architectures_get_nowhere(machine: str, architecture: str) -> None:
    """Only the machine's own is named; an unknown machine has no profile."""
    profile = seccomp_profile_of(machine)
    assert profile is not None
    assert json.loads(profile)["architectures"] == [architecture]
    assert json.loads(profile)["defaultAction"] == "SCMP_ACT_ALLOW"
    assert seccomp_profile_of("pdp11") is None


def test_there_is_one_list_of_refused_calls() -> None:
    """Both sandboxes refuse the same calls, and examine the same but one, which matters without namespaces only."""
    first, *others = _rules()
    assert set(first["names"]) == set(REFUSED)
    assert (first["action"], first["errnoRet"], first["args"]) == ("SCMP_ACT_ERRNO", 1, [])
    assert {name for rule in others for name in rule["names"]} == set(EXAMINED) - {"prlimit64"}


def test_no_lease_of_a_file_is_given() -> None:
    """Whoever opens a file of which somebody has a lease has to wait: for files and for folders it is refused."""
    requests = {rule["args"][0]["valueTwo"] for rule in _rules() if rule["names"] == ["fcntl"]}
    assert requests == {1024, 1040}


def test_every_new_namespace_is_refused() -> None:
    """Each flag of `clone` by itself is enough; together they are the mask of the other filter."""
    flags = [rule["args"][0]["value"] for rule in _rules() if rule["names"] == ["clone"]]
    assert len(flags) == 7
    assert sum(flags) == 0x7E020000


def test_what_hides_its_flags_does_not_exist() -> None:
    """ENOSYS, so that the C library takes the older call."""
    (rule,) = [rule for rule in _rules() if rule["names"] == ["clone3"]]
    assert rule["errnoRet"] == 38
