"""The language of PCFG SET (Hupkes et al. 2020): functions of strings, written before their arguments.

    swap_first_last echo append A1 B2 , C3   ->   C3 B2 C3 A1

Six functions take one string and four take two, with a comma between. What stands behind a name is an argument of it,
be it letters or another function, so an expression has one reading. Four functions have a synonym that means the same.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..errors import UserError
from ..labels import quoted

Words = tuple[str, ...]
UNARY: dict[str, Callable[[Words], Words]] = {
    "copy": lambda x: x,
    "reverse": lambda x: x[::-1],
    "shift": lambda x: (*x[1:], x[0]),
    "echo": lambda x: (*x, x[-1]),
    "swap_first_last": lambda x: x if len(x) < 2 else (x[-1], *x[1:-1], x[0]),
    "repeat": lambda x: x + x,
}
BINARY: dict[str, Callable[[Words, Words], Words]] = {
    "append": lambda x, y: x + y,
    "prepend": lambda x, y: y + x,
    "remove_first": lambda x, y: y,
    "remove_second": lambda x, y: x,
}
FUNCTIONS = (*UNARY, *BINARY)
SYNONYMS = {f"{name}_too": name for name in ("swap_first_last", "repeat", "append", "remove_second")}
COMMA = ","
LETTERS = tuple(f"{letter}{number}" for letter in string.ascii_uppercase for number in range(1, 21))
WORDS = (*FUNCTIONS, *SYNONYMS, COMMA, *LETTERS)
_NAMES = {**{name: name for name in FUNCTIONS}, **SYNONYMS}
_LETTERS = frozenset(LETTERS)
_ARITY = {name: 1 if base in UNARY else 2 for name, base in _NAMES.items()}


class Shape(NamedTuple):
    """How large an expression is."""

    functions: int
    depth: int


class Node(NamedTuple):
    """A function and its arguments, or letters."""

    name: str  # "" of letters
    arguments: tuple  # nodes, or the letters


def parsed(words: Sequence[str]) -> Node:
    """The one reading of an expression; what is none is refused.

    Args:
        words: of the expression.

    Example:
        >>> from recombine.supports.pcfg_language import parsed
        >>> parsed("echo append A1 , B2".split()).arguments[0].name
        'append'
    """
    words = tuple(words)
    node, end = _parse(words, 0)
    if end != len(words):
        raise _refusal(words, end)
    return node


def _parse(words: Words, at: int) -> tuple[Node, int]:
    if at < len(words) and words[at] in _ARITY:
        name = words[at]
        first, at = _parse(words, at + 1)
        if _ARITY[name] == 1:
            return Node(name, (first,)), at
        if at >= len(words) or words[at] != COMMA:
            raise _refusal(words, at)
        second, at = _parse(words, at + 1)
        return Node(name, (first, second)), at
    end = at
    while end < len(words) and words[end] in _LETTERS:
        end += 1
    if end == at:
        raise _refusal(words, at)
    return Node("", words[at:end]), end


def _refusal(words: Words, at: int) -> UserError:
    where = f"{quoted(words[at])}, word {at + 1}" if at < len(words) else "the end"
    return UserError(
        f"{quoted(' '.join(words))} is no expression of PCFG SET: it breaks off at {where}; 'echo A1 B2' is one"
    )


def value(node: Node) -> Words:
    """The string that an expression stands for."""
    if not node.name:
        return node.arguments
    return applied(node.name, [value(argument) for argument in node.arguments])


def applied(name: str, arguments: Sequence[Words]) -> Words:
    """One function, or a synonym, of strings."""
    base = _NAMES[name]
    return UNARY[base](arguments[0]) if base in UNARY else BINARY[base](arguments[0], arguments[1])


def interpreted(words: Sequence[str]) -> Words:
    """The string that an expression stands for, from its words.

    Args:
        words: of the expression.

    Example:
        >>> from recombine.supports.pcfg_language import interpreted
        >>> " ".join(interpreted("reverse append A1 B2 , C3".split()))
        'C3 B2 A1'
    """
    return value(parsed(words))


def shape(node: Node) -> Shape:
    """How many functions an expression has, and how many stand in one another."""
    if not node.name:
        return Shape(0, 0)
    inside = [shape(argument) for argument in node.arguments]
    return Shape(1 + sum(one.functions for one in inside), 1 + max(one.depth for one in inside))


def steps(node: Node) -> list[Words]:
    """The expression computed from the inside, one function of letters after the other, up to its value."""
    found: list[Words] = []

    def compute(one: Node) -> Words:
        if not one.name:
            return one.arguments
        strings = [compute(argument) for argument in one.arguments]
        found.append((one.name, *strings[0], *((COMMA, *strings[1]) if len(strings) > 1 else ())))
        return applied(one.name, strings)

    compute(node)
    return found


def written(node: Node) -> Words:
    """The words of an expression."""
    if not node.name:
        return node.arguments
    first, *second = map(written, node.arguments)
    return (node.name, *first, *((COMMA, *second[0]) if second else ()))
