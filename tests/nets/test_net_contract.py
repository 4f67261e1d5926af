"""The contract of nets: what they refuse, how they are asked, what wraps them, and that other hardware can run them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_nets import DRAWING, READING, SMALL, WRITING

from recombine import Product, Subsets, UserError, nets
from recombine.nets import MLP, Hypernetwork, Moment, Net, Sizes, Step, Transformer, Wrapper, cut, how_to_ask, sizes_of
from recombine.tasks import ANSWERS, Batch, Bumps, Goal, Hyperteacher, Preference, Task
from recombine.testing import check_net, check_task
from recombine.training import ask

KEY = jax.random.key(0)
READERS = {"mlp": MLP(8, 1), "transformer": Transformer(8, 1, 2, 8), "hypernetwork": Hypernetwork(8)}


# -- sizes --------------------------------------------------------------------------------------------------------


class Spelled(Task):
    """Words in and a word out; `change` makes batches of it that some nets cannot read."""

    id = "spelled-v1"
    metrics = ANSWERS
    said: tuple[str, ...] = eqx.field(static=True)
    change: Callable[[Batch], Batch] = eqx.field(static=True)

    def __init__(self, said=("code", "target"), change=lambda batch: batch):
        self.space, self.constituent_names, self.samples = Product(a=4, b=3), ("a", "b"), 2
        self.said, self.change = said, change

    @property
    def words(self):
        return {name: number for name, number in (("code", 4), ("target", 5)) if name in self.said}

    def sample(self, key, combinations, samples=None):
        code = combinations.astype(jnp.int32)
        inputs = jax.random.normal(key, (len(code), samples or self.samples, 6))
        target = jnp.where(inputs[..., 0] > 0, code.sum(1, keepdims=True) % 5, -1)
        return self.change(Batch(combinations, code, inputs, target, code.astype(jnp.float32)))


@pytest.mark.parametrize("name", READERS)
def test_nets_serve_a_task_of_words(name):
    check_task(Spelled())
    check_net(READERS[name], Spelled())


def test_sizes_are_those_of_the_batches():
    cases = {
        Sizes(6, None, 16, 7): Hyperteacher(Subsets(6, 2), outputs=7),
        Sizes(12, 18, 16, 16): Hyperteacher(Subsets(6, 2), encoding="tokens"),
        Sizes(6, None, 882, 5): Preference(Subsets(6, 2)),
        Sizes(10, 15, 7 * 7 * 4, 6): Goal(Product(quadrant=4, interaction=2, maze=2, object=2)),
        Sizes(9, None, 0, 25): Bumps(Product(x=5, y=4)),
        Sizes(2, 4, 6, 5): Spelled(),
    }
    for wanted, task in cases.items():
        assert sizes_of(MLP(), task) == wanted


UNREADABLE = {
    "target without words": (Spelled(("code",)), "target of spelled-v1 is whole numbers.*words"),
    "code without words": (Spelled(("target",)), "code of spelled-v1 is whole numbers.*words"),
    "a pytree as code": (Spelled(change=lambda b: b._replace(code={"a": b.code, "b": b.code})), "one array.*2 of them"),
    "no code": (Spelled(change=lambda b: b._replace(code=None)), "one array as code.*none"),
    "a code of rows": (Spelled(change=lambda b: b._replace(code=b.code[:, None])), r"codes \(T, C\).*3 axes"),
    "a pytree as inputs": (Spelled(change=lambda b: b._replace(inputs=(b.inputs,) * 3)), "rows of numbers.*3 of them"),
    "no target": (Spelled(change=lambda b: b._replace(target=None)), "one array as target.*none"),
    "a pytree as target": (Spelled(change=lambda b: b._replace(target=[b.target] * 2)), "one array as target.*2 of"),
}


@pytest.mark.parametrize("net", READERS)
@pytest.mark.parametrize("what", UNREADABLE)
def test_a_task_that_rows_cannot_be_read_of_is_refused_with_what_it_has(what, net):
    task, named = UNREADABLE[what]
    with pytest.raises(UserError, match=named):
        READERS[net].build(task, KEY)


# -- how a net is asked -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Beam:
    width: int = 4
    temperature: float = 1.0


class Rich(Net):
    """A net that says for itself all that a net can."""

    How = Beam
    likelihood_is = "bound"
    weights: jax.Array
    base: jax.Array

    def __init__(self):
        self.weights, self.base = jnp.arange(6.0).reshape(2, 3), jnp.ones(3)

    def __call__(self, batch, key=None):
        return batch.code @ self.weights * self.base, {"output": batch.code @ self.weights}

    def losses(self, task, batch, moment, memory):
        return Step({"own": self.weights.sum() + moment.done}, {"note": moment.done}, memory + 1)

    def answer(self, batch, key=None, how=None):
        return self(batch)[0] + how.width, {"layer": batch.code}

    def likelihood(self, task, batch, key, how=None):
        return -jnp.ones(len(batch.code)) * how.temperature

    def memory(self, task, batch):
        return jnp.zeros(len(batch.code))

    def group(self, path, leaf):
        return {"weights": "slow", "base": "frozen"}[path]


BATCH = Batch(None, jnp.eye(2), target=jnp.ones((2, 3)), constituents=jnp.eye(2))


def test_how_is_the_dataclass_of_the_net():
    assert how_to_ask(Rich(), None) == how_to_ask(Rich(), {}) == Beam()
    assert how_to_ask(Rich(), {"width": 2}) == Beam(2) == how_to_ask(Rich(), Beam(2))
    assert ask(Rich(), BATCH, None, {"width": 9})[0][0, 0] == 9


def test_an_unknown_way_to_ask_is_refused_with_the_near_one():
    with pytest.raises(UserError, match="Rich.*'temperatur'; did you mean 'temperature'"):
        how_to_ask(Rich(), {"temperatur": 0.5})
    plain = MLP(4, 0).build(Hyperteacher(Subsets(4, 2)), KEY)
    with pytest.raises(UserError, match="MLPNet.*'width'"):
        how_to_ask(plain, {"width": 2})


@dataclass(frozen=True)
class Sampler:
    steps: int = 10


@pytest.mark.parametrize("how", [Sampler(7), 3, "beam"], ids=repr)
def test_a_way_to_ask_another_net_is_refused_with_what_this_one_takes(how):
    with pytest.raises(UserError) as refused:
        how_to_ask(Rich(), how)
    assert repr(how) in str(refused.value) and "Rich" in str(refused.value)
    assert "Beam(width, temperature)" in str(refused.value)


def test_a_net_is_asked_blind_and_with_dropout_switched_off():
    class Curious(Net):
        dropout: eqx.nn.Dropout

        def __call__(self, batch, key=None):
            assert batch.target is None and batch.constituents is None
            return self.dropout(batch.code, key=key), {}

    for seed in (0, 1):
        said, _ = ask(Curious(eqx.nn.Dropout(0.5)), BATCH, jax.random.key(seed))
        np.testing.assert_array_equal(said, BATCH.code)
    blind = BATCH.blind()
    assert blind.target is None and blind.constituents is None and blind.code is BATCH.code


# -- a net around another -----------------------------------------------------------------------------------------


def test_a_wrapper_that_changes_nothing_is_the_net_within():
    net, around = Rich(), Wrapper(Rich())
    assert around.How is Beam and around.likelihood_is == "bound" and how_to_ask(around, {"width": 2}) == Beam(2)
    moment, memory, task = Moment(KEY, jnp.asarray(0.25)), net.memory(None, BATCH), None

    def everything(one):
        losses, answer = one.losses(task, BATCH, moment, memory), one.answer(BATCH, KEY, Beam(3))
        return one(BATCH), losses, answer, one.likelihood(task, BATCH, KEY, Beam(2, 5.0)), one.memory(task, BATCH)

    own, wrapped, twice = map(everything, (net, around, Wrapper(around)))
    assert eqx.tree_equal(own, wrapped) and eqx.tree_equal(own, twice)
    assert set(wrapped[1].parts) == {"own"} and (wrapped[3] == -5).all()


def test_groups_within_a_wrapper_go_by_their_own_names_and_its_own_arrays_by_default():
    class Masked(Wrapper):
        mask: jax.Array
        scale: jax.Array

    parts = cut(Masked(Wrapper(Rich()), jnp.ones((2, 3)), jnp.ones(3)))
    assert parts.static.groups == {"net.net.weights": "slow", "mask": "decay", "scale": "no_decay"}
    assert set(parts.frozen) == {"net.net.base"}


def test_a_plain_net_has_one_way_to_be_asked_and_no_likelihood():
    net = MLP(4, 0).build(Hyperteacher(Subsets(4, 2)), KEY)
    assert how_to_ask(net, None) == net.How() and net.likelihood_is is None and net.memory(None, BATCH) is None
    with pytest.raises(TypeError, match="MLPNet has no likelihood"):
        net.likelihood(None, BATCH, KEY)
    with pytest.raises(TypeError, match="Net must define __call__"):
        Net()(BATCH)


# -- other hardware -----------------------------------------------------------------------------------------------

ON_FOUR = """
import json
import jax
from recombine import Subsets, nets
from recombine.machine.compilation import enable_cache
from recombine.tasks import Hyperteacher
from recombine.testing import check_net
from small_nets import small_net, world_for

enable_cache()
assert len(jax.local_devices()) == 4
teacher, found = Hyperteacher(Subsets(6, 2), samples=3), {}
for name in nets.registry:
    try:
        check_net(small_net(name), world_for(name, teacher))
    except Exception as problem:
        found[name] = f"{type(problem).__name__}: {problem}"
print(json.dumps({"checked": list(nets.registry), "wrong": found}))
"""


def test_every_registered_net_gives_on_four_devices_what_it_gives_on_one():
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"
    environment = os.environ | {"XLA_FLAGS": flags, "PYTHONPATH": str(Path(__file__).parents[1] / "helpers")}
    result = subprocess.run([sys.executable, "-c", ON_FOUR], capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert (
        set(found["checked"]) == set(nets.registry) >= {*SMALL, *DRAWING, *WRITING, *READING} and found["wrong"] == {}
    )
