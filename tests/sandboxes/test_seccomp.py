from __future__ import annotations

import errno
import json
import platform
import re
import signal
import struct
from pathlib import Path

import pytest
from confined import run_confined, run_python

from skilleval.sandboxes.confinement import Confinement
from skilleval.sandboxes.seccomp import (
    ATTRIBUTES,
    ENDING,
    EXAMINED,
    IGNORED,
    OF_OTHERS,
    OF_OTHERS_BY_KIND,
    OUTLIVING,
    REFUSED,
    filter_program,
    filter_program_of,
)

_HEADERS = {
    "x86_64": ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", 0),
    "aarch64": ("/usr/include/asm-generic/unistd.h", 1),
}
_AUDIT_NAMES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_TABLE = {
    **REFUSED,
    **EXAMINED,
    **OUTLIVING,
    **IGNORED,
    **ATTRIBUTES,
    **ENDING,
    **OF_OTHERS,
    **OF_OTHERS_BY_KIND,
}
_ALLOWED, _KILLED = "allowed", "killed"
_NO_SUCH_THING = errno.errorcode[errno.EOPNOTSUPP]
_LINUX = pytest.mark.skipif(
    filter_program(allow_network=True) is None or platform.system() != "Linux",
    reason="this machine has no filter of ours",
)
# Tries calls and prints for each the error number, 0 where it went through.
_TRYING = """
import ctypes, json, sys
libc = ctypes.CDLL(None, use_errno=True)
said = {}
for name, arguments in json.loads(sys.argv[1]).items():
    ctypes.set_errno(0)
    result = libc.syscall(*(ctypes.c_long(one) for one in arguments))
    said[name] = ctypes.get_errno() if result == -1 else 0
print(json.dumps(said))
"""


def _judged(
    machine: str, number: int, *arguments: int, audit_name: int | None = None, **allowed: bool
) -> str:
    """Interpret a filter program for one call, as the kernel would."""
    options = {"allow_network": True, "allow_unix_sockets": True, **allowed}
    program = filter_program_of(machine, **options)
    assert program is not None
    values = (*arguments, *[0] * (6 - len(arguments)))
    call = struct.pack("<IIQ6Q", number, audit_name or _AUDIT_NAMES[machine], 0, *values)
    steps, at, loaded = list(struct.iter_unpack("=HBBI", program)), 0, 0
    while True:
        operation, yes, no, value = steps[at]
        at += 1
        if operation == 0x20:
            loaded = struct.unpack_from("<I", call, value)[0]
        elif operation == 0x54:
            loaded &= value
        elif operation == 0x06:
            answers = {0x7FFF0000: _ALLOWED, 0x80000000: _KILLED}
            return answers.get(value) or errno.errorcode.get(value & 0xFFFF, "ignored")
        else:
            tests = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}
            at += yes if tests[operation] else no


def _number(name: str, machine: str) -> int:
    number = _TABLE[name][_HEADERS[machine][1]]
    assert number is not None
    return number


@pytest.mark.parametrize("machine", _HEADERS)
def test_the_numbers_are_those_of_the_kernel(machine: str) -> None:
    """Every number that the headers of this system know is the one in the table."""
    header, column = _HEADERS[machine]
    if not Path(header).exists():
        pytest.skip(f"no {header}")
    lines = re.findall(r"#define __NR_(\w+)\s+(\d+)$", Path(header).read_text(), re.MULTILINE)
    known = {name: int(number) for name, number in lines}
    table = {name: numbers[column] for name, numbers in _TABLE.items()}
    assert {name: known[name] for name in table.keys() & known.keys()} == {
        name: number for name, number in table.items() if name in known
    }
    assert len(table.keys() & known.keys()) > 45


@pytest.mark.parametrize("machine", _HEADERS)
def test_what_is_named_is_refused_and_the_rest_goes_through(machine: str) -> None:
    """A refused call fails with EPERM whatever its arguments; all other numbers are allowed."""
    column = _HEADERS[machine][1]
    refused = {numbers[column] for numbers in REFUSED.values()} - {None}
    refused |= {_number(name, machine) for name in ("socket", "socketpair")}  # of the family 0, which is none
    judged = {number: _judged(machine, number) for number in range(500)}
    assert {number for number, said in judged.items() if said == "EPERM"} == refused
    assert {number for number, said in judged.items() if said not in {"EPERM", _ALLOWED}} == {435}


