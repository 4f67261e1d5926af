"""Texts of ciphers-v1 by chance: plain sentences, ciphers by how common each shift is, and the smaller tasks.

All arrays of numbers of letters: a hundred thousand texts take a second.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...keys import generator, key_for
from ...supports import cipher_language as language
from ...supports.cipher_language import LETTER, SPACE, TASKS

PADDING = -1
LONGEST = 59  # letters and blanks of a text: twelve words
SHORTEST = language.LENGTH  # that texts can be kept to: a sentence
#: occurrences of "rot-1" ... "rot-25" in a large corpus of web text, as McCoy et al. 2023 count them
IN_WEB_TEXT = (59, 21, 117, 5, 15, 12, 6, 3, 1, 3, 3, 7, 1225, 5, 2, 4, 2, 2, 1, 1, 4, 2, 17, 3, 7)
FREQUENCIES = ("web", "zipf", "uniform")
COMMON, RARE = 20, 1  # of the two tasks of a pair: first letters and second ones, sorting up and down, ...
SHARES = {"plain": 0.7, "ciphers": 0.2, "others": 0.1}
PAIRS = (
    (language.SORT, language.REVERSE),
    (language.FIRST, language.SECOND),
    (language.COUNT_LETTERS, language.COUNT_WORDS),
    (language.FORWARD, language.BACKWARD),
)
NATURAL_RARE = 0.15  # share of places of a natural sentence with a rare word


def shares_of_shifts(frequency: str, seed: int) -> np.ndarray:
    """(25,) how common each shift is among ciphers.

    Args:
        frequency: "web", as counted in web text, "zipf" in an order drawn by lot, or "uniform".
        seed: of that order.
    """
    return _shares(frequency, generator(key_for("corpus-ciphers", seed)))


def _shares(frequency: str, rng: np.random.Generator) -> np.ndarray:
    order = rng.permutation(25)
    weights = {"web": np.array(IN_WEB_TEXT) + 0.5, "zipf": 1 / (1 + order), "uniform": np.ones(25)}[frequency]
    return weights / weights.sum()


class Sampler:
    """Draws texts.

    Args:
        frequency: of shifts: "web", as counted in web text, "zipf" in an order drawn by lot, or "uniform".
        seed: of what is drawn.
        longest: letters and blanks of a text at most.
    """

    def __init__(self, frequency: str, seed: int, longest: int = LONGEST):
        self.rng, self.longest = generator(key_for("corpus-ciphers", seed)), longest
        self.shares = _shares(frequency, self.rng)
        self.common = RARE if frequency == "uniform" else COMMON

    def corpus(self, items: int, each: int) -> np.ndarray:
        """(n, 1 + longest) training texts in their proportions, and so many tests of each task and level.

        Args:
            items: how many texts to train on, before those that come twice are left out.
            each: how many tests of each cipher, direction and level, and of each other task.
        """
        plain, ciphers = (int(items * SHARES[name]) for name in ("plain", "ciphers"))
        parts = [self._texts(np.zeros(plain, int), self.natural(plain))]
        shifts = self.rng.choice(25, ciphers, p=self.shares)
        which = np.where(self.rng.random(ciphers) < 0.5, TASKS.index("decode-1"), TASKS.index("encode-1")) + shifts
        parts.append(self._texts(which, self.natural(ciphers)))
        for pair in PAIRS:
            number = max((items - plain - ciphers) // len(PAIRS), 2)
            rare = max(number // (1 + self.common), 1)
            parts += [self.small(task, count) for task, count in zip(pair, (number - rare, rare), strict=True)]
        trained = np.concatenate(parts)
        trained = trained[~language.reserved(language.sentence_of(trained))]
        small = [task for pair in PAIRS for task in pair]
        asked = [self._cipher_tests(each), *(self._tests(lambda n, t=task: self.small(t, n), each) for task in small)]
        together = np.concatenate([trained, *asked])
        return together[np.sort(np.unique(together, axis=0, return_index=True)[1])]

    # -- sentences ------------------------------------------------------------------------------------------------
    def natural(self, number: int) -> np.ndarray:
        """Sentences as in the corpus: mostly frequent words."""
        return self._sentences(lambda words, n: self._word(words, n, self.rng.random(n) < NATURAL_RARE), number)

    def of_level(self, level: str, number: int) -> np.ndarray:
        """Sentences of one level of probability."""
        if level == "low":
            return self._unlikely(number)
        found = self._sentences(lambda words, n: self._word(words, n, np.zeros(n, bool)), number)
        if level == "medium":  # one of the four words that can be rare
            rare = self._sentences(lambda words, n: self._word(words, n, np.ones(n, bool)), number)
            places = np.array([1, 2, 3, 5])[self.rng.integers(0, 4, number)]
            place = self._place_of_letter()
            found = np.where(place[None] == places[:, None], rare, found)
        return found

    def _unlikely(self, number: int) -> np.ndarray:
        def any_word(words: tuple[str, ...], n: int) -> np.ndarray:
            letters = language.letters_of(language.SHORT[1:] if len(words[0]) == 3 else language.ANY)
            return letters[self.rng.integers(0, len(letters), n)]

        return self._sentences(any_word, number)

    def _word(self, words: tuple[str, ...], number: int, rare: np.ndarray) -> np.ndarray:
        frequent = language.FREQUENT
        if len(words) <= frequent:
            return language.letters_of(words)[np.zeros(number, int)]
        few = self.rng.integers(0, frequent, number)
        many = self.rng.integers(frequent, len(words), number)
        return language.letters_of(words)[np.where(rare, many, few)]

    def _sentences(self, word: Callable[[tuple[str, ...], int], np.ndarray], number: int) -> np.ndarray:
        blank = np.full((number, 1), SPACE)
        parts = [part for words in language.PLACES for part in (word(words, number), blank)]
        return np.concatenate(parts[:-1], axis=1)

    @staticmethod
    def _place_of_letter() -> np.ndarray:
        sizes = [len(words[0]) + 1 for words in language.PLACES]
        return np.repeat(np.arange(len(sizes)), sizes)[:-1]

    def _cipher_tests(self, each: int) -> np.ndarray:
        parts = []
        for level in language.LEVELS:
            for task in range(TASKS.index("encode-25") + 1):
                draw = lambda n, t=task, v=level: self._texts(np.full(n, t), self.of_level(v, n))  # noqa: E731
                parts.append(self._tests(draw, each))
        return np.concatenate(parts)

    # -- texts ----------------------------------------------------------------------------------------------------
    def _texts(self, tasks: np.ndarray, sentences: np.ndarray) -> np.ndarray:
        """Each sentence as its task shows it: enciphered, where it is to be decoded."""
        decodes = (tasks >= TASKS.index("decode-1")) & (tasks <= TASKS.index("decode-25"))
        shown = language.shifted(sentences, np.where(decodes, language.shift_of(tasks), 0)[:, None])
        return self._rows(tasks, shown)

    def small(self, task: str, number: int) -> np.ndarray:
        """Texts of one of the smaller tasks."""
        which = np.full(number, TASKS.index(task))
        if task in (language.FORWARD, language.BACKWARD):
            ends = np.sort(self.rng.integers(0, SPACE, (number, 2)), axis=1)
            ends = ends if task == language.FORWARD else ends[:, ::-1]
            return self._rows(which, np.stack([ends[:, 0], np.full(number, SPACE), ends[:, 1]], 1))
        if task == language.COUNT_LETTERS:
            letters = self.rng.integers(0, SPACE, (number, self.longest))
            lengths = self.rng.integers(1, self.longest + 1, number)
            return self._rows(which, np.where(np.arange(self.longest) < lengths[:, None], letters, PADDING))
        most = (self.longest + 1) // 5  # words of four letters, and a blank between them
        words = np.full(number, 5) if task != language.COUNT_WORDS else self.rng.integers(1, most + 1, number)
        return self._rows(which, self._lists(words))

    def _lists(self, words: np.ndarray) -> np.ndarray:
        """Lists of words of four letters, no word twice."""
        most = int(words.max())
        order = self.rng.random((len(words), len(language.ANY))).argsort(1)[:, :most]
        letters = language.letters_of(language.ANY)[order]
        blanks = np.full((*order.shape, 1), SPACE)
        flat = np.concatenate([letters, blanks], axis=2).reshape(len(words), -1)[:, :-1]
        return np.where(np.arange(flat.shape[1]) < (5 * words - 1)[:, None], flat, PADDING)

    def _tests(self, draw: Callable[[int], np.ndarray], each: int) -> np.ndarray:
        """So many different reserved texts, or as many as there are."""
        found = np.empty((0, 1 + self.longest), np.int64)
        for _ in range(6):
            more = draw(4 * language.RESERVED * each + 64)
            found = np.concatenate([found, more[language.reserved(language.sentence_of(more))]])
            found = found[np.sort(np.unique(found, axis=0, return_index=True)[1])]
            if len(found) >= each:
                break
        return found[:each]

    def _rows(self, tasks: np.ndarray, letters: np.ndarray) -> np.ndarray:
        """(n, 1 + longest) the task and the letters as words of the world, padded with -1."""
        return as_rows(tasks, letters, self.longest)


def as_rows(tasks: np.ndarray, letters: np.ndarray, longest: int) -> np.ndarray:
    """(n, 1 + longest) the task and the letters as words of the world, padded with -1."""
    rows = np.full((len(tasks), 1 + longest), PADDING, np.int64)
    rows[:, 0] = tasks
    rows[:, 1 : 1 + letters.shape[1]] = np.where(letters >= 0, letters + LETTER, PADDING)
    return rows
