"""bfloat16 products: almost the same numbers, and where they are used."""

from __future__ import annotations

import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_nets import SMALL, small_net, with_biases, world_for

from recombine import Recipe, Subsets, UserError, nets, supports
from recombine.machine import precision
from recombine.nets import MLP, Hypernetwork, Transformer
from recombine.tasks import Hyperteacher
from recombine.training.step import one_step, start


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
            prediction, trace = net(batch)
            return teacher.loss(prediction, batch), (prediction, trace)

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


def lowered_step(task: Hyperteacher, precision: str, blueprint=SMALL["mlp"], samples: int = 1) -> str:
    recipe = Recipe(tasks=96, samples=samples, precision=precision)
    sampler, keys = supports.random(task.space).train.sampler(), (jax.random.key(0), jax.random.key(0))
    given = start(blueprint, task, sampler, recipe, keys, precision)
    step = jax.jit(one_step, static_argnums=6)
    return step.lower(*given, task, sampler, recipe.rates(), jax.random.key(0), recipe.shape()).as_text()


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


@pytest.mark.parametrize(
    "blueprint, products",
    [
        # code, inputs, five of a block, five of the last block (which needs the code for keys and values only), output
        (
            Transformer(20, 2, 2, 48),
            [
                "96x20",
                "96x20",
                "192x20",
                "192x40",
                "192x20",
                "192x48",
                "192x20",
                "96x20",
                "192x40",
                "96x20",
                "96x48",
                "96x20",
                "96x7",
            ],
        ),
        # one row per task: hidden, its constant part and bias; by code, constant part and bias of the output
        (Hypernetwork(24), ["96x24", "96x24", "96x24", "96x42", "96x7", "96x7"]),
    ],
    ids=["transformer", "hypernetwork"],
)
def test_products_of_other_nets_with_their_kernels_are_bfloat16_too(blueprint, products):
    task = Hyperteacher(Subsets(6, 2), outputs=7)  # no matrix of the teacher has the shape of one of the net
    found = dots(lowered_step(task, "bfloat16", blueprint))
    half = [result for left, right, result in found if left.endswith("bf16") and right.endswith("bf16")]
    for result in set(products):
        assert half.count(f"{result}xf32") >= products.count(result), (result, half)
    # forward, and two gradients of each but for inputs that nothing is learned before
    assert len(half) >= 3 * len(products) - 4
    kernels = {leaf.shape for leaf in jax.tree.leaves(blueprint.build(task, jax.random.key(0))) if leaf.ndim == 2}
    names = {f"{a}x{b}xf32" for shape in kernels for a, b in (shape, shape[::-1])}
    assert not any(names & set(types[:2]) for types in found if types[0].endswith("xf32")), "a product left at float32"


@pytest.mark.parametrize("name", SMALL)
def test_a_float32_step_multiplies_float32(small, name):
    found = dots(lowered_step(small, "float32", SMALL[name]))
    assert len(found) >= 8 and not any("bf16" in kind for types in found for kind in types)


def test_auto_becomes_one_of_the_two():
    assert precision.resolve("auto") in ("float32", "bfloat16")
    assert precision.resolve("auto") == precision.resolve("auto")
    assert [precision.resolve(name) for name in ("float32", "bfloat16")] == ["float32", "bfloat16"]


def test_auto_is_decided_once_per_machine(tmp_path, monkeypatch):
    """Processes of a study must not disagree because the machine was busy when one of them tried."""
    monkeypatch.setattr(precision, "_multiplies_bfloat16", lambda: True)
    monkeypatch.setattr(precision, "cache_folder", lambda: tmp_path / "programs")
    tries = iter(["bfloat16", "float32", "bfloat16", "float32"])
    monkeypatch.setattr(precision, "_tried", lambda: next(tries))
    fresh = precision._auto.__wrapped__  # as a new process sees it
    assert [fresh(), fresh(), fresh()] == ["bfloat16"] * 3
    (kept,) = (tmp_path / "programs").iterdir()
    kept.write_text("nonsense")  # damaged: it is tried once more, and kept again
    assert [fresh(), fresh()] == ["float32"] * 2 and list((tmp_path / "programs").iterdir()) == [kept]
    monkeypatch.setattr(precision, "cache_folder", lambda: None)
    assert fresh() == "bfloat16"
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(precision, "cache_folder", lambda: tmp_path / "file" / "programs")  # nothing can be kept there
    assert fresh() == "float32"


@pytest.mark.parametrize("name", ["bfloat61", "float64", "", "AUTO"])
def test_unknown_precisions_are_refused_by_name(name):
    with pytest.raises(UserError, match=f"unknown precision '{name}'"):
        precision.resolve(name)
    with pytest.raises(UserError, match=f"unknown precision '{name}'"):
        Recipe(precision=name)


@pytest.mark.parametrize("name", nets.registry)
def test_a_net_is_not_built_at_a_precision_that_it_would_ignore(small, name):
    with pytest.raises(UserError, match="'bf16'"):
        small_net(name).build(world_for(name, small), jax.random.key(0), "bf16")


def test_rates_are_measured_for_both():
    rates = precision.matmul_rates(size=64, seconds=0.01)
    assert set(rates) == {"float32", "bfloat16"} and all(rate > 1e6 for rate in rates.values())


def test_auto_is_decided_by_what_a_net_multiplies(monkeypatch):
    monkeypatch.setattr(precision, "_auto", lambda: "bfloat16")
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    found = {
        "mlp": nets.MLP().products,
        "cnn": nets.CNNDecoder().products,
        "within": nets.Straightened(of=nets.CNNDecoder()).products,
    }
    resolved = {name: precision.resolve("auto", products) for name, products in found.items()}
    assert resolved == {"mlp": "bfloat16", "cnn": "float32", "within": "float32"}
    assert precision.resolve("bfloat16", "convolution") == "bfloat16"  # who says so gets it
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert precision.resolve("auto", "convolution") == "bfloat16"
