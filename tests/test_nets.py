"""Nets: published sizes, initialization, a trace that is what it says, and bfloat16 that is bfloat16."""

from __future__ import annotations

import json
import math
import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine import Recipe, Subsets, UserError, nets, precision, supports
from recombine.nets import MLP, count_parameters
from recombine.tasks import Hyperteacher
from recombine.testing import check_net
from recombine.training import fresh_state, one_step

# -- the published table (notes 4.1, hyperteacher, identity encoding) ---------------------------------------------

PARAMETERS = {
    (128, 2): 22_800,
    (128, 4): 55_824,
    (256, 2): 78_352,
    (256, 4): 209_936,
    (512, 2): 287_760,
    (512, 4): 813_072,
    (1024, 2): 1_099_792,
    (1024, 4): 3_198_992,
    (2048, 2): 4_296_720,
    (2048, 4): 12_689_424,
}


@pytest.fixture(scope="module")
def teacher() -> Hyperteacher:
    return Hyperteacher(Subsets(16, 3))


@pytest.mark.parametrize("width, depth", PARAMETERS)
def test_published_numbers_of_parameters(teacher, width, depth):
    shapes = eqx.filter_eval_shape(MLP(width, depth).build, teacher, jax.random.key(0))
    assert sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(shapes)) == PARAMETERS[width, depth]


def test_parameters_of_a_net_are_counted(teacher):
    assert count_parameters(MLP(128, 2).build(teacher, jax.random.key(0))) == PARAMETERS[128, 2]


# -- a small net --------------------------------------------------------------------------------------------------

WIDTH, DEPTH = 24, 2


@pytest.fixture(scope="module")
def small() -> Hyperteacher:
    return Hyperteacher(Subsets(6, 2))


@pytest.fixture(scope="module")
def batch(small):
    return jax.jit(lambda key, rows: small.sample(key, rows))(jax.random.key(1), small.space.sample(0, 12))


def with_biases(net):
    """The net with biases that are not zero, so that leaving them out would show."""
    biases = tuple(0.1 * jnp.cos(jnp.arange(b.size, dtype=jnp.float32)) for b in net.biases)
    return eqx.tree_at(lambda n: n.biases, net, biases)


@pytest.fixture(scope="module")
def net(small):
    return with_biases(MLP(WIDTH, DEPTH).build(small, jax.random.key(0)))


def test_kernels_are_lecun_normal_and_biases_zero(teacher):
    net = MLP(512, 2).build(teacher, jax.random.key(0))
    assert [k.shape for k in net.kernels] == [(32, 512), (512, 512), (512, 16)]
    for kernel in map(np.asarray, net.kernels):
        sd = kernel.shape[0] ** -0.5
        assert kernel.std() == pytest.approx(sd, abs=5 * 0.6 * sd / math.sqrt(kernel.size))
        assert abs(kernel.mean()) < 5 * sd / math.sqrt(kernel.size)
        assert abs(kernel).max() == pytest.approx(2 * sd / 0.87962566, rel=0.01)
    assert all((bias == 0).all() for bias in net.biases)
    assert len({float(kernel.ravel()[0]) for kernel in net.kernels}) == 3, "layers share a key"


def test_the_forward_pass_in_plain_numpy(net, batch):
    prediction, trace = eqx.filter_jit(net)(batch.inputs, batch.code)
    code = np.repeat(np.asarray(batch.code)[:, None], batch.inputs.shape[1], axis=1)
    h = np.concatenate([code, batch.inputs], axis=-1).astype(float)
    for i, (kernel, bias) in enumerate(zip(net.kernels, net.biases, strict=True), start=1):
        h = h @ np.asarray(kernel, float) + np.asarray(bias, float)
        if i <= DEPTH:
            np.testing.assert_allclose(trace[f"layer{i}/pre"], h, atol=1e-5)
            h = np.maximum(h, 0)
            np.testing.assert_allclose(trace[f"layer{i}/post"], h, atol=1e-5)
    np.testing.assert_allclose(prediction, h, atol=1e-5)


