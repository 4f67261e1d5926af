"""The world of goals against brute force and plain rules, written here again in numpy."""

from __future__ import annotations

import itertools
from collections import deque

import jax.numpy as jnp
import numpy as np
import pytest

from gridworlds import ARROWS, GOALS, KEY, T, begun, decoded, labels_of, rows_of
from recombine import Product, UserError
from recombine.tasks import Goal, GoalIndifferent, GoalLookup
from recombine.tasks.goal import maze_walls


@pytest.fixture(scope="module")
def goals(goal):
    return goal.sample(KEY, rows_of(GOALS))


# -- goals: the world ---------------------------------------------------------------------------------------------


def quadrant(cell) -> int:
    return 2 * int(cell[0] > 3) + int(cell[1] > 3)


def steps_from(cell, walls: np.ndarray) -> dict:
    """Steps of a shortest path from a cell to every other; plain breadth-first search."""
    found, queue = {tuple(cell): 0}, deque([tuple(cell)])
    while queue:
        here = queue.popleft()
        for down, right in ARROWS:
            there = (here[0] + down, here[1] + right)
            if not walls[there] and there not in found:
                found[there] = found[here] + 1
                queue.append(there)
    return found


@pytest.mark.parametrize("size", [7, 9, 11])
def test_mazes_are_closed_and_connected(size):
    rng = np.random.default_rng(0)
    for _ in range(50):
        walls = maze_walls(rng, size)
        assert walls[[0, -1]].all() and walls[:, [0, -1]].all()
        free = np.argwhere(~walls)
        assert len(steps_from(free[0], walls)) == len(free) and walls[1:-1, 1:-1].any()


def test_mazes_of_a_task_differ_and_follow_the_seed(goal):
    walls = np.asarray(goal.walls)
    assert len(np.unique(walls, axis=0)) == 5
    assert (walls == Goal(GOALS, seed=2).walls).all() and (walls != Goal(GOALS, seed=3).walls).any()


def test_goals_are_placed_by_the_rules_and_the_expert_takes_a_shortest_path(goal, goals):
    rows, seen, labels = np.asarray(rows_of(GOALS)), decoded(goal, goals.inputs), labels_of(goals)
    assert seen.shape == (T, 48, 7, 7, 7) and labels.shape == (T, 48) and (labels >= 0).all()
    for (q, interaction, maze, kind), frames, actions in zip(rows.tolist(), seen, labels, strict=True):
        walls = frames[0, ..., 5]
        assert (frames[..., 5] == walls).all() and (walls.ravel() == np.asarray(goal.walls)[maze]).all()
        objects = [((r, c), k) for r, c, k in np.argwhere(frames[0, ..., :5]).tolist()]
        assert len(objects) == 5 and len({cell for cell, _ in objects}) == 5
        assert (frames[..., :5] == frames[0, ..., :5]).all() and not any(walls[cell] for cell, _ in objects)
        inside = [(cell, k) for cell, k in objects if quadrant(cell) == q]
        targets = [cell for cell, k in inside if k == kind]
        assert len(targets) == 1, "the goal is unique"
        assert any(k != kind for _, k in inside), "another kind in the same quadrant"
        assert any(k == kind and quadrant(cell) != q for cell, k in objects), "the same kind in another quadrant"
        steps = steps_from(targets[0], walls)
        agents = [tuple(np.argwhere(frame[..., 6])[0].tolist()) for frame in frames]
        empty = [d for cell, d in steps.items() if cell not in {c for c, _ in objects}]
        assert steps[agents[0]] >= min(7, max(empty)), "the start is far, or as far as the maze allows"
        for here, there, action in itertools.zip_longest(agents, agents[1:], actions.tolist()):
            if steps[here] == 0:
                assert action == 4 + interaction and there in (here, None)
                continue
            nearer = [steps.get((here[0] + d, here[1] + r), 99) < steps[here] for d, r in ARROWS]
            assert action == nearer.index(True), "a shortest path, ties to the first move"
            assert there == (here[0] + ARROWS[action][0], here[1] + ARROWS[action][1])


@pytest.mark.parametrize("factor", [0, 1, 2])
def test_another_level_of_a_factor_is_another_thing_to_do(goal, goals, factor):
    changed = np.asarray(rows_of(GOALS)).copy()
    changed[:, factor] = (changed[:, factor] + 1) % GOALS.levels[factor]
    other = goal.sample(KEY, jnp.asarray(changed))
    assert (np.asarray(other.code) != np.asarray(goals.code)).any(1).all()
    differs = (labels_of(other) != labels_of(goals)).any(1)
    assert differs.mean() == 1 if factor == 1 else differs.mean() > 0.6


