"""preference-v1: an agent in a house of four rooms collects what it likes; its taste is a sum of shared modules.

    reward of an object with feature f = sum_m z_m B[m, f],   B[m, f] ~ N(0, 1), fixed by the seed

z has between 1 and K non-zero entries, as in the hyperteacher. Four objects, each with one of F features, and the agent
stand on distinct cells. Entering a cell with an object collects it and pays its reward, which may be negative; doing
nothing ends the episode, and so do eight steps. The expert is greedy in exact values: eight backups of discount .9 from
zero over all cells and all sets of objects that are left, ties to the first action. In the backup, doing nothing is a
step that pays nothing and stays; where nothing is worth going for, all actions are worth zero and doing nothing wins.

The facts are those of the public code of "Scaling can lead to compositional generalization" (Redhardt, Akram, Schug
2025), where the world is that of Schug et al. 2024 (arXiv 2312.15001): map, actions, ties, and the order of channels
(features, agent, walls) are theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ...encodings import ConstituentEncoding
from ...errors import UserError, require_int
from ...keys import key_for
from ...spaces import Space
from ..base import tasks
from ..teachers.module_weights import Weights, draw_weights, make_encoding, require_modules, require_weights
from .episode_task import MOVES, Entry, Episodes, neighbors

MAP = ("wwwwwww", "w..w..w", "w..w..w", "ww...ww", "w..w..w", "w..w..w", "wwwwwww")
WALLS = np.array([[character == "w" for character in line] for line in MAP])
FREE = np.flatnonzero(~WALLS)  # grid cells that are no wall: 19, numbered 0..18 below
LENGTH = 8
BACKUPS = 8
DISCOUNT = 0.9
NOTHING = 0  # the action
GRID_REACHED = np.concatenate([np.arange(WALLS.size)[:, None], neighbors(~WALLS)], axis=1)  # (grid cells, 5)
# (free cells, 5): the free cell that each action leads to
REACHED = np.searchsorted(FREE, GRID_REACHED[FREE])


class Stage(NamedTuple):
    """What stays as it is in B episodes with O objects."""

    places: jax.Array  # (B, O) grid cell of each object
    features: jax.Array  # (B, O)
    rewards: jax.Array  # (B, O)
    values: jax.Array  # (2^O, free cells, B) before the last backup, by the set of objects left and the agent's cell


class State(NamedTuple):
    """What changes in B episodes."""

    agent: jax.Array  # (B,) grid cell
    left: jax.Array  # (B, O) objects not yet collected
    done: jax.Array  # (B,)


@tasks.register("preference-v1")
class Preference(Episodes):
    """A grid world in which a composed taste decides what to collect; imitation of an expert, scored by episode.

    Args:
        space: sets of modules, each a taste.
        seed: of the tastes, and of the encoding.
        features: that objects can have; at least as many as modules.
        objects: on the map; 1 to 6.
        samples: episodes per task.
        weights: of active modules: "discrete" (.5, .6, ..., 1), "khot" (1), "continuous", or the values they can take.
        encoding: how the weights are shown.
        encoding_options: of that encoding.

    Example:
        >>> rc.tasks.Preference(space, features=4).shapes().target.shape
        (1, 1, 8)
    """

    id = "preference-v1"
    controls = {"lookup": "preference-lookup-v1", "indifferent": "preference-indifferent-v1"}
    basis: jax.Array  # (M, F)
    encoding: ConstituentEncoding
    weights: Weights = eqx.field(static=True)
    features: int = eqx.field(static=True)
    objects: int = eqx.field(static=True)

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        *,
        features: int = 16,
        objects: int = 4,
        samples: int = 1,
        weights: Weights | Sequence[float] = "discrete",
        encoding: str = "identity",
        encoding_options: dict[str, Any] | None = None,
    ):
        space = require_modules("preference world", space)
        self.features = require_int("features", features, at_least=1, at_most=1024)
        self.objects = require_int("objects", objects, at_least=1, at_most=6)  # values are kept for 2^objects sets
        self.samples = require_int("samples", samples, at_least=1)
        modules = len(space.element_names)
        if modules > features:
            raise UserError(
                f"modules={modules} tastes need as many features to differ in, and features={features}; "
                f"features={modules} or modules={features} would do"
            )
        self.space, self.weights, self.constituent_names = space, require_weights(weights), space.element_names
        self.encoding = make_encoding(encoding, encoding_options, space, seed)
        self._grid(len(WALLS), features + 2, features, ("nothing", *MOVES), LENGTH)
        self.basis = self._taste(key_for("teacher", seed))

    def _taste(self, key: jax.Array) -> jax.Array:
        return jax.random.normal(key, (len(self.constituent_names), self.features))

    @property
    def words(self) -> dict[str, int]:
        return super().words | self.encoding.words

    def preferences(self, combinations: Int[Array, "t k"], z: Float[Array, "t m"]) -> Float[Array, "t f"]:
        """What an object of each feature is worth."""
        return jnp.matmul(z, self.basis, precision="highest")

    def begin(self, key, combinations, samples):
        weight_key, world_key = jax.random.split(key)
        z = draw_weights(weight_key, self.space.multihot(combinations), self.weights)
        episodes, o = len(combinations) * samples, self.objects
        # One array of random numbers: random numbers are what takes long to compile.
        drawn = jax.random.uniform(world_key, (episodes, len(FREE) + o))
        features = jnp.floor(drawn[:, len(FREE) :] * self.features).astype(jnp.int32)
        _, cells = jax.lax.top_k(drawn[:, : len(FREE)], o + 1)  # distinct, in random order
        worth = jnp.repeat(self.preferences(combinations, z), samples, axis=0)  # (B, F)
        rewards = jnp.take_along_axis(worth, features, axis=1)  # the same bits for the same feature: ties stay ties
        places = jnp.asarray(FREE)[cells]
        stage = Stage(places[:, 1:], features, rewards, values(cells[:, 1:], rewards, BACKUPS - 1))
        state = State(places[:, 0], jnp.ones((episodes, o), bool), jnp.zeros(episodes, bool))
        return stage, state, self.encoding(z), z

    def things(self, stage, state):
        # The map's walls, and at most one object per cell.
        at = stage.places[:, :, None] == jnp.arange(WALLS.size)  # (B, O, cells)
        shown = jnp.where(at & state.left[:, :, None], stage.features[:, :, None], -1).max(1)
        return jnp.where(WALLS.ravel(), self.features + 1, shown).astype(jnp.int16)

    def action_values(self, stage: Stage, state: State) -> Float[Array, "b a"]:
        """Q after all backups: what each action pays at once, and the discounted value of where it leads."""
        to = jnp.asarray(GRID_REACHED)[state.agent]  # (B, actions)
        met = state.left[:, None] & (stage.places[:, None] == to[..., None])  # (B, actions, O)
        paid = jnp.where(met, stage.rewards[:, None], 0.0).sum(-1)
        subset = ((state.left[:, None] & ~met) * 2 ** jnp.arange(self.objects)[::-1]).sum(-1)
        free = jnp.asarray(np.searchsorted(FREE, np.arange(WALLS.size)))[to]
        return paid + DISCOUNT * stage.values[subset, free, jnp.arange(len(to))[:, None]]

    def expert(self, stage, state):
        return self.action_values(stage, state).argmax(-1)  # ties go to the first

    def move(self, stage, state, action):
        to = jnp.asarray(GRID_REACHED)[state.agent, action]
        agent = jnp.where(state.done, state.agent, to)
        left = state.left & (stage.places != agent[:, None])
        return State(agent, left, state.done | (action == NOTHING))

    def labels(self):
        return (*map(str, range(self.features)), "", "")

    def legend(self, stage, labels):
        worth = dict(zip(stage.features[0].tolist(), stage.rewards[0].tolist(), strict=True))
        return tuple(
            Entry(label, f"feature {label}, worth {worth[int(label)]:+.2f}", "good" if worth[int(label)] > 0 else "bad")
            for label in labels
        )

    def note(self, stage, before, action, after):
        taken = np.flatnonzero(np.asarray(before.left[0] & ~after.left[0]))
        if len(taken):
            return f"takes {stage.features[0, taken[0]]}, worth {stage.rewards[0, taken[0]]:+.2f}"
        if action == NOTHING:
            return "ends the episode"
        return "bumps into a wall" if before.agent[0] == after.agent[0] else ""


def values(cells: Int[Array, "b o"], rewards: Float[Array, "b o"], backups: int) -> Float[Array, "sets free b"]:
    """V_n after n backups from zero, by the set of objects left (a binary number), the agent's cell, and the episode.

    V_n(left, c) = max over actions of arrival(left, c') with c' the cell that the action leads to
    arrival(left, c) = reward of the object left in c, if any, + discount V_(n-1)(left without it, c)

    Inside, each object has an axis of two, collected or left, and the batch comes last: so every lookup is a fixed
    slice, and every operation runs along the batch.
    """
    batch, objects = rewards.shape
    shape = (*[2] * objects, len(FREE), batch)
    at = cells.T[:, None] == jnp.arange(len(FREE))[:, None]  # (O, free cells, B)

    def backup(_: Any, v: jax.Array) -> jax.Array:
        best = arrival = waiting = DISCOUNT * v
        for o in range(objects):
            left = np.arange(2).reshape([2 if axis == o else 1 for axis in range(len(shape))]) == 1
            without = jax.lax.slice_in_dim(waiting, 0, 1, axis=o)
            arrival = jnp.where(left & at[o], rewards[:, o] + without, arrival)
        for a in range(1, REACHED.shape[1]):
            # An agent that bumps into a wall stays; in the states that occur no object is left where it stands.
            best = jnp.maximum(best, arrival[..., REACHED[:, a], :])
        return best

    return jax.lax.fori_loop(0, backups, backup, jnp.zeros(shape)).reshape(-1, *shape[-2:])


@tasks.register("preference-lookup-v1")
class PreferenceLookup(Preference):
    """Control world: every combination has an independent random taste, so no support can help.

    Args:
        space, seed, features, objects, samples, weights, encoding, encoding_options: as of `Preference`.

    Example:
        >>> rc.tasks.PreferenceLookup(space).id
        'preference-lookup-v1'
    """

    id = "preference-lookup-v1"
    controls = {}

    def _taste(self, key: jax.Array) -> jax.Array:
        return key

    def preferences(self, combinations: Int[Array, "t k"], z: Float[Array, "t m"]) -> Float[Array, "t f"]:
        def own(row: jax.Array) -> jax.Array:
            key = self.basis
            for column in range(self.space.width):  # padding is folded in as 0, modules as 1..M
                key = jax.random.fold_in(key, row[column] + 1)
            return jax.random.normal(key, (self.features,))

        return jax.vmap(own)(combinations)


@tasks.register("preference-indifferent-v1")
class PreferenceIndifferent(Preference):
    """Control world: one taste for all combinations, so no support can hurt.

    Args:
        space, seed, features, objects, samples, weights, encoding, encoding_options: as of `Preference`.

    Example:
        >>> rc.tasks.PreferenceIndifferent(space).id
        'preference-indifferent-v1'
    """

    id = "preference-indifferent-v1"
    controls = {}

    def preferences(self, combinations: Int[Array, "t k"], z: Float[Array, "t m"]) -> Float[Array, "t f"]:
        return jnp.broadcast_to(self.basis[0], (len(combinations), self.features))
