"""(b) A mask on a frozen trained net recovers a planted subnetwork; its temperature falls with what is done."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine.errors import UserError
from recombine.nets import MLP, Blueprint, Wrapper, cut
from recombine.testing import check_net

HIDDEN, JUNK = 12, 12


class MaskedNet(Wrapper):
    """A frozen net with one hidden layer, of which a mask keeps some units."""

    mask: jax.Array  # (hidden,) logits

    def group(self, path, leaf):
        return "mask" if path == "mask" else "frozen"

    def within(self, kept):
        readout = self.net.kernels[1] * kept[:, None]
        return eqx.tree_at(lambda net: net.kernels[1], self.net, readout)

    def losses(self, task, batch, moment, memory):
        temperature = 1.0 - 0.9 * moment.done
        kept = jax.nn.sigmoid(self.mask / temperature)
        step = self.within(kept).losses(task, batch, moment, memory)
        return step._replace(parts={**step.parts, "size": 1e-3 * kept.sum()}, notes={"temperature": temperature})

    def __call__(self, batch, key=None):
        return self.within((self.mask > 0).astype(jnp.float32))(batch, key)

    def answer(self, batch, key=None, how=None):
        return self(batch, key)


@dataclass(frozen=True)
class Masked(Blueprint):
    """Adds random units to the hidden layer of the net that it takes over, and a mask over all of them."""

    name: ClassVar[str] = "masked"

    def layers(self):
        return MLP(HIDDEN, 1).layers()

    def build(self, task, key, precision="float32", start=None):
        if start is None:
            start = MLP(HIDDEN, 1).build(task, key, precision)
        keys = jax.random.split(key, 3)
        read, readout = start.kernels
        junk_read = jax.random.normal(keys[0], (len(read), JUNK)) * len(read) ** -0.5
        junk_readout = jax.random.normal(keys[1], (JUNK, readout.shape[1]))
        wide = eqx.tree_at(
            lambda net: (net.kernels, net.biases),
            start,
            (
                (jnp.concatenate([read, junk_read], axis=1), jnp.concatenate([readout, junk_readout])),
                (jnp.concatenate([start.biases[0], jnp.zeros(JUNK)]), start.biases[1]),
            ),
        )
        return MaskedNet(wide, 0.1 * jax.random.normal(keys[2], (HIDDEN + JUNK,)))


@pytest.fixture(scope="module")
def world():
    space = rc.Subsets(4, 2)
    return rc.tasks.Hyperteacher(space, inputs=4, hidden=4, outputs=4), rc.supports.random(space, seed=0)


def recipe(**changes):
    own = {"mask": {"learning_rate": 0.05, "weight_decay": 0.0}}
    return rc.Recipe(steps=600, groups=own, evaluations=2, precision="float32", **changes)


def test_the_planted_units_are_kept_and_nothing_else(world):
    task, support = world
    base = rc.Stage(MLP(HIDDEN, 1), rc.Recipe(steps=2000, precision="float32", evaluations=1))
    run = rc.train(task, support, [base, rc.Stage(Masked(), recipe())], progress=False)
    net = run.nets[0]
    kept = np.asarray(net.mask > 0)
    assert not kept[HIDDEN:].any(), "units that were planted as noise are kept"
    # a unit of the trained net that writes nothing may go: what is kept explains what the trained net does
    alone = rc.train(task, support, [base], progress=False)
    assert float(run.score("test")) > float(alone.score("test")) - 0.02
    assert kept[:HIDDEN].sum() >= HIDDEN // 2
    frozen = cut(net)
    assert set(frozen.trained) == {"mask"}
    np.testing.assert_array_equal(net.net.kernels[0][:, :HIDDEN], alone.nets[0].kernels[0])


def test_temperature_falls_with_the_share_of_the_recipe_that_is_done(world):
    task, support = world
    stages = [rc.Stage(MLP(HIDDEN, 1), rc.Recipe(steps=10)), rc.Stage(Masked(), recipe())]
    history = rc.train(task, support, stages, progress=False).history
    last = history[history.stage == 1]
    # means over the first and over the second half of the steps, then what it is at the evaluations themselves
    assert last["train/temperature"].tolist() == pytest.approx([1 - 0.9 * 0.25, 1 - 0.9 * 0.75], abs=1e-2)
    assert last["validation/temperature"].tolist() == pytest.approx([0.55, 0.1])
    assert {"train/size", "train/loss", "validation/size"} <= set(last.columns)


def test_masked_is_a_net_whose_group_the_recipe_must_name(world):
    check_net(Masked(), world[0], recipe())
    json.dumps(Masked().to_json())
    with pytest.raises(UserError, match=r"'masked'.*'mask'.*groups=\{'mask': \{\}\}"):
        rc.train(*world, Masked(), rc.Recipe(steps=1), progress=False)
