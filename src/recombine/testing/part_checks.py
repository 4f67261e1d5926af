"""Checks of spaces, supports, tasks and probes."""

from __future__ import annotations

import json
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..keys import STREAMS, key_for
from ..probes import CONTROLS, Readings
from ..spaces import Space, space_from_json
from ..supports import Support
from ..tasks import Batch, Task
from ..tasks import registry as task_registry
from ..training import Trained
from .net_checks import must as _must
from .study_checks import same_rows


def check_space(space: Space, n: int = 200) -> None:
    """Size, ranks, sampling on host and device, elements, and the way to JSON and back agree with each other.

    Args:
        space: what is checked.
        n: how many combinations are drawn.

    Example:
        >>> from recombine.testing import check_space
        >>> check_space(rc.Product(color=3, shape=4))  # silent: it passes
    """
    _must(isinstance(space.size, int) and space.size >= 1, f"size must be an int of at least 1, is {space.size!r}")
    drawn = {"sample": space.sample(0, n), "draw": np.asarray(space.draw(jax.random.key(0), n))}
    for name, rows in drawn.items():
        _must(rows.shape == (n, space.width), f"{name} gave shape {rows.shape}, not {(n, space.width)}")
        _must(np.issubdtype(rows.dtype, np.integer), f"{name} gave {rows.dtype}, not integers")
        _must(space.contains(rows).all(), f"{name} gave a row outside the space")
        ranks = space.rank(rows)
        _must(all(0 <= int(r) < space.size for r in ranks), "a rank lies outside 0..size-1")
        _must((space.unrank(ranks) == rows).all(), "unrank(rank(x)) is not x")
    _must((space.sample(0, n) == drawn["sample"]).all(), "sample is not a function of its key")
    ends = space.unrank([0, space.size - 1])
    _must([int(r) for r in space.rank(ends)] == [0, space.size - 1], "the first and last rank do not come back")
    if space.size <= 5000:
        rows = space.enumerate()
        _must(len(rows) == space.size and space.contains(rows).all(), "enumerate does not list the space")
        _must(len(np.unique(rows, axis=0)) == space.size, "enumerate lists a combination twice")
        _must((space.rank(rows) == np.arange(space.size)).all(), "enumerate is not in order of rank")
        if n >= 20 * space.size:
            _must(len(np.unique(drawn["sample"], axis=0)) == space.size, "sample misses combinations")
    _check_elements(space, drawn["sample"])
    again = space_from_json(json.loads(json.dumps(space.to_json())))
    _must(again.size == space.size and again.element_names == space.element_names, "JSON does not give the space back")
    _must(again == space and hash(again) == hash(space), "the space that JSON gives back is not equal to this one")


def _check_elements(space: Space, rows: np.ndarray) -> None:
    """Elements on host and device, and the abilities that say what combinations are made of."""
    hot, ids, sets = space.multihot(rows), space.elements(rows), space.element_sets(rows)
    _must((hot.sum(1) == (sets >= 0).sum(1)).all(), "multihot and element_sets disagree")
    for row, some, own in zip(hot, ids, sets, strict=True):
        inside = np.flatnonzero(row).tolist()
        _must(sorted(set(some[some >= 0].tolist())) == inside, "multihot and elements disagree")
        _must(own[own >= 0].tolist() == inside, "element_sets must be rising, each element once")
    device = jax.jit(lambda rows: (space.multihot(rows), space.elements(rows)))(jnp.asarray(rows))
    _must((np.asarray(device[0]) == hot).all(), "multihot differs between numpy and jax")
    _must((np.asarray(device[1]) == ids).all(), "elements differs between numpy and jax")
    n = len(space.element_names)
    _must(sorted(i for c in space.classes for i in c) == list(range(n)), "classes must partition")
    _must(space.occurs.shape == (n,) and space.occurs[ids[ids >= 0]].all(), "an element that occurs is said not to")
    _must(list(space.sizes) == sorted(set(space.sizes)), "sizes must rise")
    _must(np.isin((ids >= 0).sum(1), list(space.sizes)).all(), "a combination has a number of elements not in sizes")
    _must(space.fixed_size == (len(space.sizes) == 1), "fixed_size and sizes disagree")
    _must(len(space.columns) in (0, space.width), "columns must be one per column of a row, or none")
    _must(space.levels == tuple(map(len, space.columns.values())), "levels and columns disagree")


