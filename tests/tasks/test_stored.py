"""Stored examples: as many as were asked for of each combination, the same in every step, and no others in training."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine import Recipe, UserError
from recombine.tasks import Hyperteacher, draw_stored

SPACE = rc.Subsets(6, 2)
SUPPORT = rc.supports.random(SPACE, held_out=0.3)
STORE = jax.random.key(3)
WORLDS = {
    "numbers": Hyperteacher(SPACE, samples=2),
    "words": Hyperteacher(SPACE, samples=2, encoding="tokens"),
    "preferences": rc.tasks.Preference(SPACE, features=6, objects=1),
}


def drawn(world, *, examples, store=STORE, key=0, tasks=400, samples=None):
    sampler = SUPPORT.train.sampler()
    draw = jax.jit(
        lambda key, store: draw_stored(
            world, sampler, key, store, tasks=tasks, samples=samples, examples=jnp.asarray(examples)
        )
    )
    return jax.tree.map(np.asarray, draw(jax.random.key(key), store))


def items(batch) -> dict[tuple, set[bytes]]:
    """The different items of each combination, as bytes of all that a net is given."""
    found: dict[tuple, set[bytes]] = {}
    for i, row in enumerate(batch.combinations):
        whole = b"".join(np.asarray(leaf[i]).tobytes() for leaf in jax.tree.leaves(batch))
        found.setdefault(tuple(row.tolist()), set()).add(whole)
    return found


@pytest.mark.parametrize("name", WORLDS)
def test_there_are_as_many_examples_of_each_combination_as_were_asked_for(name):
    world = WORLDS[name]
    both = items(drawn(world, examples=3)), items(drawn(world, examples=3, key=1))
    assert set(both[0]) == {tuple(row) for row in SUPPORT.train.combinations().tolist()}
    assert {len(of_one) for of_one in both[0].values()} == {3}
    assert both[0] == both[1], "another step draws of the same examples"
    assert not set.union(*items(drawn(world, examples=3, store=jax.random.key(4))).values()) & set.union(
        *both[0].values()
    ), "another seed has examples of its own"


def test_fewer_examples_are_the_first_of_more():
    few, more = (items(drawn(WORLDS["numbers"], examples=n)) for n in (2, 5))
    assert all(few[row] < more[row] for row in few)


def test_an_example_is_one_of_the_world_itself():
    world = WORLDS["numbers"]
    batch = drawn(world, examples=4)
    z = jnp.asarray(batch.constituents)
    right = world.teach(jnp.asarray(batch.combinations), z, jnp.asarray(batch.inputs))
    np.testing.assert_allclose(batch.target, right, atol=1e-5)
    assert ((batch.constituents > 0) == np.asarray(SPACE.multihot(batch.combinations))).all()


def test_training_learns_few_examples_by_heart_and_is_tested_on_new_ones():
    task, support = Hyperteacher(SPACE, inputs=4, outputs=2), SUPPORT
    net = rc.nets.MLP(width=64, depth=2)
    recipe = dict(steps=400, weight_decay=0.0, precision="float32", evaluations=1)
    few = rc.train(task, support, net, Recipe(examples=1, **recipe), progress=False)
    fresh = rc.train(task, support, net, Recipe(**recipe), progress=False)
    loss = [run.members[0].history[-1]["loss"] for run in (few, fresh)]
    score = [float(run.score("test", tasks=256)) for run in (few, fresh)]
    assert loss[0] < 0.5 * loss[1] and score[0] < score[1] - 0.1


def test_how_many_there_are_is_data_and_compiles_nothing():
    shapes = [Recipe(examples=n).shape() for n in (1, 7)]
    assert shapes[0] == shapes[1] != Recipe().shape()
    assert Recipe(examples=7).rates()[""].examples == 7


def test_a_recipe_without_it_is_written_as_before():
    assert "examples" not in Recipe().to_json() and Recipe(examples=2).to_json()["examples"] == 2
    assert Recipe(**Recipe(examples=2).to_json()) == Recipe(examples=2)


@pytest.mark.parametrize(
    ("examples", "words"),
    [
        (0, "examples=0 is too small; it must be at least 1"),
        (1.5, "examples=1.5 is not a whole number"),
        (2**25, "examples=33554432 is too large; it must be at most 16777216"),
    ],
)
def test_what_is_no_number_of_examples_is_refused(examples, words):
    with pytest.raises(UserError, match=words):
        Recipe(examples=examples)
