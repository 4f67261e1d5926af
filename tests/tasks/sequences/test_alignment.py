"""Wrong answers beside the truth: nothing is lost, and the marks stand where they differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.tasks.sequences.alignment import aligned, first_difference, parting

SENTENCES = st.lists(st.sampled_from(["I_WALK", "I_RUN", "I_TURN_LEFT"]), max_size=12)


@given(SENTENCES, SENTENCES, st.integers(1, 120))
def test_every_word_is_there_in_order_in_lines_that_fit_and_marks_say_whether_they_differ(truth, said, width):
    text = aligned(truth, said, width)
    of = {
        name: [word for line in text.splitlines() if line.startswith(name) for word in line.split()[1:]]
        for name in ("truth", "answer")
    }
    assert of == {"truth": truth, "answer": said}
    assert max(map(len, text.splitlines())) <= max(width, 30)
    assert ("^" in text) == (truth != said)
    place = first_difference(truth, said)
    assert (place is None) == (truth == said)
    if place is not None:
        assert truth[:place] == said[:place] and truth[place : place + 1] != said[place : place + 1]


def test_a_word_too_many_is_marked_and_what_follows_is_below_itself_again():
    assert aligned(["A", "B", "C", "D"], ["A", "X", "B", "C", "E"]).splitlines() == [
        "truth   A   B C D",
        "answer  A X B C E",
        "          ^     ^",
    ]


@pytest.mark.parametrize(
    ("truth", "said", "words"),
    [
        ("A B", "A B", "right: all 2 words"),
        ("A B", "A C", "they part at word 2 of 2: C instead of B"),
        ("A B", "A", "right so far, but ends after 1 of 2 words"),
        ("A", "A B C", "right up to its end, and goes on for 2 more"),
    ],
)
def test_where_they_part_in_words(truth, said, words):
    assert parting(truth.split(), said.split()) == words