def check_support(support: Support, n: int = 200) -> None:
    """The two sides are disjoint, samples of a side lie on it, groups are part of the held-out side.

    Args:
        support: what is checked.
        n: how many combinations of each side are drawn.

    Example:
        >>> from recombine.testing import check_support
        >>> check_support(rc.supports.random(rc.Product(color=3, shape=4)))  # silent: it passes
    """
    certificate = support.certificate()
    _must(certificate.disjoint, "the sides overlap")
    json.dumps(certificate.to_json(), allow_nan=False)
    _must(str(certificate), "the certificate has no text")
    _must(support.train.size > 0 and support.held_out.size > 0, "a side is empty")
    _must(support.train.size + support.held_out.size <= support.space.size, "the sides are larger than the space")
    sides = (support.train, support.held_out)
    for side, other in (sides, sides[::-1]):
        drawn = jax.jit(lambda sampler, key: sampler(key, n))(side.sampler(), jax.random.key(1))
        for rows in (side.sample(1, n), np.asarray(drawn)):
            _must(side.contains(rows).all(), "a sample of a side does not lie on it")
            _must(not other.contains(rows).any(), "a sample of a side lies on the other")
        _must((side.sample(1, n) == side.sample(1, n)).all(), "sampling is not a function of its key")
    for name in support.groups:
        rows = support.group(name).sample(2, 20)
        _must(support.held_out.contains(rows).all(), f"group {name!r} is not part of the held-out side")


def check_task(task: Task, tasks: int = 16) -> None:
    """Shapes, purity, words, scores of right and of wrong answers, and streams that share no item.

    Args:
        task: what is checked.
        tasks: how many combinations are drawn.

    Example:
        >>> from recombine.testing import check_task
        >>> check_task(task)  # silent: it passes
    """
    for leaf in jax.tree.leaves(task):
        _must(eqx.is_array(leaf), f"every field must be an array or static; found {type(leaf).__name__}")
    rows, key = jnp.asarray(task.space.sample(0, tasks)), jax.random.key(0)
    batch = task.sample(key, rows)
    _must(jnp.array_equal(batch.combinations, rows), "a batch must hold the combinations that it was asked for")
    _check_arrays(task, batch, tasks)
    if batch.inputs is not None:
        for leaf in jax.tree.leaves(task.sample(key, rows, 3).inputs):
            _must(leaf.shape[1] == 3, f"asked for 3 samples per task, it made {leaf.shape[1]}")
    _check_purity(task, batch, key, rows)
    for name, control in task.controls.items():
        _must(control in task_registry, f"the control {name!r} is {control!r}, which is no registered task")
    if isinstance(batch.target, jax.Array):
        _check_scores(task, batch)
    seen: dict[bytes, str] = {}
    for stream in () if task.repeats else STREAMS:  # an item that repeats is kept apart by its combination alone
        for item in _items(task.sample(key_for(stream, 0), rows)):
            where = seen.setdefault(item.tobytes(), stream)
            _must(where == stream, f"streams {where!r} and {stream!r} share an item")


def _check_arrays(task: Task, batch: Batch, tasks: int) -> None:
    """Every array begins with the tasks, is finite, and has as many words as was said."""
    shapes = task.shapes()
    for name, part in batch._asdict().items():
        like = jax.tree.leaves(getattr(shapes, name))
        for leaf, one in zip(jax.tree.leaves(part), like, strict=True):
            wanted = (tasks, *one.shape[1:])
            _must(leaf.shape == wanted, f"{name} has shape {leaf.shape}, not {wanted}")
            if jnp.issubdtype(leaf.dtype, jnp.integer) and name in ("code", "target"):
                _must(name in task.words, f"{name} is whole numbers, and words does not say how many there are")
                _must((leaf < task.words[name]).all(), f"{name} has words beyond {task.words[name] - 1}")
            _must(jnp.isfinite(leaf).all(), f"{name} is not finite")
    if batch.constituents is not None:
        wanted = (tasks, len(task.constituent_names))
        _must(batch.constituents.shape == wanted, f"constituents has shape {batch.constituents.shape}, not {wanted}")


