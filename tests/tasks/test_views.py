"""Views: the same items, shown otherwise."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine import Product, Subsets, supports, tasks
from recombine.nets import Net
from recombine.tasks import Batch, Bumps, FirstRow, Goal, Hyperteacher, LastRow, Task, Unscored, WrongCode
from recombine.tasks.views import View
from recombine.testing import check_task
from recombine.training import evaluate

KEY = jax.random.key(4)
TEACHER = Hyperteacher(Subsets(6, 2), samples=3)
WORLDS = {
    "numbers": TEACHER,
    "words": Hyperteacher(Subsets(6, 2), samples=3, encoding="tokens"),
    "episodes": Goal(Product(quadrant=2, interaction=2, maze=2, object=2), length=6),
    "pictures": Bumps(Product(x=5, y=4)),
}


@pytest.fixture(params=WORLDS)
def world(request):
    return WORLDS[request.param]


@jax.jit
def sampled(task, rows):
    return task.sample(KEY, rows)


def both(view, world, tasks: int = 20) -> tuple[Batch, Batch]:
    rows = jnp.asarray(world.space.sample(0, tasks))
    return sampled(world, rows), sampled(view(world), rows)


def test_a_view_passes_the_public_check(world):
    check_task(WrongCode(world))


@pytest.mark.parametrize("view", [WrongCode, FirstRow, LastRow, Unscored])
def test_a_view_is_scored_like_the_task_within(view, world):
    seen = view(world)
    for name in ("id", "metrics", "words", "repeats", "space", "samples", "constituent_names"):
        assert getattr(seen, name) == getattr(world, name), name
    batch = sampled(world, jnp.asarray(world.space.sample(0, 20)))
    right, host = batch.target, jax.tree.map(np.asarray, batch)
    said = jax.nn.one_hot(right, world.words["target"]) if "target" in world.words else right + 1
    assert seen.loss(said, batch) == world.loss(said, batch)
    for name, values in world.score(np.asarray(said), host).items():
        np.testing.assert_array_equal(seen.score(np.asarray(said), host)[name], values)
    if "target" in world.words:
        assert (seen.reward(said, batch) == 1).all()


def test_a_view_of_a_split_is_the_view_of_what_the_task_is_there():
    class Studied(Hyperteacher):
        def given(self, support):
            return Hyperteacher(self.space, seed=support.train.size)

    support = supports.random(TEACHER.space)
    given = WrongCode(Studied(TEACHER.space)).given(support)
    assert type(given) is WrongCode and type(given.of) is Hyperteacher
    assert (given.of.readout == Hyperteacher(TEACHER.space, seed=support.train.size).readout).all()


def test_a_view_must_say_what_is_seen():
    with pytest.raises(TypeError, match="View must define seen"):
        View(TEACHER).sample(KEY, jnp.asarray(TEACHER.space.sample(0, 2)))


# -- the code of another combination ------------------------------------------------------------------------------


def test_every_item_has_the_code_of_another_combination_and_all_else_stays(world):
    plain, wrong = both(WrongCode, world)
    for name in ("combinations", "inputs", "target", "constituents"):
        for a, b in zip(*(jax.tree.leaves(getattr(batch, name)) for batch in (plain, wrong)), strict=True):
            np.testing.assert_array_equal(a, b)
    rows, codes = np.asarray(plain.combinations), np.asarray(plain.code)
    for row, code in zip(rows, np.asarray(wrong.code), strict=True):
        shown = (codes == code).all(1)
        assert shown.any() and (rows[shown] != row).any(1).all(), "a code of its own combination"


@pytest.mark.parametrize("draws", [2, 3, 7])
def test_several_items_of_a_combination_are_not_shown_each_others_code(draws):
    """A net that says which code it sees, asked several times about each combination."""

    class Tells(Net):
        def __call__(self, batch, key=None):
            return jnp.broadcast_to(batch.code[:, None, :1], (len(batch.code), 1, 1)), {}

    class Which(Task):
        """The code is the combination, as numbers."""

        id = "which"

        def sample(self, key, combinations, samples=None):
            code = combinations.astype(jnp.float32)
            return Batch(combinations, code, None, code[:, None, :1], code)

    task = Which(Product(x=50), ("x",), 1)
    for rows in (task.space.enumerate(), task.space.enumerate()[:2]):  # of the last block most is padding
        asked = np.repeat(rows[:, 0], draws)
        for made, right in ((task, True), (WrongCode(task), False)):
            answers = evaluate(Tells(), made, rows, draws, key=KEY, keep=("answer",)).kept["answer"][:, 0, 0]
            assert ((answers == asked) == right).all()


# -- one row ------------------------------------------------------------------------------------------------------


def test_of_each_task_the_first_row_of_its_first_sample_is_left(world):
    plain, first = both(FirstRow, world)
    assert first.target is None and (first.constituents == plain.constituents).all()
    assert (first.code == plain.code).all() and (first.combinations == plain.combinations).all()
    if plain.inputs is None:
        assert first.inputs is None
        return
    between = plain.inputs.ndim - 2
    assert first.inputs.shape == (20, *[1] * between, plain.inputs.shape[-1])
    np.testing.assert_array_equal(
        first.inputs.reshape(20, -1), plain.inputs.reshape(20, -1)[:, : first.inputs.shape[-1]]
    )


def test_of_each_task_the_last_row_of_its_last_sample_is_left(world):
    plain, last = both(LastRow, world)
    assert last.target is None and (last.code == plain.code).all()
    if plain.inputs is None:
        assert last.inputs is None
        return
    assert last.inputs.shape == (20, *[1] * (plain.inputs.ndim - 2), plain.inputs.shape[-1])
    np.testing.assert_array_equal(
        last.inputs.reshape(20, -1), plain.inputs.reshape(20, -1, last.inputs.shape[-1])[:, -1]
    )


def test_what_is_not_scored_has_no_target_and_all_else(world):
    plain, unscored = both(Unscored, world)
    assert unscored.target is None
    for a, b in zip(jax.tree.leaves(plain._replace(target=None)), jax.tree.leaves(unscored), strict=True):
        np.testing.assert_array_equal(a, b)


def test_registered_tasks_are_no_views():
    assert not any(issubclass(made, View) for made in tasks.registry.values())
