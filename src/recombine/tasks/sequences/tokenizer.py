"""Words or characters as whole numbers, and back: the one tokenizer of all sequence worlds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...errors import UserError, unknown
from ...labels import quoted

UNITS = ("words", "characters")
PADDING = -1


@dataclass(frozen=True)
class Tokenizer:
    """Texts as rows of whole numbers, padded with -1 at the end, and back.

    Args:
        vocabulary: each token once; a token's number is its place.
        by: "words", which are what stands between blanks, or "characters".

    Example:
        >>> tokens = rc.tasks.Tokenizer(("jump", "twice"))
        >>> tokens.encode(["jump", "jump twice"]).tolist()
        [[0, -1], [0, 1]]
        >>> tokens.decode([0, 1, -1])
        'jump twice'
    """

    vocabulary: tuple[str, ...]
    by: str = "words"

    def __post_init__(self):
        if self.by not in UNITS:
            raise unknown("unit of a tokenizer", self.by, UNITS)
        if len(set(self.vocabulary)) < len(self.vocabulary):
            twice = next(one for one in self.vocabulary if self.vocabulary.count(one) > 1)
            raise UserError(f"the vocabulary has {quoted(twice)} twice; each token stands in it once")
        if self.by == "characters" and (long := [one for one in self.vocabulary if len(one) != 1]):
            raise UserError(f"the vocabulary has {quoted(long[0])}, which is no single character; by='words' has words")

    def __len__(self) -> int:
        return len(self.vocabulary)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Token -> its number."""
        return {token: number for number, token in enumerate(self.vocabulary)}

    def split(self, text: str) -> list[str]:
        """The tokens of a text."""
        return text.split() if self.by == "words" else list(text)

    def encode(self, texts: Iterable[str], longest: int | None = None) -> np.ndarray:
        """(n, longest) numbers, -1 after the end; a token that is not in the vocabulary is refused by name."""
        return self.encode_tokens([self.split(text) for text in texts], longest)

    def encode_tokens(self, rows: Iterable[Sequence[str]], longest: int | None = None) -> np.ndarray:
        """`encode` for texts that are split already."""
        rows = list(rows)
        widest = max((len(row) for row in rows), default=0)
        width = widest if longest is None else longest
        if widest > width:
            row = next(row for row in rows if len(row) > width)
            raise UserError(f"{quoted(self._joined(row))} has {len(row)} {self.by}, and there is room for {width}")
        encoded = np.full((len(rows), width), PADDING, np.int32)
        numbers = self.numbers
        for place, row in enumerate(rows):
            try:
                encoded[place, : len(row)] = [numbers[token] for token in row]
            except KeyError as missing:
                raise self._unknown(missing.args[0], row) from None
        return encoded

    def decode(self, numbers: Iterable[int]) -> str:
        """The text of a row; what is negative is padding."""
        return self._joined([self.vocabulary[int(number)] for number in numbers if number >= 0])

    def _joined(self, tokens: Sequence[str]) -> str:
        return (" " if self.by == "words" else "").join(tokens)

    def _unknown(self, token: str, row: Sequence[str]) -> UserError:
        kind = f"{self.by[:-1]} in {quoted(self._joined(row))}:"
        return unknown(kind, token, self.vocabulary)
