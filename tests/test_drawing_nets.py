"""Nets that draw: published sizes, convolutions against their definition, regularizers in closed form, refusals."""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine import Product, Recipe, Subsets, UserError, nets, supports, train
from recombine.nets import (
    MLP,
    CNNDecoder,
    CoordinateMLP,
    Net,
    PixelTransformer,
    Rendering,
    Straightened,
    attention,
    convolution,
    initialize,
    pixels,
    straightened,
)
from recombine.nets.rendering import Pages
from recombine.nets.straightened import StraightenedNet
from recombine.tasks import Bumps, Hyperteacher, draw_batch
from recombine.training import fresh_state, one_step

DRAWING = {
    "cnn-decoder": CNNDecoder(6, 2, base=4),
    "coordinate-mlp": CoordinateMLP(8, 2),
    "pixel-transformer": PixelTransformer(8, 1, 2),
    "rendering": Rendering(),
    "straightened": Straightened(MLP(8, 1)),
}


def bumps(side: int, encoding: str = "bump", **options) -> Bumps:
    return Bumps(Product(x=side, y=side), encoding=encoding, **options)


def size_of(blueprint, task) -> int:
    shapes = eqx.filter_eval_shape(blueprint.build, task, jax.random.key(0))
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(shapes))


def plain(tree):
    """In double precision, for numpy."""
    return jax.tree.map(lambda leaf: np.asarray(leaf, float), tree)


def filled(blueprint, task):
    """A net with weights that are written down: none is zero or one, and random numbers take long to compile."""
    shapes = eqx.filter_eval_shape(blueprint.build, task, jax.random.key(0))
    leaves, structure = jax.tree.flatten(shapes)
    scales = [0.3 if leaf.ndim < 2 else (leaf.size / leaf.shape[-1]) ** -0.5 for leaf in leaves]
    weights = [
        jnp.asarray(scale * np.cos(1 + number + 1.7 * np.arange(leaf.size) ** 1.3).reshape(leaf.shape), jnp.float32)
        for number, (leaf, scale) in enumerate(zip(leaves, scales, strict=True))
    ]
    return jax.tree.unflatten(structure, weights)


def run(blueprint, task, at=None, code=None, samples=1):
    """The weights of a net and a code in double precision, what it draws, and its trace."""
    net = filled(blueprint, task)
    told = jax.jit(task.code_of)(jnp.asarray(at, jnp.float32)) if code is None else jnp.asarray(code)
    prediction, trace = jax.jit(lambda n, c: n(jnp.zeros((len(c), samples, 0)), c))(net, told)
    assert set(trace) == set(blueprint.layers())
    return plain(net), plain(told), prediction, trace


# -- sizes ----------------------------------------------------------------------------------------------------------


def test_published_numbers_of_parameters():
    bump, ramp = bumps(28), bumps(28, "ramp")
    decoder = {2: 307_457, 3: 344_385, 4: 381_313, 5: 418_241, 6: 455_169, 8: 529_025, 10: 602_881}
    assert {depth: size_of(CNNDecoder(depth=depth), bump) for depth in decoder} == decoder
    assert size_of(CNNDecoder(), ramp) == 211_969
    assert [size_of(MLP(256, depth), bump) for depth in (3, 7)] == [347_664, 610_832]
    assert [size_of(MLP(128, depth), ramp) for depth in (3, 7)] == [134_544, 200_592]
    one_hot = bumps(32, "one-hot")
    assert size_of(Rendering(), one_hot) == 133_218
    net = eqx.filter_eval_shape(Rendering().build, one_hot, jax.random.key(0))
    assert sum(math.prod(w.shape) for w in jax.tree.leaves((net.kernels, net.biases, net.slopes))) == 98


# -- convolutions ---------------------------------------------------------------------------------------------------


