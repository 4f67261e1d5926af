"""A net in parts: cut and joined again, and a net that takes over the arrays of another."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_nets import PICTURES, small_net, world_for

from recombine import UserError, nets
from recombine.nets import (
    MLP,
    Net,
    Rendering,
    Straightened,
    Transformer,
    count_parameters,
    cut,
    graft,
    initialize,
    join,
)
from recombine.tasks import Batch, Hyperteacher

KEY = jax.random.key(0)


def built(blueprint, task, seed: int = 0, start=None):
    return initialize(blueprint, task, jax.random.key(seed), "float32", start)


class Foreign(Net):
    """A net of equinox's own layers, with functions, random numbers and whole numbers among its leaves."""

    mlp: eqx.nn.MLP
    dropout: eqx.nn.Dropout
    table: jax.Array
    step: jax.Array
    none: None
    base: tuple[jax.Array, ...]

    def __init__(self, key, activation=jax.nn.gelu):
        self.mlp = eqx.nn.MLP(3, 2, 8, 2, activation, key=key)
        self.dropout = eqx.nn.Dropout(0.1)
        self.table, self.step, self.none = jnp.arange(4), jax.random.key(3), None
        self.base = (jnp.ones((2, 2)), jnp.ones(2))

    def __call__(self, batch, key=None):
        return jax.vmap(self.mlp)(batch.code) @ self.base[0], {}

    def group(self, path, leaf):
        return "frozen" if path.startswith("base.") else "slow" if path.endswith("bias") else super().group(path, leaf)


# -- cut and join -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", nets.registry)
def test_a_registered_net_is_cut_and_joined_again(name, small):
    net = built(small_net(name), world_for(name, small))
    parts = cut(net)
    assert eqx.tree_equal(join(parts), net) and not parts.frozen
    assert sum(leaf.size for leaf in parts.trained.values()) == count_parameters(net)
    assert set(parts.static.groups.values()) <= {"decay", "no_decay"}
    assert {path for path, group in parts.static.groups.items() if group == "decay"} == {
        path for path, leaf in parts.trained.items() if leaf.ndim >= 2
    }


def test_functions_among_the_leaves_of_a_net_go_through_a_compiled_program():
    net = Foreign(KEY)
    assert eqx.tree_equal(join(cut(net)), net)
    through = jax.jit(lambda parts: parts)(cut(net))
    batch, again = Batch(None, jnp.ones((5, 3))), join(through)
    assert again.mlp.activation is net.mlp.activation and again.none is None
    np.testing.assert_array_equal(again(batch)[0], net(batch)[0])


def test_what_is_trained_are_real_numbers_that_are_not_frozen_by_their_groups():
    parts = cut(Foreign(KEY))
    kernels = {f"mlp.layers.{i}.weight" for i in range(3)}
    biases = {f"mlp.layers.{i}.bias" for i in range(3)}
    assert set(parts.trained) == kernels | biases
    assert parts.static.groups == {path: "decay" for path in kernels} | {path: "slow" for path in biases}
    assert set(parts.frozen) == {"base.0", "base.1", "table", "step"}
    assert jax.nn.gelu in parts.static.others.values()
    assert count_parameters(Foreign(KEY)) == 3 * 8 + 8 + 8 * 8 + 8 + 8 * 2 + 2


def test_static_parts_are_equal_exactly_where_a_program_can_be_shared():
    statics = [cut(net).static for net in (Foreign(KEY), Foreign(jax.random.key(1)), Foreign(KEY, jax.nn.relu))]
    assert statics[0] == statics[1] and hash(statics[0]) == hash(statics[1])
    assert statics[0] != statics[2] and statics[0] != "something else"
    frozen = eqx.tree_at(lambda net: net.base, Foreign(KEY), (jnp.ones((2, 2)),))
    assert cut(frozen).static != statics[0]
    traces = []

    @jax.jit
    def program(parts):
        traces.append(1)
        return parts.trained

    for seed in (0, 1, 2):
        program(cut(Foreign(jax.random.key(seed))))
    assert len(traces) == 1


# -- a net that goes on from another ------------------------------------------------------------------------------


def test_a_graft_has_the_arrays_of_the_start_and_its_own_static_fields(small):
    fresh = MLP(8, 1).build(small, jax.random.key(0), "bfloat16")
    start = built(MLP(8, 1), small, 1)
    grafted = graft(fresh, start, "mlp")
    assert grafted.precision == "bfloat16" and start.precision == "float32"
    for path, leaf in cut(grafted).trained.items():
        np.testing.assert_array_equal(leaf, cut(start).trained[path])
    assert eqx.tree_equal(built(MLP(8, 1), small, 0, start), start)


def test_a_graft_takes_over_what_is_frozen_too_whoever_froze_it():
    class Thawed(Foreign):
        def group(self, path, leaf):
            return "decay"

    start = eqx.tree_at(lambda net: net.base[0], Foreign(KEY), 7 * jnp.ones((2, 2)))
    for made in (Foreign, Thawed):
        grafted = graft(made(jax.random.key(1)), start, "foreign")
        assert type(grafted) is made and (grafted.base[0] == 7).all()
        np.testing.assert_array_equal(grafted.mlp.layers[0].weight, start.mlp.layers[0].weight)


@pytest.mark.parametrize(
    "now, before, named",
    [
        (MLP(8, 1), MLP(9, 1), r"biases\.0 float32\[9\] -> float32\[8\], kernels\.0 .*, kernels\.1 .*\[8, 16\]; "),
        (MLP(8, 2), MLP(8, 1), r"biases\.2 \(none\) -> float32\[16\]"),
        (MLP(8, 1), MLP(8, 2), r"biases\.2 float32\[16\] -> \(none\)"),
        (Transformer(16, 1, 2, 32), MLP(8, 1), r"'transformer'.* and 16 more; .*same net, or one that wraps it"),
    ],
    ids=["wider", "deeper", "shallower", "another"],
)
def test_a_net_with_other_arrays_is_refused_with_the_leaves_that_differ(small, now, before, named):
    with pytest.raises(UserError, match=named):
        built(now, small, start=built(before, small))


def test_a_dtype_that_differs_is_named(small):
    start = built(MLP(8, 1), small)
    start = eqx.tree_at(lambda net: net.biases[0], start, start.biases[0].astype(jnp.bfloat16))
    with pytest.raises(UserError, match=r"biases\.0 bfloat16\[8\] -> float32\[8\]; "):
        built(MLP(8, 1), small, start=start)


def test_straightened_takes_over_the_net_that_it_wraps_and_one_that_was_straightened_before():
    inner = built(MLP(8, 1), PICTURES, 1)
    wrapped = built(Straightened(MLP(8, 1), weight=2.0), PICTURES, start=inner)
    assert eqx.tree_equal(wrapped.net, inner) and wrapped.blueprint.weight == 2
    again = built(Straightened(MLP(8, 1), weight=3.0), PICTURES, start=wrapped)
    assert eqx.tree_equal(again.net, inner) and again.blueprint.weight == 3
    with pytest.raises(UserError, match=r"'rendering'.*biases\.0"):
        built(Straightened(Rendering()), PICTURES, start=inner)


def test_a_task_of_another_size_cannot_be_gone_on_with(small):
    start = built(MLP(8, 1), small)
    with pytest.raises(UserError, match=r"biases\.1 float32\[16\] -> float32\[3\]"):
        built(MLP(8, 1), Hyperteacher(small.space, outputs=3), start=start)