def _check_purity(task: Task, batch: Batch, key: jax.Array, rows: jax.Array) -> None:
    compiled, again = jax.jit(lambda t, k, r: t.sample(k, r))(task, key, rows), task.sample(key, rows)
    for name, part in batch._asdict().items():
        parts = [jax.tree.leaves(one) for one in (part, getattr(compiled, name), getattr(again, name))]
        for a, b, c in zip(*parts, strict=True):
            _must((a == c).all(), f"{name} is not a function of the key")
            _must(jnp.allclose(a, b, atol=1e-5), f"{name} differs when compiled")
    same = np.array_equal(_items(task.sample(jax.random.key(1), rows)), _items(batch))
    which = "the same" if same else "other"
    _must(same == task.repeats, f"another key gives {which} items, and repeats is {task.repeats}")


def _check_scores(task: Task, batch: Batch) -> None:
    """The target itself is the right answer; zeros, or other words, are a wrong one."""
    on_host = jax.tree.map(np.asarray, batch)
    right = on_host.target
    whole = np.issubdtype(right.dtype, np.integer)
    wrong = np.where(right >= 0, (right + 1) % max(task.words.get("target", 2), 2), right) if whole else 0 * right
    first, best = task.metrics[0], 1.0 if task.metrics[0].higher_is_better else 0.0
    found = {}
    for name, answer in (("right", right), ("wrong", wrong)):
        statistics = task.score(answer, on_host)
        for kind, values in statistics.items():
            _must(len(values) == len(right), f"the statistic {kind!r} has {len(values)} entries for {len(right)} items")
        for metric in task.metrics:
            metric(statistics)
        found[name] = first(statistics)
    _must(abs(found["right"] - best) < 1e-5, f"a perfect answer scores {found['right']}, not {best:g}")
    worse = found["wrong"] < found["right"] if first.higher_is_better else found["wrong"] > found["right"]
    _must(worse, "a wrong answer scores as well as a perfect one")
    predictions = [10 * jax.nn.one_hot(one, task.words["target"]) if whole else one for one in (right, wrong)]
    low, high = (float(task.loss(jnp.asarray(prediction), batch)) for prediction in predictions)
    _must(low <= high, "the loss prefers a wrong prediction")
    if whole:
        _must(jnp.allclose(task.reward(batch.target, batch), 1.0), "the right answer is not rewarded with 1")


def _items(batch: Batch) -> np.ndarray:
    """(items, numbers): an item is a sample, all that is seen of it; the code, where there are no inputs."""
    if batch.inputs is None:
        return np.concatenate([np.asarray(leaf).reshape(len(leaf), -1) for leaf in jax.tree.leaves(batch.code)], axis=1)
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(batch.inputs)]
    return np.concatenate([leaf.reshape(leaf.shape[0] * leaf.shape[1], -1) for leaf in leaves], axis=1)


def check_probe(probe: Callable[..., Readings], trained: Trained) -> None:
    """Tidy rows for every seed, every control of its kind beside every headline reading, and the same numbers twice.

    Which controls a probe must bring depends on what it reads, and it says which kind it is (`probes.CONTROLS`): one
    that decodes brings shuffled labels, an untrained net and the code; one that describes layers an untrained net and
    the code; one that judges drawings an untrained net, the true drawing and the superposition template.

    Args:
        probe: what is checked.
        trained: what it reads.

    Example:
        >>> from recombine.testing import check_probe
        >>> check_probe(rc.probes.tuning, drawn)  # silent: it passes
    """
    readings = probe(trained)
    _must(readings.rows, "no readings")
    needed = {"seed", "layer", "factor", "metric", "value"}
    for row in readings.rows:
        _must(needed <= set(row), f"a row lacks {needed - set(row)}")
        _must(isinstance(row["value"], float), f"{row['metric']} is {row['value']!r}, not a float")
    seeds = {row["seed"] for row in readings.rows}
    _must(seeds == {member.seed for member in trained.healthy}, f"readings are for seeds {seeds}")
    places = [(row["seed"], row["layer"], row["factor"], row["metric"]) for row in readings.rows]
    _must(len(set(places)) == len(places), "two rows are of the same seed, layer, factor and metric")
    headlines = [place[:3] for place in places if place[3] == readings.headline]
    _must(headlines, f"the headline {readings.headline!r} has no row")
    _must(readings.kind in CONTROLS, f"{readings.kind!r} is no kind of probe; there are {', '.join(CONTROLS)}")
    for control in CONTROLS[readings.kind]:
        for place in headlines:
            metric = f"{readings.headline}_{control}"
            _must((*place, metric) in places, f"the control {metric!r} is missing at seed, layer, factor {place}")
    _must(str(readings), "the readings have no text")
    _must(same_rows(readings.rows, probe(trained).rows), "the probe gives other numbers the second time")