def scattered(x, kernel, stride, padding):
    """A transposed convolution by its definition: each pixel adds to its neighbors."""
    t, h, w, _ = x.shape
    k, d = kernel.shape[0], kernel.shape[-1]
    out = np.zeros((t, (h - 1) * stride + k, (w - 1) * stride + k, d))
    for a in range(h):
        for b in range(w):
            for i in range(k):
                for j in range(k):
                    out[:, stride * a + i, stride * b + j] += x[:, a, b] @ kernel[i, j]
    return out[:, padding : out.shape[1] - padding, padding : out.shape[2] - padding]


@pytest.mark.parametrize("precision, near", [("float32", 1e-5), ("bfloat16", 0.1)])
def test_transposed_convolutions_by_their_definition(precision, near):
    """Many channels, few outgoing ones, few on both sides: three ways to compute the same."""
    rng = np.random.default_rng(0)
    for c, d in ((6, 5), (6, 1), (2, 3)):
        x, small, large = rng.normal(size=(2, 4, 3, c)), rng.normal(size=(3, 3, c, d)), rng.normal(size=(4, 4, c, d))
        x32, small32, large32 = (jnp.asarray(a, jnp.float32) for a in (x, small, large))
        kept, doubled = jax.jit(
            lambda x, a, b: (convolution.transposed(x, a, precision), convolution.double(x, b, precision))
        )(x32, small32, large32)
        for found, wanted in ((kept, scattered(x, small, 1, 1)), (doubled, scattered(x, large, 2, 1))):
            assert found.shape == wanted.shape and abs(found - wanted).max() < near
            assert precision == "float32" or abs(found - wanted).max() > 1e-4, "not rounded to bfloat16"


def test_derivatives_of_a_convolution_are_those_that_jax_finds():
    """Of value, of gradient, and of the gradient of a tangent, which a penalty on tangents takes."""
    keys = jax.random.split(jax.random.key(0), 4)
    x, dx = jax.random.normal(keys[0], (2, 3, 5, 4, 6))
    kernel, dkernel = jax.random.normal(keys[1], (2, 3, 3, 6, 5))

    def both(convolve):
        def value(x, kernel):
            return jnp.sin(convolve(x, kernel, padding=1)).sum()

        def tangent(x, kernel):
            return jax.jvp(value, (x, kernel), (dx, dkernel))[1] ** 2

        return jax.jit(lambda: (jax.grad(value, (0, 1))(x, kernel), jax.grad(tangent, (0, 1))(x, kernel)))()

    found, wanted = both(convolution.convolve), both(convolution._canonical)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4 * float(abs(b).max()))


def test_every_convolution_of_a_training_step_has_the_fast_order():
    """In the body of a loop XLA rewrites none: one in another order would take 10 to 70 times as long."""
    task, recipe = bumps(8), Recipe(tasks=4, precision="float32")
    sampler = supports.donut(task.space).train.sampler()
    for blueprint in (CNNDecoder(6, 3, base=4), Straightened(CNNDecoder(6, 3, base=4))):
        state = fresh_state(filled(blueprint, task), recipe)
        step = jax.jit(one_step, static_argnums=5)
        text = step.lower(state, task, sampler, recipe.rates(), jax.random.key(0), recipe.shape()).as_text()
        lines = [line for line in text.split("\n") if "stablehlo.convolution(" in line]
        assert len(lines) >= 6, "forward and backward through three layers"
        assert all("[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]" in line for line in lines), lines
        assert not any("dilate" in line and "[2, 2]" in line for line in lines), "products with zeros"
        assert blueprint.steps_in_scan_on_cpu


def test_pictures_are_resized_by_their_nearest_pixel():
    x = jnp.arange(16.0).reshape(1, 4, 4, 1)
    np.testing.assert_array_equal(convolution.nearest(x, 3)[0, :, :, 0], [[0, 1, 2], [4, 5, 6], [8, 9, 10]])
    np.testing.assert_array_equal(convolution.nearest(x, 8)[0, ::2, ::2, 0], x[0, :, :, 0])
    assert convolution.nearest(x, 4) is x


