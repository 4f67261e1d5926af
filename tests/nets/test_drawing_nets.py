"""Nets that draw: published sizes, convolutions against their definition, refusals."""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from filled_nets import bumps, filled, run, scattered

from recombine import Product, Recipe, Subsets, UserError, nets, supports, train
from recombine.nets import MLP, CNNDecoder, CoordinateMLP, PixelTransformer, Rendering, Straightened, initialize
from recombine.nets.layers import attention, convolution, pixels
from recombine.tasks import Bumps, Hyperteacher, draw_batch
from recombine.training.evaluation import evaluation_mode
from recombine.training.step import fresh_state, one_step

KEY = jax.random.key(0)
DRAWING = {
    "cnn-decoder": CNNDecoder(6, 2, base=4),
    "coordinate-mlp": CoordinateMLP(8, 2),
    "pixel-transformer": PixelTransformer(8, 1, 2, feedforward=16, dropout=0),
    "rendering": Rendering(),
    "straightened": Straightened(MLP(8, 1)),
}


def size_of(blueprint, task) -> int:
    shapes = eqx.filter_eval_shape(blueprint.build, task, jax.random.key(0))
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(shapes))


# -- sizes --------------------------------------------------------------------------------------------------------


def test_published_numbers_of_parameters():
    bump, ramp = bumps(28), bumps(28, "ramp")
    decoder = {2: 307_457, 3: 344_385, 4: 381_313, 5: 418_241, 6: 455_169, 8: 529_025, 10: 602_881}
    assert {depth: size_of(CNNDecoder(depth=depth), bump) for depth in decoder} == decoder
    assert size_of(CNNDecoder(), ramp) == 211_969
    assert [size_of(MLP(256, depth), bump) for depth in (3, 7)] == [347_664, 610_832]
    assert [size_of(MLP(128, depth), ramp) for depth in (3, 7)] == [134_544, 200_592]
    # torch's encoder layer of width 128 with its 2,048 feed-forward units: 593,024 each
    assert [size_of(PixelTransformer(depth=depth, dropout=0), bump) for depth in (2, 5)] == [1_193_473, 2_972_545]
    one_hot = bumps(32, "one-hot")
    assert size_of(Rendering(), one_hot) == 133_218
    net = eqx.filter_eval_shape(Rendering().build, one_hot, jax.random.key(0))
    assert sum(math.prod(w.shape) for w in jax.tree.leaves((net.kernels, net.biases, net.slopes))) == 98


# -- convolutions -------------------------------------------------------------------------------------------------


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
        given = fresh_state(filled(blueprint, task), recipe, task, lambda: draw_batch(task, sampler, KEY, 4, 1))
        step = jax.jit(one_step, static_argnums=6)
        text = step.lower(*given, task, sampler, recipe.rates(), KEY, recipe.shape()).as_text()
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


# -- one token per pixel -------------------------------------------------------------------------------------------


def test_positions_of_pixels_are_sines_and_cosines_of_whole_columns_and_rows():
    found = pixels.positions(5, 8)
    assert found.shape == (25, 8)
    for row in range(5):
        for column in range(5):
            wanted = []
            for frequency in (1, 10_000**-0.5):
                wanted += [f(at * frequency) for at in (column, row) for f in (math.sin, math.cos)]
            np.testing.assert_allclose(found[5 * row + column], wanted, atol=1e-6)


def test_positions_of_pixels_are_the_published_ones_in_another_order_of_channels():
    """There the row comes before the column: channels 0 and 1 of each four are 2 and 3 here."""
    side, width = 6, 16
    published = np.zeros((side, side, width))
    for row in range(side):
        for column in range(side):
            for k in range(0, width, 4):
                frequency = math.exp(-math.log(10_000) * k / width)
                at = (row * frequency, column * frequency)
                published[row, column, k : k + 4] = [math.sin(at[0]), math.cos(at[0]), math.sin(at[1]), math.cos(at[1])]
    order = np.arange(width).reshape(-1, 4)[:, [2, 3, 0, 1]].ravel()
    np.testing.assert_allclose(pixels.positions(side, width), published.reshape(-1, width)[:, order], atol=1e-6)


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
    blueprint = PixelTransformer(8, 2, 2, feedforward=6, dropout=0)
    numbers, code, prediction, trace = run(blueprint, task, [[1.0, 2.0], [0.5, 0.0]])

    def linear(layer, x):
        return x @ layer.kernel + layer.bias

    def norm(x, scale, bias):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * scale + bias

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