def test_the_trace_agrees_with_itself(net, batch):
    prediction, trace = eqx.filter_jit(net)(batch.inputs, batch.code)
    announced = ("layer1/pre", "layer1/post", "layer2/pre", "layer2/post", "output")
    assert MLP(WIDTH, DEPTH).layers() == announced and set(trace) == set(announced)
    for i in range(1, DEPTH + 1):
        assert (trace[f"layer{i}/post"] == jnp.maximum(trace[f"layer{i}/pre"], 0)).all()
        assert (np.asarray(trace[f"layer{i}/pre"]) < 0).any()
    assert (trace["output"] == prediction).all()


def test_samples_of_a_task_do_not_touch_each_other(net, batch):
    call = jax.jit(lambda n, x, c: n(x, c)[0])
    whole = call(net, batch.inputs, batch.code)
    np.testing.assert_allclose(call(net, batch.inputs[3:5, 2:4], batch.code[3:5]), whole[3:5, 2:4], atol=1e-5)


def test_an_unused_trace_costs_nothing(net, batch):
    """The compiled prediction does as many products as there are layers, with or without a trace."""
    text = jax.jit(lambda n, x, c: n(x, c)[0]).lower(net, batch.inputs, batch.code).as_text()
    assert text.count("dot_general") == DEPTH + 1


@pytest.mark.parametrize("name", nets.registry)
def test_registered_nets_pass_the_public_check(name, small):
    check_net(nets.registry[name](), small)


def test_a_net_without_hidden_layers_passes_too(small):
    blueprint = MLP(width=8, depth=0)
    assert blueprint.layers() == ("output",)
    check_net(blueprint, small)


@pytest.mark.parametrize("name", nets.registry)
def test_blueprints_are_data(name):
    blueprint = nets.registry[name]()
    spec = json.loads(json.dumps(blueprint.to_json()))
    assert nets.registry[spec.pop("net")](**spec) == blueprint


@pytest.mark.parametrize(
    "make, named",
    [
        (lambda: MLP(width=0), "width=0"),
        (lambda: MLP(width=-4), "width=-4"),
        (lambda: MLP(depth=-1), "depth=-1"),
        (lambda: MLP(width=True), "width=True"),
        (lambda: nets.registry["mpl"], "'mpl'; did you mean 'mlp'"),
    ],
    ids=["no width", "negative width", "negative depth", "truth value", "unknown"],
)
def test_bad_arguments_are_refused_by_name(make, named):
    with pytest.raises(UserError, match=named):
        make()


# -- precision ----------------------------------------------------------------------------------------------------