@pytest.mark.parametrize("side, base, depth", [(8, 4, 2), (6, 4, 1), (5, 7, 1)], ids=["fits", "resized", "smaller"])
def test_the_cnn_decoder_in_plain_numpy(side, base, depth):
    task = bumps(side)
    blueprint = CNNDecoder(6, depth, base=base)
    numbers, code, prediction, trace = run(blueprint, task, [[1.0, 3.0], [2.5, 0.0]])
    h = code[:, None, None]
    for number, (kernel, bias) in enumerate(zip(numbers.kernels, numbers.biases, strict=True), start=1):
        stride, padding = {base: (1, 0), 4: (2, 1), 3: (1, 1)}[kernel.shape[0]] if number > 1 else (1, 0)
        h = scattered(h, kernel, stride, padding) + bias
        if number <= depth + 1:
            np.testing.assert_allclose(trace[f"layer{number}/pre"], h.reshape(2, 1, -1), atol=1e-4)
            h = np.maximum(h, 0)
            np.testing.assert_allclose(trace[f"layer{number}/post"], h.reshape(2, 1, -1), atol=1e-4)
    h = np.asarray(convolution.nearest(jnp.asarray(h), side))
    np.testing.assert_allclose(prediction, h.reshape(2, 1, side**2), atol=1e-4)


def test_kernels_of_the_cnn_begin_as_torch_draws_them():
    """Within 1/sqrt(outgoing channels x area), biases too."""
    net = initialize(CNNDecoder(16, 2, base=8), bumps(16), jax.random.key(0), "float32")
    shapes = [(8, 8, 32, 16), (4, 4, 16, 16), (3, 3, 16, 16), (3, 3, 16, 1)]
    assert [kernel.shape for kernel in net.kernels] == shapes
    for kernel, bias in zip(net.kernels, net.biases, strict=True):
        bound = (kernel.shape[0] ** 2 * kernel.shape[-1]) ** -0.5
        assert 0.9 * bound < abs(kernel).max() <= bound and 0 < abs(bias).max() <= bound
        assert float(kernel.std()) == pytest.approx(bound / math.sqrt(3), rel=0.1)


# -- a token a pixel ------------------------------------------------------------------------------------------------


def test_positions_of_pixels_are_sines_and_cosines_of_whole_columns_and_rows():
    found = pixels.positions(5, 8)
    assert found.shape == (25, 8)
    for row in range(5):
        for column in range(5):
            wanted = []
            for frequency in (1, 10_000**-0.5):
                wanted += [f(at * frequency) for at in (column, row) for f in (math.sin, math.cos)]
            np.testing.assert_allclose(found[5 * row + column], wanted, atol=1e-6)


def test_the_coordinate_mlp_in_plain_numpy():
    task = bumps(4)
    numbers, code, prediction, trace = run(CoordinateMLP(8, 2), task, [[1.0, 3.0], [2.5, 0.0]])
    for pixel, place in enumerate(pixels.positions(4, 8)):
        h = code @ numbers.kernels[0] + numbers.biases[0] + place
        for i in (1, 2):
            h = h @ numbers.kernels[i] + numbers.biases[i]
            np.testing.assert_allclose(trace[f"layer{i}/pre"].reshape(2, 16, 8)[:, pixel], h, atol=1e-5)
            h = np.where(h > 0, h, numbers.slopes[i - 1] * h)
            np.testing.assert_allclose(trace[f"layer{i}/post"].reshape(2, 16, 8)[:, pixel], h, atol=1e-5)
        h = h @ numbers.kernels[3] + numbers.biases[3]
        np.testing.assert_allclose(prediction[:, :, pixel], h, atol=1e-5)


