"""check_task and check_net find what is wrong: planted flaws, one at a time, each of them named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine import Subsets
from recombine.nets import MLP, Blueprint, Net, Step, Wrapper
from recombine.tasks import ANSWERS, Batch, Hyperteacher, Metric, Task
from recombine.testing import check_net, check_task

# -- tasks --------------------------------------------------------------------------------------------------------


class Sum(Task):
    """Numbers to learn from modules and an input: a world without a flaw. What is planted overrides some of it."""

    id = "sum"

    def __init__(self):
        self.space, self.constituent_names, self.samples = Subsets(5, 2), tuple("abcde"), 4

    def sample(self, key, combinations, samples=None):
        code = self.space.multihot(combinations).astype(jnp.float32)
        inputs = jax.random.normal(key, (len(code), samples or self.samples, 5))
        return Batch(combinations, code, inputs, (inputs * code[:, None]).sum(-1, keepdims=True), code)


class Parity(Sum):
    """The same in whole numbers."""

    metrics = ANSWERS

    @property
    def words(self):
        return {"target": 3}

    def sample(self, key, combinations, samples=None):
        batch = super().sample(key, combinations, samples)
        return batch._replace(target=(batch.target[..., 0] > 0).astype(jnp.int32))


def changed(change, of: type[Sum] = Sum) -> Task:
    """The world with batches that are changed after they were made."""

    class Changed(of):
        def sample(self, key, combinations, samples=None):
            return change(super().sample(key, combinations, samples), key)

    return Changed()


def with_own(of: type[Sum] = Sum, **own) -> Task:
    """The world with some of its names replaced."""
    return type("Changed", (of,), own)()


class Counts(Sum):
    """Draws from a generator of its own, so that the key does not decide."""

    calls: ClassVar[list[int]] = []

    def sample(self, key, combinations, samples=None):
        self.calls.append(1)
        return super().sample(jax.random.fold_in(key, len(self.calls)), combinations, samples)


class Loose(Sum):
    """Has a field that is neither an array nor static."""

    slope: float

    def __init__(self):
        super().__init__()
        self.slope = 1.0


def wrong_way(task, prediction, batch):
    return -jnp.mean((prediction - batch.target) ** 2)


ALWAYS_HALF = Metric("half", "half", lambda statistics: 0.5)
ALWAYS_ONE = Metric("one", "one", lambda statistics: 1.0)
FLAWED_TASKS: dict[str, tuple[Callable[[], Task], str]] = {
    "a field that is no array": (Loose, "array or static; found float"),
    "other combinations": (lambda: changed(lambda b, k: b._replace(combinations=b.combinations[::-1])), "combinations"),
    "fewer samples than asked for": (lambda: changed(lambda b, k: b._replace(inputs=b.inputs[:, :2])), "3 .* made 2"),
    "a NaN": (lambda: changed(lambda b, k: b._replace(code=b.code / 0 * 0)), "code is not finite"),
    "a code without tasks": (lambda: changed(lambda b, k: b._replace(code=b.code[:1])), r"code .*\(1, 5\).*\(16, 5\)"),
    "constituents without names": (
        lambda: changed(lambda b, k: b._replace(constituents=b.code[:, :2])),
        r"constituents .*\(16, 2\).*\(16, 5\)",
    ),
    "words of unknown number": (lambda: with_own(Parity, words={}), "target is whole numbers, and words"),
    "a word too many": (lambda: with_own(Parity, words={"target": 1}), "target has words beyond 0"),
    "chance without a key": (Counts, "not a function of the key"),
    "the same items for every key": (
        lambda: changed(lambda b, k: b._replace(inputs=0 * b.inputs, target=b.inputs[..., :1])),
        "the same items, and repeats is False",
    ),
    "items that repeat by its word only": (lambda: with_own(repeats=True), "other items, and repeats is True"),
    "an unknown control world": (lambda: with_own(controls={"lookup": "lookup-v9"}), "'lookup' is 'lookup-v9'"),
    "a perfect answer that is not": (lambda: with_own(metrics=(ALWAYS_HALF,)), "perfect answer scores 0.5, not 1"),
    "a metric that everything satisfies": (lambda: with_own(metrics=(ALWAYS_ONE,)), "wrong answer scores as well"),
    "statistics that are not by item": (
        lambda: with_own(score=lambda task, answer, batch: {"all": np.ones(3)}, metrics=(ALWAYS_ONE,)),
        "'all' has 3 entries for 16 items",
    ),
    "a loss the wrong way around": (lambda: with_own(loss=wrong_way), "loss prefers a wrong prediction"),
    "a reward of nothing": (
        lambda: with_own(Parity, reward=lambda task, answer, batch: jnp.zeros(16)),
        "right answer is not rewarded",
    ),
}


@pytest.mark.parametrize("made", [Sum, Parity])
def test_a_task_without_a_flaw_passes(made):
    check_task(made())


@pytest.mark.parametrize("flaw", FLAWED_TASKS)
def test_a_flaw_of_a_task_is_named(flaw):
    make, named = FLAWED_TASKS[flaw]
    with pytest.raises(AssertionError, match=named):
        check_task(make())


# -- nets ---------------------------------------------------------------------------------------------------------

TEACHER = Hyperteacher(Subsets(6, 2), samples=2)


@dataclass(frozen=True)
class Around(Blueprint):
    """A small net within one that has a flaw."""

    name: ClassVar[str] = "around"
    made: type[Wrapper] = Wrapper

    def layers(self):
        return MLP(8, 1).layers()

    def build(self, task, key, precision="float32", start=None):
        return self.made(MLP(8, 1).build(task, key, precision))

    def to_json(self):
        return {"net": self.name}


@dataclass(frozen=True)
class Chance(Around):
    """Weights that are drawn anew each time."""

    calls: ClassVar[list[int]] = []

    def build(self, task, key, precision="float32", start=None):
        self.calls.append(1)
        return super().build(task, jax.random.fold_in(key, len(self.calls)), precision)


@dataclass(frozen=True)
class Fixed(Around):
    """The same weights whatever the key."""

    def build(self, task, key, precision="float32", start=None):
        return super().build(task, jax.random.key(7), precision)


@dataclass(frozen=True)
class Secret(Around):
    """Hyperparameters that cannot be written down."""

    def to_json(self):
        return {"net": self.name, "made": self.made}


class Peeks(Wrapper):
    def answer(self, batch, key=None, how=None):
        said, trace = self.net(batch)
        return said + 0 * batch.target.sum(), trace


class Mislabels(Wrapper):
    def answer(self, batch, key=None, how=None):
        said, trace = self.net(batch)
        return said, {f"{name}s": value for name, value in trace.items()}


class Overflows(Wrapper):
    def answer(self, batch, key=None, how=None):
        said, trace = self.net(batch)
        return said, trace | {"output": trace["output"] / 0}


class Averages(Wrapper):
    def answer(self, batch, key=None, how=None):
        said, trace = self.net(batch)
        return said.mean(1, keepdims=True), trace


class Pools(Wrapper):
    def answer(self, batch, key=None, how=None):
        said, trace = self.net(batch)
        return said, trace | {"output": trace["output"].mean(0)}


class Ignores(Wrapper):
    """Trains on nothing but its last bias."""

    def losses(self, task, batch, moment, memory):
        return Step({"loss": (self.net.biases[-1] ** 2 + self.net.biases[-1]).sum()})


class SaysTwice(Wrapper):
    def losses(self, task, batch, moment, memory):
        step = self.net.losses(task, batch, moment, memory)
        return step._replace(notes=step.parts)


class SaysNothing(Wrapper):
    def losses(self, task, batch, moment, memory):
        return self.net.losses(task, batch, moment, memory)._replace(notes={"share": jnp.zeros(()) / 0})


class Grows(Wrapper):
    def memory(self, task, batch):
        return jnp.zeros((len(batch.code), 1))

    def losses(self, task, batch, moment, memory):
        step = self.net.losses(task, batch, moment, None)
        return step._replace(memory=jnp.concatenate([memory, memory], axis=1))


class Shared(Wrapper):
    def memory(self, task, batch):
        return {"seen": jnp.zeros(7)}


class Listens(Wrapper):
    """Can be asked in ways that no program can be kept for."""

    @property
    def How(self):
        return Mutable


@dataclass
class Mutable:
    beam: int = 1


FLAWED_NETS = {
    "hyperparameters that are no data": (Secret(), TypeError, "JSON"),
    "weights by chance": (Chance(), AssertionError, "build is not a function of the key"),
    "weights without chance": (Fixed(), AssertionError, "another key gives the same weights"),
    "reads the target when asked": (Around(Peeks), AssertionError, "without target and constituents"),
    "a trace by other names": (Around(Mislabels), AssertionError, "trace has .*'outputs'.* announced"),
    "a trace that is not finite": (Around(Overflows), AssertionError, "output is not finite"),
    "a trace without tasks": (Around(Pools), AssertionError, r"output has shape \(2, 16\).* 64 tasks"),
    "answers of another shape": (Around(Averages), AssertionError, r"answers .*\(64, 1, 16\).*\(64, 2, 16\)"),
    "weights that nothing teaches": (Around(Ignores), AssertionError, r"no gradient reaches net\.biases\.0"),
    "a part that is a note too": (Around(SaysTwice), AssertionError, "notes by other names"),
    "a note that is not finite": (Around(SaysNothing), AssertionError, "'share' must be a finite scalar, is nan"),
    "a memory that grows": (Around(Grows), AssertionError, r"changes its shape.*\(64, 1\).*\(64, 2\)"),
    "a memory of no task": (Around(Shared), AssertionError, r"memory\['seen'\] .*\(7,\).* 64 tasks"),
    "ways to ask that are not hashable": (Around(Listens), TypeError, "unhashable type: 'Mutable'"),
}


def test_a_net_without_a_flaw_passes():
    check_net(Around(), TEACHER)


@pytest.mark.parametrize("flaw", FLAWED_NETS)
def test_a_flaw_of_a_net_is_named(flaw):
    blueprint, kind, named = FLAWED_NETS[flaw]
    with pytest.raises(kind, match=named):
        check_net(blueprint, TEACHER)


def test_what_is_frozen_needs_no_gradient_and_dropout_does_not_make_answers_differ():
    class Frozen(Wrapper):
        dropout: eqx.nn.Dropout = eqx.nn.Dropout(0.5)

        def __call__(self, batch, key=None):
            said, trace = self.net(batch)
            return self.dropout(said, key=key), trace

        def losses(self, task, batch, moment, memory):
            return Net.losses(self, task, batch, moment, memory)

        def answer(self, batch, key=None, how=None):
            return self(batch, key)

        def group(self, path, leaf):
            return "frozen" if path == "net.biases.0" else super().group(path, leaf)

    check_net(Around(Frozen), TEACHER)
