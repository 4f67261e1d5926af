"""Vega's expressions, as far as our charts use them: parsed and computed here, never handed to an interpreter."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from ...errors import UserError

Names = Mapping[str, Any]
Node = Callable[[Names], Any]

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?)|(?P<text>'[^']*'|\"(?:[^\"\\]|\\.)*\")|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>&&|\|\||[<>=!]=+|[-+*/%<>!?:.,()\[\]]))"
)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "clamp": lambda value, low, high: min(max(value, low), high),
    "max": max,
    "min": min,
    "abs": abs,
    "indexof": lambda text, part: text.find(part),
    "replace": lambda text, part, by: text.replace(part, by, 1),
    "split": lambda text, by: text.split(by),
    "containerSize": lambda: [0, 0],  # a figure has no page around it
}
#: operators by how tightly they bind, the loosest first; `&&` and `||` give one of their sides, as `and` and `or` do
BINARY: tuple[dict[str, Callable[[Any, Any], Any]], ...] = (
    {"||": lambda a, b: a or b},
    {"&&": lambda a, b: a and b},
    {"==": operator.eq, "===": operator.eq, "!=": operator.ne, "!==": operator.ne},
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": operator.truediv, "%": operator.mod},
)
CONSTANTS = {"true": True, "false": False, "null": None}


def evaluate(text: str, names: Names) -> Any:
    """The value of an expression; names: what it may refer to, such as datum and width."""
    return parsed(text)(names)


@functools.lru_cache(maxsize=1024)
def parsed(text: str) -> Node:
    """The expression as a function of names."""
    return _Parser(text).whole()


class _Parser:
    """Reads from left to right; each method takes what it is named after and returns a function of names."""

    def __init__(self, text: str):
        self.text, self.at = text, 0
        self.tokens: list[tuple[str, str]] = []
        place = 0
        while place < len(text.rstrip()):
            if (found := TOKEN.match(text, place)) is None:
                raise self._refused(text[place:].strip())
            self.tokens.append((str(found.lastgroup), found[str(found.lastgroup)]))
            place = found.end()

    def whole(self) -> Node:
        node = self.choice()
        if self.at < len(self.tokens):
            raise self._refused(self.tokens[self.at][1])
        return node

    def choice(self) -> Node:
        test = self.binary(0)
        if not self._took("?"):
            return test
        yes = self.choice()
        self._expect(":")
        no = self.choice()
        return lambda names: yes(names) if test(names) else no(names)

    def binary(self, level: int) -> Node:
        if level == len(BINARY):
            return self.unary()
        left = self.binary(level + 1)
        while sign := self._took(*BINARY[level]):
            left = _joined(BINARY[level][sign], left, self.binary(level + 1))
        return left

    def unary(self) -> Node:
        if self._took("!"):
            inner = self.unary()
            return lambda names: not inner(names)
        if self._took("-"):
            inner = self.unary()
            return lambda names: -inner(names)
        return self.postfix()

    def postfix(self) -> Node:
        node = self.primary()
        while sign := self._took(".", "["):
            if sign == ".":
                node = _member(node, self._next("name"))
            else:
                node = _joined(lambda value, key: value[key], node, self.choice())
                self._expect("]")
        return node

    def primary(self) -> Node:
        if self._took("("):
            node = self.choice()
            self._expect(")")
            return node
        kind, word = self.tokens[self.at] if self.at < len(self.tokens) else ("end", "its end")
        self.at += 1
        if kind == "number":
            number = float(word) if re.search(r"[.eE]", word) else int(word)
            return lambda names: number
        if kind == "text":
            inside = re.sub(r"\\(.)", r"\1", word[1:-1])
            return lambda names: inside
        if kind != "name":
            raise self._refused(word)
        if word in CONSTANTS:
            return lambda names: CONSTANTS[word]
        if self._took("("):
            return self._call(word)
        return lambda names: names[word] if word in names else _unknown(word)

    def _call(self, name: str) -> Node:
        if name not in FUNCTIONS:
            raise self._refused(name)
        given: list[Node] = []
        while not self._took(")"):
            if given:
                self._expect(",")
            given.append(self.choice())
        return lambda names: FUNCTIONS[name](*(one(names) for one in given))

    def _took(self, *signs: str) -> str:
        if self.at < len(self.tokens) and self.tokens[self.at] in [("sign", sign) for sign in signs]:
            self.at += 1
            return self.tokens[self.at - 1][1]
        return ""

    def _next(self, kind: str) -> str:
        if self.at >= len(self.tokens) or self.tokens[self.at][0] != kind:
            raise self._refused(self.tokens[self.at][1] if self.at < len(self.tokens) else "its end")
        self.at += 1
        return self.tokens[self.at - 1][1]

    def _expect(self, sign: str) -> None:
        if not self._took(sign):
            raise self._refused(self.tokens[self.at][1] if self.at < len(self.tokens) else "its end")

    def _refused(self, part: str) -> UserError:
        return UserError(f"figures cannot compute {self.text!r}: {part!r} is not known here; the report can")


def _joined(by: Callable[[Any, Any], Any], left: Node, right: Node) -> Node:
    return lambda names: by(left(names), right(names))


def _member(node: Node, name: str) -> Node:
    return lambda names: node(names).get(name)


def _unknown(word: str) -> Any:
    raise UserError(f"figures do not know the name {word!r} in an expression of a chart; the report does")
