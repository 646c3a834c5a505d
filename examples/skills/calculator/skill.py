"""A calculator that answers one JSON-RPC 2.0 request on stdin with one reply on stdout.

`invoke` takes `{"expression": "2 * (3 + 4!)"}` or `{"operation": "reverse" | "is_palindrome", "text": "..."}`
and replies `{"result": ...}`.
"""

from __future__ import annotations

import json
import sys

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, FAILED = (
    -32700,
    -32600,
    -32601,
    -32602,
    -32000,
)
MAX_LENGTH, MAX_BITS, MAX_FACTORIAL = 1000, 10_000, 500


class RpcError(Exception):
    """A reply that is an error: its JSON-RPC code and what is wrong."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def operand_start(text: str, end: int) -> int:
    """Find where the operand starts that ends just before `end`: a number or a group in parentheses."""
    start = end
    if text[:end].endswith(")"):
        depth = 0
        while start > 0:
            start -= 1
            depth += {")": 1, "(": -1}.get(text[start], 0)
            if depth == 0:
                break
    # The letters of a `factorial(...)` written by an earlier round belong to the operand as well.
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "."):
        start -= 1
    return start


def python_syntax(expression: str) -> str:
    """Write an expression so that Python's parser reads it: `^` is a power, `5!` calls `factorial`."""
    text = expression.strip().replace("^", "**")
    while " !" in text:
        text = text.replace(" !", "!")
    while (end := text.find("!")) != -1:
        start = operand_start(text, end)
        text = f"{text[:start]}factorial({text[start:end]}){text[end + 1 :]}"
    return text


def power(base: float, exponent: float) -> float:
    """Raise to a power, within limits that keep the answer small."""
    if isinstance(base, int) and abs(exponent) * base.bit_length() > MAX_BITS:
        raise RpcError(FAILED, "the power is too large")
    result = base**exponent
    if isinstance(result, complex):
        raise RpcError(FAILED, "the result is not a real number")
    return result


def factorial(number: float) -> int:
    """Multiply the whole numbers from 1 to `number`."""
    if number != int(number) or not 0 <= number <= MAX_FACTORIAL:
        raise RpcError(FAILED, f"a factorial needs a whole number from 0 to {MAX_FACTORIAL}")
    result = 1
    for factor in range(2, int(number) + 1):
        result *= factor
    return result


def evaluate(expression: str) -> float:
    """Work out an arithmetic expression; nothing but arithmetic is ever run."""
    import ast  # only arithmetic needs it, and a skill should start fast
    import operator

    operators = {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
        ast.Pow: power,
        ast.UAdd: operator.pos,
        ast.USub: operator.neg,
    }

    def value(node: ast.expr) -> float:
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return number
            case ast.BinOp(left, op, right) if type(op) in operators:
                return operators[type(op)](value(left), value(right))
            case ast.UnaryOp(op, operand) if type(op) in operators:
                return operators[type(op)](value(operand))
            case ast.Call(ast.Name("factorial"), [operand], []):
                return factorial(value(operand))
        raise RpcError(INVALID_PARAMS, "the expression is not arithmetic")

    return value(ast.parse(python_syntax(expression), mode="eval").body)


def calculated(expression: str) -> float:
    """Evaluate, and say in JSON-RPC terms what cannot be evaluated."""
    if len(expression) > MAX_LENGTH:
        raise RpcError(INVALID_PARAMS, f"the expression is longer than {MAX_LENGTH} characters")
    try:
        result = evaluate(expression)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise RpcError(INVALID_PARAMS, "the expression cannot be read") from None
    except ArithmeticError as error:
        raise RpcError(FAILED, str(error)) from None
    if isinstance(result, int) and result.bit_length() > MAX_BITS:
        raise RpcError(FAILED, "the result is too large")
    if result - result != 0:  # true for infinity and NaN only, which JSON cannot say
        raise RpcError(FAILED, "the result is not finite")
    return result


def is_palindrome(text: str) -> bool:
    """Does the text read the same backwards? Case, spaces and punctuation do not count."""
    letters = [character for character in text.casefold() if character.isalnum()]
    return letters == letters[::-1]


def invoke(params: dict[str, object]) -> dict[str, object]:
    """Do what one request asks for."""
    expression, operation, text = params.get("expression"), params.get("operation"), params.get("text")
    if isinstance(expression, str):
        return {"result": calculated(expression)}
    if operation == "reverse" and isinstance(text, str):
        return {"result": text[::-1]}
    if operation == "is_palindrome" and isinstance(text, str):
        return {"result": is_palindrome(text)}
    raise RpcError(INVALID_PARAMS, "give an expression, or an operation (reverse, is_palindrome) and a text")


def answer(request: object) -> dict[str, object]:
    """Give the result of a request."""
    if not isinstance(request, dict):
        raise RpcError(INVALID_REQUEST, "a request is an object")
    method = request.get("method")
    if method == "healthcheck":
        return {"status": "ok"}
    if method != "invoke":
        raise RpcError(METHOD_NOT_FOUND, f"there is no method {method}")
    params = request.get("params")
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "params must be an object")
    return invoke(params)


def main() -> None:
    """Read one request from stdin to its end and write one reply."""
    request: object = None
    reply: dict[str, object] = {}
    try:
        request = json.loads(sys.stdin.buffer.read())
        reply["result"] = answer(request)
    except RpcError as error:
        reply["error"] = {"code": error.code, "message": str(error)}
    except (ValueError, RecursionError):
        reply["error"] = {"code": PARSE_ERROR, "message": "the request is not JSON"}
    request_id = request.get("id") if isinstance(request, dict) else None
    print(json.dumps({"jsonrpc": "2.0", "id": request_id, **reply}))


if __name__ == "__main__":
    main()