def difference(a, b) -> float:
    """Relative difference in norm."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


@pytest.fixture(scope="module")
def both(teacher):
    """The same weights at both precisions on one batch, wide enough for rounding to average out."""
    built = [with_biases(MLP(128, 3).build(teacher, jax.random.key(0), p)) for p in ("float32", "bfloat16")]
    batch = jax.jit(lambda key, rows: teacher.sample(key, rows))(jax.random.key(1), teacher.space.sample(0, 32))

    def measure(net):
        def loss(net):
            prediction, trace = net(batch.inputs, batch.code)
            return teacher.loss(prediction, batch.target), (prediction, trace)

        (_, (prediction, trace)), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(net)
        return prediction, trace, gradient

    return [jax.jit(measure)(net) for net in built]


def test_bfloat16_predicts_almost_the_same_in_float32(both):
    (exact, exact_trace, _), (rounded, trace, _) = both
    assert rounded.dtype == jnp.float32 and all(value.dtype == jnp.float32 for value in trace.values())
    # one product rounds its operands by 2^-9 each; four layers stay within a percent or so
    assert 1e-4 < difference(rounded, exact) < 0.015
    assert 1e-4 < difference(trace["layer1/pre"], exact_trace["layer1/pre"]) < 0.005


def test_the_bfloat16_product_and_its_gradients_are_right_to_a_percent():
    rng = np.random.default_rng(0)
    x, w, g = (jnp.asarray(rng.normal(size=shape), jnp.float32) for shape in ((96, 128), (128, 64), (96, 64)))

    @jax.jit
    def product_and_gradients(x, w, g):
        out, back = jax.vjp(lambda x, w: precision.matmul(x, w, "bfloat16"), x, w)
        return out, *back(g)

    exact = [np.asarray(a, float) for a in (x @ w, g @ w.T, x.T @ g)]
    for found, wanted in zip(product_and_gradients(x, w, g), exact, strict=True):
        assert found.dtype == jnp.float32 and found.shape == wanted.shape
        assert 1e-4 < difference(found, wanted) < 0.01


def test_gradients_of_a_bfloat16_net_are_float32_and_point_the_same_way(both):
    """A unit that rounding carries across zero takes its gradient along, so leaves differ by more than a product."""
    (_, _, exact), (_, _, rounded) = both
    exact, rounded = jax.tree.leaves(exact), jax.tree.leaves(rounded)
    assert len(exact) == len(rounded) == 8 and all(leaf.dtype == jnp.float32 for leaf in rounded)
    for a, b in zip(rounded, exact, strict=True):
        cosine = np.vdot(a, b) / np.linalg.norm(a) / np.linalg.norm(b)
        assert cosine > 0.999
        assert np.linalg.norm(a) == pytest.approx(np.linalg.norm(b), rel=0.01)
    # behind the last nonlinearity nothing can flip
    assert difference(rounded[3], exact[3]) < 0.01 and difference(rounded[7], exact[7]) < 0.01


def dots(text: str) -> list[tuple[str, str, str]]:
    """Types of both operands and of the result of every product in a lowered program."""
    return re.findall(r"stablehlo\.dot_general.*: \(tensor<(\S+)>, tensor<(\S+)>\) -> tensor<(\S+)>", text)


def lowered_step(task: Hyperteacher, precision: str) -> str:
    recipe = Recipe(tasks=96, samples=1, precision=precision)
    state = fresh_state(MLP(WIDTH, DEPTH).build(task, jax.random.key(0), precision), recipe)
    step = jax.jit(one_step, static_argnums=5)
    sampler = supports.random(task.space).train.sampler()
    return step.lower(state, task, sampler, recipe.rates(), jax.random.key(0), recipe.shape()).as_text()


def test_a_bfloat16_step_multiplies_bfloat16_in_both_directions(small):
    """96 rows; layers 22 -> 24 -> 24 -> 16. Before the backend's own optimizations, which may convert as they like."""
    found = dots(lowered_step(small, "bfloat16"))
    half = [result for left, right, result in found if left.endswith("bf16") and right.endswith("bf16")]
    forward = ["96x24xf32", "96x24xf32", "96x16xf32"]
    weight_gradients = ["22x24xf32", "24x24xf32", "24x16xf32"]
    input_gradients = ["96x24xf32", "96x24xf32"]
    for result in {*forward, *weight_gradients, *input_gradients}:
        wanted = (forward + weight_gradients + input_gradients).count(result)
        assert half.count(result) >= wanted, (result, half)
    kernels = {f"{a}x{b}xf32" for shape in ((22, 24), (24, 24), (24, 16)) for a, b in (shape, shape[::-1])}
    at_float32 = [types for types in found if types[0].endswith("xf32")]
    assert at_float32, "the teacher computes in float32"
    assert not any(kernels & set(types) for types in at_float32), "a product of the net is left at float32"


def test_a_float32_step_multiplies_float32(small):
    found = dots(lowered_step(small, "float32"))
    assert len(found) >= 8 and not any("bf16" in kind for types in found for kind in types)


def test_auto_becomes_one_of_the_two():
    assert precision.resolve("auto") in ("float32", "bfloat16")
    assert precision.resolve("auto") == precision.resolve("auto")
    assert [precision.resolve(name) for name in ("float32", "bfloat16")] == ["float32", "bfloat16"]


@pytest.mark.parametrize("name", ["bfloat61", "float64", "", "AUTO"])
def test_unknown_precisions_are_refused_by_name(name):
    with pytest.raises(UserError, match=f"unknown precision '{name}'"):
        precision.resolve(name)
    with pytest.raises(UserError, match=f"unknown precision '{name}'"):
        Recipe(precision=name)


def test_a_net_is_not_built_at_a_precision_that_it_would_ignore(small):
    with pytest.raises(UserError, match="'bf16'"):
        MLP(8, 1).build(small, jax.random.key(0), "bf16")


def test_rates_are_measured_for_both():
    rates = precision.matmul_rates(size=64, seconds=0.01)
    assert set(rates) == {"float32", "bfloat16"} and all(rate > 1e6 for rate in rates.values())
