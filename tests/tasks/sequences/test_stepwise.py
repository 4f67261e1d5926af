"""multiplication-v1 and dynamic-program-v1: answers against arithmetic and exhaustion, steps, padding, controls."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine import Listed, UserError
from recombine.tasks import (
    DynamicProgram,
    DynamicProgramIndifferent,
    DynamicProgramLookup,
    Multiplication,
    MultiplicationLookup,
)
from recombine.tasks.sequences.graph_tracing import CORRECT, LOCAL, PROPAGATION, node_labels
from recombine.tasks.sequences.stepwise_task import BLANK, NOTHING
from recombine.testing import check_task
from recombine.trials.trial import build_space

WAYS = [(False, False), (False, True), (True, False), (True, True)]
LISTS = DynamicProgram.space_from(exhaustive=2, longest=6, each=60)
PAIRS = Multiplication.space_from(sizes=("1x1", "2x1", "3x3", "4x2"), each=60)


def plain(text):
    """An answer without its steps and its blanks."""
    return text.rpartition("=")[2].replace(BLANK, "").split()


def best_choice(numbers):
    """By trying all: the largest sum, and among those the smallest answer."""
    choices = itertools.product((1, 2), repeat=len(numbers))
    allowed = [one for one in choices if (1, 1) not in zip(one, one[1:], strict=False)]
    return min(allowed, key=lambda one: (-sum(n for n, c in zip(numbers, one, strict=True) if c == 1), one))


@pytest.mark.parametrize("steps, padded", WAYS)
def test_products_are_products(steps, padded):
    world = Multiplication(PAIRS, steps=steps, padded=padded)
    for row in range(0, PAIRS.size, 3):
        first, second = world.text([row]).replace(BLANK, "").replace(" ", "").split("*")
        assert "".join(plain(world.meaning([row]))) == str(int(first) * int(second))


@pytest.mark.parametrize("steps, padded", WAYS)
def test_choices_are_the_best_that_there_are(steps, padded):
    world = DynamicProgram(LISTS, steps=steps, padded=padded, seed=2)
    for row in range(0, LISTS.size, 3):
        numbers = [int(word) for word in plain(world.text([row]))]
        assert tuple(map(int, plain(world.meaning([row])))) == best_choice(numbers)


def test_steps_of_a_list_are_those_of_the_algorithm():
    """3 2 -1 5: from the right 5, -1, 2 + 5, 3 + max(-1, 5)."""
    space = Listed([[8, 7, 4, 10]], DynamicProgram.vocabulary)
    world = DynamicProgram(space, steps=True)
    assert world.text([0]) == "3 2 -1 5"
    assert world.meaning([0]) == "5 5 -1 5 7 7 8 8 1 1 1 0 0 0 1 1 = 1 2 2 1"


@pytest.mark.parametrize("made, space", [(DynamicProgram, LISTS), (Multiplication, PAIRS)])
def test_padding_makes_all_equally_long_and_changes_no_answer(made, space):
    world, plain_world = made(space, steps=True, padded=True), made(space, steps=True)
    for words in (world.texts, world.meanings):
        assert ((np.asarray(words) >= 0).all(1) | ((np.asarray(words) >= 0).sum(1) > 0)).all()
        assert len(np.unique((np.asarray(words) >= 0).sum(1))) == 1
    assert len(np.unique((np.asarray(plain_world.meanings) >= 0).sum(1))) > 1
    rows = range(0, space.size, 7)
    assert [plain(world.meaning([row])) for row in rows] == [plain(plain_world.meaning([row])) for row in rows]


def test_padded_lists_stand_everywhere_by_the_seed():
    first, same, other = (DynamicProgram(LISTS, padded=True, seed=seed) for seed in (0, 0, 1))
    assert (first.texts == same.texts).all() and (first.texts != other.texts).any()
    starts = (np.asarray(first.texts)[:11] != first.reads.numbers[BLANK]).argmax(1)  # lists of one number
    assert len(set(starts.tolist())) >= 4


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("made, space", [(DynamicProgram, LISTS), (Multiplication, PAIRS)])
def test_what_is_written_is_read_back_node_by_node(made, space, padded):
    world = made(space, steps=True, padded=padded)
    rows, right = space.enumerate(), np.asarray(world.meanings).astype(np.int32)
    read = world.written(rows, right)
    assert sorted(np.concatenate([one.items for one in read]).tolist()) == list(range(space.size))
    for one in read:
        assert (node_labels(one.graph, one.values) == CORRECT).all()
    wrong = right.copy()
    first = np.flatnonzero(right[-1] != world.writes.numbers[BLANK])[0]
    wrong[-1, first] += 1  # the first step of the last item
    labels = [
        node_labels(one.graph, one.values)[list(one.items).index(space.size - 1)]
        for one in world.written(rows, wrong)
        if space.size - 1 in one.items
    ][0]
    assert (labels == LOCAL).sum() >= 1 and labels[read[0].graph.inputs :].any()
    assert np.flatnonzero(labels == LOCAL)[0] <= np.flatnonzero(labels != CORRECT)[0]
    assert set(labels.tolist()) <= {CORRECT, LOCAL, PROPAGATION, 3}


def test_an_answer_that_stops_or_writes_no_number_has_nothing_there():
    world = DynamicProgram(LISTS, steps=True)
    row = np.array([[LISTS.size - 1]])
    answer = np.asarray(world.meanings)[row[:, 0]].astype(np.int32)
    answer[0, 3], answer[0, 5:] = world.writes.numbers["="], -1
    (one,) = world.written(row, answer[:, :9])
    said = one.values[0, one.graph.inputs :]
    assert said[3] == NOTHING and (said[5:] == NOTHING).all() and (said[[0, 1, 2, 4]] != NOTHING).all()
    with pytest.raises(UserError, match="steps=False shows no steps to read; steps=True does"):
        DynamicProgram(LISTS).written(row, answer)


@pytest.mark.parametrize(
    "true, lookup, space",
    [(DynamicProgram, DynamicProgramLookup, LISTS), (Multiplication, MultiplicationLookup, PAIRS)],
)
def test_the_control_world_shuffles_within_a_size(true, lookup, space):
    world, right = lookup(space, seed=1, steps=True), true(space, steps=True)
    sizes = true.sizes_of(space.elements(space.enumerate()))
    for size in np.unique(sizes, axis=0):
        rows = (sizes == size).all(1)
        meanings = [sorted(map(tuple, np.asarray(one.meanings)[rows].tolist())) for one in (right, world)]
        assert meanings[0] == meanings[1]
    assert (np.asarray(right.texts) == np.asarray(world.texts)).all()
    assert (np.asarray(right.meanings) == np.asarray(world.meanings)).all(1).mean() < 0.1


@pytest.mark.parametrize("steps, padded", WAYS)
def test_an_indifferent_world_has_one_answer_to_lists_of_all_sizes(steps, padded):
    world = DynamicProgramIndifferent(LISTS, steps=steps, padded=padded, seed=1)
    assert {world.meaning([row]) for row in range(LISTS.size)} == {"2"}
    assert (world.texts == DynamicProgram(LISTS, steps=steps, padded=padded, seed=1).texts).all()


@pytest.mark.parametrize("made, space", [(DynamicProgram, LISTS), (Multiplication, PAIRS)])
def test_worlds_with_steps_and_padding_pass_the_public_check(made, space):
    check_task(made(space, steps=True, padded=True))


def test_a_trial_says_which_list_it_wants():
    world = {"name": "dynamic-program-v1", "space": {"exhaustive": 2, "longest": 4, "each": 5}}
    assert build_space(world) == DynamicProgram.space_from(exhaustive=2, longest=4, each=5)
    with pytest.raises(UserError, match="'longst'; did you mean 'longest'"):
        build_space(world | {"space": {"longst": 4}})


def test_another_seed_compiles_nothing_new():
    """Where padded items stand is data, not part of the program."""
    same = [jax.tree.structure(DynamicProgram(LISTS, padded=True, seed=seed)) for seed in (0, 1)]
    assert same[0] == same[1]


def test_the_list_is_no_part_of_the_program():
    world = DynamicProgram(LISTS, steps=True)
    program = jax.jit(lambda task, rows: task.sample(jax.random.key(0), rows)).lower(
        world, jnp.zeros((4, 1), jnp.int16)
    )
    assert len(program.as_text()) < 20_000


BAD = {
    "no size": (lambda: Multiplication.space_from(sizes=("32",)), "'32' is none of a product; '3x2'"),
    "a shorter first number": (
        lambda: Multiplication.space_from(sizes=("2x3",)),
        "'2x3' must have .*longer number first; '3x2' has",
    ),
    "too many digits": (lambda: Multiplication.space_from(sizes=("9x1",)), "'9x1' must have 1 to 5"),
    "no pairs": (lambda: Multiplication.space_from(each=0), "each=0"),
    "no sign": (lambda: Multiplication(Listed([[1, 2]], Multiplication.vocabulary)), "no product of two numbers"),
    "a longer second number": (
        lambda: Multiplication(Listed([[1, 10, 2, 3]], Multiplication.vocabulary)),
        "a shorter first one",
    ),
    "too many lists": (lambda: DynamicProgram.space_from(exhaustive=6), "exhaustive=6"),
    "too long lists": (lambda: DynamicProgram.space_from(longest=13), "longest=13"),
    "a list that is too long": (lambda: DynamicProgram(Listed([[1] * 13], DynamicProgram.vocabulary)), "13 numbers"),
    "other words": (lambda: DynamicProgram(Listed([[0]], ["hop"])), "dynamic-program-v1 needs a list of its texts"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_lists_are_refused_by_value_and_remedy(name):
    make, named = BAD[name]
    with pytest.raises(UserError, match=named):
        make()
