"""einstein-v1: the solver against trying all arrangements, puzzles with one solution and no clue to spare, refusals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from recombine import Listed, UserError
from recombine.keys import generator
from recombine.supports import sizes
from recombine.tasks import Einstein, EinsteinLookup
from recombine.tasks.sequences.chance import Chance
from recombine.tasks.sequences.einstein import WORDS, read, solved
from recombine.tasks.sequences.puzzle_solver import Clue, drawn_puzzle, solutions, true_clues
from recombine.tasks.sequences.puzzle_steps import reasoning_path
from recombine.testing import check_support, check_task


def holds(clue, houses):
    """Whether a clue is true of the houses of all values."""
    one = houses[clue.first]
    if clue.kind == "at":
        return one == clue.second
    other = houses[clue.second]
    return {"with": one == other, "left": one + 1 == other, "beside": abs(one - other) == 1}[clue.kind]


def by_trying(count, attributes, clues):
    """All solutions, by trying every arrangement."""
    each = list(itertools.permutations(range(count)))
    every = (sum(parts, ()) for parts in itertools.product(each, repeat=attributes))
    return {houses for houses in every if all(holds(clue, houses) for clue in clues)}


@pytest.fixture
def chance():
    return Chance(generator(5))


# -- the solver ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count, attributes", [(2, 2), (2, 3), (3, 2), (3, 3)])
def test_the_solver_finds_what_trying_all_arrangements_finds(count, attributes, chance):
    rng = np.random.default_rng(count + attributes)
    for _ in range(12):
        solution = [int(house) for _ in range(attributes) for house in rng.permutation(count)]
        clues = true_clues(count, solution)
        assert all(holds(clue, solution) for clue in clues)
        some = [clues[place] for place in rng.permutation(len(clues))[: rng.integers(0, 5)]]
        if rng.random() < 0.3:  # something that is not so
            some.append(Clue("at", 0, (solution[0] + 1) % count))
        found = solutions(count, attributes, some, at_most=10**6)
        assert len(found) == len(set(found)) and set(found) == by_trying(count, attributes, some)
        assert solutions(count, attributes, some) == found[:2]


@pytest.mark.parametrize("count, attributes", [(2, 2), (3, 3), (4, 4), (5, 5)])
def test_drawn_puzzles_have_one_solution_and_no_clue_to_spare(count, attributes, chance):
    for _ in range(3):
        clues = drawn_puzzle(count, attributes, chance)
        (solution,) = solutions(count, attributes, clues)
        assert all(holds(clue, solution) for clue in clues)
        for place in range(len(clues)):
            assert len(solutions(count, attributes, clues[:place] + clues[place + 1 :])) == 2


@pytest.mark.parametrize("count, attributes", [(2, 2), (3, 3), (4, 4), (5, 4)])
def test_a_way_places_every_value_once_where_it_is(count, attributes, chance):
    for _ in range(5):
        clues = drawn_puzzle(count, attributes, chance)
        steps = reasoning_path(count, attributes, clues)
        (solution,) = solutions(count, attributes, clues)
        assert all(steps) and sorted(one for step in steps for one in step) == list(enumerate(solution))


def test_a_way_takes_the_clue_that_places_most_and_clues_together_where_none_does_alone():
    assert reasoning_path(2, 2, [Clue("with", 0, 3), Clue("at", 0, 1)]) == [[(0, 1), (1, 0)], [(2, 0), (3, 1)]]
    assert reasoning_path(3, 1, [Clue("left", 0, 1), Clue("left", 1, 2)]) == [[(0, 0), (1, 1), (2, 2)]]


# -- puzzles in words ---------------------------------------------------------------------------------------------


def test_a_puzzle_is_read_and_solved_in_words():
    words = ["houses", "2", "3", ":", "a4", "a1", ":", "c2", "c6", ":", "a4", "left", "c6", ";", "c2", "at", "2"]
    assert read(words) == (("2", "3"), [("a4", "a1"), ("c2", "c6")], [Clue("left", 0, 3), Clue("at", 2, 0)])
    assert " ".join(solved(words)) == "a4 c2 ; a1 c6"


@pytest.mark.parametrize(
    "text, named",
    [
        ("houses 1 2 : a1 a2 : b1 b2 : a1 at 1", "several solutions; a further clue would do"),
        ("houses 1 2 : a1 a2 : b1 b2 : a1 at 1 ; a2 at 1", "no solution; fewer clues would do"),
        ("houses 1 2 : a1 a2 : b1 b2 : a1 at 3", "is no puzzle"),
        ("houses 1 2 : a1 a2 : b1 : a1 at 1", "is no puzzle"),
        ("houses 1 2 : a1 a1 : b1 b2 : a1 at 1", "is no puzzle"),
        ("houses 1 2 : a1 a2 : b1 b2 : a1 left 2", "is no puzzle"),
        ("a1 at 1", "is no puzzle"),
    ],
)
def test_what_is_no_puzzle_or_has_not_one_solution_is_refused(text, named):
    with pytest.raises(UserError, match=named):
        solved(text.split())


# -- the world ----------------------------------------------------------------------------------------------------


def test_answers_satisfy_the_clues_of_their_texts():
    world = Einstein(Einstein.space_from(sizes=("3x2", "4x3"), each=15, seed=1))
    for row in range(world.space.size):
        houses, attributes, clues = read(world.text([row]).split())
        values = [value for attribute in attributes for value in attribute]
        answer = [part.split() for part in world.meaning([row]).split(" ; ")]
        where = [next(place for place, part in enumerate(answer) if value in part) for value in values]
        assert len(answer) == len(houses) and all(len(part) == len(attributes) for part in answer)
        assert all(holds(clue, where) for clue in clues)


def test_steps_stand_before_the_same_answer():
    space = Einstein.space_from(sizes=("3x3",), each=10)
    plain, shown = Einstein(space), Einstein(space, steps=True)
    check_task(shown)
    for row in range(space.size):
        ways, answer = shown.meaning([row]).split(" = ")
        assert answer == plain.meaning([row])
        pairs = [part.split() for part in ways.split(" ; ")]
        where = {value: house for part in pairs for value, house in zip(part[::2], part[1::2], strict=True)}
        houses = shown.text([row]).split()[1:4]
        for house, part in zip(houses, answer.split(" ; "), strict=True):
            assert {where[value] for value in part.split()} == {house}


def test_larger_puzzles_have_no_new_words_and_are_held_out_by_size():
    space = Einstein.default_space()
    support = sizes(space, trained=("2x2", "2x3", "3x2"))
    check_support(support, n=50)
    assert support.group("3x3").size == 60 == support.group("larger").size
    first, same, other = (Einstein.space_from(sizes=("2x2",), each=5, seed=seed) for seed in (0, 0, 1))
    assert first == same != other


def test_the_control_world_shuffles_the_solutions_and_nothing_else():
    space = Einstein.default_space()
    true, shuffled = Einstein(space), EinsteinLookup(space, seed=1)
    meanings = [sorted(map(tuple, np.asarray(one.meanings).tolist())) for one in (true, shuffled)]
    assert meanings[0] == meanings[1] and (true.texts == shuffled.texts).all()
    assert (np.asarray(shuffled.meanings) == np.asarray(true.meanings)).all(1).mean() < 0.05


BAD = {
    "no size": (lambda: Einstein.space_from(sizes=("3",)), "'3' is none of a puzzle; '3x2'"),
    "too large": (lambda: Einstein.space_from(sizes=("7x2",)), "'7x2'.*of 2 to 6"),
    "none": (lambda: Einstein.space_from(each=0), "each=0"),
    "other words": (lambda: Einstein(Listed([[0]], ["hop"])), "einstein-v1 needs a list of its texts"),
    "no puzzle": (lambda: Einstein(Listed([[0, 1]], WORDS)), "'houses :' is no puzzle"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_lists_are_refused_by_value_and_remedy(name):
    make, named = BAD[name]
    with pytest.raises(UserError, match=named):
        make()