def test_the_pixel_transformer_in_plain_numpy():
    task = bumps(3)
    blueprint = PixelTransformer(8, 2, 2, feedforward=6)
    numbers, code, prediction, trace = run(blueprint, task, [[1.0, 2.0], [0.5, 0.0]])

    def linear(layer, x):
        return x @ layer.kernel + layer.bias

    def norm(x, scale, bias):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * scale + bias

    h = linear(numbers.read, code)[:, None] + pixels.positions(3, 8)
    for number, block in enumerate(numbers.blocks, start=1):
        query, key, value = np.split(linear(block.query_key_value, h), 3, axis=-1)
        seen = np.zeros_like(h)
        for head in (slice(0, 4), slice(4, 8)):
            scores = np.exp(query[..., head] @ key[..., head].swapaxes(1, 2) / 2)
            seen[..., head] = scores / scores.sum(-1, keepdims=True) @ value[..., head]
        h = norm(h + linear(block.mix, seen), *block.norms[0])
        np.testing.assert_allclose(trace[f"layer{number}/pre"], h.reshape(2, 1, -1), atol=1e-4)
        h = norm(h + linear(block.narrow, np.maximum(linear(block.widen, h), 0)), *block.norms[1])
        np.testing.assert_allclose(trace[f"layer{number}/post"], h.reshape(2, 1, -1), atol=1e-4)
    np.testing.assert_allclose(prediction, linear(numbers.output, h).reshape(2, 1, -1), atol=1e-4)


def test_attention_in_bounded_memory_is_the_same_with_its_gradient():
    qkv = jax.random.normal(jax.random.key(0), (3, 5, 6, 2, 4))

    def value_and_gradient(most):
        return jax.jit(jax.value_and_grad(lambda qkv: (attention.attention(*qkv, most=most) ** 3).sum()))(qkv)

    whole, parts = value_and_gradient(10**6), value_and_gradient(2 * 6 * 6 * 2)  # 5 sequences, two at a time
    np.testing.assert_allclose(parts[0], whole[0], rtol=1e-5)
    np.testing.assert_allclose(parts[1], whole[1], atol=1e-5)
    text = str(jax.make_jaxpr(lambda qkv: attention.attention(*qkv, most=72))(qkv))
    assert "5,2,6,6" not in text and "1,2,6,6" in text, "scores of all sequences at once"


# -- rendering ------------------------------------------------------------------------------------------------------


def test_rendering_in_plain_numpy():
    task = bumps(5, "one-hot")
    at = np.asarray([[1, 3], [4, 0]])
    numbers, _, prediction, trace = run(Rendering(), task, at)
    h = np.zeros((2, 5, 5, 2))
    for factor, pages in enumerate(numbers.pages):
        for row, level in enumerate(at[:, factor]):
            left, right = (
                v[level] / np.linalg.norm(v[level], axis=-1, keepdims=True) for v in (pages.left, pages.right)
            )
            h[row, :, :, factor] = sum(pages.eigenvalues[level, j] * np.outer(left[j], right[j]) for j in range(5))
        np.testing.assert_allclose(trace[f"{'xy'[factor]}/rendered"][:, 0], h[..., factor].reshape(2, 25), atol=1e-5)
    for i in range(3):
        np.testing.assert_allclose(trace[f"layer{i + 1}/pre"][:, 0], h.reshape(2, -1), atol=1e-5)
        h = np.where(h > 0, h, numbers.slopes[i] * h)
        h = scattered(h, numbers.kernels[i], 1, 1) + numbers.biases[i]
    np.testing.assert_allclose(prediction[:, 0], h.reshape(2, 25), atol=1e-5)


def test_other_codes_mix_pages():
    task = bumps(5, "bump")
    codes = np.eye(10, dtype=np.float32)
    codes = np.stack([codes[1], codes[4], 0.3 * codes[1] + 0.7 * codes[4] + codes[7]])
    pages = run(Rendering(), task, code=codes)[3]["x/rendered"][:, 0]
    np.testing.assert_allclose(pages[2], 0.3 * pages[0] + 0.7 * pages[1], atol=1e-5)


