"""A tiny world of sequences: words of up to three letters, and what each means is the word from its end."""

from __future__ import annotations

import itertools

import numpy as np

from recombine import Listed
from recombine.tasks import Sequences, Tokenizer

LETTERS = ("a", "b", "c")


class Backwards(Sequences):
    """abc -> c b a; 39 words, targets of up to four words with their end."""

    id = "backwards-v1"

    def __init__(self, space=None, seed=0, longest=3):
        texts = [row for n in range(1, longest + 1) for row in itertools.product(LETTERS, repeat=n)]
        reads = Tokenizer(LETTERS)
        listed = Listed(np.ascontiguousarray(reads.encode_tokens(texts)), LETTERS)
        self._fill(space or listed, reads, LETTERS, [row[::-1] for row in texts])
