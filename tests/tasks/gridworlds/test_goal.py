"""The world of goals against brute force and plain rules, written here again in numpy."""

from __future__ import annotations

import itertools
from collections import deque

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gridworlds import ARROWS, GOALS, KEY, T, begun, decoded, labels_of, rows_of

from recombine import Product, UserError
from recombine.tasks import Goal, GoalIndifferent, GoalLookup
from recombine.tasks.gridworlds.mazes import maze_walls


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
            inside = min(there) >= 0 and max(there) < len(walls)
            if inside and not walls[there] and there not in found:
                found[there] = found[here] + 1
                queue.append(there)
    return found


def published_maze(seed: int, size: int) -> np.ndarray:
    """The published generator in words of its own: walls as sets of points and of links between even points.

    On a grid of size + 2 with a wall all around: int(.75 (n // 2)^2) times, begin at an even point (its column is drawn
    first) and take int(.75 * 10 n) steps of two, each to one of the even points beside it (left, right, up, down) by an
    equal chance, if no wall has reached that one yet. What was all around is cut off.
    """
    rng, n = np.random.default_rng(seed), size + 2
    even = range(0, n, 2)
    reached = {(row, column) for row in even for column in even if {row, column} & {0, n - 1}}
    links = []
    for _ in range(int(0.75 * (n // 2) * (n // 2))):
        column, row = even[rng.integers(0, len(even))], even[rng.integers(0, len(even))]
        reached.add((row, column))
        for _ in range(int(0.75 * 5 * (n + n))):
            beside = [(row, column - 2), (row, column + 2), (row - 2, column), (row + 2, column)]
            beside = [point for point in beside if point[0] in even and point[1] in even]
            chosen = beside[rng.integers(0, len(beside))]
            if chosen not in reached:
                reached.add(chosen)
                links.append(((row + chosen[0]) // 2, (column + chosen[1]) // 2))
                row, column = chosen
    maze = np.zeros((n, n), bool)
    for point in (*reached, *links):
        maze[point] = True
    return maze[1:-1, 1:-1]


@pytest.mark.parametrize("size", [7, 9, 11])
def test_mazes_are_those_of_the_published_generator(size):
    for seed in range(30):
        assert (maze_walls(np.random.default_rng(seed), size) == published_maze(seed, size)).all()


def test_mazes_have_no_wall_all_around_and_as_many_free_cells_as_published():
    free = np.array([(~maze_walls(np.random.default_rng(seed), 7)).sum() for seed in range(200)])
    assert free.min() == 31 and np.isin(free, (31, 32)).mean() > 0.85
    walls = np.stack([maze_walls(np.random.default_rng(seed), 7) for seed in range(200)])
    around = np.concatenate([walls[:, [0, -1]].reshape(200, -1), walls[:, :, [0, -1]].reshape(200, -1)], axis=1)
    assert around.mean() < 0.3, "most cells at the border are free"


@pytest.mark.parametrize("size", [7, 9, 11])
def test_all_free_cells_of_a_maze_are_connected(size):
    rng = np.random.default_rng(0)
    for _ in range(50):
        walls = maze_walls(rng, size)
        free = np.argwhere(~walls)
        assert len(steps_from(free[0], walls)) == len(free) and walls[1:-1, 1:-1].any()


def test_mazes_of_a_task_differ_and_follow_the_seed(goal):
    walls = np.asarray(goal.walls)
    assert len(np.unique(walls, axis=0)) == 5
    assert (walls == Goal(GOALS, seed=2).walls).all() and (walls != Goal(GOALS, seed=3).walls).any()


def test_goals_are_placed_by_the_rules_and_the_expert_takes_a_shortest_path(goal, goals):
    rows, seen, labels = np.asarray(rows_of(GOALS)), decoded(goal, goals.inputs), labels_of(goals)
    assert seen.shape == (T, 48, 7, 7, 7) and labels.shape == (T, 48)
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
        wanted = steps[agents[0]] + 1  # the way, and the interaction
        assert ((actions >= 0) == (np.arange(48) < wanted)).all(), "all after the first right interaction is masked"
        for here, there, action in itertools.zip_longest(agents, agents[1:], actions.tolist()):
            if steps[here] == 0:
                assert action in (4 + interaction, -1) and there in (here, None)
                continue
            nearer = [steps.get((here[0] + d, here[1] + r), 99) < steps[here] for d, r in ARROWS]
            assert action == nearer.index(True), "a shortest path, ties to the first move"
            assert there == (here[0] + ARROWS[action][0], here[1] + ARROWS[action][1])


def test_steps_after_the_first_right_interaction_count_neither_in_the_loss_nor_in_the_score(goal, goals):
    """Published: a share of some .29 of 48 steps counts. Whatever a net says at the others is the same to it."""
    labels = labels_of(goals)
    counted = labels >= 0
    assert 0.2 < counted.mean() < 0.35 and (counted.sum(1) >= 2).all()
    last = counted.sum(1) - 1
    assert (labels[np.arange(T), last] >= 4).all() and (labels < 4).sum() == (counted.sum() - T) + (~counted).sum()
    right = jax.nn.one_hot(jnp.maximum(goals.target, 0), 9) * 5
    silly = jnp.where(jnp.asarray(goals.target)[..., None] >= 0, right, -right)
    assert goal.loss(right, goals) == goal.loss(silly, goals) < 0.1
    host = jax.tree.map(np.asarray, goals)
    for said in (right, silly):
        found = goal.score(np.asarray(said), host)
        assert found["whole"].all() and (found["right"] == found["counted"]).all()
        assert found["counted"].sum() == counted.sum()
    by_hand = -np.log(np.exp(5) / (np.exp(5) + 8))  # of every step that counts, alike
    assert float(goal.loss(right, goals)) == pytest.approx(by_hand, rel=1e-5)


def test_an_episode_ends_with_the_right_interaction_and_not_with_a_wrong_one(goal):
    stage, state, _, _ = begun(goal, KEY, rows_of(GOALS))
    right = 4 + np.asarray(stage.interaction)
    at_target = state._replace(agent=stage.target.astype(state.agent.dtype))
    assert np.asarray(goal.move(stage, at_target, jnp.asarray(right)).done).all()
    assert not np.asarray(goal.move(stage, state, jnp.asarray(right)).done).any(), "in the wrong place"
    wrong = 4 + (right - 4 + 1) % 5
    assert not np.asarray(goal.move(stage, at_target, jnp.asarray(wrong)).done).any(), "the wrong thing"
    ended = goal.move(stage, at_target, jnp.asarray(right))
    assert np.asarray(goal.move(stage, ended, jnp.asarray(wrong)).done).all(), "done stays done"
    frames = goal.episode(KEY, [1, 2, 0, 4]).frames
    assert [frame.note for frame in frames if frame.note][-1] == "the right thing" and len(frames) < goal.length


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
            for _ in range(goal.length):
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
    assert (targets.max(1) == 5).all()


def test_one_kind_of_object_or_one_quadrant_is_enough():
    world = Goal(Product(quadrant=1, interaction=1, maze=1, object=1), length=20)
    batch = world.sample(KEY, jnp.zeros((40, 4), jnp.int16))
    seen = decoded(world, batch.inputs)[:, 0]
    assert (seen[..., 0].sum((1, 2)) == 5).all()
    assert (seen[:, :4, :4, 0].sum((1, 2)) == 1).all(), "with one kind, nothing but the target stands in the quadrant"
    assert (labels_of(batch).max(1) <= 4).all()


# -- goals: control worlds ----------------------------------------------------------------------------------------


def test_what_to_do_is_looked_up_by_the_whole_combination(goals):
    world = GoalLookup(GOALS, seed=2)
    every = np.asarray(world.rule)
    assert every.shape == (500,) and abs(np.bincount(every, minlength=5) / 500 - 0.2).max() < 0.1
    own = np.asarray(GOALS.enumerate())[:, 1]
    assert abs((every == own).mean() - 0.2) < 0.08, "independent of the interaction that is told"
    last = labels_of(world.sample(KEY, rows_of(GOALS))).max(1)  # interactions come after moves
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
    assert (labels_of(batch).max(1) == 4).all()
