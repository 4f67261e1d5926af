"""Exceptions from the rule of PCFG SET (Hupkes et al. 2020): two functions side by side that mean what two others do.

Which pairs these are, and what they mean instead, is as in the released exceptions.
"""

from __future__ import annotations

from collections.abc import Sequence

from .pcfg_language import Words, interpreted

#: (outer, inner) functions -> the two that an exception is read as
EXCEPTIONS = {
    ("reverse", "echo"): ("echo", "copy"),
    ("prepend", "remove_first"): ("remove_second", "append"),
    ("echo", "remove_first"): ("copy", "append"),
    ("prepend", "reverse"): ("remove_second", "echo"),
}


def excepted(words: Sequence[str]) -> Words | None:
    """What an exceptional expression is read as; None if it has no exception to be."""
    for place, pair in enumerate(zip(words, words[1:], strict=False)):
        if pair in EXCEPTIONS:
            return (*words[:place], *EXCEPTIONS[pair], *words[place + 2 :])
    return None


def exception_of(words: Sequence[str]) -> Words | None:
    """What an exceptional expression means; None if it has none of the pairs, or means the same by the rule.

    Args:
        words: of the expression.

    Example:
        >>> from recombine.supports.pcfg_exceptions import exception_of
        >>> exception_of("reverse echo A1 B2".split()), exception_of("echo A1 B2".split())
        (('A1', 'B2', 'B2'), None)
    """
    read = excepted(words)
    meaning = None if read is None else interpreted(read)
    return None if meaning == interpreted(words) else meaning
