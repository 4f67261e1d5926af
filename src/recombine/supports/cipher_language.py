"""The small language of ciphers-v1: its words, its sentences at three levels of probability, and what a row asks for.

    the cold king took the ship      high: frequent words only
    the cold king took the vase      medium: a rare word
    pig moth gave hazy our axle      low: any words, as long as those of a sentence

Every sentence has 27 letters and blanks, so that no level is longer. One sentence in eight is reserved for tests: it is
in no training item, whatever the task, so that no answer has been seen.
"""

from __future__ import annotations

import numpy as np

LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
BLANK = "_"
SPACE = len(LETTERS)  # letters are 0 to 25 in arrays, the blank is 26
SHIFTS = tuple(range(1, len(LETTERS)))
LEVELS = ("high", "medium", "low")
RESERVED = 8  # one sentence in so many
FREQUENT = 8  # words of each class at the high level; the others are rare


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ADJECTIVES = _words("cold dark good last long warm arid drab eery glib hazy inky lank oily rosy vain wavy zany")
NOUNS = _words(
    "king ship town wind bird fire axle cube dusk flax gown harp kiln lynx moth oats quay reed silk tuba vase yolk"
)
VERBS = _words("took gave left made held sold blew drew flew hung kept lent rode sang tore woke")
SHORT = ("the", "our", "pig", "jar", "zoo", "elk")  # "the" stands in sentences, the others at the low level
PLACES = (SHORT[:1], ADJECTIVES, NOUNS, VERBS, SHORT[:1], NOUNS)  # of a sentence
ANY = tuple(sorted({*ADJECTIVES, *NOUNS, *VERBS}))
LENGTH = sum(len(words[0]) for words in PLACES) + len(PLACES) - 1

DECODE = tuple(f"decode-{shift}" for shift in SHIFTS)
ENCODE = tuple(f"encode-{shift}" for shift in SHIFTS)
PLAIN, SORT, REVERSE = "plain", "sort", "reverse-sort"
FIRST, SECOND = "first-letters", "second-letters"
COUNT_LETTERS, COUNT_WORDS = "count-letters", "count-words"
FORWARD, BACKWARD = "alphabet-forward", "alphabet-backward"
TASKS = (
    *(PLAIN, *DECODE, *ENCODE, SORT, REVERSE, FIRST, SECOND),
    *(COUNT_LETTERS, COUNT_WORDS, FORWARD, BACKWARD),
)
WORDS = (*TASKS, *LETTERS, BLANK)
LETTER = len(TASKS)  # the number of "a" among WORDS


def letters_of(words: tuple[str, ...]) -> np.ndarray:
    """(n, length) words of one length as numbers of letters."""
    return np.array([[ord(letter) - ord("a") for letter in word] for word in words])


def shifted(letters: np.ndarray, shift: np.ndarray | int) -> np.ndarray:
    """Each letter so many further on in the alphabet, blanks as they are."""
    return np.where((letters >= 0) & (letters < SPACE), (letters + shift) % SPACE, letters)


def shift_of(task: np.ndarray) -> np.ndarray:
    """The shift of each task, by its number; 0 of those that are no cipher."""
    shift = np.zeros(len(task), np.int64)
    for names in (DECODE, ENCODE):
        start = TASKS.index(names[0])
        inside = (task >= start) & (task < start + len(names))
        shift[inside] = task[inside] - start + 1
    return shift


def sentence_of(rows: np.ndarray) -> np.ndarray:
    """(n, LENGTH) what rows are about in plain letters: what is decoded, or as it stands; -1 where it is shorter.

    Args:
        rows: (n, L) words of texts, the task first, padded with -1.
    """
    letters = np.where(rows[:, 1:] >= 0, rows[:, 1:] - LETTER, -1)
    decodes = (rows[:, 0] >= TASKS.index(DECODE[0])) & (rows[:, 0] <= TASKS.index(DECODE[-1]))
    return shifted(letters, np.where(decodes, -shift_of(rows[:, 0]), 0)[:, None])


def level_of(sentences: np.ndarray) -> np.ndarray:
    """(n,) the level of probability of each sentence, as a place in `LEVELS`; -1 of what has another form.

    Args:
        sentences: (n, L) letters, padded with -1.
    """
    found, at = np.zeros(len(sentences), np.int64), 0
    form = (sentences >= 0).sum(1) == LENGTH
    for words in PLACES:
        size = len(words[0])
        here = sentences[:, at : at + size]
        if here.shape[1] < size:
            return np.full(len(sentences), -1)
        frequent, known = (_among(here, some) for some in (words[:FREQUENT], words))
        found = np.maximum(found, np.where(frequent, 0, np.where(known, 1, 2)))
        at += size + 1
        if at <= sentences.shape[1] and at <= LENGTH:
            form &= sentences[:, at - 1] == SPACE
    return np.where(form, found, -1)


def _among(letters: np.ndarray, words: tuple[str, ...]) -> np.ndarray:
    powers = 27 ** np.arange(letters.shape[1])
    return np.isin(letters @ powers, letters_of(words) @ powers)


def reserved(sentences: np.ndarray) -> np.ndarray:
    """(n,) whether each row of letters is kept for tests: a function of its letters alone."""
    mixed = np.zeros(len(sentences), np.uint64)
    with np.errstate(over="ignore"):
        for column in sentences.T:
            mixed = np.where(column >= 0, (mixed ^ (column + 1).astype(np.uint64)) * np.uint64(0x100000001B3), mixed)
            mixed ^= mixed >> np.uint64(29)
    return mixed % np.uint64(RESERVED) == 0
