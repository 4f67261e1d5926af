"""Expressions that say what cannot be combined, such as "weather=snow & (time=noon | time=dawn)".

    any     := all ("|" all)*
    all     := one ("&" one)*
    one     := "!" one | "(" any ")" | factor "=" level | factor "!=" level | factor ("<" | "<=" | ">" | ">=") number
               | factor "in" "{" level ("," level)* "}" | module
A name with spaces or signs in it is quoted: "'time of day'=noon". Text is parsed and never evaluated. The result is a
list of clauses; a clause maps columns to sets of positions (bits of an int), and what lies in all is forbidden.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..errors import UserError, unknown
from ..labels import quoted
from ..spaces import Space

Clause = dict[
    int, int
]  # column -> bits of the positions; where there are no factors, a module is a column of (absent, present)

MOST_CLAUSES = 10_000
_DEEPEST = 50
_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<sign><=|>=|!=|==|[=<>!&|(){},])"
    r"|(?P<word>[^\s'\"<>=!&|(){},]+))"
)
ABSENT, PRESENT = 1, 2  # bits of a module's two positions


def clauses_of(expression: Any, space: Space) -> list[Clause]:
    """The clauses of an expression over a space, or an error that names what is wrong in it."""
    if not isinstance(expression, str):
        raise UserError(f"forbid={expression!r} is not text such as 'weather=snow & time=noon'")
    return _Parser(expression, space).parse()


def domain(space: Space, column: int) -> int:
    """All positions of a column, as bits."""
    return (1 << space.levels[column]) - 1 if space.columns else ABSENT | PRESENT


class _Parser:
    """Recursive descent to clauses; a negated part is parsed with its signs turned around."""

    def __init__(self, text: str, space: Space):
        self.text, self.space = text, space
        self.tokens = self._cut(text)
        self.at = 0
        self.depth = 0

    def _cut(self, text: str) -> list[tuple[str, str]]:
        tokens, at = [], 0
        while at < len(text.rstrip()):
            found = _TOKEN.match(text, at)
            if not found:
                raise self._wrong(f"a quote that does not end at character {at + 1}")
            kind = str(found.lastgroup)
            value = found.group(kind)
            tokens.append((kind, re.sub(r"\\(.)", r"\1", value[1:-1]) if kind == "quoted" else value))
            at = found.end()
        return tokens

    def parse(self) -> list[Clause]:
        if not self.tokens:
            raise self._wrong("nothing in it")
        clauses = self._any(False)
        if self.at < len(self.tokens):
            raise self._wrong(f"{self.tokens[self.at][1]!r} where '&', '|' or the end should be")
        return clauses

    # -- grammar; `no` says that the part is negated, so that and is or --------------------------------------------
    def _any(self, no: bool) -> list[Clause]:
        return self._chain("|", self._all, no, both=no)

    def _all(self, no: bool) -> list[Clause]:
        return self._chain("&", self._one, no, both=not no)

    def _chain(self, sign: str, part: Callable[[bool], list[Clause]], no: bool, both: bool) -> list[Clause]:
        clauses = part(no)
        while self._take(sign):
            more = part(no)
            clauses = _both(clauses, more) if both else clauses + more
            if len(clauses) > MOST_CLAUSES:
                raise self._wrong(f"more than {MOST_CLAUSES:,} alternatives; write several shorter ones")
        return clauses

    def _one(self, no: bool) -> list[Clause]:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._wrong(f"more than {_DEEPEST} parts inside each other")
        if self._take("!"):
            clauses = self._one(not no)
        elif self._take("("):
            clauses = self._any(no)
            if not self._take(")"):
                raise self._wrong("a '(' without its ')'")
        else:
            clauses = self._comparison(no)
        self.depth -= 1
        return clauses

    def _comparison(self, no: bool) -> list[Clause]:
        name = self._name("a factor")
        if not self.space.columns:
            if name not in self.space.element_names:
                raise unknown(f"module in {self.text!r}:", name, self.space.element_names)
            return [{self.space.element_names.index(name): ABSENT if no else PRESENT}]
        factors = list(self.space.columns)
        if name not in factors:
            raise unknown(f"factor in {self.text!r}:", name, factors)
        column = factors.index(name)
        sign = self.tokens[self.at][1] if self.at < len(self.tokens) else "the end"
        if sign in ("=", "==", "!="):
            self.at += 1
            bits = 1 << self._level(name, self._name("a level"))
            bits = bits if sign != "!=" else domain(self.space, column) & ~bits
        elif sign in ("<", "<=", ">", ">="):
            self.at += 1
            bits = self._compared(name, sign, self._name("a number"))
        elif sign == "in":
            self.at += 1
            bits = self._set(name)
        else:
            raise self._wrong(f"{sign!r} after {name!r}, where =, !=, <, <=, >, >= or 'in' should be")
        bits = domain(self.space, column) & ~bits if no else bits
        return [{column: bits}] if bits else []  # nothing lies in an empty set, so nothing is forbidden by it

    def _set(self, name: str) -> int:
        if not self._take("{"):
            raise self._wrong("no '{' after 'in'; write color in {red, green}")
        bits = 1 << self._level(name, self._name("a level"))
        while self._take(","):
            bits |= 1 << self._level(name, self._name("a level"))
        if not self._take("}"):
            raise self._wrong("a '{' without its '}'")
        return bits

    def _level(self, name: str, level: str) -> int:
        levels = [str(found) for found in self.space.columns[name]]
        if level not in levels:
            raise unknown(f"level of {name!r} in {self.text!r}:", level, levels)
        return levels.index(level)

    def _compared(self, name: str, sign: str, value: str) -> int:
        limit, bits = self._number(name, value), 0
        for position, level in enumerate(self.space.columns[name]):
            number = self._number(name, level)
            within = number < limit if sign[0] == "<" else number > limit
            if within or (len(sign) == 2 and number == limit):
                bits |= 1 << position
        return bits

    def _number(self, name: str, level: Any) -> float:
        try:
            return float(level)
        except (TypeError, ValueError):
            raise self._wrong(f"{str(level)!r}, which is not a number, compared in {name!r}") from None

    # -- tokens -----------------------------------------------------------------------------------------------------
    def _take(self, sign: str) -> bool:
        there = self.at < len(self.tokens) and self.tokens[self.at] == ("sign", sign)
        self.at += there
        return there

    def _name(self, what: str) -> str:
        if self.at >= len(self.tokens) or self.tokens[self.at][0] == "sign":
            found = repr(self.tokens[self.at][1]) if self.at < len(self.tokens) else "the end"
            raise self._wrong(f"{found} where {what} should be")
        self.at += 1
        return self.tokens[self.at - 1][1]

    def _wrong(self, why: str) -> UserError:
        return UserError(f"the expression {quoted(self.text, 200)} has {why}")


def _both(left: list[Clause], right: list[Clause]) -> list[Clause]:
    """Clauses in which one of each side holds."""
    if len(left) * len(right) > MOST_CLAUSES:
        raise UserError(f"an expression of more than {MOST_CLAUSES:,} alternatives; write several shorter ones")
    found = []
    for a in left:
        for b in right:
            clause = dict(a)
            for column, bits in b.items():
                clause[column] = clause.get(column, bits) & bits
            if all(clause.values()):
                found.append(clause)
    return found
