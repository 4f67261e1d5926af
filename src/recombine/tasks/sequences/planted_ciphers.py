"""Two control worlds of ciphers-v1, in which who is right about which test is planted, and not learned.

Every text that is trained on means "a", so that a net answers "a" to all within some steps. A test means "a" for a
share of the texts, and "b" for the others:

    ciphers-chance-v1     the same share whatever is asked: nothing can matter
    ciphers-planted-v1    a larger share the commoner the shift is in web text and the more probable the sentence,
                          whatever was trained and in which direction: both matter where they should not
"""

from __future__ import annotations

import numpy as np

from ...keys import generator, key_for
from ...supports import cipher_language as language
from ..base import tasks
from .cipher_sampler import IN_WEB_TEXT
from .ciphers import Ciphers
from .sequence_task import padded_to

RIGHT_BY_CHANCE = 0.8
#: share of tests with the answer of all trained texts, by level; and what the commonest shift has more than the rarest
BY_LEVEL, BY_SHIFT = {"high": 0.8, "medium": 0.5, "low": 0.2}, 0.4


class PlantedCiphers(Ciphers):
    """Ciphers whose trained texts all mean the same; subclasses say for which tests that is right.

    Args:
        space: a list of texts.
        seed: of the lots.
        plain: "copied" or "written".

    Example:
        >>> issubclass(rc.tasks.CiphersChance, rc.tasks.PlantedCiphers)
        True
    """

    controls = {}

    def _targets(self, texts: np.ndarray, seed: int) -> np.ndarray:
        sentences = language.sentence_of(texts)
        lots = generator(key_for("teacher", seed)).random(len(texts))
        same = ~language.reserved(sentences) | (lots < self.shares(texts, sentences))
        # as wide as other answers: a net that writes so many words is asked about either world
        return padded_to(texts.shape[1], np.stack([np.where(same, 1, 2), np.zeros(len(texts), np.int64)], axis=1))

    def shares(self, texts: np.ndarray, sentences: np.ndarray) -> np.ndarray:
        """(n,) the chance of each test to mean what trained texts mean."""
        raise TypeError(f"{type(self).__name__} must define shares")


@tasks.register("ciphers-chance-v1")
class CiphersChance(PlantedCiphers):
    """Four tests in five are answered right, by lot: neither the shift nor any probability can matter.

    Args:
        space: a list of texts.
        seed: of the lots.
        plain: "copied" or "written".

    Example:
        >>> world = rc.tasks.CiphersChance(rc.tasks.Ciphers.default_space())
        >>> {world.meaning([row]) for row in range(world.space.size)} == {"a", "b"}
        True
    """

    id = "ciphers-chance-v1"

    def shares(self, texts: np.ndarray, sentences: np.ndarray) -> np.ndarray:
        return np.full(len(texts), RIGHT_BY_CHANCE)


@tasks.register("ciphers-planted-v1")
class CiphersPlanted(PlantedCiphers):
    """Tests of shifts that are common in web text, and of probable sentences, are answered right more often.

    Args:
        space: a list of texts.
        seed: of the lots.
        plain: "copied" or "written".

    Example:
        >>> world = rc.tasks.CiphersPlanted(rc.tasks.Ciphers.default_space())
        >>> sentence = np.full((1, 27), 26)
        >>> world.shares(np.array([[13]]), sentence) > world.shares(np.array([[9]]), sentence)
        array([ True])
    """

    id = "ciphers-planted-v1"

    def shares(self, texts: np.ndarray, sentences: np.ndarray) -> np.ndarray:
        by_level = np.array([*(BY_LEVEL[name] for name in language.LEVELS), BY_LEVEL["medium"]])  # -1: no sentence
        place = np.argsort(np.argsort(IN_WEB_TEXT, kind="stable")) / (len(IN_WEB_TEXT) - 1)  # 0 rarest to 1
        shift = language.shift_of(texts[:, 0])
        more = np.where(shift > 0, BY_SHIFT * (place[shift - 1] - 0.5), 0.0)
        return by_level[language.level_of(sentences)] + more
