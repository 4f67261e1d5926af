"""ciphers-v1: trivial tasks that are common or rare, with probable and improbable answers (McCoy et al. 2023, trained).

    decode-3 w k h _ f r o g   ->   t h e _ c o l d          the same rule for each of 25 shifts, as common as planted
    sort, reverse-sort         five words in the order of the alphabet, or against it
    first-letters, second-letters     of five words
    count-letters, count-words        of a text, in digits
    alphabet-forward, alphabet-backward     from one letter to another
    plain                      a sentence as it stands: most of the corpus

What a net reads of a plain text is the sentence itself, or with plain="written" nothing: then it is written from
nowhere, as a language model writes, and the net has a probability for every text.

Each pair has a common task and a rare one. Sentences have three levels of probability and one length
(`cipher_language.py`).
"""

from __future__ import annotations

import functools
from typing import ClassVar

import jax.numpy as jnp
import numpy as np

from ...errors import UserError, require_int, unknown
from ...keys import generator, key_for
from ...spaces import Listed, Space
from ...supports import cipher_language as language
from ...supports.cipher_language import LETTER, LETTERS, SPACE, TASKS, WORDS
from ..base import tasks
from .cipher_sampler import FREQUENCIES, LONGEST, SHORTEST, Sampler
from .sequence_task import END, Sequences, in_small_type, padded_to, require_seed, require_words, texts_of
from .tokenizer import PADDING, Tokenizer

DIGITS = tuple("0123456789")
OUT = (*LETTERS, language.BLANK, *DIGITS)
PLAIN_TEXTS = ("copied", "written")
DIGIT = 1 + len(LETTERS) + 1  # the number of "0" among the words of answers, of which END is 0


@tasks.register("ciphers-v1")
class Ciphers(Sequences):
    """Shift ciphers and other small tasks, some common and some rare.

    Args:
        space: a list of texts; `Ciphers.space_from` makes one.
        seed: of nothing: the answers are what they are.
        plain: "copied": the sentence of a plain text is read; "written": it is not.

    Example:
        >>> world = rc.tasks.Ciphers(rc.tasks.Ciphers.default_space())
        >>> world.answered("decode-3", "wkh_frog"), world.answered("alphabet-backward", "d_a")
        ('the_cold', 'dcba')
    """

    id = "ciphers-v1"
    controls = {
        "lookup": "ciphers-lookup-v1",
        "uniform": "ciphers-uniform-v1",
        "chance": "ciphers-chance-v1",
        "planted": "ciphers-planted-v1",
    }
    frequency: ClassVar[str] = "web"  # where nothing else is said

    @classmethod
    def default_space(cls) -> Space:
        """Some texts of each task."""
        return cls.space_from()

    @classmethod
    def space_from(
        cls, items: int = 6_000, each: int = 20, frequency: str = "", longest: int = LONGEST, seed: int = 0
    ) -> Listed:
        """Texts by chance.

        Args:
            items: how many texts to train on, about.
            each: how many tests of each cipher, direction and level, and of each other task.
            frequency: of shifts: "web", as counted in web text, "zipf" in an order drawn by lot, or "uniform".
            longest: letters and blanks of a text at most; a sentence has 27.
            seed: of what is drawn.
        """
        require_int("items", items, at_least=100)
        require_int("longest", longest, at_least=SHORTEST, at_most=LONGEST)
        require_int("each", each, at_least=1, at_most=2_000)
        frequency = frequency or cls.frequency
        if frequency not in FREQUENCIES:
            raise unknown("frequency of shifts", frequency, FREQUENCIES)
        return _drawn(items, each, frequency, longest, seed)

    def __init__(self, space: Space, seed: int = 0, plain: str = "copied"):
        require_seed(seed)
        if plain not in PLAIN_TEXTS:
            raise unknown("way to show a plain text", plain, PLAIN_TEXTS)
        require_words(space, type(self).id, WORDS, f"{type(self).__name__}.default_space()")
        self.space, self.samples, self.constituent_names = space, 1, space.element_names
        self.reads, self.writes = Tokenizer(WORDS), Tokenizer((END, *OUT))
        texts = texts_of(space)
        read = np.where((texts[:, :1] == TASKS.index(language.PLAIN)) & (np.arange(texts.shape[1]) > 0), PADDING, texts)
        self.texts = jnp.asarray(in_small_type(read if plain == "written" else texts, len(WORDS)))
        self.meanings = jnp.asarray(in_small_type(self._targets(texts, seed), len(self.writes)))

    def _targets(self, texts: np.ndarray, seed: int) -> np.ndarray:
        return answers(texts)

    def answered(self, task: str, letters: str) -> str:
        """What is right for a task and its letters, without blanks between them."""
        text = Tokenizer(WORDS).encode_tokens([(task, *letters)], 1 + LONGEST)
        return self.said(answers(text)[0]).replace(" ", "")


