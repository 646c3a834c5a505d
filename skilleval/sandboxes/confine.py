"""Takes rights away from this very process, for good, and becomes the program that is to run without them.

Run as `python -I -S confine.py ORDERS program argument…`; see `confinement.py` for what writes the orders and reads
the answer. It is a program of its own and not a module of the package: everything it imports is paid for by every
start of a skill, so it imports next to nothing and its orders come in the form that Python reads fastest.

Rights go in this order: limits of resources, capabilities, the chance to gain rights by running a program, files and
network (Landlock), calls of the kernel (seccomp). If a step fails, the program does not start: the reason goes to
the descriptor for answers and to stderr, and the exit code is 125. The program never holds that descriptor.
"""

from __future__ import annotations

import ctypes
import errno
import marshal
import os
import resource
import sys
from binascii import a2b_base64

CONFINED = b"confined\n"
"""The answer once all rights are taken; what follows it is why the program could not be run."""

EXIT_CODE = 125

_SIGNALS_PYTHON_IGNORES = (13, 25)  # SIGPIPE, SIGXFSZ: a program expects to die of them
_PR_SET_PDEATHSIG, _SIGKILL = 1, 9
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_CAPABILITY_VERSION_3 = 0x20080522
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_RULE_PATH_BENEATH = 1
_BYTES_OF_A_STEP = 8

_libc = ctypes.CDLL(None, use_errno=True)


class _Exception(ctypes.Structure):
    """A path that is excepted from the restrictions, `struct landlock_path_beneath_attr`."""

    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("rights", ctypes.c_uint64), ("path", ctypes.c_int32))


class _Program(ctypes.Structure):
    """A seccomp filter, `struct sock_fprog`."""

    _fields_ = (("n_steps", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def main() -> None:
    """Follow the orders; on success this process is the program, and this function does not return."""
    answers, parent, limits, ruleset, filter_program, hides_locale = marshal.loads(a2b_base64(sys.argv[1]))  # noqa: S302 - written by our parent, in the same version of Python
    program = sys.argv[2:]
    os.set_inheritable(answers, False)  # noqa: FBT003 - the name of the function says what is false
    try:
        _confine(limits, ruleset, parent)
        if filter_program is not None:
            _filter(filter_program)
    except OSError as error:
        _give_up(answers, f"{error.filename}: {error.strerror}")
    if hides_locale:  # Python sets it for itself where the locale is C
        os.environ.pop("LC_CTYPE", None)
    os.write(answers, CONFINED)
    try:
        os.execve(program[0], program, os.environ)  # noqa: S606 - to become the program is the purpose; no shell
    except OSError as error:
        _give_up(answers, f"{program[0]}: {error.strerror}")


def _confine(
    limits: dict[int, int], ruleset: tuple[bytes, list[tuple[str, int]]] | None, parent: int
) -> None:
    for number in _SIGNALS_PYTHON_IGNORES:
        _libc.signal(number, None)
    for kind, value in limits.items():
        resource.setrlimit(kind, (value, value))
    _drop_capabilities()
    _done(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    if ruleset is not None:
        _restrict(*ruleset)
    _die_with(parent)


def _filter(program: bytes) -> None:
    """Take calls of the kernel away; last, because the filter may refuse what was needed before."""
    steps = _Program(len(program) // _BYTES_OF_A_STEP, program)
    _done(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(steps), 0, 0), "seccomp")


def _die_with(parent: int) -> None:
    """Let the kernel end this process, also as the program, when the evaluator dies and can end nothing any more."""
    _done(_libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0), "parent")
    if os.getppid() != parent:
        raise OSError(errno.ESRCH, os.strerror(errno.ESRCH), "parent")


def _drop_capabilities() -> None:
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _done(_libc.capset(header, nothing), "capabilities")


def _restrict(attributes: bytes, exceptions: list[tuple[str, int]]) -> None:
    ruleset = _libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    _done(ruleset, "landlock")
    for path, rights in exceptions:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        exception = _Exception(rights, descriptor)
        _done(_libc.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(exception), 0), path)
        os.close(descriptor)
    _done(_libc.syscall(_RESTRICT_SELF, ruleset, 0), "landlock")
    os.close(ruleset)


def _done(result: int, step: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), step)


def _give_up(answers: int, reason: str) -> None:
    text = reason.replace("\n", " ").encode("utf-8", "replace")
    os.write(answers, text)
    os.write(2, b"the sandbox could not start the program: " + text + b"\n")
    os._exit(EXIT_CODE)


if __name__ == "__main__":
    main()
