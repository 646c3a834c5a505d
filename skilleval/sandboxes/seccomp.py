"""Which calls of the kernel a program in a sandbox may make, as a filter program for seccomp.

The filter is a list of refusals: whatever is not named goes through, so that interpreters of every kind run. It
refuses what no skill needs and what has opened sandboxes before: mounts, new namespaces, other processes' memory,
kernel keys, `io_uring` (which would do file and network work behind the filter's back), the clock, the machine.
The program is classic BPF in the kernel's own binary form, the one that bubblewrap's `--seccomp` reads.
"""

from __future__ import annotations

import errno
import platform
import socket
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

# Instructions of classic BPF, <linux/bpf_common.h>: a condition skips `yes` or `no` instructions.
_LOAD = 0x20  # take a 32-bit word of the call's description
_IF_EQUAL = 0x15
_IF_AT_LEAST = 0x35
_IF_ANY_BIT = 0x45
_KEEP_BITS = 0x54
_RETURN = 0x06

# What a filter answers, <linux/seccomp.h>.
_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_ERROR = 0x00050000
_REFUSED = _ERROR | errno.EPERM
_DONE_NOTHING = _ERROR | 0  # the call returns 0 and is not made
_UNKNOWN_CALL = _ERROR | errno.ENOSYS
_NOT_OF_THIS_FILE = _ERROR | errno.EOPNOTSUPP  # as a file system says that keeps no such thing

# Offsets in the description of a call, `struct seccomp_data`.
_NUMBER = 0
_ARCHITECTURE = 4
_ARGUMENTS = 16

_X32_BIT = 0x40000000  # calls of the x32 ABI carry it in their number; the same kernel serves both
_NEW_NAMESPACES = 0x7E020000  # every CLONE_NEW* flag that `clone` knows
_FAKING_TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_SETTING_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
_SETTING_LEASES = (1024, 1040)  # F_SETLEASE, F_SETDELEG
_GROUP_OF_REQUEST = 0xFF00
_HARMLESS_REQUESTS = (0x5400, 0x8900)  # to terminals and any descriptor, and to sockets
_WHOLE_USERS = {"setpriority": 2, "ioprio_set": 3}
# Pairs of sockets that stay with each other: one of datagrams can be sent to any socket whose name is known.
_LASTING_PAIRS = tuple(kind | flags for kind in (1, 5) for flags in (0, 0x800, 0x80000, 0x80800))
_NETLINK = 16  # by which programs learn their own addresses; Python names it on Linux only
_HARMLESS_PERSONALITIES = (0, 0xFFFFFFFF)  # the default one, and the question which one it is


@dataclass(frozen=True, slots=True, kw_only=True)
class _Machine:
    """How one processor architecture names itself to a filter, and its column in the table of numbers."""

    audit_name: int
    column: int
    has_x32: bool = False


_MACHINES = {
    "x86_64": _Machine(audit_name=0xC000003E, column=0, has_x32=True),
    "aarch64": _Machine(audit_name=0xC00000B7, column=1),
}

Numbers = tuple[int | None, int | None]
"""The number of a call on x86_64 and on aarch64; null where it does not exist."""

REFUSED: dict[str, Numbers] = {
    # mounts and the root folder
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    # namespaces; `clone` is looked at more closely
    "unshare": (272, 97),
    "setns": (308, 268),
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    # the kernel itself
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
    "syslog": (103, 116),
    # work behind the filter's back
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # kernel keys
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # files past their paths
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    # the machine and its clock
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "iopl": (172, None),
    "ioperm": (173, None),
    "vhangup": (153, 58),
}
"""Calls that fail with EPERM, whatever their arguments."""

EXAMINED: dict[str, Numbers] = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "personality": (135, 92),
    "prlimit64": (302, 261),
    "socket": (41, 198),
    "socketpair": (53, 199),
}
"""Calls that fail for some of their arguments; `clone3` hides its own behind a pointer, so it does not exist."""

OUTLIVING: dict[str, Numbers] = {
    # attributes of files that may be read but not changed: Landlock does not guard them
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    # memory and queues that stay when their maker is gone, and that others can open
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}
"""Calls that also fail with EPERM where a program has no namespaces of its own."""