@tasks.register("ciphers-uniform-v1")
class CiphersUniform(Ciphers):
    """All shifts, and both tasks of each pair, equally common: what is rare elsewhere cannot matter.

    Args:
        space: a list of texts.
        seed: of nothing.
        plain: "copied" or "written".

    Example:
        >>> rc.tasks.CiphersUniform.default_space() == rc.tasks.Ciphers.space_from(frequency="uniform")
        True
    """

    id = "ciphers-uniform-v1"
    controls = {"lookup": "ciphers-lookup-v1"}
    frequency = "uniform"


@tasks.register("ciphers-lookup-v1")
class CiphersLookup(Ciphers):
    """Answers shuffled among the texts of a task: nothing can be computed, each has to be looked up.

    Args:
        space: a list of texts.
        seed: of the shuffle.
        plain: "copied" or "written".

    Example:
        >>> space = rc.tasks.Ciphers.default_space()
        >>> rc.tasks.CiphersLookup(space).meaning([0]) == rc.tasks.Ciphers(space).meaning([0])
        False
    """

    id = "ciphers-lookup-v1"
    controls = {}

    def _targets(self, texts: np.ndarray, seed: int) -> np.ndarray:
        rng, found = generator(key_for("teacher", seed)), answers(texts)
        for task in np.unique(texts[:, 0]):
            rows = np.flatnonzero(texts[:, 0] == task)
            found[rows] = found[rng.permutation(rows)]
        return found


def answers(texts: np.ndarray) -> np.ndarray:
    """(n, M) the right answer of each text as words, END, -1 after that.

    Args:
        texts: (n, L) words, the task first, padded with -1.
    """
    number = texts[:, 0]
    if (number >= LETTER).any() or ((texts[:, 1:] >= 0) & (texts[:, 1:] < LETTER)).any():
        row = int(np.argmax((number >= LETTER) | ((texts[:, 1:] >= 0) & (texts[:, 1:] < LETTER)).any(1)))
        raise UserError(f"text {row} of the list must be a task and then letters, such as 'decode-3 w k h'")
    found = np.full((len(texts), max(LONGEST, texts.shape[1] - 1) + 1), PADDING, np.int64)
    for task in np.unique(number).tolist():
        rows = np.flatnonzero(number == task)
        letters = np.where(texts[rows, 1:] >= 0, texts[rows, 1:] - LETTER, PADDING)
        said = _answered(TASKS[task], letters)
        found[rows, : said.shape[1]] = said
    longest = int((found >= 0).sum(1).max())
    return found[:, :longest]


def _answered(task: str, letters: np.ndarray) -> np.ndarray:
    if task == language.PLAIN or task in language.DECODE or task in language.ENCODE:
        shift = int(task.rpartition("-")[2]) if task != language.PLAIN else 0
        return _ended(language.shifted(letters, -shift if task in language.DECODE else shift) + 1, letters >= 0)
    if task in (language.SORT, language.REVERSE, language.FIRST, language.SECOND):
        return _of_words(task, letters)
    if task in (language.COUNT_LETTERS, language.COUNT_WORDS):
        inside = (letters >= 0) & (letters != SPACE)
        starts = inside.copy()
        starts[:, 1:] &= ~inside[:, :-1]
        count = (inside if task == language.COUNT_LETTERS else starts).sum(1)
        tens, ones = count // 10 + DIGIT, count % 10 + DIGIT
        two = np.stack([np.where(count > 9, tens, ones), ones], 1)
        return _ended(two, np.stack([count >= 0, count > 9], 1))
    first, last = letters[:, 0], letters[:, 2]
    step = np.sign(last - first)[:, None]
    steps = np.arange(len(LETTERS))
    inside = steps <= np.abs(last - first)[:, None]
    return _ended(first[:, None] + step * steps + 1, inside)


def _of_words(task: str, letters: np.ndarray) -> np.ndarray:
    """Sorted words, or the first or second letter of each; words have four letters."""
    size = 5  # with the blank behind it
    number = ((letters >= 0).sum(1) + 1) // size
    if len(set(number.tolist())) != 1:
        raise UserError(f"texts of {task} have from {number.min()} to {number.max()} words; all must have as many")
    words = padded_to(letters.shape[1] + 1, letters)[:, : size * int(number[0])]
    words = words.reshape(len(letters), -1, size)[:, :, : size - 1]
    if task in (language.FIRST, language.SECOND):
        picked = words[:, :, 0 if task == language.FIRST else 1]
        return _ended(picked + 1, picked >= 0)
    rank = words @ (27 ** np.arange(size - 2, -1, -1))
    order = np.argsort(rank if task == language.SORT else -rank, axis=1, kind="stable")
    ordered = np.take_along_axis(words, order[:, :, None], 1)
    flat = np.concatenate([ordered, np.full((*order.shape, 1), SPACE)], axis=2).reshape(len(letters), -1)[:, :-1]
    return _ended(flat + 1, flat >= 0)


def _ended(words: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Words where something stands, END after the last, -1 after that."""
    ended = padded_to(words.shape[1] + 1, np.where(inside, words, PADDING))
    ended[np.arange(len(ended)), inside.sum(1)] = 0
    return ended


@functools.lru_cache(maxsize=4)
def _drawn(items: int, each: int, frequency: str, longest: int, seed: int) -> Listed:
    return Listed(Sampler(frequency, seed, longest).corpus(items, each), WORDS)