def test_regularizers_at_the_beginning_are_as_published():
    """About 17.6 and 1.3 at N = 32, next to an error of .0065: notes on the public code."""
    task = bumps(32, "one-hot", sigma=1.5)

    @jax.jit
    def terms(key):
        pages = Rendering().build(task, key).pages
        return sum(p.entropy() for p in pages), *(sum(p.variance(of) for p in pages) for of in ("raw", "normalized"))

    entropy, raw, normalized = terms(jax.random.key(0))
    assert 0.1 * float(entropy) == pytest.approx(17.6, abs=0.4)
    assert 0.01 * float(raw) == pytest.approx(1.28, abs=0.02) and float(raw) == pytest.approx(
        float(normalized), rel=1e-4
    )


def test_regularizers_in_closed_form():
    flat, random = np.ones((3, 4, 4), np.float32), np.random.default_rng(0).normal(size=(3, 4, 4)).astype(np.float32)
    eigenvalues = np.stack([np.eye(4, dtype=np.float32)[:3], np.full((3, 4), -0.7, np.float32)])

    @jax.jit
    def terms(eigenvalues, left, right):
        pages = Pages(eigenvalues, left, right)
        return pages.entropy(), pages.variance("raw"), pages.variance("normalized"), jax.grad(Pages.entropy)(pages)

    entropy, raw, normalized, gradient = terms(eigenvalues[0], flat, flat)  # rank 1, constant
    assert float(entropy) == pytest.approx(0, abs=1e-5) and float(raw) == float(normalized) == 0
    assert jnp.isfinite(gradient.eigenvalues).all()
    entropy, raw, normalized, _ = terms(eigenvalues[1], random, 2 * random)  # all components alike, any vectors
    assert float(entropy) == pytest.approx(3 * math.log(4), rel=1e-5)
    assert float(raw) == pytest.approx(5 * random.var(-1, ddof=1).sum(), rel=1e-4), "left once, right twice as long"
    unit = random / np.linalg.norm(random, axis=-1, keepdims=True)
    assert float(normalized) == pytest.approx(2 * unit.var(-1, ddof=1).sum(), rel=1e-4)


def test_weights_of_zero_switch_a_regularizer_off():
    task = bumps(4, "one-hot")
    batch = task.sample(jax.random.key(0), jnp.asarray([[0, 1]]))
    pairs = [(1.0, 0.0), (0.0, 1.0), (0.5, 2.0), (0.0, 0.0)]
    nets = [filled(Rendering(*pair), task) for pair in pairs]
    penalties = jax.jit(lambda nets: [n.penalty(task, batch, jax.random.key(0)) for n in nets])(nets)
    entropy, variance, both, none = penalties
    assert float(both) == pytest.approx(0.5 * float(entropy) + 2 * float(variance), rel=1e-5) and none is None


# -- straightened ---------------------------------------------------------------------------------------------------


class Planted(Net):
    """A hidden layer that is a linear map of the code."""

    map: jax.Array

    def __call__(self, inputs, code):
        hidden = (code @ self.map)[:, None]
        return hidden, {"layer1/post": hidden, "layer1/pre": hidden**2, "output": hidden}


def obliqueness(net, task, at) -> float:
    return float(straightened.obliqueness(straightened.tangents(net, task, jnp.asarray(at, jnp.float32))))


@pytest.mark.parametrize(
    "matrix, wanted",
    [([[1, 1], [1, -1]], 0), ([[1], [1]], 0.5), ([[1, 0], [1, 1]], 1 / 3), ([[-2, 0], [1, 0]], 2 / 5)],
    ids=["right angle", "same direction", "between", "opposite"],
)
def test_obliqueness_of_planted_layers(matrix, wanted):
    """|g_01| / (g_00 + g_11) of rows of the map: the code of a ramp is the coordinates."""
    net = Planted(jnp.asarray(matrix, jnp.float32))
    assert obliqueness(net, bumps(6, "ramp"), [[1, 2], [4, 0]]) == pytest.approx(wanted, abs=1e-6)


