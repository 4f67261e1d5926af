"""What splits of texts share: groups by row, and words that stay trained by moving no more texts than it takes."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from recombine import Listed, UserError
from recombine.supports import Among
from recombine.supports.texts import keep_words_trained, read_texts, require_words_trained

SPACE = Listed([[0], [0, 1], [1, 1], [0, 2], [2]], ["go", "far", "now"])


def test_texts_move_into_training_until_their_words_are_there_and_no_further():
    trained = np.array([True, False, False, False, False])
    moved = keep_words_trained(SPACE, trained, np.array([False, True, True, True, False]))
    assert moved.tolist() == [True, True, False, True, False]  # the second "far" may stay
    assert trained.sum() == 1  # what was given is as it was
    require_words_trained(SPACE, np.flatnonzero(moved), np.array([2, 4]), "it")
    with pytest.raises(UserError, match="it leaves 'now' untrained, and is not about that; a list with more texts"):
        require_words_trained(SPACE, np.array([0, 1]), np.array([2, 4]), "it")


def test_chosen_rows_are_a_group_on_host_and_device():
    chosen = Among(np.array([True, False, False, True, False]))
    rows = SPACE.enumerate()[1:]
    assert chosen(rows).tolist() == [False, False, True, False]
    assert jax.jit(chosen)(rows).tolist() == [False, False, True, False]


def test_texts_are_read_in_words_and_other_spaces_are_refused():
    assert read_texts(SPACE, ("go",), "it needs a list")[3] == ("go", "now")
    with pytest.raises(UserError, match="it needs a list; got Listed"):
        read_texts(SPACE, ("stop",), "it needs a list")
