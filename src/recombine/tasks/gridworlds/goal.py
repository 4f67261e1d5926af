"""goal-v2: find the right object in a maze and do the right thing with it, as told in a sentence.

A goal is one level of each of four factors, by default 4 x 5 x 5 x 5 = 500 of them:

    quadrant     where the object stands: the same kind stands in another quadrant too
    interaction  what to do with it
    maze         the walls
    object       its kind: another kind stands in the same quadrant too

The expert takes a shortest path (ties to the first move) and then does what is asked, once and again. Steps count up to
the first right interaction; those after it, which only fill the batch, do not. Moving into a wall, or out of the grid,
leaves the agent where it is, and interactions change nothing that is seen.

What is published (Schug et al. 2024, arXiv 2312.15001, and in the public code of Redhardt, Akram, Schug 2025, which
cannot train it): the four factors, the grid of 7, its quadrants (the middle row and column go north and west), four
distractors, mazes of complexity and density .75 without a wall all around (31 or 32 of 49 cells are free, as a rule),
a start at least as many steps from the object as the grid is wide, the expert, grid^2 - 1 steps and which of them
count, the observation, and the goal as a sentence. What is ours, hence a version of our own and no numbers to compare
with: a sentence of whole words instead of pieces of words; the rule that places distractors so that every factor
matters (there they are of other kinds than the object and stand anywhere); that no two mazes of a task are alike and
no two things share a cell; and which of several shortest paths is taken.

Before it there was goal-v1, whose mazes had a wall all around (17 or 18 free cells) and whose every step counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ...encodings import ConstituentEncoding
from ...errors import UserError, require_int
from ...keys import generator, key_for
from ...spaces import Product, Space
from ..base import tasks
from ..teachers.module_weights import make_encoding
from .episode_task import MOVES, Entry, Episodes, neighbors
from .mazes import distances, maze_walls

FACTORS = ("quadrant", "interaction", "maze", "object")
MOST_LEVELS = {"quadrant": 4, "interaction": 64, "maze": 64, "object": 64}
DISTRACTORS = 4
# Words for levels that are mere numbers; further levels are called "verb-9" and so on.
WORDS = {
    "quadrant": ("north-west", "north-east", "south-west", "south-east"),
    "interaction": ("lift", "push", "open", "paint", "ring", "turn", "shake", "wash"),
    "maze": ("maze-A", "maze-B", "maze-C", "maze-D", "maze-E", "maze-F", "maze-G", "maze-H"),
    "object": ("ball", "key", "lamp", "box", "cup", "star", "bell", "drum"),
}
SENTENCE = ("in", "the", "quadrant", "find", "and", "interaction", "the", "object", "in", "maze")  # factors are slots


class Stage(NamedTuple):
    """What stays as it is in B episodes."""

    maze: jax.Array  # (B,)
    target: jax.Array  # (B,) cell
    places: jax.Array  # (B, 1 + distractors) cell of each object, the target first
    kinds: jax.Array  # (B, 1 + distractors)
    interaction: jax.Array  # (B,) the right one


class State(NamedTuple):
    """What changes in B episodes."""

    agent: jax.Array  # (B,) cell
    done: jax.Array  # (B,) the right thing was done with the right object


@tasks.register("goal-v2")
class Goal(Episodes):
    """Find the right object in a maze and do the right thing with it; imitation of an expert, scored by episode.

    Args:
        space: a Product of quadrant, interaction, maze and object.
        seed: of the mazes, and of the encoding.
        grid: rows of the square grid; an odd number.
        length: steps of an episode; grid^2 - 1 by default.
        samples: episodes per task.
        encoding: how the goal is shown: "sentence", or an encoding of constituents.
        encoding_options: of that encoding.

    Example:
        >>> world = rc.tasks.Goal(rc.Product(quadrant=4, interaction=2, maze=1, object=2))
        >>> world.sentence([0, 1, 0, 1])
        'in the north-west find and push the key in maze-A'
    """

    id = "goal-v2"
    controls = {"lookup": "goal-lookup-v2", "indifferent": "goal-indifferent-v2"}
    walls: jax.Array  # (mazes, cells)
    reached: jax.Array  # (mazes, cells, moves) where each move leads
    steps: jax.Array  # (mazes, cells, cells) of a shortest path, -1 where there is none
    first: jax.Array  # (mazes, target, cells) first move of a shortest path, -1 at the target
    slots: jax.Array  # (quadrant levels, cells) whether a cell lies in the quadrant
    rule: jax.Array  # what else decides the interaction; see the control worlds
    encoding: ConstituentEncoding | None
    lexicon: tuple[str, ...] = eqx.field(static=True)  # all words; word 0 is no word

    @classmethod
    def default_space(cls) -> Product:
        """4 x 5 x 5 x 5 goals, as published."""
        return Product(quadrant=4, interaction=5, maze=5, object=5)

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        *,
        grid: int = 7,
        length: int | None = None,
        samples: int = 1,
        encoding: str = "sentence",
        encoding_options: dict[str, Any] | None = None,
    ):
        levels = _levels(space)
        if require_int("grid", grid, at_least=7, at_most=31) % 2 == 0:
            raise UserError(f"grid={grid} is even, and walls of mazes begin at every second cell; {grid + 1} would do")
        length = grid**2 - 1 if length is None else require_int("length", length, at_least=1, at_most=10_000)
        self.space, self.samples = space, require_int("samples", samples, at_least=1)
        self.constituent_names = space.element_names
        names = {factor: _words(factor, levels[factor]) for factor in FACTORS}
        # Word 0 is no word; then the words that every sentence has; then the levels of each factor.
        plain = tuple(dict.fromkeys(word for word in SENTENCE if word not in FACTORS))
        self.lexicon = ("", *plain, *(word for factor in FACTORS for word in names[factor]))
        if encoding == "sentence":
            if encoding_options:
                raise UserError(f"the encoding 'sentence' has no options, got {', '.join(encoding_options)}")
            self.encoding = None
        else:
            self.encoding = make_encoding(encoding, encoding_options, space, seed)
        kinds = len(levels["object"])
        self._grid(grid, kinds + 2, kinds + 1, (*MOVES, *names["interaction"]), length)
        self._build(grid, len(levels["maze"]), len(levels["quadrant"]), seed)
        self.rule = self._rule(key_for("teacher", seed))

    @property
    def words(self) -> dict[str, int]:
        code = {"code": len(self.lexicon)} if self.encoding is None else self.encoding.words
        return super().words | code

    def _build(self, grid: int, mazes: int, quadrants: int, seed: int) -> None:
        """Mazes, no two alike, and the expert's tables for them; on the host, once."""
        row, column = np.divmod(np.arange(grid**2), grid)
        quadrant = 2 * (row > grid // 2) + (column > grid // 2)
        rng = generator(key_for("mazes", seed))
        made: list[np.ndarray] = []
        for _ in range(200 * mazes):
            walls = maze_walls(rng, grid)
            free = ~walls.ravel()
            # A quadrant holds the object and one of another kind.
            roomy = all((free & (quadrant == q)).sum() >= 2 for q in range(4))
            if roomy and not any((walls == other).all() for other in made):
                made.append(walls)
            if len(made) == mazes:
                break
        else:
            raise UserError(
                f"found {len(made)} different mazes on a grid of {grid}, not {mazes}; a larger grid would do"
            )
        reached = np.stack([neighbors(~walls) for walls in made])
        steps = np.stack([distances(r, ~walls) for r, walls in zip(reached, made, strict=True)])
        # closer[m, target, cell, move]: the move leads one step nearer to the target
        closer = np.stack([s[:, r] == s[:, :, None] - 1 for s, r in zip(steps, reached, strict=True)])
        first = np.where((steps > 0) & closer.any(-1), closer.argmax(-1), -1)
        self.walls = jnp.asarray(np.stack(made).reshape(mazes, -1))
        self.reached, self.steps, self.first = (jnp.asarray(a.astype(np.int16)) for a in (reached, steps, first))
        self.slots = jnp.asarray(quadrant == np.arange(quadrants)[:, None])

    def _rule(self, key: jax.Array) -> jax.Array:
        return jnp.zeros(0, jnp.int32)

    def goals(self, combinations: Int[Array, "t 4"], chance: Float[Array, "b 1"]) -> Int[Array, "b 4"]:
        """The goal of each of B = T * S episodes: quadrant, interaction, maze and object."""
        return jnp.repeat(self._columns(combinations), len(chance) // len(combinations), axis=0)

    def _columns(self, combinations: jax.Array) -> jax.Array:
        """Levels in the order of FACTORS, whatever the order in the space."""
        order = [list(self.space.columns).index(factor) for factor in FACTORS]
        return jnp.stack([combinations[:, column].astype(jnp.int32) for column in order], axis=1)

    def begin(self, key, combinations, samples):
        episodes, cells = len(combinations) * samples, self.rows**2
        # One array of random numbers: three orders of the cells, a kind for each distractor, one for the control.
        drawn = jax.random.uniform(key, (episodes, 3 * cells + DISTRACTORS + 1))
        orders = drawn[:, : 3 * cells].reshape(episodes, 3, cells)
        quadrant, interaction, maze, kind = self.goals(combinations, drawn[:, -1:]).T
        free, inside = ~self.walls[maze], self.slots[quadrant]  # (B, cells)

        def take(order: jax.Array, allowed: jax.Array, free: jax.Array) -> tuple[jax.Array, jax.Array]:
            cell = jnp.where(allowed & free, order, -1.0).argmax(1)
            return cell, free & (cell[:, None] != jnp.arange(cells))

        # The first order serves choices that do not compete: among the cells inside, and among those outside.
        target, free = take(orders[:, 0], inside, free)
        twin, free = take(orders[:, 0], ~inside, free)  # of the same kind, in another quadrant
        rival, free = take(orders[:, 0], inside, free)  # of another kind, in the same quadrant
        # With one kind of object there is no rival: nothing but the target may stand inside.
        anywhere = jnp.ones_like(inside) if self._kinds > 1 else ~inside
        if self._kinds == 1:
            rival, free = take(orders[:, 1], anywhere, free)
        third, free = take(orders[:, 1], anywhere, free)
        fourth, free = take(orders[:, 1], anywhere, free)
        places = jnp.stack([target, twin, rival, third, fourth], axis=1)
        kinds = self._distractor_kinds(kind, places, inside, drawn[:, 3 * cells : -1])
        # The agent starts at random among the cells that are as far from the target as asked, or as the maze allows.
        far = jnp.minimum(self.steps[maze, target], self.rows) + orders[:, 2]
        agent, _ = take(far, jnp.ones_like(inside), free)
        stage = Stage(maze, target, places, kinds, interaction)
        constituents = self.space.multihot(combinations).astype(jnp.float32)
        code = self.tell(combinations) if self.encoding is None else self.encoding(constituents)
        return stage, State(agent, jnp.zeros(episodes, bool)), code, constituents

    @property
    def _kinds(self) -> int:
        return self.channels - 2

    def _distractor_kinds(self, kind: jax.Array, places: jax.Array, inside: jax.Array, chance: jax.Array) -> jax.Array:
        """(B, 1 + distractors): the goal's kind, its twin's, and for the others any, but in the quadrant another."""
        other = jnp.floor(chance * max(self._kinds - 1, 1)).astype(jnp.int32)
        other = (kind[:, None] + 1 + other) % self._kinds  # any but the goal's
        every = jnp.floor(chance * self._kinds).astype(jnp.int32)
        within = jnp.take_along_axis(inside, places[:, 1:], axis=1)
        drawn = jnp.where(within, other, every)
        return jnp.concatenate([kind[:, None], kind[:, None], drawn[:, 1:]], axis=1)

    def things(self, stage, state):
        at = stage.places[:, :, None] == jnp.arange(self.rows**2)  # (B, objects, cells)
        shown = jnp.where(at, stage.kinds[:, :, None], -1).max(1)
        return jnp.where(self.walls[stage.maze], self._kinds, shown).astype(jnp.int16)

    def expert(self, stage, state):
        onward = self.first[stage.maze, stage.target, state.agent].astype(jnp.int32)
        return jnp.where(onward < 0, len(MOVES) + stage.interaction, onward)

    def move(self, stage, state, action):
        to = self.reached[stage.maze, state.agent, jnp.minimum(action, len(MOVES) - 1)].astype(state.agent.dtype)
        right = (state.agent == stage.target) & (action == len(MOVES) + stage.interaction)
        return State(jnp.where(action < len(MOVES), to, state.agent), state.done | right)

    # -- sentences ----------------------------------------------------------------------------------------------
    def tell(self, combinations: Int[Array, "t 4"]) -> Int[Array, "t words"]:
        """Each combination as a sequence of word numbers."""
        columns = self._columns(combinations)
        spoken = []
        for slot in SENTENCE:
            if slot in FACTORS:
                spoken.append(self._first_word(slot) + columns[:, FACTORS.index(slot)])
            else:
                spoken.append(jnp.full(len(columns), self.lexicon.index(slot)))
        return jnp.stack(spoken, axis=1).astype(jnp.int32)

    def sentence(self, combination: Any) -> str:
        """A combination in words."""
        row = self.space.check(np.asarray(combination)[None])
        return " ".join(self.lexicon[int(word)] for word in np.asarray(self.tell(jnp.asarray(row)))[0])

    def _first_word(self, factor: str) -> int:
        sizes = [len(self.space.columns[name]) for name in FACTORS]
        return len(self.lexicon) - sum(sizes[FACTORS.index(factor) :])

    # -- for people ---------------------------------------------------------------------------------------------
    def title(self, combination):
        return f"{self.id}: {self.sentence(combination)}"

    def labels(self):
        first = self._first_word("object")
        return (*self.lexicon[first : first + self._kinds], "", "")

    def legend(self, stage, labels):
        names, target = self.labels(), int(stage.kinds[0, 0])
        return tuple(
            Entry(
                label,
                "the kind to find" if label == names[target] else "another kind",
                "good" if label == names[target] else "plain",
            )
            for label in labels
        )

    def note(self, stage, before, action, after):
        there = bool(before.agent[0] == stage.target[0])
        if action >= len(MOVES):
            if not there:
                return "in the wrong place"
            return "the right thing" if action == len(MOVES) + int(stage.interaction[0]) else "the wrong thing"
        if before.agent[0] == after.agent[0]:
            return "bumps into a wall"
        return f"reaches the {self.labels()[int(stage.kinds[0, 0])]}" if after.agent[0] == stage.target[0] else ""


@tasks.register("goal-lookup-v2")
class GoalLookup(Goal):
    """Control world: what to do with the object is drawn for every combination alone, so no support can help.

    Args:
        space, seed, grid, length, samples, encoding, encoding_options: as of `Goal`.

    Example:
        >>> rc.tasks.Goal.controls["lookup"], rc.tasks.registry["goal-lookup-v2"] is rc.tasks.GoalLookup
        ('goal-lookup-v2', True)
    """

    id = "goal-lookup-v2"
    controls = {}

    def _rule(self, key: jax.Array) -> jax.Array:
        interactions = len(self.actions) - len(MOVES)
        if interactions < 2:
            raise UserError(f"with interaction={interactions} level there is nothing to look up; 2 or more would do")
        return jax.random.randint(key, (self.space.size,), 0, interactions)

    def goals(self, combinations: Int[Array, "t 4"], chance: Float[Array, "b 1"]) -> Int[Array, "b 4"]:
        rank = jnp.zeros(len(combinations), jnp.int32)
        for column, levels in enumerate(self.space.levels):
            rank = rank * levels + combinations[:, column].astype(jnp.int32)
        columns = self._columns(combinations).at[:, 1].set(self.rule[rank])
        return jnp.repeat(columns, len(chance) // len(combinations), axis=0)


@tasks.register("goal-indifferent-v2")
class GoalIndifferent(Goal):
    """Control world: the same goal in a maze drawn afresh, whatever the combination says, so no support can hurt.

    Args:
        space, seed, grid, length, samples, encoding, encoding_options: as of `Goal`.

    Example:
        >>> rc.tasks.Goal.controls["indifferent"], rc.tasks.registry["goal-indifferent-v2"] is rc.tasks.GoalIndifferent
        ('goal-indifferent-v2', True)
    """

    id = "goal-indifferent-v2"
    controls = {}

    def goals(self, combinations: Int[Array, "t 4"], chance: Float[Array, "b 1"]) -> Int[Array, "b 4"]:
        maze = jnp.floor(chance * len(self.walls)).astype(jnp.int32)
        none = jnp.zeros_like(maze)
        return jnp.concatenate([none, none, maze, none], axis=1)


def _levels(space: Space) -> Mapping[str, Sequence[Any]]:
    """Levels by factor, or an error that says which space would do."""
    example = "Product(quadrant=4, interaction=5, maze=5, object=5)"
    if set(space.columns) != set(FACTORS):
        raise UserError(f"a goal world combines {', '.join(FACTORS)}, as in {example}; got {space}")
    for factor, most in MOST_LEVELS.items():
        require_int(f"levels of {factor!r}", len(space.columns[factor]), at_most=most)
    return space.columns


def _words(factor: str, levels: Sequence[Any]) -> tuple[str, ...]:
    """A word for each level: its own name if it has one. A number is no name, nor is one that has been through JSON."""
    given = (*WORDS[factor], *(f"{factor}-{i + 1}" for i in range(len(WORDS[factor]), len(levels))))
    return tuple(
        level if isinstance(level, str) and not level.isdecimal() else given[i] for i, level in enumerate(levels)
    )
