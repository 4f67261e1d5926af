"""ciphers-v1: right answers, levels of probability, how common tasks are, what is reserved, and control worlds."""

from __future__ import annotations

import codecs

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine import Listed, UserError
from recombine.supports import ciphers
from recombine.supports.cipher_language import (
    DECODE,
    LENGTH,
    LEVELS,
    TASKS,
    WORDS,
    level_of,
    reserved,
    sentence_of,
    shift_of,
)
from recombine.tasks import Ciphers, CiphersLookup, CiphersUniform
from recombine.tasks.sequences.cipher_sampler import IN_WEB_TEXT, Sampler
from recombine.testing import check_support


@pytest.fixture(scope="module")
def world():
    return Ciphers(Ciphers.space_from(items=4_000, each=5, seed=3))


@pytest.fixture(scope="module")
def rows(world):
    return world.space.elements(world.space.enumerate())


# -- answers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "task, letters, answer",
    [
        ("plain", "the_cold", "the_cold"),
        ("decode-1", "bcd_a", "abc_z"),
        ("encode-25", "bcd_a", "abc_z"),
        ("sort", "wind_bird_king_axle_took", "axle_bird_king_took_wind"),
        ("reverse-sort", "wind_bird_king_axle_took", "wind_took_king_bird_axle"),
        ("first-letters", "wind_bird_king_axle_took", "wbkat"),
        ("second-letters", "wind_bird_king_axle_took", "iiixo"),
        ("count-letters", "abcab", "5"),
        ("count-letters", "a" * 30, "30"),
        ("count-words", "wind_bird_king", "3"),
        ("count-words", "_".join(["wind"] * 12), "12"),
        ("alphabet-forward", "c_g", "cdefg"),
        ("alphabet-backward", "g_c", "gfedc"),
        ("alphabet-forward", "c_c", "c"),
    ],
)
def test_answers_are_right(task, letters, answer, world):
    assert world.answered(task, letters) == answer


def test_every_cipher_of_the_list_is_undone_by_the_other_direction(world, rows):
    assert world.answered("decode-13", "gur_pbyq") == codecs.decode("gur_pbyq", "rot13")
    shift = shift_of(rows[:, 0])
    for row in np.flatnonzero(shift)[::40].tolist():
        task, letters = world.text([row]).replace(" ", "", 0).split(" ", 1)
        answer, other = world.meaning([row]).replace(" ", ""), "encode" if "decode" in task else "decode"
        assert world.answered(f"{other}-{shift[row]}", answer) == letters.replace(" ", "")


def test_words_are_sorted_as_python_sorts_them(world, rows):
    for task, backwards in (("sort", False), ("reverse-sort", True)):
        for row in np.flatnonzero(rows[:, 0] == TASKS.index(task)).tolist():
            words = world.text([row]).split(" ", 1)[1].replace(" ", "").split("_")
            assert world.meaning([row]).replace(" ", "").split("_") == sorted(words, reverse=backwards)


# -- levels, and what is common -----------------------------------------------------------------------------------


def test_levels_differ_in_their_words_and_not_in_their_length():
    sampler = Sampler("web", seed=0)
    for place, level in enumerate(LEVELS):
        sentences = sampler.of_level(level, 400)
        assert sentences.shape[1] == LENGTH and (sentences >= 0).all()
        assert set(level_of(sentences).tolist()) == {place}
        assert len(np.unique(sentences, axis=0)) > 300
    natural = level_of(sampler.natural(2_000))
    assert set(natural.tolist()) == {0, 1} and (natural == 0).mean() == pytest.approx(0.85**4, abs=0.04)
    assert level_of(np.full((2, 5), 3)).tolist() == [-1, -1]  # too short for a sentence


@pytest.mark.parametrize("made, counted", [(Ciphers, IN_WEB_TEXT), (CiphersUniform, [1] * 25)])
def test_shifts_are_as_common_as_planted(made, counted):
    space = made.space_from(items=30_000, each=1)
    support = ciphers(space)
    shift = shift_of(space.elements(space.enumerate())[support.train.ranks, 0])
    found, wanted = np.bincount(shift[shift > 0], minlength=26)[1:], np.array(counted) + 0.5 * (made is Ciphers)
    share = found / found.sum()
    if made is CiphersUniform:
        assert share == pytest.approx(np.full(25, 1 / 25), abs=0.01)
        return
    assert share.argmax() == 12 and np.corrcoef(share, wanted)[0, 1] > 0.95  # texts that came twice are there once
    assert np.corrcoef(np.log(found + 0.5), np.log(wanted))[0, 1] > 0.9


def test_a_law_over_shifts_by_lot_is_another_for_another_seed():
    shares = [Sampler("zipf", seed).shares for seed in (0, 0, 1)]
    assert (shares[0] == shares[1]).all() and (shares[0] != shares[2]).any()
    assert sorted(shares[0].tolist()) == pytest.approx(sorted(shares[2].tolist()))


# -- what is reserved ---------------------------------------------------------------------------------------------


def test_no_sentence_that_is_asked_about_is_trained_in_any_task(world, rows):
    support = ciphers(world.space)
    check_support(support, n=50)
    about = sentence_of(rows)
    trained, asked = (set(map(tuple, about[side.ranks].tolist())) for side in (support.train, support.held_out))
    assert not trained & asked
    assert reserved(about).mean() > 0.15 and reserved(about[support.train.ranks]).sum() == 0


def test_each_cipher_has_its_tests_at_each_level(world):
    support = ciphers(world.space)
    for task in (*DECODE[::6], "encode-13", "plain"):
        assert [support.group(f"{task} {level}").size for level in LEVELS] == [5, 5, 5]
    assert support.group("reverse-sort").size >= 5 and support.group("low").size == 5 * 51


# -- the task -----------------------------------------------------------------------------------------------------


def test_the_control_world_shuffles_answers_within_a_task(world, rows):
    shuffled = CiphersLookup(world.space, seed=1)
    for task in (TASKS.index("decode-13"), TASKS.index("sort"), TASKS.index("plain")):
        there = rows[:, 0] == task
        meanings = [sorted(map(tuple, np.asarray(one.meanings)[there].tolist())) for one in (world, shuffled)]
        assert meanings[0] == meanings[1]
    same = (np.asarray(shuffled.meanings) == np.asarray(world.meanings)).all(1)
    assert same.mean() < 0.05  # small tasks have answers that come again


def test_the_list_is_no_part_of_the_program(world):
    run = jax.jit(lambda task, rows: task.sample(jax.random.key(0), rows))
    assert len(run.lower(world, jnp.zeros((4, 1), jnp.int16)).as_text()) < 20_000


BAD = {
    "few items": (lambda: Ciphers.space_from(items=5), "items=5"),
    "no tests": (lambda: Ciphers.space_from(each=0), "each=0"),
    "an unknown law": (lambda: Ciphers.space_from(frequency="zip"), "'zip'; did you mean 'zipf'"),
    "other words": (lambda: Ciphers(Listed([[0], [1]], ["hop", "skip"])), "ciphers-v1 needs a list of its texts"),
    "no task": (lambda: Ciphers(Listed([[60, 61]], WORDS)), "text 0 of the list must be a task and then letters"),
    "a split of other texts": (lambda: ciphers(Listed([[0], [1]], ["a", "b"])), "needs a list of texts of ciphers-v1"),
    "a negative seed": (lambda: ciphers(Ciphers.default_space(), seed=-1), "seed=-1"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_lists_are_refused_by_value_and_remedy(name):
    make, named = BAD[name]
    with pytest.raises(UserError, match=named):
        make()
