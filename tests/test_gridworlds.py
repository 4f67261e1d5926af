"""Grid worlds against brute force and plain rules, written here again in numpy; and the pictures of episodes."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree
from collections import deque

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from recombine import Product, Subsets, UserError, supports, tasks
from recombine.cli import main
from recombine.keys import STREAMS, key_for
from recombine.report.episodes import episode_png, episode_svg, episode_text
from recombine.tasks import (
    Episode,
    Frame,
    Goal,
    GoalIndifferent,
    GoalLookup,
    Preference,
    PreferenceIndifferent,
    PreferenceLookup,
)
from recombine.tasks.episodes import Entry
from recombine.tasks.goal import maze_walls

MAP = ["wwwwwww", "w..w..w", "w..w..w", "ww...ww", "w..w..w", "w..w..w", "wwwwwww"]
ARROWS = ((-1, 0), (0, 1), (1, 0), (0, -1))  # up, right, down, left
SUBSETS, GOALS = Subsets(16, 3), Product(quadrant=4, interaction=5, maze=5, object=5)
T = 200  # tasks a batch, the same everywhere: one compiled program a world
KEY = jax.random.key(5)
GRIDS = [name for name in tasks.registry if issubclass(tasks.registry[name], tasks.Episodes)]


def rows_of(space) -> jax.Array:
    return jnp.asarray(space.sample(1, T))


@jax.jit
def begun(task, key, rows):
    return task.begin(key, rows, 1)


@jax.jit
def advised(task, stage, state):
    return task.action_values(stage, state)


@pytest.fixture(scope="module")
def preference():
    return Preference(SUBSETS, seed=2)


@pytest.fixture(scope="module")
def preferred(preference):
    return preference.sample(KEY, rows_of(SUBSETS))


@pytest.fixture(scope="module")
def goal():
    return Goal(GOALS, seed=2)


@pytest.fixture(scope="module")
def goals(goal):
    return goal.sample(KEY, rows_of(GOALS))


def decoded(task, inputs) -> np.ndarray:
    """(episodes, steps, rows, columns, channels) of zeros and ones, after checking the scale."""
    seen = np.asarray(inputs).reshape(-1, task.length, task.rows, task.rows, task.channels)
    np.testing.assert_allclose((seen**2).mean((2, 3, 4)), 1, rtol=1e-3)
    size = task.rows**2 * task.channels
    there = seen > 0
    mean = there.sum((2, 3, 4), keepdims=True) / size
    np.testing.assert_allclose(seen, there / np.sqrt(mean + 1e-6), rtol=1e-5)
    return there


# -- preferences: the world ---------------------------------------------------------------------------------------


def test_a_preference_world_is_the_published_one(preference, preferred):
    assert preference.input_size == 882 and preference.output_size == 5 and preference.length == 8
    assert Preference(SUBSETS, features=32).input_size == 1666
    seen = decoded(preference, preferred.inputs)
    walls = np.array([[c == "w" for c in line] for line in MAP])
    assert (seen[..., 17] == walls).all(), "walls are the last channel"
    assert (seen[..., 16].sum((2, 3)) == 1).all() and not (seen[..., 16] & walls).any(), "one agent, never in a wall"
    start = seen[:, 0]
    assert (start[..., :16].sum((1, 2, 3)) == 4).all(), "four objects"
    assert (start.sum(-1).max((1, 2)) == 1).all(), "agent and objects stand on distinct free cells"


def test_starts_and_features_are_uniform(preference):
    drawn = [begun(preference, jax.random.key(i), rows_of(SUBSETS))[:2] for i in range(40)]  # 8,000 starts
    free = np.flatnonzero([c == "." for line in MAP for c in line])
    cells = {
        "agent": np.concatenate([state.agent for _, state in drawn]),
        "objects": np.concatenate([stage.places for stage, _ in drawn]).ravel(),
    }
    for found in cells.values():
        counts = np.bincount(found, minlength=49)
        assert counts[free].sum() == len(found) and scipy.stats.chisquare(counts[free]).pvalue > 1e-3
    features = np.concatenate([stage.features for stage, _ in drawn]).ravel()
    assert scipy.stats.chisquare(np.bincount(features, minlength=16)).pvalue > 1e-3


def test_labels_lead_from_each_observation_to_the_next(preference, preferred):
    seen, actions = decoded(preference, preferred.inputs), np.asarray(preferred.target)
    for frames, labels in zip(seen, actions, strict=True):
        counted = labels >= 0
        assert counted[0] and (np.diff(counted.astype(int)) <= 0).all(), "what counts is a beginning"
        assert (labels[: counted.sum() - 1] != 0).all(), "doing nothing ends the episode"
        assert counted.all() or labels[counted.sum() - 1] == 0, "the last nothing counts"
        for before, after, action in zip(frames, frames[1:], labels, strict=False):
            cell = np.argwhere(before[..., 16])[0]
            if action > 0:
                onward = cell + ARROWS[action - 1]
                cell = cell if MAP[onward[0]][onward[1]] == "w" else onward
            expected = before.copy()
            expected[..., 16] = False
            expected[tuple(cell)] = False  # an object that is entered disappears
            expected[(*cell, 16)] = True
            assert (after == expected).all()


# -- preferences: the expert --------------------------------------------------------------------------------------


def all_returns(agent, objects: dict, worth: np.ndarray, steps: int = 8) -> np.ndarray:
    """Discounted rewards of all 5^8 sequences of actions, in order; doing nothing waits."""
    sequences = np.indices((5,) * steps).reshape(steps, -1)
    row, column = (np.full(sequences.shape[1], a) for a in agent)
    free = np.array([[c == "." for c in line] for line in MAP])
    reward = np.zeros((7, 7))
    for cell, feature in objects.items():
        reward[cell] = worth[feature]
    there = np.array([cell for cell in objects])
    left = np.ones((len(there), sequences.shape[1]), bool)
    total = np.zeros(sequences.shape[1])
    for step, actions in enumerate(sequences):
        down, right = np.array([(0, 0), *ARROWS])[actions].T
        ok = free[row + down, column + right]
        row, column = np.where(ok, row + down, row), np.where(ok, column + right, column)
        met = left & (there[:, :1] == row) & (there[:, 1:] == column)
        total += 0.9**step * np.where(met.any(0), reward[row, column], 0)
        left &= ~met
    return total


def test_the_expert_has_the_value_of_the_best_of_all_sequences_and_begins_with_the_first_that_attains_it(preference):
    rows = rows_of(SUBSETS)
    stage, state, _, z = begun(preference, KEY, rows)
    found = np.asarray(advised(preference, stage, state))
    batch = preference.sample(KEY, rows)
    seen, labels = decoded(preference, batch.inputs), np.asarray(batch.target)
    checked = []
    for episode in (1, 2, 3, 7, 11, 42):
        worth = np.asarray(z[episode], float) @ np.asarray(preference.basis, float)
        for step in range((labels[episode] >= 0).sum() if episode == 1 else 1):
            frame = seen[episode, step]
            objects = {tuple(cell[:2]): cell[2] for cell in np.argwhere(frame[..., :16]).tolist()}
            if not objects:
                best = np.zeros(5)
            else:
                best = all_returns(np.argwhere(frame[..., 16])[0], objects, worth).reshape(5, -1).max(1)
            if step == 0:
                np.testing.assert_allclose(found[episode], best, rtol=1e-5, atol=1e-5)
            action = labels[episode, step]
            assert best[action] == pytest.approx(best.max(), abs=1e-6)
            assert (best[:action] < best.max() - 1e-6).all(), "ties go to the first action"
            checked.append(action)
    assert len(set(checked)) >= 4, "the sample must ask for different actions"


def test_nothing_is_done_where_nothing_is_liked(preference):
    stage, state, _, _ = begun(preference, KEY, rows_of(SUBSETS))
    disliked = np.flatnonzero((np.asarray(stage.rewards) <= 0).all(1))
    assert len(disliked) > 3
    assert (np.asarray(preference.sample(KEY, rows_of(SUBSETS)).target)[disliked, 0] == 0).all()


def test_rewards_are_those_of_the_composed_taste(preference):
    stage, _, code, z = begun(preference, KEY, rows_of(SUBSETS))
    expected = np.take_along_axis(np.asarray(z) @ np.asarray(preference.basis), np.asarray(stage.features), axis=1)
    np.testing.assert_allclose(stage.rewards, expected, atol=1e-5)
    assert (code == z).all()
    basis = np.stack([Preference(SUBSETS, seed=s).basis for s in range(20)])
    assert basis.mean() == pytest.approx(0, abs=0.07) and basis.std() == pytest.approx(1, abs=0.05)


# -- preferences: control worlds ----------------------------------------------------------------------------------


def tastes(world, rows, z) -> np.ndarray:
    return np.asarray(jax.jit(lambda w, r, z: w.preferences(r, z))(world, rows, z))


def test_tastes_compose_only_in_the_world_itself(preference):
    rows = jnp.asarray(SUBSETS.from_sets([{0}, {1}, {0, 1}, {0, 1}]))
    z = jnp.asarray(SUBSETS.multihot(np.asarray(rows)), jnp.float32)
    own = tastes(preference, rows, z)
    np.testing.assert_allclose(own[0] + own[1], own[2], atol=1e-5)
    lookup = tastes(PreferenceLookup(SUBSETS), rows, z)
    assert (lookup[2] == lookup[3]).all() and abs(lookup[0] + lookup[1] - lookup[2]).max() > 0.5
    assert (tastes(PreferenceLookup(SUBSETS), rows, 0.5 * z) == lookup).all()
    fixed = tastes(PreferenceIndifferent(SUBSETS), rows, z)
    assert (fixed == fixed[0]).all() and fixed[0].std() > 0.3


def test_lookup_tastes_of_neighbors_are_independent():
    rows = jnp.asarray(SUBSETS.from_sets([{a, b, c} for a, b in ((0, 1), (2, 5)) for c in range(6, 16)]))
    z = jnp.asarray(SUBSETS.multihot(np.asarray(rows)), jnp.float32)
    found = np.stack([tastes(PreferenceLookup(SUBSETS, seed=s), rows, z) for s in range(10)])
    assert found.std() == pytest.approx(1, abs=0.1)
    neighbors = (found[:, :-1] * found[:, 1:]).mean()
    assert abs(neighbors) < 4 / np.sqrt(found[:, 1:].size)


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
    rows, seen, labels = np.asarray(rows_of(GOALS)), decoded(goal, goals.inputs), np.asarray(goals.target)
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
    differs = (np.asarray(other.target) != np.asarray(goals.target)).any(1)
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
    assert goal.vocabulary == len(goal.words) and goal.code_size == 10
    for row, code in zip(rows[:50], np.asarray(goals.code), strict=False):
        said = goal.sentence(row)
        assert said == " ".join(goal.words[int(word)] for word in code)
        words = said.split()
        elements = [goal.words[-19:].index(words[slot]) for slot in (2, 5, 9, 7)]  # back to the combination
        assert elements == (row + [0, 4, 9, 14]).tolist()
    assert goal.sentence([1, 2, 0, 4]) == "in the north-east find and open the cup in maze-A"


def test_levels_with_names_keep_them_and_the_order_of_factors_does_not_matter():
    space = Product(object=["apple", "pear"], maze=2, quadrant=4, interaction=["eat", "sell"])
    world = Goal(space, seed=2)
    assert world.sentence([1, 0, 3, 0]) == "in the south-east find and eat the pear in maze-A"
    assert world.actions[4:] == ("eat", "sell") and world.labels()[:2] == ("apple", "pear")
    targets = np.asarray(world.sample(KEY, jnp.tile(jnp.array([[1, 0, 3, 1]]), (20, 1))).target)
    assert (targets[:, -1] == 5).all()


def test_one_kind_of_object_or_one_quadrant_is_enough():
    world = Goal(Product(quadrant=1, interaction=1, maze=1, object=1), length=20)
    batch = world.sample(KEY, jnp.zeros((40, 4), jnp.int16))
    seen = decoded(world, batch.inputs)[:, 0]
    assert (seen[..., 0].sum((1, 2)) == 5).all()
    assert (seen[:, :4, :4, 0].sum((1, 2)) == 1).all(), "with one kind, nothing but the target stands in the quadrant"
    assert (np.asarray(batch.target)[:, -1] == 4).all()


# -- goals: control worlds ----------------------------------------------------------------------------------------


def test_what_to_do_is_looked_up_by_the_whole_combination(goals):
    world = GoalLookup(GOALS, seed=2)
    every = np.asarray(world.rule)
    assert every.shape == (500,) and abs(np.bincount(every, minlength=5) / 500 - 0.2).max() < 0.1
    own = np.asarray(GOALS.enumerate())[:, 1]
    assert abs((every == own).mean() - 0.2) < 0.08, "independent of the interaction that is told"
    last = np.asarray(world.sample(KEY, rows_of(GOALS)).target)[:, -1]
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
    assert (np.asarray(batch.target)[:, -1] == 4).all()


# -- scores -------------------------------------------------------------------------------------------------------


def logits(actions) -> jax.Array:
    return 5 * jax.nn.one_hot(jnp.asarray(actions), 5)


def test_scores_by_hand():
    world = Preference(Subsets(4, 2), samples=2)
    target = np.full((1, 16), -1)
    target[0, :3], target[0, 8:10] = [1, 2, 0], [3, 0]
    for wrong, expected in (((), (1, 1)), ((1,), (0.5, 0.8)), ((5,), (1, 1)), ((0, 9), (0, 0.6))):
        said = np.maximum(target, 0)
        said[0, list(wrong)] = (said[0, list(wrong)] + 1) % 5
        found = world.score(logits(said), jnp.asarray(target))
        assert (float(found["episode_accuracy"]), float(found["step_accuracy"])) == pytest.approx(expected), wrong
    none = world.score(jnp.zeros((1, 16, 5)), jnp.asarray(target))
    assert float(none["episode_accuracy"]) == 0 and float(none["step_accuracy"]) == pytest.approx(0.4)


def test_the_loss_is_the_mean_cross_entropy_of_counted_steps():
    world = Preference(Subsets(4, 2))
    rng = np.random.default_rng(0)
    said, target = rng.normal(size=(3, 8, 5)).astype(np.float32), np.full((3, 8), -1)
    target[0, :4], target[1, :1], target[2] = [1, 2, 3, 0], 0, rng.integers(0, 5, 8)
    counted = target >= 0
    p = np.exp(said) / np.exp(said).sum(-1, keepdims=True)
    expected = -np.log(np.take_along_axis(p, np.maximum(target, 0)[..., None], -1)[..., 0][counted]).mean()
    assert float(world.loss(jnp.asarray(said), jnp.asarray(target))) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", GRIDS)
def test_perfect_imitation_scores_one_and_doing_the_same_always_does_not(name):
    made = tasks.registry[name]
    world = made(made.default_space(), seed=2)
    target = world.sample(KEY, rows_of(world.space)).target
    found = world.score(world.perfect(target), target)
    assert float(found["episode_accuracy"]) == float(found["step_accuracy"]) == 1
    for action in range(world.output_size):
        said = jnp.broadcast_to(jax.nn.one_hot(action, world.output_size), (*target.shape, world.output_size))
        assert float(world.score(said, target)["episode_accuracy"]) < 0.5


# -- streams ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", tasks.registry)
def test_no_two_streams_share_an_item(name):
    """An item is all that is seen in an episode, or one input, or the code where there is no input.

    Held-out tasks are drawn from the held-out side. Where a combination always has the same item, streams of the
    training side repeat each other, and the held-out side must not.
    """
    made = tasks.registry[name]
    task = made(made.default_space(), seed=2)
    support = supports.random(task.space) if task.space.width > 1 else supports.gap(task.space)
    draw = jax.jit(lambda key, rows: task.sample(key, rows))
    where: dict[bytes, str] = {}
    for stream in STREAMS:
        side = support.side(stream)
        assert (side is support.held_out) == (stream == "held_out") or side.size < task.space.size
        batch = draw(key_for(stream, 0), jnp.asarray(side.sample(7, T)))
        items = batch.inputs.reshape(T * task.samples, -1) if task.input_size else batch.code
        told = "trained" if task.repeats and stream != "held_out" else stream
        for item in np.asarray(items):
            assert where.setdefault(item.tobytes(), told) == told, f"{stream} and {where[item.tobytes()]}"


# -- bad arguments ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [Preference, PreferenceLookup, PreferenceIndifferent])
def test_more_modules_than_features_are_refused(made):
    with pytest.raises(UserError, match=r"modules=20.*features=16.*features=20 or modules=16"):
        made(Subsets(20, 3))
    made(Subsets(20, 3), features=20)


@pytest.mark.parametrize("name", GRIDS)
def test_few_shot_is_refused(name):
    made = tasks.registry[name]
    with pytest.raises(UserError, match="few-shot"):
        made(made.default_space(), encoding="few-shot")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Preference(GOALS), "Subsets"),
        (lambda: Preference(SUBSETS, features=0), "features=0"),
        (lambda: Preference(SUBSETS, objects=7), "objects=7"),
        (lambda: Goal(SUBSETS), "quadrant, interaction, maze, object"),
        (lambda: Goal(Product(quadrant=4, interaction=5, maze=5)), "quadrant, interaction, maze, object"),
        (lambda: Goal(Product(quadrant=5, interaction=5, maze=5, object=5)), "'quadrant'=5"),
        (lambda: Goal(Product(quadrant=4, interaction=5, maze=65, object=5)), "'maze'=65"),
        (lambda: Goal(GOALS, grid=8), "grid=8 is even.*9 would do"),
        (lambda: Goal(GOALS, grid=5), "grid=5"),
        (lambda: Goal(GOALS, length=0), "length=0"),
        (lambda: Goal(GOALS, encoding_options={"layers": 3}), "no options, got layers"),
        (lambda: Goal(GOALS, encoding="sentense"), "sentense"),
    ],
)
def test_odd_requests_are_refused_in_words(make, words):
    with pytest.raises(UserError, match=words):
        make()


@pytest.mark.parametrize("encoding", ["identity", "orthogonal", "language", "tokens", "interval-shuffle"])
def test_goals_can_be_told_by_any_encoding(encoding):
    world = Goal(GOALS, encoding=encoding)
    constituents = GOALS.multihot(np.asarray(rows_of(GOALS))).astype(np.float32)
    assert world.encoding is not None and world.encoding(jnp.asarray(constituents)).shape == (T, world.code_size)
    assert world.vocabulary == world.encoding.vocabulary


# -- for people ---------------------------------------------------------------------------------------------------


def stubborn(action: int, actions: int):
    """A net that always says the same."""
    return lambda inputs, code: (jnp.broadcast_to(jax.nn.one_hot(action, actions), (*inputs.shape[:2], actions)), {})


def test_an_episode_shows_what_the_batch_holds(preference):
    row = jnp.asarray(SUBSETS.from_sets([{0, 3, 5}]))
    batch = preference.sample(KEY, row)
    episode, labels = preference.episode(KEY, np.asarray(row)[0]), np.asarray(batch.target)[0]
    assert [frame.action for frame in episode.frames if frame.action] == [
        preference.actions[a] for a in labels[labels >= 0]
    ]
    assert episode.correct and episode.actor == "expert"
    assert (episode.walls == np.array([[c == "w" for c in line] for line in MAP])).all()
    for frame, seen in zip(episode.frames, decoded(preference, batch.inputs)[0], strict=False):
        assert frame.agent == tuple(np.argwhere(seen[..., 16])[0])
        assert {(c, int(f)) for c, f in frame.objects} == {((r, c), f) for r, c, f in np.argwhere(seen[..., :16])}


def test_a_net_walks_its_own_way_and_is_told_where_it_errs(goal):
    episode = goal.episode(KEY, [1, 2, 0, 4], stubborn(0, goal.output_size))
    start = goal.episode(KEY, [1, 2, 0, 4]).frames[0]
    assert episode.actor == "net" and episode.frames[0].agent == start.agent and not episode.correct
    assert {frame.action for frame in episode.frames[:-1]} == {"up"} and len(episode.frames) == goal.length + 1
    assert {frame.agrees for frame in episode.frames[:-1]} <= {True, False} and not episode.frames[-2].agrees
    assert episode.frames[-2].note == "bumps into a wall" and episode.frames[-1].action is None


def test_a_net_that_does_nothing_ends_the_episode(preference):
    episode = preference.episode(KEY, [0, 3, 5], stubborn(0, 5))
    assert [frame.action for frame in episode.frames] == ["nothing"]


def test_a_net_that_looks_back_is_shown_the_episode_so_far(preference):
    shown = []

    def keeps(inputs, code):
        jax.debug.callback(lambda x: shown.append(np.asarray(x)), inputs)
        return jnp.broadcast_to(jax.nn.one_hot(2, 5), (1, 8, 5)), {}

    episode = preference.episode(KEY, [0, 3, 5], keeps)
    jax.effects_barrier()
    assert len(shown) == len(episode.frames) - 1 == 8
    for step, (inputs, later) in enumerate(zip(shown, shown[1:], strict=False)):
        assert (inputs[0, : step + 1] == later[0, : step + 1]).all() and (inputs[0, step:] == inputs[0, step]).all()


ODD = Episode(
    "<script>alert('&')</script>",
    np.ones((3, 3), bool) & (np.arange(9).reshape(3, 3) != 4),
    (Frame((1, 1), (((1, 1), '"<b>'),), "up", "<left>", "bumps & </svg>"), Frame((1, 1), (), None)),
    (Entry('"<b>', "<i>&amp;", "bad"),),
)


@pytest.mark.parametrize("odd", [False, True])
def test_pictures_are_whole_and_every_label_is_escaped(goal, odd):
    episode = ODD if odd else goal.episode(KEY, [1, 2, 0, 4])
    svg = episode_svg(episode)
    root = xml.etree.ElementTree.fromstring(svg)  # well formed
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert episode.title in texts and len(texts) > 5
    assert {element.tag.split("}")[1] for element in root.iter()} <= {
        "svg", "title", "rect", "g", "text", "circle", "line", "path",
    }  # fmt: skip
    assert "nan" not in svg and "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    assert episode_png(episode).startswith(b"\x89PNG")


@pytest.mark.parametrize("width", [20, 44, 120])
def test_text_fits_a_narrow_terminal(goal, width):
    lines = episode_text(goal.episode(KEY, [1, 2, 0, 4]), width).splitlines()
    assert max(map(len, lines)) <= width and sum("█" in line for line in lines) == 7
    assert any("@" in line for line in lines) and any(" 48" in line or "-48" in line for line in lines)


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["show-episode", *arguments])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def test_show_episode_prints_or_writes(capsys, tmp_path):
    code, out, err = run(capsys, "preference-v1", "--combination", "0,3,5")
    assert code == 0 and err == "" and out.startswith("preference-v1: {m0, m3, m5}") and "worth" in out
    assert run(capsys, "preference-v1", "--combination", "0,3,5")[1] == out
    assert run(capsys, "preference-v1", "--combination", "0,3,5", "--episode", "1")[1] != out
    for suffix, begins in ((".svg", b"<svg"), (".png", b"\x89PNG")):
        path = tmp_path / f"a b{suffix}"
        code, out, _ = run(capsys, "preference-v1", "--combination", "0,3,5", "--out", str(path))
        assert code == 0 and out.strip() == str(path) and path.read_bytes().startswith(begins)
    code, out, _ = run(capsys, "goal-v1", "--set", "grid=9", "maze=2", "--set", "length=30")
    assert code == 0 and "find and" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("preference",), "did you mean 'preference-v1'"),
        (("hyperteacher-v1",), "has no episodes; those that have are goal-v1"),
        (("preference-v1", "--combination", "x"), "whole numbers"),
        (("preference-v1", "--combination", "0,99999999999999999999"), "outside Subsets"),
        (("preference-v1", "--combination", "0,1,2,3"), "at_most=3"),
        (("goal-v1", "--combination", "9,9,9,9"), "not a combination"),
        (("preference-v1", "--set", "fetures=3"), "did you mean 'features'"),
        (("preference-v1", "--set", "features=big"), "features='big'"),
        (("preference-v1", "--set", "modules=20"), "features=20 or modules=16"),
        (("goal-v1", "--set", "quadrant=9"), "'quadrant'=9"),
        (("goal-v1", "--set", "encoding=few-shot"), "few-shot"),
        (("preference-v1", "--seed", "-1"), "seed=-1"),
        (("preference-v1", "--out", "x.gif"), ".svg or .png"),
        (("preference-v1", "--out", "x" * 300 + ".svg"), "too long"),
    ],
)
def test_show_episode_refuses_in_one_sentence(capsys, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    if "features=big" in arguments:  # the tests' runtime type checks would refuse it first
        monkeypatch.setattr(Preference, "__init__", getattr(Preference.__init__, "__wrapped__", Preference.__init__))
    code, out, err = run(capsys, *arguments)
    assert code == 2 and out == "" and err.startswith("recombine: ") and err.count("\n") == 1 and words in err
    assert list(tmp_path.iterdir()) == []
