// Answers one JSON-RPC 2.0 request on stdin with one reply on stdout. Needs nothing but Node.js itself.

const MAX_FACTORIAL = 100;

class Expression {
  // A parser by descent, as nothing of the input may ever be run:
  // sum = product (("+" | "-") product)*, product = sign (("*" | "/" | "%") sign)*,
  // sign = ("-" | "+")* power, power = factorial ("**" sign)?, factorial = operand "!"*
  constructor(text) {
    this.tokens = text.match(/\*\*|\d+(?:\.\d+)?|\S/g) ?? [];
    this.place = 0;
  }

  takes(...words) {
    return words.includes(this.tokens[this.place]) ? this.tokens[this.place++] : null;
  }

  value() {
    const value = this.sum();
    if (this.place < this.tokens.length) throw new Error(`cannot read ${this.tokens[this.place]}`);
    if (!Number.isFinite(value)) throw new Error("the result is not finite");
    return value;
  }

  sum() {
    let value = this.product();
    for (let sign; (sign = this.takes("+", "-")); ) {
      const next = this.product();
      value = sign === "+" ? value + next : value - next;
    }
    return value;
  }

  product() {
    let value = this.signed();
    for (let sign; (sign = this.takes("*", "/", "%")); ) {
      const next = this.signed();
      value = sign === "*" ? value * next : sign === "/" ? value / next : value % next;
    }
    return value;
  }

  signed() {
    if (this.takes("-")) return -this.signed();
    return this.takes("+") ? this.signed() : this.power();
  }

  power() {
    const base = this.factorial();
    return this.takes("**") ? base ** this.signed() : base;
  }

  factorial() {
    let value = this.operand();
    while (this.takes("!")) {
      if (!Number.isInteger(value) || value < 0 || value > MAX_FACTORIAL) throw new Error("no factorial of that");
      value = Array.from({ length: value }, (_, index) => index + 1).reduce((left, right) => left * right, 1);
    }
    return value;
  }

  operand() {
    if (this.takes("(")) {
      const value = this.sum();
      if (!this.takes(")")) throw new Error("a parenthesis is not closed");
      return value;
    }
    const token = this.tokens[this.place++] ?? "";
    if (!/^\d/.test(token)) throw new Error(`expected a number, found ${token || "the end"}`);
    return Number(token);
  }
}

function isPalindrome(text) {
  const letters = [...text.toLowerCase()].filter((letter) => /[\p{L}\p{N}]/u.test(letter));
  return letters.join("") === letters.reverse().join("");
}

function invoke({ expression, operation, text }) {
  if (typeof expression === "string") return new Expression(expression).value();
  if (operation === "reverse" && typeof text === "string") return [...text].reverse().join("");
  if (operation === "is_palindrome" && typeof text === "string") return isPalindrome(text);
  throw new Error("give an expression, or an operation (reverse, is_palindrome) and a text");
}

function answer({ method, params }) {
  if (method === "healthcheck") return { result: { status: "ok" } };
  if (method !== "invoke") return { error: { code: -32601, message: `there is no method ${method}` } };
  try {
    return { result: { result: invoke(params ?? {}) } };
  } catch (error) {
    return { error: { code: -32602, message: error.message } };
  }
}

let request = "";
for await (const chunk of process.stdin.setEncoding("utf8")) request += chunk;
const call = JSON.parse(request);
console.log(JSON.stringify({ jsonrpc: "2.0", id: call.id ?? null, ...answer(call) }));
