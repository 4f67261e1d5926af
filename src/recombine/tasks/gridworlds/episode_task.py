"""Episodes: the base of imitation tasks. A sample is an episode; its rows are what is seen before each expert action.

A grid world that extends `Episodes` says how worlds begin, what is where, what the expert does and what an action
changes, for B = T * S episodes at once and on the device. This file makes batches of it, scores them, and plays
single episodes for people to look at.

    stage   what stays as it is during an episode (B, ...)
    state   what changes: at least `agent` (B,), a cell, and `done` (B,)

Cells are numbered row by row. The observation has one channel for every kind of thing, one of them for the agent, and
is scaled to mean square 1: o / sqrt(mean(o^2) + 1e-6).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..base import Batch, Task
from ..metrics import Metric, Statistics, accuracy, decided

Cell = tuple[int, int]  # row, column
MOVES = ("up", "right", "down", "left")
_STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))


class Frame(NamedTuple):
    """One moment of an episode: what is seen, what is done, what the expert would do here, and what came of it.

    Args:
        agent: the cell of the agent: row, column.
        objects: what is visible: (cell, label) each.
        action: what is done; None after the last action.
        expert: what the expert would do here.
        note: what came of the action.

    Example:
        >>> rc.tasks.Frame((1, 2), (((3, 3), "apple"),), action="up", expert="down").agrees
        False
    """

    agent: Cell
    objects: tuple[tuple[Cell, str], ...]  # what is visible: (cell, label)
    action: str | None  # None after the last action
    expert: str | None = None
    note: str = ""

    @property
    def agrees(self) -> bool:
        """Whether the action is the expert's."""
        return self.action == self.expert


class Entry(NamedTuple):
    """What a label in the picture means."""

    label: str
    meaning: str
    tone: Literal["good", "bad", "plain"] = "plain"


@dataclass(frozen=True)
class Episode:
    """An episode as plain data, for pictures.

    Args:
        title: its heading.
        walls: (rows, columns) of booleans.
        frames: its moments.
        legend: what the labels of objects mean.
        actor: who acts: "expert" or "net".

    Example:
        >>> seen = rc.tasks.Frame((0, 0), (), action="up", expert="up")
        >>> episode = rc.tasks.Episode("One step", np.zeros((2, 2), bool), (seen,))
        >>> episode.correct, rc.tasks.Episode.from_json(episode.to_json()).title
        (True, 'One step')
    """

    title: str
    walls: np.ndarray  # (rows, columns) of booleans
    frames: tuple[Frame, ...]
    legend: tuple[Entry, ...] = ()
    actor: str = "expert"

    @property
    def correct(self) -> bool:
        """Whether every action is the expert's."""
        return all(frame.agrees for frame in self.frames)

    def to_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "walls": np.asarray(self.walls, int).tolist(),
            "actor": self.actor,
            "legend": [list(entry) for entry in self.legend],
            "frames": [
                {
                    **frame._asdict(),
                    "agent": [int(i) for i in frame.agent],
                    "objects": [[[int(i) for i in cell], label] for cell, label in frame.objects],
                }
                for frame in self.frames
            ],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Episode:
        """The episode that `to_json` wrote; a ValueError if it is not one."""
        try:
            return cls._from_json(data)
        except (KeyError, TypeError, IndexError, AttributeError) as problem:
            raise ValueError(f"not an episode: {type(problem).__name__}") from problem

    @classmethod
    def _from_json(cls, data: dict[str, Any]) -> Episode:

        def cell(pair: list[int]) -> Cell:
            return (int(pair[0]), int(pair[1]))

        frames = tuple(
            Frame(
                cell(f["agent"]),
                tuple((cell(at), str(label)) for at, label in f["objects"]),
                f["action"],
                f["expert"],
                str(f["note"]),
            )
            for f in data["frames"]
        )
        if not frames:
            raise ValueError("not an episode: it has no frame")
        legend = tuple(Entry(*entry) for entry in data["legend"])
        return cls(str(data["title"]), np.asarray(data["walls"], bool), frames, legend, str(data["actor"]))


EPISODE_ACCURACY = Metric("episode_accuracy", "share of episodes right", lambda found: float(found["whole"].mean()))
STEP_ACCURACY = Metric("step_accuracy", "share of steps right", accuracy)


