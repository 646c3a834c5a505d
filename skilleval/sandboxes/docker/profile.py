"""The filter of kernel calls in the form that Docker reads; what is refused stands in `sandboxes.seccomp` alone."""

from __future__ import annotations

import errno
import json
import platform
import socket
import termios
from collections.abc import Iterator
from typing import Any

from skilleval.sandboxes.seccomp import REFUSED

_ARCHITECTURES = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}
_LOW_HALF = 0xFFFFFFFF  # all the kernel takes of these arguments: a set high bit must not slip through
_NEW_NAMESPACES = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
_FAKING_TERMINAL_INPUT = (termios.TIOCSTI, termios.TIOCLINUX)
_SETTING_LEASES = (1024, 1040)  # F_SETLEASE, F_SETDELEG
_DEFAULT_PERSONALITY = 0


def seccomp_profile() -> str | None:
    """Give the profile for this machine; null where its architecture is not known."""
    return seccomp_profile_of(platform.machine())


def seccomp_profile_of(machine: str) -> str | None:
    """Give the profile for a named machine, such as `aarch64`: everything goes through but what is named."""
    architecture = _ARCHITECTURES.get(machine)
    if architecture is None:
        return None
    profile = {
        "defaultAction": "SCMP_ACT_ALLOW",
        "architectures": [architecture],  # calls of any other get nowhere
        "syscalls": [_refusing(sorted(REFUSED)), *_examinations()],
    }
    return json.dumps(profile)


def _examinations() -> Iterator[dict[str, Any]]:
    yield _refusing(["clone3"], answer=errno.ENOSYS)  # it hides its flags; the C library then takes `clone`
    for flag in _NEW_NAMESPACES:
        yield _refusing(["clone"], _bits(0, flag, flag))
    for request in _FAKING_TERMINAL_INPUT:
        yield _refusing(["ioctl"], _bits(1, _LOW_HALF, request))
    # Who has a lease of a file makes everybody on the machine wait who opens it.
    for command in _SETTING_LEASES:
        yield _refusing(["fcntl"], _bits(1, _LOW_HALF, command))
    yield _refusing(["personality"], _argument(0, "SCMP_CMP_NE", _DEFAULT_PERSONALITY))
    # A network namespace does not hold them all: AF_VSOCK, for one, leads to the host of a virtual machine.
    yield _refusing(["socket"], _argument(0, "SCMP_CMP_GT", socket.AF_NETLINK))
    yield _refusing(["socketpair"], _argument(0, "SCMP_CMP_NE", socket.AF_UNIX))


def _refusing(
    names: list[str], condition: dict[str, Any] | None = None, *, answer: int = errno.EPERM
) -> dict[str, Any]:
    args = [] if condition is None else [condition]
    return {"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": answer, "args": args}


def _argument(index: int, operator: str, value: int) -> dict[str, Any]:
    return {"index": index, "op": operator, "value": value}


def _bits(index: int, mask: int, value: int) -> dict[str, Any]:
    return {"index": index, "op": "SCMP_CMP_MASKED_EQ", "value": mask, "valueTwo": value}
