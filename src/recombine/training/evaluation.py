"""evaluate: a net is asked about combinations, and each answer is scored. The one evaluator there is.

Scores, history, maps of combinations and probes all go through it. Items are made and answered in blocks of a constant
256 by compiled programs, whatever their number (the last block is padded), and scored on the host, item by item.
Another support, another number of items or another seed compiles nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError, require_int, unknown
from ..keys import name_to_int
from ..machine.precision import one_thread
from ..nets import Moment, Net, Parts, Step, Trace, cut, how_to_ask, join
from ..supports import Side
from ..tasks import Batch, Metric, Task, View
from ..tasks.metrics import EXACT, NATS, Statistics
from .pooled_layers import pooled

BLOCK = 256  # items in one call of the program; constant, since what is sampled depends on it
ANSWER = name_to_int("answer")  # what a net draws when it is asked
WAYS = ("answer", "likelihood", "forced")
#: what can be kept of each item beside its statistics
KEEPABLE = ("answer", *Batch._fields)
EVERY_LAYER = "*"  # among the layers that are asked for: all that the trace has


@dataclass(frozen=True)
class Items:
    """What was asked, item by item: statistics, and what was kept. N = combinations x draws, draws vary fastest.

    Args:
        metrics: of the task; the first decides.
        combinations: (combinations, K) that were asked about.
        draws: items of each.
        statistics: (N, ...) by name, which metrics reduce.
        finite: (N,) whether the answer had no NaN and no infinity.
        trace: (N, ...) by name, the layers that were asked for.
        kept: (N, ...) by name: answers, inputs.

    Example:
        >>> asked = rc.evaluate(trained.nets[0], task, space.enumerate(), 2, key=jax.random.key(0))
        >>> asked.finite.shape, asked.by_combination("r2").shape
        ((20,), (10,))
    """

    metrics: tuple[Metric, ...]
    combinations: np.ndarray
    draws: int
    statistics: Statistics
    finite: np.ndarray
    trace: dict[str, np.ndarray]
    kept: dict[str, Any]

    def scores(self) -> dict[str, float]:
        """Every metric over all items; undefined where an answer was not finite."""
        return self._reduced(slice(None))

    def where(self, combinations: np.ndarray) -> Items:
        """The items of some of the combinations: a mask (combinations,) of booleans."""
        chosen = np.asarray(combinations, bool)
        which = np.repeat(chosen, self.draws)
        parts = (self.statistics, self.finite, self.trace, self.kept)
        return Items(
            self.metrics, self.combinations[chosen], self.draws, *jax.tree.map(lambda part: part[which], parts)
        )

    def by_combination(self, metric: str) -> np.ndarray:
        """(combinations,): one metric over the draws of each combination."""
        found = next((one for one in self.metrics if one.name == metric), None)
        if found is None:
            raise unknown("metric", metric, [one.name for one in self.metrics])
        starts = range(0, len(self.finite), self.draws)
        return np.array([self._reduced(slice(at, at + self.draws), (found,))[metric] for at in starts])

    def _reduced(self, where: slice, metrics: Sequence[Metric] | None = None) -> dict[str, float]:
        group = {name: values[where] for name, values in self.statistics.items()}
        bad = not self.finite[where].all()
        return {one.name: float("nan") if bad else one(group) for one in metrics or self.metrics}


def evaluate(
    net: Net,
    task: Task,
    combinations: Any,
    draws: int = 1,
    *,
    key: jax.Array,
    how: Any = None,
    by: str = "answer",
    samples: int | None = None,
    trace: Sequence[str] = (),
    widest: int | None = None,
    keep: Sequence[str] = (),
) -> Items:
    """Asks a net about combinations, and scores what it says, item by item.

    Args:
        net: a net; dropout and the like are off.
        task: what makes the items and scores them. Its `given(support)` is the caller's business.
        combinations: (n, K) rows; each gets `draws` items.
        draws: items per combination.
        key: of the items and of what the net draws.
        how: how to ask: a dictionary of fields of the net's `How`, or one of these.
        by: "answer"; "likelihood": nats of the target instead of an answer; or "forced": exact match by one pass that
            is shown the target, for nets that write word by word, whose greedy answers are right where all its most
            probable words are.
        samples: of each item, if not what the task says.
        trace: layers whose activations are kept; "*" is every layer.
        widest: keep layers pooled to (N, at most so many numbers); see `pooled_layers`. As they are, if not given.
        keep: what else is kept: "answer", or fields of the batch such as "constituents".

    Example:
        >>> items = rc.evaluate(trained.nets[0], task, space.enumerate(), draws=2, key=jax.random.key(0))
        >>> list(items.scores()), items.by_combination("r2").shape
        (['r2', 'r2_pooled', 'undefined'], (10,))
    """
    _require_askable(net, by, trace, keep)
    rows = task.space.check(combinations).astype(task.space.dtype)
    if samples is not None:
        require_int("samples", samples, at_least=1)
    if widest is not None:
        require_int("widest", widest, at_least=1)
    total = len(rows) * require_int("draws", draws, at_least=1)
    if not total:
        raise UserError("there are no combinations to ask about; give at least one")
    how = how_to_ask(net, how)
    parts, blocks = cut(net), []
    for own, batch in item_blocks(task, rows, draws, key, samples):
        layers: Any = {}
        if by == "likelihood":
            answer = _likelihood_program(how)(parts, task, batch, own)
        elif by == "forced":
            answer = _forced_program()(parts, batch, own)
        else:
            answer, layers = _answer_program(how, tuple(trace), widest)(parts, batch.blind(), own)
        blocks.append(_scored(task, by, keep, *jax.tree.map(np.asarray, (answer, batch, layers))))
    statistics, finite, layers, kept = jax.tree.map(lambda *values: np.concatenate(values)[:total], *blocks)
    metrics = {"likelihood": (NATS,), "forced": (EXACT,)}.get(by, task.metrics)
    return Items(metrics, rows, draws, statistics, finite, layers, kept)


def own_nats(net: Net, items: Items, task: Task, *, key: jax.Array) -> np.ndarray:
    """The log-likelihood of a net's own answers in nats, (N,), for nets with an exact likelihood.

    Args:
        net: that answered.
        items: what it was asked, with kept=("answer",).
        task: that made the items.
        key: that with which the items were asked.

    Example:
        >>> scan = rc.tasks.Scan(rc.tasks.scan_commands(sentences=1))
        >>> net = rc.nets.LSTM(width=4).build(scan, jax.random.key(0), "float32")
        >>> few = rc.evaluate(net, scan, scan.space.sample(0, 2), 1, key=jax.random.key(1), keep=("answer",))
        >>> nats = rc.training.own_nats(net, few, scan, key=jax.random.key(1))
        >>> nats.shape, bool((nats <= 0).all())
        ((2,), True)
    """
    answers, found = items.kept["answer"], []
    for own, batch in item_blocks(task, items.combinations, items.draws, key):
        which = np.arange(len(found) * BLOCK, (len(found) + 1) * BLOCK) % len(answers)
        said = batch._replace(target=jnp.asarray(answers[which]))
        found.append(np.asarray(_likelihood_program(how_to_ask(net, None))(cut(net), task, said, own)))
    return np.concatenate(found)[: len(answers)]


def _require_askable(net: Net, by: str, trace: Sequence[str], keep: Sequence[str]) -> None:
    if by not in WAYS:
        raise unknown("way to evaluate", by, WAYS)
    if by == "likelihood" and net.likelihood_is is None:
        raise UserError(f"{type(net).__name__} has no likelihood; by='answer' asks for its answers")
    if by == "forced" and not net.forced_tells_exact:
        raise UserError(f"{type(net).__name__} does not write word by word; by='answer' asks for its answers")
    if by != "answer" and trace:
        raise UserError(f"trace={tuple(trace)}: by={by!r} has no trace; by='answer' has one")
    for name in keep:
        if name not in KEEPABLE:
            raise unknown("part of an item", name, KEEPABLE)


def ask(net: Net, batch: Batch, key: jax.Array | None = None, how: Any = None) -> tuple[Any, Trace]:
    """What a net answers, and the trace of it: the one place that says how a net is asked, for compiled programs.

    Args:
        net: that is asked.
        batch: what it is shown; target and constituents are taken out first.
        key: of nets that draw.
        how: settings of the answer; the net's own default if None.

    Example:
        >>> batch = rc.tasks.draw_batch(task, support.train.sampler(), jax.random.key(0), tasks=3, samples=1)
        >>> answer, trace = rc.training.ask(trained.nets[0], batch)
        >>> answer.shape == batch.target.shape, "layer1/post" in trace
        (True, True)
    """
    try:
        return evaluation_mode(net).answer(batch.blind(), key, how_to_ask(net, how))
    except (AttributeError, TypeError) as problem:
        if "NoneType" not in str(problem):
            raise
        raise UserError(
            f"{type(net).__name__}.answer reads what it is not given when it is asked ({problem}); "
            "it must do without batch.target and batch.constituents"
        ) from problem


class Player(eqx.Module):
    """A net that plays episodes: a batch -> its answer, asked as `evaluate` asks it.

    Args:
        net: that plays.

    Example:
        >>> batch = rc.tasks.draw_batch(task, support.train.sampler(), jax.random.key(0), tasks=3, samples=1)
        >>> rc.training.Player(trained.nets[0])(batch).shape == batch.target.shape
        True
    """

    net: Net

    def __call__(self, batch: Batch) -> Any:
        return ask(self.net, batch, jax.random.key(0))[0]


def evaluation_mode(net: Net) -> Net:
    """The net with dropout and the like switched off."""

    def has_mode(node: Any) -> bool:
        return hasattr(node, "inference")

    nodes = jax.tree.leaves(net, is_leaf=has_mode)
    return eqx.nn.inference_mode(net) if any(map(has_mode, nodes)) else net


def block_key(key: jax.Array, block: int) -> jax.Array:
    return jax.random.fold_in(key, block)


def item_blocks(
    task: Task, rows: np.ndarray, draws: int, key: jax.Array, samples: int | None = None
) -> Iterator[tuple[jax.Array, Batch]]:
    """The items of combinations in blocks of a constant size, each with its key; the last one begins again.

    Args:
        task: that makes the items.
        rows: (combinations, K) that are asked about.
        draws: items of each.
        key: what is drawn follows from it.
        samples: inputs per item; None: what the task says.

    Example:
        >>> blocks = list(rc.training.item_blocks(task, space.enumerate(), 2, jax.random.key(0)))
        >>> len(blocks), len(blocks[0][1].target)
        (1, 256)
    """
    total = len(rows) * draws
    for block in range(-(-total // BLOCK)):
        which = np.arange(block * BLOCK, (block + 1) * BLOCK) % total // draws
        own = block_key(key, block)
        yield own, _items(task, jnp.asarray(rows[which]), own, samples)


def _items(task: Task, rows: jax.Array, key: jax.Array, samples: int | None) -> Batch:
    """A block of items. A view is made of the items of the task within, so that it does not compile these again."""
    if isinstance(task, View) and type(task).sample is View.sample:
        return _view_program()(task, _items(task.of, rows, key, samples))
    return _items_program(samples)(task, rows, key)


# Items and answers are made by programs of their own: another net compiles no items, and layers asked for beside the
# answers, or another world with items of the same shape, compile no more than they must.


@functools.cache
def _items_program(samples: int | None) -> Callable[..., Batch]:
    def run(task: Task, rows: jax.Array, key: jax.Array) -> Batch:
        _, what = jax.random.split(key)  # the first half drew the combinations
        return task.sample(what, rows, samples)

    return jax.jit(run, compiler_options=one_thread())


@functools.cache
def _view_program() -> Callable[..., Batch]:
    return jax.jit(lambda view, batch: view.seen(batch), compiler_options=one_thread())


@functools.cache
def _answer_program(how: Any, trace: tuple[str, ...], widest: int | None) -> Callable[..., tuple[Any, Trace]]:
    def run(parts: Parts, batch: Batch, key: jax.Array) -> tuple[Any, Trace]:
        answer, layers = ask(join(parts), batch, _own_key(key), how)
        names = tuple(layers) if EVERY_LAYER in trace else trace
        for name in names:
            if name not in layers:
                raise unknown("layer", name, layers)
        return answer, {name: layers[name] if widest is None else pooled(layers[name], widest) for name in names}

    return jax.jit(run, compiler_options=one_thread())


@functools.cache
def _likelihood_program(how: Any) -> Callable[..., jax.Array]:
    def run(parts: Parts, task: Task, batch: Batch, key: jax.Array) -> jax.Array:
        return evaluation_mode(join(parts)).likelihood(task, batch, _own_key(key), how)

    return jax.jit(run, compiler_options=one_thread())


@functools.cache
def _forced_program() -> Callable[..., jax.Array]:
    def run(parts: Parts, batch: Batch, key: jax.Array) -> jax.Array:
        return evaluation_mode(join(parts))(batch._replace(constituents=None), _own_key(key))[0]

    return jax.jit(run, compiler_options=one_thread())


def _own_key(key: jax.Array) -> jax.Array:
    """Of what a net draws when it is asked about a block."""
    _, what = jax.random.split(key)
    return jax.random.fold_in(what, ANSWER)


def _scored(task: Task, by: str, keep: Sequence[str], answer: Any, batch: Batch, layers: Trace) -> tuple:
    """Statistics of a block, whether each answer is finite, its layers, and what is kept of it."""
    kept = {name: answer if name == "answer" else getattr(batch, name) for name in keep}
    finite = np.ones(BLOCK, bool)
    for leaf in jax.tree.leaves(answer):
        if jnp.issubdtype(leaf.dtype, jnp.inexact):  # bfloat16 too, which NumPy does not take for a kind of float
            finite &= np.isfinite(leaf.astype(np.float32)).reshape(BLOCK, -1).all(1)
    if by == "likelihood":
        return {"nats": answer}, finite, layers, kept
    with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is known by now
        return task.score(answer, batch) if batch.target is not None else {}, finite, layers, kept


# -- streams ----------------------------------------------------------------------------------------------------------


def draw_combinations(side: Side, key: jax.Array, n: int) -> np.ndarray:
    """Combinations of one side of a split, for `evaluate` with the same key.

    Args:
        side: `support.train` or `support.held_out`.
        key: what is drawn follows from it.
        n: how many.

    Example:
        >>> rows = rc.training.draw_combinations(support.held_out, jax.random.key(0), 5)
        >>> rows.shape, support.held_out.contains(rows).all()
        ((5, 2), np.True_)
    """
    sampler = side.sampler()
    blocks = [_draw_program()(sampler, block_key(key, block)) for block in range(-(-n // BLOCK))]
    return np.concatenate([np.asarray(rows) for rows in blocks])[:n]


@functools.cache
def _draw_program() -> Callable[..., jax.Array]:
    def run(sampler: Any, key: jax.Array) -> jax.Array:
        which, _ = jax.random.split(key)
        return sampler(which, BLOCK)

    return jax.jit(run, compiler_options=one_thread())


def losses_of(net: Net, task: Task, side: Side, key: jax.Array, done: float = 1.0) -> dict[str, float]:
    """Parts of the loss, their "total" and notes, on one block of fresh items, in evaluation mode, on fresh memory.

    done: share of the training that is behind, for nets whose loss depends on it.
    """
    rows = draw_combinations(side, key, BLOCK)
    found = _losses_program()(cut(net), task, jnp.asarray(rows), block_key(key, 0), jnp.asarray(done, jnp.float32))
    return {name: float(value) for name, value in found.items()}


@functools.cache
def _losses_program() -> Callable[..., dict[str, jax.Array]]:
    def run(parts: Parts, task: Task, rows: jax.Array, key: jax.Array, done: jax.Array) -> dict[str, jax.Array]:
        _, what = jax.random.split(key)
        batch, net = task.sample(what, rows), evaluation_mode(join(parts))
        moment = Moment(jax.random.fold_in(what, ANSWER), done)
        said: Step = net.losses(task, batch, moment, net.memory(task, batch))
        return {**said.parts, **said.notes, "total": sum(said.parts.values(), start=jnp.zeros(()))}

    return jax.jit(run, compiler_options=one_thread())
