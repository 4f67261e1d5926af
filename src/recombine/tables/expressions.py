"""Expressions over the columns of a table, such as "abs_error < 2", as trees. Text is parsed and never evaluated.

    any     := all (("|" | "or") all)*
    all     := none (("&" | "and") none)*
    none    := ("!" | "not") none | compared
    compared := sum (("=" | "==" | "!=" | "<" | "<=" | ">" | ">=") sum | "in" "{" value ("," value)* "}")?
    sum     := product (("+" | "-") product)*
    product := signed (("*" | "/") signed)*
    signed  := "-" signed | one
    one     := number | 'text' | column | ("abs" | "min" | "max") "(" any ("," any)* ")" | "(" any ")"

A column whose name has spaces or signs stands in double quotes or backticks; text stands in single quotes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import UserError
from ..labels import quoted, visible

FUNCTIONS = {"abs": (1, 1), "min": (2, 20), "max": (2, 20)}  # and how many values each takes
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
_DEEPEST = 50
_MOST_PARTS = 500
_LONGEST = 10_000
_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^'\\]|\\.)*')"
    r"|(?P<column>\"(?:[^\"\\]|\\.)*\"|`[^`]*`)"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))"
    r"|(?P<sign><=|>=|!=|==|&&|\|\||[=<>!&|(){},+*/-])"
    r"|(?P<word>[^\W\d][\w.]*))"
)
_SAME = {"==": "=", "&&": "&", "||": "|"}
_WORDS = {"and": "&", "or": "|", "not": "!"}


@dataclass(frozen=True)
class Part:
    """A part of an expression, and at which character of the text it begins (from 1)."""

    at: int


@dataclass(frozen=True)
class Number(Part):
    value: float


@dataclass(frozen=True)
class Text(Part):
    value: str


@dataclass(frozen=True)
class Name(Part):
    """A column."""

    column: str


@dataclass(frozen=True)
class Call(Part):
    """A sign or function of numbers: + - * / abs min max, and "-" of one."""

    function: str
    of: tuple[Part, ...]


@dataclass(frozen=True)
class Compared(Part):
    sign: str  # one of COMPARISONS
    left: Part
    right: Part


@dataclass(frozen=True)
class Joined(Part):
    """Truths: "&" and "|" of several, "!" of one."""

    sign: str
    of: tuple[Part, ...]


Truth = Compared, Joined


def parse(text: str, what: str, columns: Callable[[str, int], str]) -> Part:
    """The tree of an expression, or an error that names the place and what would do there.

    Args:
        text: the expression.
        what: is called so in errors, such as "the outcome".
        columns: the name of a column, or its error, for a word and its place.
    """
    return _Parser(text, what, columns).parse()


def wrong(text: str, what: str, at: int, why: str) -> UserError:
    """The error of a place in an expression."""
    rest = visible(text[at - 1 :].strip(), 20)
    place = f"at character {at} ({rest!r})" if rest else "at its end"
    return UserError(f"{what} {quoted(text, 120)} cannot be read {place}: {why}")


class _Parser:
    """Recursive descent."""

    def __init__(self, text: str, what: str, columns: Callable[[str, int], str]):
        self.text, self.what, self.columns = text, what, columns
        if len(text) > _LONGEST:
            raise UserError(f"{what} has {len(text):,} characters, more than {_LONGEST:,}; write a shorter one")
        self.tokens = self._cut()
        self.at = self.depth = self.parts = 0

    def _cut(self) -> list[tuple[str, str, int]]:
        tokens, at, end = [], 0, len(self.text.rstrip())
        while at < end:
            found = _TOKEN.match(self.text, at)
            if not found:
                start = at + len(self.text[at:]) - len(self.text[at:].lstrip())
                letter = self.text[start]
                why = (
                    "a quote is opened and not closed"
                    if letter in "'\"`"
                    else "no part of an expression begins so; put text in single quotes and odd names in double ones"
                )
                raise self._wrong(start + 1, why)
            kind = str(found.lastgroup)
            value, place = found.group(kind), found.start(kind) + 1
            if kind in ("text", "column"):
                value = value[1:-1] if value[0] == "`" else re.sub(r"\\(.)", r"\1", value[1:-1])
            elif kind == "word" and value.casefold() in _WORDS:
                kind, value = "sign", _WORDS[value.casefold()]
            elif kind == "sign":
                value = _SAME.get(value, value)
            tokens.append((kind, value, place))
            at = found.end()
        return tokens

    def parse(self) -> Part:
        if not self.tokens:
            raise self._wrong(1, "it is empty; write a column, or a comparison such as abs_error < 2")
        tree = self._any()
        if self.at < len(self.tokens):
            kind, value, place = self.tokens[self.at]
            if value in COMPARISONS:
                raise self._wrong(place, "a second comparison; join two with &, as in 0 < a & a < 1")
            raise self._wrong(place, "a sign such as <, =, & or the end should stand there")
        return tree

    # -- grammar ------------------------------------------------------------------------------------------------------
    def _any(self) -> Part:
        return self._joined("|", self._all)

    def _all(self) -> Part:
        return self._joined("&", self._none)

    def _joined(self, sign: str, part: Callable[[], Part]) -> Part:
        at, parts = self._place(), [part()]
        while self._take(sign):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Joined(at, sign, tuple(parts))

    def _none(self) -> Part:
        at = self._place()
        if not self._take("!"):
            return self._compared()
        self._enter(at)
        tree = Joined(at, "!", (self._none(),))
        self.depth -= 1
        return tree

    def _compared(self) -> Part:
        left = self._sum()
        kind, value, at = self._next()
        if kind == "sign" and value in COMPARISONS:
            self.at += 1
            return Compared(at, value, left, self._sum())
        if kind == "word" and value.casefold() == "in":
            self.at += 1
            return self._among(left, at)
        return left

    def _among(self, left: Part, at: int) -> Part:
        """x in {a, b}: x = a | x = b."""
        if not self._take("{"):
            raise self._wrong(self._place(), "'{' should stand after 'in', as in color in {'red', 'blue'}")
        values = [self._sum()]
        while self._take(","):
            values.append(self._sum())
        if not self._take("}"):
            raise self._wrong(self._place(), "',' or '}' should stand there")
        return Joined(at, "|", tuple(Compared(value.at, "=", left, value) for value in values))

    def _sum(self) -> Part:
        return self._chain(("+", "-"), self._product)

    def _product(self) -> Part:
        return self._chain(("*", "/"), self._signed)

    def _chain(self, signs: tuple[str, ...], part: Callable[[], Part]) -> Part:
        tree = part()
        while self._next()[0] == "sign" and self._next()[1] in signs:
            _, sign, at = self._next()
            self._enter(at)  # the tree of a long chain is as deep as it is long
            self.depth -= 1
            self.at += 1
            tree = Call(at, sign, (tree, part()))
        return tree

    def _signed(self) -> Part:
        at = self._place()
        if not self._take("-"):
            return self._one()
        self._enter(at)
        tree = Call(at, "-", (self._signed(),))
        self.depth -= 1
        return tree

    def _one(self) -> Part:
        kind, value, at = self._next()
        self._enter(at)
        self.at += 1
        tree: Part
        if kind == "number":
            if not math.isfinite(float(value)):
                raise self._wrong(at, "the number is too large")
            tree = Number(at, float(value))
        elif kind == "text":
            tree = Text(at, value)
        elif kind == "word" and value in FUNCTIONS and self._take("("):
            tree = self._call(value, at)
        elif kind in ("word", "column"):
            tree = Name(at, self.columns(value, at))
        elif (kind, value) == ("sign", "("):
            tree = self._any()
            if not self._take(")"):
                raise self._wrong(self._place(), f"')' should close the '(' at character {at}")
        else:
            raise self._wrong(at, "a column, a number or 'text' should stand there")
        self.depth -= 1
        return tree

    def _call(self, function: str, at: int) -> Part:
        values = [self._any()]
        while self._take(","):
            values.append(self._any())
        if not self._take(")"):
            raise self._wrong(self._place(), f"',' or ')' should stand there, to close {function}( at character {at}")
        least, most = FUNCTIONS[function]
        if not least <= len(values) <= most:
            takes = "one value" if most == 1 else f"{least} to {most} values"
            raise self._wrong(at, f"{function} takes {takes}, not {len(values)}")
        return Call(at, function, tuple(values))

    # -- tokens -------------------------------------------------------------------------------------------------------
    def _next(self) -> tuple[str, str, int]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "", len(self.text) + 1)

    def _place(self) -> int:
        return self._next()[2]

    def _take(self, sign: str) -> bool:
        there = self._next()[:2] == ("sign", sign)
        self.at += there
        return there

    def _enter(self, at: int) -> None:
        self.depth += 1
        self.parts += 1
        if self.depth > _DEEPEST:
            raise self._wrong(at, f"more than {_DEEPEST} parts stand inside each other")
        if self.parts > _MOST_PARTS:
            raise self._wrong(at, f"it has more than {_MOST_PARTS} parts; write a shorter one")

    def _wrong(self, at: int, why: str) -> UserError:
        return wrong(self.text, self.what, at, why)
