"""The world of preferences against brute force and plain rules, written here again in numpy."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from gridworlds import ARROWS, KEY, MAP, SUBSETS, begun, decoded, labels_of, rows_of

from recombine.tasks import Preference, PreferenceIndifferent, PreferenceLookup


@jax.jit
def advised(task, stage, state):
    return task.action_values(stage, state)


@pytest.fixture(scope="module")
def preferred(preference):
    return preference.sample(KEY, rows_of(SUBSETS))


# -- preferences: the world ---------------------------------------------------------------------------------------


def test_a_preference_world_is_the_published_one(preference, preferred):
    assert preferred.inputs.shape[2:] == (8, 882) and preference.words == {"target": 5} and preference.length == 8
    assert Preference(SUBSETS, features=32).shapes().inputs.shape[2:] == (8, 1666)
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
    seen, actions = decoded(preference, preferred.inputs), labels_of(preferred)
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
    seen, labels = decoded(preference, batch.inputs), labels_of(batch)
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
    assert (labels_of(preference.sample(KEY, rows_of(SUBSETS)))[disliked, 0] == 0).all()


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