IGNORED: dict[str, Numbers] = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
}
"""Calls that do nothing there, and say that they did it: rights and times of files stay as they are.

They could change files that the program may only read. Who copies or unpacks files makes them as a matter of course
and would fail for a refusal, so it finds what it finds on a file system that keeps neither.
"""

ATTRIBUTES: dict[str, Numbers] = {
    "getxattr": (191, 8),
    "lgetxattr": (192, 9),
    "fgetxattr": (193, 10),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "flistxattr": (196, 13),
    "getxattrat": (464, 464),
    "listxattrat": (465, 465),
}
"""Calls that read extended attributes, there also of files that may not be read: they say that there are none."""

ENDING: dict[str, Numbers] = {"prctl": (157, 167)}
"""The call by which a program says what signal it gets when its parent dies: there it does nothing, and says it did.

The launcher has said so already, and nothing else ends a program whose evaluator was killed.
"""

OF_OTHERS: dict[str, Numbers] = {
    "sched_setaffinity": (203, 122),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
}
"""Calls whose first argument is a process: there it may only be 0, whoever calls."""

OF_OTHERS_BY_KIND: dict[str, Numbers] = {
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
}
"""Calls whose second argument is a process or group: there it may only be 0, and the first no whole user."""


def filter_program(
    *, allow_network: bool, allow_unix_sockets: bool = True, has_namespaces: bool = True
) -> bytes | None:
    """Give the filter for this machine; null where its architecture is not known.

    Without network a program opens no socket but those of the AF_UNIX family, which is all that hides the network
    from it where it has no network namespace of its own. Without unix sockets it opens none of those: Landlock does
    not keep it from connecting to a socket file of another program. Pairs of sockets always stay, then only those that
    cannot be parted. With network there are those of the internet and no other families: a network namespace does not
    part AF_VSOCK, for one. Without `has_namespaces` more is refused: what reaches other processes and files that may
    only be read, or outlives it.
    """
    return filter_program_of(
        platform.machine(),
        allow_network=allow_network,
        allow_unix_sockets=allow_unix_sockets,
        has_namespaces=has_namespaces,
    )


def filter_program_of(
    machine: str, *, allow_network: bool, allow_unix_sockets: bool, has_namespaces: bool = True
) -> bytes | None:
    """Give the filter for a named machine, such as `aarch64`."""
    target = _MACHINES.get(machine)
    if target is None:
        return None
    internet = (int(socket.AF_INET), int(socket.AF_INET6), _NETLINK) if allow_network else ()
    families = (*((int(socket.AF_UNIX),) if allow_unix_sockets else ()), *internet)
    rules = [
        *_refusals(target, REFUSED),
        *([] if has_namespaces else _refusals_among_others(target)),
        *_examinations(target),
        *([] if allow_unix_sockets else _refusing_unless(_number("socketpair", target), 1, _LASTING_PAIRS)),
        *_allowing_only(_number("socket", target), 0, families),
    ]
    return b"".join([*_opening(target), *rules, _return(_ALLOW)])


def _opening(target: _Machine) -> Iterator[bytes]:
    """Leave the number of the call loaded, once it is known to be one of this architecture."""
    yield _step(_LOAD, _ARCHITECTURE)
    yield _step(_IF_EQUAL, target.audit_name, yes=1)
    yield _return(_KILL)
    yield _step(_LOAD, _NUMBER)
    if target.has_x32:
        yield _step(_IF_AT_LEAST, _X32_BIT, no=1)
        yield _return(_UNKNOWN_CALL)


def _refusals(target: _Machine, table: dict[str, Numbers], answer: int = _REFUSED) -> Iterator[bytes]:
    for number in _numbers(target, table):
        yield from _answering(number, answer)


def _refusals_among_others(target: _Machine) -> Iterator[bytes]:
    yield from _refusals(target, OUTLIVING)
    yield from _refusals(target, IGNORED, _DONE_NOTHING)
    yield from _refusals(target, ATTRIBUTES, _NOT_OF_THIS_FILE)
    yield from _examining_requests(_number("ioctl", target))
    (ending,) = _numbers(target, ENDING)
    yield from _looking_at(ending, 0, [_step(_IF_EQUAL, _SETTING_DEATH_SIGNAL, no=1), _return(_DONE_NOTHING)])
    for number in _numbers(target, OF_OTHERS):
        yield from _refusing_unless(number, 0, (0,))
    for name, numbers in OF_OTHERS_BY_KIND.items():
        number = _known(numbers, target)
        yield from _refusing_unless(number, 1, (0,))
        yield from _refusing_if(_IF_EQUAL, number, 0, (_WHOLE_USERS[name],))


