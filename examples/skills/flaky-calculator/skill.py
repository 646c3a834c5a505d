"""A calculator that is wrong on purpose in about 30 % of its calls.

Chance has no part in it: `SKILLEVAL_SEED` alone decides, so a run with the same seeds gives the same answers.
"""

from __future__ import annotations

import ast
import json
import math
import operator
import os
import re
import sys
import zlib

SHARE_WRONG = 0.3
MAX_FACTORIAL = 100
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
    ast.USub: operator.neg,
}


def is_wrong_turn() -> bool:
    """Let the seed decide: its checksum, as a share of the largest one, is spread evenly."""
    seed = os.environ.get("SKILLEVAL_SEED", "0")
    return zlib.crc32(f"flaky {seed}".encode()) / 2**32 < SHARE_WRONG


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


def right_answer(params: dict[str, str]) -> float | str | bool:
    """Do what the calculator does."""
    if "expression" in params:
        text = re.sub(r"(\d+)!", r"factorial(\1)", params["expression"].strip())
        return calculate(ast.parse(text, mode="eval").body)
    text = params["text"]
    if params["operation"] == "reverse":
        return text[::-1]
    letters = [character for character in text.casefold() if character.isalnum()]
    return letters == letters[::-1]


def wrong_answer(right: float | str | bool) -> float | str | bool:  # noqa: FBT001 - an answer, not a switch
    """Give another answer of the same type."""
    if isinstance(right, bool):
        return not right
    return f"{right}?" if isinstance(right, str) else right + 1


def main() -> None:
    """Answer one JSON-RPC request; every failure is an error reply."""
    reply: dict[str, object] = {"jsonrpc": "2.0", "id": None}
    try:
        request = json.loads(sys.stdin.buffer.read())
        reply["id"] = request["id"]
        if request["method"] == "healthcheck":
            reply["result"] = {"status": "ok"}
        else:
            right = right_answer(request["params"])
            reply["result"] = {"result": wrong_answer(right) if is_wrong_turn() else right}
    except (ArithmeticError, AttributeError, LookupError, SyntaxError, TypeError, ValueError) as error:
        reply["error"] = {"code": -32000, "message": f"cannot be answered: {error}"}
    print(json.dumps(reply))


if __name__ == "__main__":
    main()