class Episodes(Task):
    """The base of imitation tasks: the net sees a world and names the expert's next action.

    inputs is (T, S, length, numbers seen), target (T, S, length) actions, -1 where a step does not count. A net
    predicts (T, S, length, actions) logits.

    Args:
        space: what can be combined.
        constituent_names: one per number that a decoding probe should find.
        samples: episodes per task, where nothing else is said.
        length: steps of an episode.
        actions: their names.
        rows: of the square grid.
        channels: kinds of things in an observation, the agent among them.
        agent_channel: which of them is the agent.

    Example:
        >>> world = rc.tasks.Preference(space)
        >>> isinstance(world, rc.tasks.Episodes), world.actions
        (True, ('nothing', 'up', 'right', 'down', 'left'))
    """

    metrics = (EPISODE_ACCURACY, STEP_ACCURACY)
    length: int = eqx.field(static=True)  # steps of an episode
    actions: tuple[str, ...] = eqx.field(static=True)
    rows: int = eqx.field(static=True)  # of the square grid
    channels: int = eqx.field(static=True)
    agent_channel: int = eqx.field(static=True)

    def _grid(self, rows: int, channels: int, agent_channel: int, actions: tuple[str, ...], length: int) -> None:
        """The fields that follow from the shape of the world."""
        self.rows, self.channels, self.agent_channel, self.actions = rows, channels, agent_channel, actions
        self.length = length

    @property
    def words(self) -> dict[str, int]:
        return {"target": len(self.actions)}

    # -- what a world must define -------------------------------------------------------------------------------
    def begin(
        self, key: jax.Array, combinations: jax.Array, samples: int
    ) -> tuple[Any, Any, Float[Array, "t c"], Float[Array, "t m"]]:
        """Stage and first state of T * samples episodes, and the code and the constituents of the T tasks."""
        raise TypeError(f"{type(self).__name__} must define begin")

    def things(self, stage: Any, state: Any) -> Int[Array, "b cells"]:
        """The channel of what stands in each cell, -1 for nothing. The agent is not a thing."""
        raise TypeError(f"{type(self).__name__} must define things")

    def expert(self, stage: Any, state: Any) -> Int[Array, " b"]:
        """The action to imitate."""
        raise TypeError(f"{type(self).__name__} must define expert")

    def move(self, stage: Any, state: Any, action: Int[Array, " b"]) -> Any:
        """The state after an action."""
        raise TypeError(f"{type(self).__name__} must define move")

    def title(self, combination: np.ndarray) -> str:
        """An episode's heading."""
        return f"{self.id}: {self.space.describe(combination)}"

    def labels(self) -> tuple[str, ...]:
        """What a picture shows for things of each channel; an empty label is not drawn."""
        raise TypeError(f"{type(self).__name__} must define labels")

    def legend(self, stage: Any, labels: list[str]) -> tuple[Entry, ...]:
        """What the labels that occur mean in this episode (a batch of one)."""
        return tuple(Entry(label, "") for label in labels)

    def note(self, stage: Any, before: Any, action: int, after: Any) -> str:
        """What came of an action (in a batch of one)."""
        return ""

    # -- what follows from it -----------------------------------------------------------------------------------
    def observe(self, things: Int[Array, "*b cells"], agent: Int[Array, "*b"]) -> Float[Array, "*b input"]:
        """Observations from what stands where: one-hot over channels, flat, scaled to mean square 1."""
        channel = jnp.arange(self.channels, dtype=things.dtype)
        here = agent[..., None] == jnp.arange(self.rows**2)
        seen = (things[..., None] == channel) | (here[..., None] & (channel == self.agent_channel))
        numbers = self.rows**2 * self.channels
        mean_square = ((things >= 0).sum(-1) + 1) / numbers  # the agent's channel is its own
        scale = jax.lax.rsqrt(mean_square + 1e-6)
        seen = seen.reshape(*agent.shape, numbers)
        return jnp.where(seen, scale[..., None], 0.0)

    def sample(self, key: jax.Array, combinations: jax.Array, samples: int | None = None) -> Batch:
        return _sample(self, key, combinations, samples or self.samples)

    def score(self, answer: Any, batch: Batch) -> Statistics:
        """Of each task: which of its episodes have every counted action right, and how many counted steps are."""
        counts = batch.target >= 0
        right = decided(answer, batch.target) == batch.target
        tasks = len(counts)
        return {
            "whole": (right | ~counts).all(-1),  # (T, S)
            "right": (right & counts).reshape(tasks, -1).sum(1),
            "counted": counts.reshape(tasks, -1).sum(1),
        }

    # -- for people ---------------------------------------------------------------------------------------------
    def episode(self, key: jax.Array, combination: Any, player: Callable[[Batch], jax.Array] | None = None) -> Episode:
        """The expert's path for one combination, or that of a player (`training.Player`) from the same start.

        Every frame also has what the expert would do there, so that one sees where a net goes wrong.
        """
        row = self.space.check(np.asarray(combination)[None])
        stage, state, code, _ = _begin(self, key, jnp.asarray(row))
        labels = self.labels()

        def objects(things: np.ndarray) -> tuple[tuple[Cell, str], ...]:
            filled = ((self._cell(cell), labels[thing]) for cell, thing in enumerate(things.tolist()) if thing >= 0)
            return tuple((cell, label) for cell, label in filled if label)

        frames, seen = [], []
        for step in range(self.length):
            things, observation, advice = _look(self, stage, state)
            action = int(advice[0])
            if player is not None:
                # A net may look back over an episode: it gets all rows, the future ones filled with the present.
                seen.append(observation[0])
                rows = jnp.stack(seen + seen[-1:] * (self.length - step - 1))[None, None]
                batch = Batch(jnp.asarray(row), code, rows)
                action = int(_predict(player, batch)[0, 0, step].argmax())
            after = _act(self, stage, state, jnp.array([action]))
            note = self.note(stage, state, action, after)
            done = (self.actions[action], self.actions[int(advice[0])], note)
            frames.append(Frame(self._cell(int(state.agent[0])), objects(np.asarray(things)[0]), *done))
            state = after
            if state.done[0]:
                break
        else:  # where the last action led
            things, _, _ = _look(self, stage, state)
            frames.append(Frame(self._cell(int(state.agent[0])), objects(np.asarray(things)[0]), None))
        last = np.asarray(things)[0].tolist()  # walls stand where they stood
        walls = np.array([thing >= 0 and not labels[thing] for thing in last]).reshape(self.rows, self.rows)
        known = {label for frame in frames for _, label in frame.objects}
        legend = self.legend(stage, [label for label in labels if label in known])
        return Episode(self.title(row[0]), walls, tuple(frames), legend, "expert" if player is None else "net")

    def _cell(self, cell: int) -> Cell:
        row, column = divmod(cell, self.rows)
        return row, column