def test_in_the_same_world_another_quadrant_or_another_object_is_another_goal(goal):
    """What is seen does not give the goal away: a twin waits in another quadrant, a rival in the same one."""
    stage, state, _, _ = begun(goal, KEY, rows_of(GOALS))
    places, kinds = np.asarray(stage.places), np.asarray(stage.kinds)
    inside = np.vectorize(lambda cell: quadrant(divmod(cell, 7)))(places)
    assert (kinds[:, 1] == kinds[:, 0]).all() and (inside[:, 1] != inside[:, 0]).all()
    assert (kinds[:, 2] != kinds[:, 0]).all() and (inside[:, 2] == inside[:, 0]).all()
    for other in (1, 2):  # the world of a goal of its own, if there is one of its kind in its quadrant
        same = (kinds == kinds[:, [other]]) & (inside == inside[:, [other]])
        alone = same.sum(1) == 1
        assert alone.mean() > 0.5
        meant, elsewhere = stage, stage._replace(target=stage.places[:, other])
        advice = []
        for stage_ in (meant, elsewhere):
            here, said = state, []
            for _ in range(24):
                said.append(np.asarray(goal.expert(stage_, here)))
                here = goal.move(stage_, here, jnp.asarray(said[-1]))
            advice.append(np.stack(said))
        assert (advice[0] != advice[1]).any(0).all()


def test_constituents_are_the_levels_and_sentences_say_them(goal, goals):
    rows = np.asarray(rows_of(GOALS))
    assert (np.asarray(goals.constituents) == GOALS.multihot(rows)).all()
    assert goal.words == {"code": len(goal.lexicon), "target": 9}
    assert goals.code.shape == (T, 10) and goals.code.dtype == jnp.int32
    for row, code in zip(rows[:50], np.asarray(goals.code), strict=False):
        said = goal.sentence(row)
        assert said == " ".join(goal.lexicon[word] for word in code)
        words = said.split()
        elements = [goal.lexicon[-19:].index(words[slot]) for slot in (2, 5, 9, 7)]  # back to the combination
        assert elements == (row + [0, 4, 9, 14]).tolist()
    assert goal.sentence([1, 2, 0, 4]) == "in the north-east find and open the cup in maze-A"


def test_levels_with_names_keep_them_and_the_order_of_factors_does_not_matter():
    space = Product(object=["apple", "pear"], maze=2, quadrant=4, interaction=["eat", "sell"])
    world = Goal(space, seed=2)
    assert world.sentence([1, 0, 3, 0]) == "in the south-east find and eat the pear in maze-A"
    assert world.actions[4:] == ("eat", "sell") and world.labels()[:2] == ("apple", "pear")
    targets = labels_of(world.sample(KEY, jnp.tile(jnp.array([[1, 0, 3, 1]]), (20, 1))))
    assert (targets[:, -1] == 5).all()


def test_one_kind_of_object_or_one_quadrant_is_enough():
    world = Goal(Product(quadrant=1, interaction=1, maze=1, object=1), length=20)
    batch = world.sample(KEY, jnp.zeros((40, 4), jnp.int16))
    seen = decoded(world, batch.inputs)[:, 0]
    assert (seen[..., 0].sum((1, 2)) == 5).all()
    assert (seen[:, :4, :4, 0].sum((1, 2)) == 1).all(), "with one kind, nothing but the target stands in the quadrant"
    assert (labels_of(batch)[:, -1] == 4).all()


# -- goals: control worlds ----------------------------------------------------------------------------------------


def test_what_to_do_is_looked_up_by_the_whole_combination(goals):
    world = GoalLookup(GOALS, seed=2)
    every = np.asarray(world.rule)
    assert every.shape == (500,) and abs(np.bincount(every, minlength=5) / 500 - 0.2).max() < 0.1
    own = np.asarray(GOALS.enumerate())[:, 1]
    assert abs((every == own).mean() - 0.2) < 0.08, "independent of the interaction that is told"
    last = labels_of(world.sample(KEY, rows_of(GOALS)))[:, -1]
    assert (last - 4 == every[GOALS.rank(np.asarray(rows_of(GOALS)))]).all()
    with pytest.raises(UserError, match="interaction=1"):
        GoalLookup(Product(quadrant=4, interaction=1, maze=5, object=5))


def test_the_indifferent_goal_ignores_the_combination():
    world = GoalIndifferent(GOALS, seed=2)
    batch = world.sample(KEY, rows_of(GOALS))
    other = world.sample(KEY, rows_of(GOALS)[::-1])
    assert (batch.inputs == other.inputs).all() and (batch.target == other.target).all()
    assert (batch.code != other.code).any(), "the net is told the combination all the same"
    mazes = decoded(world, batch.inputs)[:, 0, ..., 5].reshape(T, -1)
    assert len(np.unique(mazes, axis=0)) == 5, "the maze is drawn afresh"
    assert (labels_of(batch)[:, -1] == 4).all()