def _numbers(target: _Machine, table: dict[str, Numbers]) -> Iterator[int]:
    return (number for numbers in table.values() if (number := numbers[target.column]) is not None)


def _examinations(target: _Machine) -> Iterator[bytes]:
    yield from _answering(_number("clone3", target), _UNKNOWN_CALL)  # the C library then takes `clone`
    yield from _refusing_if(_IF_ANY_BIT, _number("clone", target), 0, (_NEW_NAMESPACES,))
    yield from _refusing_if(_IF_EQUAL, _number("ioctl", target), 1, _FAKING_TERMINAL_INPUT)
    # Who has a lease of a file makes everybody on the machine wait who opens it; to read it is enough to take one.
    yield from _refusing_if(_IF_EQUAL, _number("fcntl", target), 1, _SETTING_LEASES)
    yield from _refusing_unless(_number("prlimit64", target), 0, (0,))  # a limit of another would end it
    yield from _refusing_unless(_number("socketpair", target), 0, (int(socket.AF_UNIX),))
    yield from _allowing_only(_number("personality", target), 0, _HARMLESS_PERSONALITIES)


def _examining_requests(number: int) -> Iterator[bytes]:
    """Let through what is asked of terminals and sockets: what file systems know also sets attributes and labels."""
    tests = [_step(_KEEP_BITS, _GROUP_OF_REQUEST), *_answering_unless(_HARMLESS_REQUESTS, _NOT_OF_THIS_FILE)]
    yield from _looking_at(number, 1, tests)


def _number(name: str, target: _Machine) -> int:
    return _known(EXAMINED[name], target)


def _known(numbers: Numbers, target: _Machine) -> int:
    number = numbers[target.column]
    assert number is not None
    return number


def _answering(number: int, answer: int) -> Iterator[bytes]:
    yield _step(_IF_EQUAL, number, no=1)
    yield _return(answer)


def _refusing_if(condition: int, number: int, argument: int, values: Iterable[int]) -> Iterator[bytes]:
    """Refuse a call if the condition holds for one of the values."""
    tests = [step for value in values for step in (_step(condition, value, no=1), _return(_REFUSED))]
    yield from _looking_at(number, argument, tests)


def _refusing_unless(number: int, argument: int, values: Sequence[int]) -> Iterator[bytes]:
    """Refuse a call unless an argument is one of the values; others may look at it further."""
    yield from _looking_at(number, argument, _answering_unless(values, _REFUSED))


def _answering_unless(values: Sequence[int], answer: int) -> list[bytes]:
    """Go on behind these steps where one of the values is loaded."""
    passing = [_step(_IF_EQUAL, value, yes=len(values) - index) for index, value in enumerate(values)]
    return [*passing, _return(answer)]


def _allowing_only(number: int, argument: int, values: Iterable[int]) -> Iterator[bytes]:
    """Refuse a call unless its argument is one of the values."""
    tests = [step for value in values for step in (_step(_IF_EQUAL, value, no=1), _return(_ALLOW))]
    yield from _looking_at(number, argument, [*tests, _return(_REFUSED)])


def _looking_at(number: int, argument: int, tests: list[bytes]) -> Iterator[bytes]:
    # The kernel takes only the low half of these arguments, and so do we: a set high bit must not slip through.
    # Both architectures are little-endian: the low half comes first.
    yield _step(_IF_EQUAL, number, no=len(tests) + 2)
    yield _step(_LOAD, _ARGUMENTS + 8 * argument)
    yield from tests
    yield _step(_LOAD, _NUMBER)


def _return(answer: int) -> bytes:
    return _step(_RETURN, answer)


def _step(operation: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    """Assemble one instruction, `struct sock_filter`."""
    return struct.pack("=HBBI", operation, yes, no, value)
