"""A calculator that takes its time: 20 to 120 ms as a rule, 1.5 s in about one of ten calls.

Chance has no part in it: `SKILLEVAL_SEED` alone decides. Its `adapter.config.json` allows 1 s, so that on tasks
without a limit of their own the long pauses are time-outs.
"""

from __future__ import annotations

import ast
import json
import math
import operator
import os
import re
import sys
import time
import zlib

SHARE_SLOW, LONG_PAUSE_S = 0.1, 1.5
SHORTEST_S, SPREAD_S = 0.02, 0.1
MAX_FACTORIAL = 100
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
    ast.USub: operator.neg,
}


def pause_s() -> float:
    """Let the seed decide: its checksum, as a share of the largest one, is spread evenly."""
    seed = os.environ.get("SKILLEVAL_SEED", "0")
    share = zlib.crc32(f"slow {seed}".encode()) / 2**32
    return LONG_PAUSE_S if share < SHARE_SLOW else SHORTEST_S + SPREAD_S * share


def calculate(node: ast.expr) -> float:
    """Work out a parsed expression of numbers and the usual signs."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.BinOp(left, op, right):
            return OPERATORS[type(op)](calculate(left), calculate(right))
        case ast.UnaryOp(op, operand):
            return OPERATORS[type(op)](calculate(operand))
        case ast.Call(ast.Name("factorial"), [ast.Constant(value=int() as number)]) if (
            number <= MAX_FACTORIAL
        ):
            return math.factorial(number)
    raise ValueError("not arithmetic")


def answer(params: dict[str, str]) -> float | str | bool:
    """Do what the calculator does."""
    if "expression" in params:
        text = re.sub(r"(\d+)!", r"factorial(\1)", params["expression"].strip())
        return calculate(ast.parse(text, mode="eval").body)
    text = params["text"]
    if params["operation"] == "reverse":
        return text[::-1]
    letters = [character for character in text.casefold() if character.isalnum()]
    return letters == letters[::-1]


def main() -> None:
    """Answer one JSON-RPC request, in its own time; every failure is an error reply."""
    reply: dict[str, object] = {"jsonrpc": "2.0", "id": None}
    try:
        request = json.loads(sys.stdin.buffer.read())
        reply["id"] = request["id"]
        if request["method"] == "healthcheck":
            reply["result"] = {"status": "ok"}
        else:
            time.sleep(pause_s())
            reply["result"] = {"result": answer(request["params"])}
    except (ArithmeticError, AttributeError, LookupError, SyntaxError, TypeError, ValueError) as error:
        reply["error"] = {"code": -32000, "message": f"cannot be answered: {error}"}
    print(json.dumps(reply))


if __name__ == "__main__":
    main()