@pytest.mark.parametrize("machine", _HEADERS)
@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("clone", (0x11,), _ALLOWED),  # as fork does it
        ("clone", (0x3D0F00,), _ALLOWED),  # a thread, as the C library asks for it
        ("clone", (0x10000011,), "EPERM"),  # a user namespace
        ("clone", (0x40000011,), "EPERM"),  # a network namespace
        ("clone", (0x00020011,), "EPERM"),  # a mount namespace
        ("clone3", (0, 0), "ENOSYS"),
        ("ioctl", (0, 0x5413), _ALLOWED),  # size of the terminal
        ("ioctl", (0, 0x5412), "EPERM"),  # TIOCSTI
        ("ioctl", (0, 0x1_0000_5412), "EPERM"),  # the same to the kernel, which drops the high half
        ("ioctl", (0, 0x541C), "EPERM"),  # TIOCLINUX
        ("fcntl", (0, 3), _ALLOWED),  # flags of a descriptor
        ("fcntl", (0, 1024), "EPERM"),  # a lease
        ("fcntl", (0, 1040), "EPERM"),  # a lease of a folder
        ("socketpair", (1, 0x80002), _ALLOWED),  # of datagrams, as long as unix sockets are allowed at all
        ("socketpair", (30, 1), "EPERM"),  # between machines of a cluster
        ("personality", (0,), _ALLOWED),
        ("personality", (0xFFFFFFFF,), _ALLOWED),
        ("personality", (0x0040000,), "EPERM"),  # no address randomisation
    ],
)
def test_some_calls_depend_on_their_arguments(
    machine: str, name: str, arguments: tuple[int, ...], said: str
) -> None:
    """What every program does with such a call goes through, what opens a way out does not."""
    assert _judged(machine, _number(name, machine), *arguments) == said


@pytest.mark.parametrize("machine", _HEADERS)
@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("fchmod", (3, 0o777), "ignored"),
        ("fchmodat2", (3, 0, 0o777), "ignored"),
        ("utimensat", (3, 0, 0), "ignored"),
        ("fchownat", (3, 0, 0, 0), "EPERM"),
        ("fsetxattr", (3,), "EPERM"),
        ("ioctl", (3, 0x40086602), _NO_SUCH_THING),  # attributes as `chattr` sets them
        ("ioctl", (3, 0x40087602), _NO_SUCH_THING),  # the generation of a file
        ("ioctl", (3, 0x40806685), _NO_SUCH_THING),  # makes a file unchangeable for good
        ("ioctl", (3, 0x5413), _ALLOWED),
        ("ioctl", (3, 0x802C542A), _ALLOWED),  # how the newest C library asks for a terminal
        ("ioctl", (3, 0x8910), _ALLOWED),  # the name of an interface
        ("getxattr", (3,), _NO_SUCH_THING),
        ("prctl", (1, 0), "ignored"),  # what ends the program when the evaluator dies
        ("prctl", (15, 0), _ALLOWED),  # its name
        ("listxattrat", (3,), _NO_SUCH_THING),
        ("shmget", (0,), "EPERM"),
        ("mq_open", (0,), "EPERM"),
        ("sched_setaffinity", (0, 8), _ALLOWED),
        ("sched_setaffinity", (77, 8), "EPERM"),
        ("setpriority", (0, 0, 5), _ALLOWED),
        ("setpriority", (0, 77, 5), "EPERM"),
        ("setpriority", (2, 0, 5), "EPERM"),  # every process of this user
        ("ioprio_set", (1, 0, 5), _ALLOWED),
        ("ioprio_set", (1, 77, 5), "EPERM"),
        ("ioprio_set", (3, 0, 5), "EPERM"),  # every process of this user
        ("move_pages", (77,), "EPERM"),
    ],
)
def test_more_is_refused_where_there_are_no_namespaces(
    machine: str, name: str, arguments: tuple[int, ...], said: str
) -> None:
    """Attributes of readable files, what outlives a program, and other processes are out of reach; else all are own."""
    assert _judged(machine, _number(name, machine), *arguments, has_namespaces=False) == said
    assert _judged(machine, _number(name, machine), *arguments) == _ALLOWED


@pytest.mark.parametrize("machine", _HEADERS)
@pytest.mark.parametrize(("process", "said"), [(0, _ALLOWED), (1, "EPERM"), (0x1_0000_0000, _ALLOWED)])
def test_limits_can_only_be_set_for_oneself(machine: str, process: int, said: str) -> None:
    """A program that narrowed the CPU time of the evaluator would end it."""
    assert _judged(machine, _number("prlimit64", machine), process) == said