def test_tangents_of_one_hot_codes_are_differences_between_levels():
    """The published metric: central within, one-sided at the border."""
    task = bumps(4, "one-hot")
    values = jax.random.normal(jax.random.key(0), (8, 3))
    ((first, second),) = straightened.tangents(Planted(values), task, jnp.asarray([[0.0, 2.0], [1.0, 3.0]]))
    wanted = [values[1] - values[0], (values[2] - values[0]) / 2]
    np.testing.assert_allclose(first[:, 0], jnp.stack(wanted), atol=1e-6)
    wanted = [(values[7] - values[5]) / 2, values[7] - values[6]]
    np.testing.assert_allclose(second[:, 0], jnp.stack(wanted), atol=1e-6)


def test_tangents_are_exact_where_the_code_is_smooth():
    task = bumps(6)
    at = jnp.asarray([[1.3, 2.6], [3.4, 4.1]])

    @jax.jit
    def exact_and_differences(net):
        def layers(at):
            trace = net(jnp.zeros((2, 1, 0)), task.code_of(at))[1]
            return [trace["layer1/post"], trace["layer2/post"]]

        step = 1e-2 * jnp.eye(2)
        differences = [[(a - b) / 2e-2 for a, b in zip(layers(at + e), layers(at - e), strict=True)] for e in step]
        return straightened.tangents(net, task, at), list(zip(*differences, strict=True))

    for pair, wanted in zip(*exact_and_differences(filled(CNNDecoder(4, 1, base=4), task)), strict=True):
        for found, near in zip(pair, wanted, strict=True):
            assert np.median(abs(found - near)) < 1e-4 and np.corrcoef(found.ravel(), near.ravel())[0, 1] > 0.99


def test_straightened_is_the_net_within_plus_a_penalty():
    task = bumps(6, "ramp")
    inner = MLP(16, 2)
    blueprint = Straightened(inner, weight=3.0)
    assert blueprint == Straightened({"net": "mlp", "width": 16, "depth": 2}, weight=3.0)
    assert blueprint.layers() == inner.layers() and hash(blueprint) == hash(Straightened(inner, weight=3.0))
    batch = task.sample(jax.random.key(0), jnp.asarray([[0, 1], [2, 5]]))
    one, other = jax.random.split(jax.random.key(1))

    @jax.jit
    def facts(within):
        bent = straightened.obliqueness(straightened.tangents(within, task, batch.constituents))
        net, everywhere, off = (
            StraightenedNet(within, b)
            for b in (blueprint, Straightened(inner, everywhere=True), Straightened(inner, weight=0.0))
        )
        penalties = [n.penalty(task, batch, k) for n in (net, everywhere) for k in (one, other)]
        return bent, penalties, off.penalty(task, batch, one)

    within = filled(inner, task)
    assert eqx.tree_equal(within, filled(blueprint, task).net)
    bent, penalties, off = facts(within)
    assert off is None
    assert float(penalties[0]) == pytest.approx(3 * float(bent), rel=1e-4)
    assert penalties[0] == penalties[1], "at the points of the batch there is nothing to draw"
    assert penalties[2] != penalties[3]


def test_the_penalty_of_the_net_within_stays():
    task = bumps(4, "one-hot")
    batch = task.sample(jax.random.key(0), jnp.asarray([[0, 1], [2, 3]]))

    @jax.jit
    def penalties(net, key):
        weighted = [StraightenedNet(net, Straightened(Rendering(), weight=weight)) for weight in (0.0, 1.0)]
        return [n.penalty(task, batch, key) for n in (net, *weighted)]

    own, unweighted, both = penalties(filled(Rendering(), task), jax.random.key(0))
    assert own == unweighted and 0 < both - own <= 0.5


