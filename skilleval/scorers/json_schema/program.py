"""The program that holds outputs against schemas: a check a line on stdin, its errors as a line on stdout.

It serves one check after the other, until its stdin is closed. One that takes longer than its limit ends the program,
also where nobody is left to do so.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
from contextlib import suppress

from skilleval.scorers.json_schema.exchange import Check, UnusableSchemaError, check_from
from skilleval.scorers.json_schema.judge import SchemaJudge
from skilleval.scorers.patterns import TimedSearch, UnusablePatternError

_MAX_BYTES = 1 << 30  # of memory; a schema can ask for any amount
_OVERTIME_S = 2.0  # whoever asked ends the program before that, if it still lives


def main() -> None:
    """Say that the program is ready, then answer checks."""
    with suppress(ValueError, OSError):  # a system without such a limit, or with a lower one
        resource.setrlimit(resource.RLIMIT_DATA, (_MAX_BYTES, _MAX_BYTES))
    _say(b"")
    for line in sys.stdin.buffer:
        check = check_from(line)
        signal.setitimer(signal.ITIMER_REAL, check.timeout_ms / 1000 + _OVERTIME_S)
        answer = _answer(check)
        signal.setitimer(signal.ITIMER_REAL, 0)
        _say(json.dumps(answer).encode())


def _say(text: bytes) -> None:
    sys.stdout.buffer.write(text + b"\n")
    sys.stdout.buffer.flush()


def _answer(check: Check) -> dict[str, object]:
    try:
        return {"errors": _errors(check)}
    except (UnusableSchemaError, UnusablePatternError) as error:
        return {"unusable": str(error)}
    except MemoryError:
        return {"unusable": "the check needs too much memory"}


def _errors(check: Check) -> list[list[str]]:
    judge = SchemaJudge(check.schema, check.draft)
    if judge.is_vacuous and not check.may_be_vacuous:
        raise UnusableSchemaError("the schema has no keyword that checks anything")
    search = TimedSearch(check.timeout_ms)
    told: list[list[str]] = []
    for reading in check.readings:
        told.append(judge.errors(reading, search, check.n_errors))
        if not told[-1]:
            break
    return told


if __name__ == "__main__":
    main()
