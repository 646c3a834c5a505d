"""A calculator behind HTTP: `python3 server.py PORT`, then `POST /invoke` with `{"input": {"expression": "2 + 3"}}`.

skilleval starts it for a run and ends it afterwards, as `adapter.config.json` says.
"""

from __future__ import annotations

import ast
import json
import math
import operator
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_FACTORIAL, MAX_EXPONENT, MAX_BYTES = 100, 1000, 100_000
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


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


def answer(task: dict[str, object]) -> float | str | bool:
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


class Handler(BaseHTTPRequestHandler):
    """Answers two paths: `/health` and `/invoke`."""

    protocol_version = "HTTP/1.1"  # keeps connections open between calls
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Say that the server is there."""
        if self.path == "/health":
            self.reply(200, {"status": "ok"})
        else:
            self.reply(404, {"error": f"there is no {self.path}"})

    def do_POST(self) -> None:
        """Answer one input; what cannot be answered is a 422."""
        length = int(self.headers.get("Content-Length", 0))
        if self.path != "/invoke" or length > MAX_BYTES:
            self.close_connection = True  # the body is left unread
            self.reply(404 if self.path != "/invoke" else 413, {"error": "POST a short input to /invoke"})
            return
        try:
            self.reply(200, {"result": answer(json.loads(self.rfile.read(length))["input"])})
        except (ArithmeticError, LookupError, RecursionError, SyntaxError, TypeError, ValueError) as error:
            self.reply(422, {"error": str(error)})

    def reply(self, status: int, value: object) -> None:
        """Send a JSON value."""
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet about what went well."""


class Server(ThreadingHTTPServer):
    """Lets many calls knock at once: Python's usual queue of five makes the sixth wait a second."""

    request_queue_size = 128


if __name__ == "__main__":
    Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