@pytest.mark.parametrize(
    ("network", "unix", "allowed"),
    [
        (True, True, {1, 2, 10, 16}),
        (False, True, {1}),
        (False, False, set()),
        (True, False, {2, 10, 16}),
    ],
)
def test_sockets_by_family(network: bool, unix: bool, allowed: set[int]) -> None:
    """Unix sockets and those of the internet go by what is allowed; virtual machines and raw packets never do."""
    number = _number("socket", "x86_64")
    options = {"allow_network": network, "allow_unix_sockets": unix}
    through = {family for family in range(50) if _judged("x86_64", number, family, **options) == _ALLOWED}
    assert through == allowed
    assert _judged("x86_64", number, 0x1_0000_0002, **options) == _judged("x86_64", number, 2, **options)


@pytest.mark.parametrize("machine", _HEADERS)
@pytest.mark.parametrize("network", [True, False])
def test_pairs_of_sockets_cannot_be_parted(machine: str, network: bool) -> None:
    """Without unix sockets there are pairs of streams only: one of datagrams reaches any socket by its name."""
    options = {"allow_network": network, "allow_unix_sockets": False}
    number = _number("socketpair", machine)
    through = {
        kind
        for kind in range(16)
        for flags in (0, 0x800, 0x80000, 0x80800)
        if _judged(machine, number, 1, kind | flags, **options) == _ALLOWED
    }
    assert through == {1, 5}
    assert _judged(machine, number, 30, 1, **options) == "EPERM"


def test_calls_of_other_abis_find_no_way_around() -> None:
    """Another architecture's calls kill the program; calls of the x32 ABI do not exist."""
    assert _judged("x86_64", 1, audit_name=0x40000003) == _KILLED  # i386 on the same kernel
    assert _judged("aarch64", 1, audit_name=0x40000028) == _KILLED  # 32-bit ARM on the same kernel
    assert _judged("x86_64", 0x40000000 + 39) == "ENOSYS"


def test_an_unknown_machine_has_no_filter() -> None:
    """There is no filter rather than a wrong one."""
    assert filter_program_of("riscv64", allow_network=True, allow_unix_sockets=True) is None


@_LINUX
def test_the_kernel_refuses_what_is_named(tmp_path: Path) -> None:
    """Each refused call really fails with EPERM, also those that need no right at all."""
    column = _HEADERS[platform.machine()][1]
    numbers = {name: numbers[column] for name, numbers in REFUSED.items() if numbers[column] is not None}
    calls = json.dumps({name: [number, 0, 0, 0, 0, 0] for name, number in numbers.items()})
    confined = Confinement(filter_program=filter_program(allow_network=True))
    said = run_python(confined, _TRYING, calls, folder=tmp_path).document
    assert set(said.values()) == {errno.EPERM}
    assert len(said) == len(numbers)


@_LINUX
def test_it_is_the_filter_that_refuses(tmp_path: Path) -> None:
    """Without the filter the same calls fail for another reason, or do not fail."""
    names = ("ptrace", "process_vm_readv", "kcmp", "keyctl", "name_to_handle_at", "pidfd_getfd")
    calls = {name: [_number(name, platform.machine()), 0, 0, 0, 0, 0] for name in names}
    said = run_python(Confinement(), _TRYING, json.dumps(calls), folder=tmp_path).document
    assert errno.EPERM not in said.values()


@_LINUX
def test_programs_still_start_threads_and_programs(tmp_path: Path) -> None:
    """Threads, child programs and pairs of sockets work under the tightest filter."""
    program = (
        "import socket, subprocess, threading\n"
        "t = threading.Thread(target=print, args=('thread',), kwargs={'flush': True})\n"
        "t.start(); t.join()\n"
        "print(subprocess.run(['/bin/echo', 'child'], capture_output=True, text=True).stdout.strip())\n"
        "a, b = socket.socketpair(); a.send(b'pair'); print(b.recv(9).decode())\n"
        "try: socket.socket()\n"
        "except PermissionError: print('no socket')\n"
    )
    confined = Confinement(filter_program=filter_program(allow_network=False, allow_unix_sockets=False))
    assert run_python(confined, program, folder=tmp_path).out.split("\n")[:4] == [
        "thread",
        "child",
        "pair",
        "no socket",
    ]


@_LINUX
def test_a_filter_of_another_machine_kills_at_once(tmp_path: Path) -> None:
    """The name of the architecture is compared before anything else."""
    other = next(name for name in _HEADERS if name != platform.machine())
    program = filter_program_of(other, allow_network=True, allow_unix_sockets=True)
    ended = run_confined(Confinement(filter_program=program), "/bin/true", folder=tmp_path)
    assert ended.code == -signal.SIGSYS