def neighbors(free: np.ndarray) -> np.ndarray:
    """(cells, 4): where each move leads from each cell of a map (rows, columns) of free cells; walls leave it there."""
    rows, columns = free.shape
    reached = np.tile(np.arange(free.size)[:, None], (1, len(MOVES)))
    for row, column in zip(*np.nonzero(free), strict=True):
        for move, (down, right) in enumerate(_STEPS):
            r, c = row + down, column + right
            if 0 <= r < rows and 0 <= c < columns and free[r, c]:
                reached[row * columns + column, move] = r * columns + c
    return reached


@functools.partial(jax.jit, static_argnames="samples")  # operation by operation, value iteration takes seconds
def _sample(task: Episodes, key: jax.Array, combinations: jax.Array, samples: int) -> Batch:
    stage, state, code, constituents = task.begin(key, combinations, samples)

    def step(state: Any, _: None) -> tuple[Any, tuple[Array, Array, Array]]:
        action = task.expert(stage, state)
        shown = (task.things(stage, state), state.agent, jnp.where(state.done, -1, action))
        return task.move(stage, state, action), shown

    # Small integers are stacked over the steps, and the observations are made of them in one go.
    _, (things, agent, target) = jax.lax.scan(step, state, None, length=task.length)
    shape = (len(combinations), samples, task.length)
    inputs = task.observe(jnp.moveaxis(things, 0, 1), agent.T)  # (T * S, length, numbers seen)
    target = target.T.reshape(shape).astype(jnp.int32)
    return Batch(combinations, code, inputs.reshape(*shape, -1), target, constituents)


@jax.jit
def _begin(task: Episodes, key: jax.Array, combinations: jax.Array) -> tuple[Any, Any, jax.Array, jax.Array]:
    return task.begin(key, combinations, 1)


@jax.jit
def _look(task: Episodes, stage: Any, state: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
    """What stands where, what is seen of it, and what the expert does."""
    things = task.things(stage, state)
    return things, task.observe(things, state.agent), task.expert(stage, state)


@jax.jit
def _act(task: Episodes, stage: Any, state: Any, action: jax.Array) -> Any:
    return task.move(stage, state, action)


@eqx.filter_jit
def _predict(player: Callable[[Batch], jax.Array], batch: Batch) -> jax.Array:
    return player(batch)