def block_of(blueprint):
    """One encoder block with weights that are written down, and a stream for it."""
    net = filled(blueprint, bumps(3))
    return net.blocks[0], jnp.cos(jnp.arange(2 * 9 * 8, dtype=jnp.float32)).reshape(2, 9, 8)


def normed(x: np.ndarray, epsilon: float = 1e-5) -> np.ndarray:
    x = np.asarray(x, float)
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + epsilon)


def test_norms_of_the_pixel_transformer_have_the_epsilon_of_torch():
    """A first norm that leaves a thousandth, and nothing added to it: what comes out shows what is under the root."""
    block, h = block_of(PixelTransformer(8, 1, 2, feedforward=6, dropout=0))
    silent = jax.tree.map(jnp.zeros_like, (block.mix, block.narrow))
    norms = ((jnp.full(8, 1e-3), jnp.zeros(8)), (jnp.ones(8), jnp.zeros(8)))
    block = eqx.tree_at(lambda b: (b.mix, b.narrow, b.norms), block, (*silent, norms))
    _, found = block(h)
    np.testing.assert_allclose(found, normed(1e-3 * normed(h)), rtol=1e-3)
    assert abs(found - normed(1e-3 * normed(h), 1e-6)).max() > 0.3, "the root of Flax would give another stream"


def test_the_four_places_where_the_pixel_transformer_drops():
    """Attention weights of each sequence, what the attention adds, feed-forward units, and what these add."""
    block, h = block_of(PixelTransformer(8, 1, 2, feedforward=6, dropout=0))
    places = []

    def note(values, key):
        places.append(values.shape)
        return values

    untouched = block(h)
    for a, b in zip(block(h, note, KEY), untouched, strict=True):
        np.testing.assert_array_equal(a, b)
    assert places == [(2, 9, 9), (2, 9, 8), (2, 9, 6), (2, 9, 8)]
    ones = [(jnp.ones(8), jnp.zeros(8))] * 2
    block = eqx.tree_at(lambda b: b.norms, block, tuple(ones))
    middle, out = block(h, lambda values, key: 0 * values, KEY)
    np.testing.assert_allclose(middle, normed(h), atol=1e-5)
    np.testing.assert_allclose(out, normed(normed(h)), atol=1e-5)


def test_the_pixel_transformer_drops_a_tenth_in_training_and_nothing_when_it_is_asked():
    task = bumps(4)
    net = initialize(PixelTransformer(8, 2, 2, feedforward=16), task, KEY, "float32")
    same = initialize(PixelTransformer(8, 2, 2, feedforward=16, dropout=0), task, KEY, "float32")
    kept = net.drop(jnp.ones(100_000), KEY)
    np.testing.assert_allclose(np.unique(kept), [0, 1 / 0.9], rtol=1e-6)
    assert float((kept == 0).mean()) == pytest.approx(0.1, abs=0.005)
    batch = task.sample(KEY, jnp.asarray([[0, 1], [2, 3]]))
    trained = [np.asarray(net(batch, jax.random.key(seed))[0]) for seed in range(2)]
    assert abs(trained[0] - trained[1]).max() > 1e-3, "a key draws what is dropped"
    plain = same(batch, KEY)[0]
    assert abs(trained[0] - plain).max() > 1e-3
    np.testing.assert_array_equal(evaluation_mode(net)(batch, KEY)[0], plain)
    np.testing.assert_array_equal(net(batch)[0], plain)


def test_the_pixel_transformer_begins_as_torch_draws_it():
    """Xavier-uniform over query, key and value as one kernel, no bias there; all else within 1/sqrt(fan in)."""
    net = initialize(PixelTransformer(32, 1, 2, feedforward=64), bumps(8), KEY, "float32")
    block = net.blocks[0]
    bounds = {
        "query_key_value": (6 / (32 + 96)) ** 0.5,
        "mix": 32**-0.5,
        "widen": 32**-0.5,
        "narrow": 64**-0.5,
        "read": 16**-0.5,
        "output": 32**-0.5,
    }
    for name, bound in bounds.items():
        linear = getattr(block, name, None) or getattr(net, name)
        assert 0.85 * bound < abs(linear.kernel).max() <= bound, name
        if linear.kernel.size > 500:
            assert float(linear.kernel.std()) == pytest.approx(bound / math.sqrt(3), rel=0.05), name
        limit = 0 if name in ("query_key_value", "mix") else bound
        assert abs(linear.bias).max() <= limit and (limit == 0) == bool((linear.bias == 0).all()), name