def test_following_its_gradient_straightens_and_a_step_adds_it_to_the_loss():
    """Of the tangents of an MLP on a ramp code, on the whole grid."""
    task, recipe = bumps(6, "ramp"), Recipe(tasks=16, learning_rate=0.0, precision="float32")
    grid = jnp.asarray(task.space.enumerate(), jnp.float32)
    blueprint = Straightened(MLP(16, 1), weight=10.0)
    sampler = supports.donut(task.space).train.sampler()

    @jax.jit
    def facts(net):
        def bent(net):
            return straightened.obliqueness(straightened.tangents(net, task, grid))

        def step(_, net):
            return jax.tree.map(lambda w, g: w - 0.3 * g, net, jax.grad(bent)(net))

        key = jax.random.key(0)
        whole = StraightenedNet(net, blueprint)
        batch = draw_batch(task, sampler, jax.random.fold_in(key, 0), 16, 1)
        loss = task.loss(net(batch.inputs, batch.code)[0], batch.target)
        both = one_step(fresh_state(whole, recipe), task, sampler, recipe.rates(), key, recipe.shape()).loss_sum
        return bent(net), bent(jax.lax.fori_loop(0, 60, step, net)), loss, whole.penalty(task, batch, key), both

    before, after, loss, penalty, both = facts(filled(MLP(16, 1), task))
    assert after < 0.5 * before
    assert float(both) == pytest.approx(float(loss + penalty), rel=1e-5) and penalty > 0.01 * loss


# -- what they refuse -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DRAWING)
def test_tasks_without_pictures_are_refused_before_anything_is_compiled(name):
    teacher = Hyperteacher(Subsets(6, 2))
    for refused in (
        lambda: DRAWING[name].require(teacher),
        lambda: DRAWING[name].build(teacher, jax.random.key(0)),
        lambda: train(teacher, supports.random(teacher.space), DRAWING[name], Recipe(steps=1), progress=False),
    ):
        with pytest.raises(UserError, match=f"'{name}' draws pictures and hyperteacher-v1 asks for none"):
            refused()


@pytest.mark.parametrize(
    "make, named",
    [
        (lambda: CNNDecoder(depth=1).require(bumps(28)), "depth=1 .* 14 pixels a side, and pictures have 28; depth=2"),
        (lambda: CNNDecoder(width=0), "width=0"),
        (lambda: CNNDecoder(base=0), "base=0"),
        (lambda: CoordinateMLP(width=30), "width=30 .* 32 would do"),
        (lambda: PixelTransformer(width=30), "width=30"),
        (lambda: PixelTransformer(width=20, heads=3), "width=20 does not give 3 heads"),
        (lambda: Rendering(entropy=-1.0), "entropy=-1.0"),
        (lambda: Rendering(variance=math.nan), "variance=nan"),
        (lambda: Rendering(variance_of="row"), "'row'; did you mean 'raw'"),
        (lambda: Rendering(factors="xy"), "factors='xy'"),
        (lambda: Rendering().require(bumps(6, "ramp")), r"one unit a level.*\(1, 1\) numbers for \(6, 6\)"),
        (lambda: Rendering(factors=["y", "x"]).require(bumps(6)), r"factors=\['x', 'y'\] would do"),
        (lambda: Straightened(of={"width": 3}), "must say which net"),
        (lambda: Straightened(of={"net": "mpl"}), "'mpl'; did you mean 'mlp'"),
        (lambda: Straightened(weight=-1.0), "weight=-1"),
        (lambda: Straightened(CNNDecoder(depth=1)).require(bumps(28)), "depth=2 would do"),
    ],
)
def test_bad_arguments_are_refused_by_name(make, named):
    with pytest.raises(UserError, match=named):
        make()


def test_nets_that_draw_give_every_sample_the_same_picture():
    _, _, prediction, trace = run(DRAWING["cnn-decoder"], bumps(8), [[0, 1], [2, 5]], samples=3)
    assert prediction.shape == (2, 3, 64) and all(value.shape[:2] == (2, 3) for value in trace.values())
    assert (prediction == prediction[:, :1]).all()


@pytest.mark.parametrize("name", ["transformer", "hypernetwork"])
def test_nets_that_read_inputs_refuse_tasks_that_have_none(name):
    with pytest.raises(UserError, match=f"{name}.*inputs.*bumps-v1 has none"):
        nets.registry[name]().build(Bumps(Product(x=6, y=6)), jax.random.key(0))
