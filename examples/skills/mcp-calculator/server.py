"""An MCP server with a calculator as its tool: a JSON-RPC 2.0 message a line on stdin and on stdout, no library needed.

skilleval starts it, shakes hands, and calls `calculate` with the input of a task as its arguments.
"""

from __future__ import annotations

import ast
import json
import math
import operator
import re
import sys

METHOD_NOT_FOUND, INVALID_PARAMS = -32601, -32602
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MAX_FACTORIAL, MAX_EXPONENT = 100, 1000
MISTAKES = (ArithmeticError, LookupError, RecursionError, SyntaxError, TypeError, ValueError)
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
TOOL = {
    "name": "calculate",
    "description": "Works out arithmetic, reverses a text, or says whether it is a palindrome.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "expression": {"type": "string"},
            "operation": {"enum": ["reverse", "is_palindrome"]},
            "text": {"type": "string"},
        },
    },
    "outputSchema": {
        "type": "object",
        "required": ["result"],
        "properties": {"result": {"type": ["number", "string", "boolean"]}},
    },
}


class RpcError(Exception):
    """A request that cannot be answered: its JSON-RPC code and what is wrong."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def calculate(node: ast.expr) -> float:
    """Work out a parsed expression; nothing but arithmetic is ever run."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.BinOp(left, ast.Pow(), ast.Constant(value=int() as exponent)) if exponent <= MAX_EXPONENT:
            return calculate(left) ** exponent
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            return OPERATORS[type(op)](calculate(left), calculate(right))
        case ast.UnaryOp(op, operand) if type(op) in OPERATORS:
            return OPERATORS[type(op)](calculate(operand))
        case ast.Call(ast.Name("factorial"), [ast.Constant(value=int() as number)]) if (
            number <= MAX_FACTORIAL
        ):
            return math.factorial(number)
    raise ValueError("not arithmetic")


def answer(task: object) -> float | str | bool:
    """Do what one input asks for."""
    match task:
        case {"expression": str(expression)}:
            text = re.sub(r"(\d+)!", r"factorial(\1)", expression.strip())
            return calculate(ast.parse(text, mode="eval").body)
        case {"operation": "reverse", "text": str(text)}:
            return text[::-1]
        case {"operation": "is_palindrome", "text": str(text)}:
            letters = [letter for letter in text.casefold() if letter.isalnum()]
            return letters == letters[::-1]
    raise ValueError("give an expression, or an operation (reverse, is_palindrome) and a text")


def called(params: dict[str, object]) -> dict[str, object]:
    """Call the tool; what it cannot do is a result too, marked as an error."""
    if params.get("name") != TOOL["name"]:
        raise RpcError(INVALID_PARAMS, f"there is no tool {params.get('name')}")
    try:
        result = {"result": answer(params.get("arguments"))}
    except MISTAKES as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    return {"content": [{"type": "text", "text": json.dumps(result)}], "structuredContent": result}


def result_of(method: object, params: dict[str, object]) -> dict[str, object]:
    """Give the result of a request, by its method."""
    if method == "initialize":
        wanted = params.get("protocolVersion")
        version = wanted if wanted in VERSIONS else VERSIONS[0]
        about = {"name": "mcp-calculator", "version": "1.0.0"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        return called(params)
    raise RpcError(METHOD_NOT_FOUND, f"there is no method {method}")


def main() -> None:
    """Answer line by line; notifications, which have no id, get no reply."""
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "id" not in request:
            continue
        try:
            reply: dict[str, object] = {"result": result_of(request["method"], request.get("params") or {})}
        except RpcError as error:
            reply = {"error": {"code": error.code, "message": str(error)}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)


if __name__ == "__main__":
    main()