def test_the_pixel_transformer_is_the_encoder_of_torch():
    torch = pytest.importorskip("torch")
    net = initialize(PixelTransformer(8, 1, 2, feedforward=16), bumps(4), KEY, "float32")
    block, h = net.blocks[0], np.cos(np.arange(2 * 9 * 8, dtype=np.float32)).reshape(2, 9, 8)
    layer = torch.nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True)
    assert (layer.dropout.p, layer.norm1.eps) == (net.dropout.p, 1e-5)
    linears = (block.query_key_value, block.mix, block.widen, block.narrow)
    state = {}
    names = ("self_attn.in_proj_", "self_attn.out_proj.", "linear1.", "linear2.")
    for name, linear in zip(names, linears, strict=True):
        state |= {f"{name}weight": torch.tensor(np.array(linear.kernel.T)), f"{name}bias": torch.tensor(linear.bias)}
    state |= {f"norm{i}.weight": torch.ones(8) for i in (1, 2)} | {f"norm{i}.bias": torch.zeros(8) for i in (1, 2)}
    layer.load_state_dict(state)
    with torch.no_grad():
        wanted = layer.eval()(torch.tensor(h)).numpy()
    np.testing.assert_allclose(block(jnp.asarray(h))[1], wanted, atol=1e-5)


def test_weights_of_attention_are_dropped_alike_in_bounded_memory():
    qkv = jax.random.normal(jax.random.key(0), (3, 5, 6, 2, 4))
    keys = jax.random.split(KEY, 5)

    def drop(weights, key):
        return weights * jax.random.bernoulli(key, 0.5, weights.shape)

    whole, parts = (attention.attention(*qkv, most=most, drop=drop, drop_keys=keys) for most in (10**6, 72))
    np.testing.assert_allclose(parts, whole, atol=1e-6)
    assert abs(whole - attention.attention(*qkv)).max() > 0.1


def test_attention_in_bounded_memory_is_the_same_with_its_gradient():
    qkv = jax.random.normal(jax.random.key(0), (3, 5, 6, 2, 4))

    def value_and_gradient(most):
        return jax.jit(jax.value_and_grad(lambda qkv: (attention.attention(*qkv, most=most) ** 3).sum()))(qkv)

    whole, parts = value_and_gradient(10**6), value_and_gradient(2 * 6 * 6 * 2)  # 5 sequences, two at a time
    np.testing.assert_allclose(parts[0], whole[0], rtol=1e-5)
    np.testing.assert_allclose(parts[1], whole[1], atol=1e-5)
    text = str(jax.make_jaxpr(lambda qkv: attention.attention(*qkv, most=72))(qkv))
    assert "5,2,6,6" not in text and "1,2,6,6" in text, "scores of all sequences at once"


# -- what they refuse ---------------------------------------------------------------------------------------------


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
        (lambda: CNNDecoder(depth=1).require(bumps(28)), "depth=1 .* 14 pixels per side, .* have 28; depth=2"),
        (lambda: CNNDecoder(width=0), "width=0"),
        (lambda: CNNDecoder(base=0), "base=0"),
        (lambda: CoordinateMLP(width=30), "width=30 .* 32 would do"),
        (lambda: PixelTransformer(width=30), "width=30"),
        (lambda: PixelTransformer(width=20, heads=3), "width=20 does not give 3 heads"),
        (lambda: PixelTransformer(dropout=1.0), "dropout=1.0"),
        (lambda: PixelTransformer(feedforward=0), "feedforward=0"),
        (lambda: Rendering(entropy=-1.0), "entropy=-1.0"),
        (lambda: Rendering(variance=math.nan), "variance=nan"),
        (lambda: Rendering(variance_of="row"), "'row'; did you mean 'raw'"),
        (lambda: Rendering(factors="xy"), "factors='xy'"),
        (lambda: Rendering().require(bumps(6, "ramp")), r"one unit per level.*\(1, 1\) numbers for \(6, 6\)"),
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


@pytest.mark.parametrize("name", DRAWING)
def test_nets_that_draw_give_one_picture_per_task_whatever_number_of_samples_is_asked_for(name):
    task, rows = bumps(8), jnp.asarray([[0, 1], [2, 5]])
    assert task.sample(KEY, rows, 3).target.shape == (2, 1, 64)
    _, _, prediction, trace = run(DRAWING[name], task, rows)
    assert prediction.shape == (2, 1, 64) and all(value.shape[:2] == (2, 1) for value in trace.values())


@pytest.mark.parametrize("name", ["transformer", "hypernetwork"])
def test_nets_that_read_inputs_refuse_tasks_that_have_none(name):
    with pytest.raises(UserError, match=f"{name}.*inputs.*bumps-v1 has none"):
        nets.registry[name]().build(Bumps(Product(x=6, y=6)), jax.random.key(0))
