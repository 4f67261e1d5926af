"""Nets: published sizes, initialization, traces that are what they say, causality, and bfloat16 that is bfloat16."""

from __future__ import annotations

import json
import math
import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine import Product, Recipe, Subsets, UserError, nets, precision, supports, train
from recombine.nets import (
    MLP,
    CNNDecoder,
    CoordinateMLP,
    Hypernetwork,
    PixelTransformer,
    Rendering,
    Straightened,
    Transformer,
    attention,
    count_parameters,
    embedding,
)
from recombine.tasks import Bumps, Hyperteacher, Preference
from recombine.testing import check_net
from recombine.training import fresh_state, one_step

# -- the published sizes ------------------------------------------------------------------------------------------

# hyperteacher, identity encoding, 16 modules

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


def size_of(blueprint, task) -> int:
    """Number of parameters, without drawing them."""
    shapes = eqx.filter_eval_shape(blueprint.build, task, jax.random.key(0))
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(shapes))


@pytest.fixture(scope="module")
def teacher() -> Hyperteacher:
    return Hyperteacher(Subsets(16, 3))


@pytest.mark.parametrize("width, depth", PARAMETERS)
def test_published_numbers_of_parameters(teacher, width, depth):
    assert size_of(MLP(width, depth), teacher) == PARAMETERS[width, depth]


# preference world with 16 features, identity encoding, 16 modules: 49 x 18 inputs, 5 actions
PREFERENCE_PARAMETERS = {
    (128, 2): 132_229,
    (128, 4): 165_253,
    (256, 2): 297_221,
    (256, 4): 428_805,
    (512, 2): 725_509,
    (512, 4): 1_250_821,
    (1024, 2): 1_975_301,
    (1024, 4): 4_074_501,
    (2048, 2): 6_047_749,
    (2048, 4): 14_440_453,
}


def test_published_numbers_of_parameters_in_the_preference_world():
    task = Preference(Subsets(16, 3))
    for (width, depth), count in PREFERENCE_PARAMETERS.items():
        assert size_of(MLP(width, depth), task) == count
    assert size_of(MLP(1024, 2), Preference(Subsets(16, 3), features=32)) == 2_778_117


def test_published_numbers_of_parameters_of_other_nets_and_codes(teacher):
    assert size_of(Transformer(), teacher) == 3_161_104
    assert size_of(MLP(1024, 4), Hyperteacher(Subsets(16, 3), encoding="few-shot")) == 4_821_008


@pytest.mark.parametrize("width", [8, 1024])
@pytest.mark.parametrize("encoding", ["identity", "tokens"])
def test_the_size_of_a_hypernetwork_in_closed_form(width, encoding):
    task = Hyperteacher(Subsets(16, 3), inputs=5, outputs=7, encoding=encoding)
    words, code = (0, 16) if encoding == "identity" else (28 * 4, 32 * 4)
    made = 5 * width + width + width * 7 + 7
    assert size_of(Hypernetwork(width, embedding=4), task) == words + 2 * code + (code + 1) * made


def test_words_add_a_table_and_nothing_else():
    numbers, words = (Hyperteacher(Subsets(16, 3), encoding=encoding) for encoding in ("language", "tokens"))
    assert words.vocabulary == 28 and words.code_size == 32
    more = size_of(MLP(128, 2, embedding=16), words) - size_of(MLP(128, 2), numbers)
    assert more == 28 * 16 + 32 * 15 * 128
    assert size_of(Transformer(), words) - size_of(Transformer(), numbers) == (28 - 32) * 256


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


# every net at a size that tests can afford
SMALL = {
    "mlp": MLP(WIDTH, DEPTH),
    "transformer": Transformer(16, 1, 2, 32),
    "hypernetwork": Hypernetwork(12),
}
# those that draw pictures, which others are not asked for
DRAWING = {
    "cnn-decoder": CNNDecoder(6, 1, base=4),
    "coordinate-mlp": CoordinateMLP(8, 1),
    "pixel-transformer": PixelTransformer(8, 1, 2),
    "rendering": Rendering(),
    "straightened": Straightened(MLP(8, 1)),
}


def small_net(name):
    return (SMALL | DRAWING).get(name) or nets.registry[name]()


PICTURES = Bumps(Product(x=8, y=8))
CHECKED = [(name, encoding) for name in nets.registry if name not in DRAWING for encoding in ("identity", "tokens")]


@pytest.mark.parametrize("name, encoding", CHECKED)
def test_registered_nets_pass_the_public_check(name, encoding):
    check_net(small_net(name), Hyperteacher(Subsets(6, 2), samples=3, encoding=encoding))


@pytest.mark.parametrize("name", DRAWING)
def test_registered_nets_that_draw_pass_the_public_check(name):
    check_net(small_net(name), PICTURES)


@pytest.mark.parametrize("name", nets.registry)
def test_twenty_steps_reduce_the_loss_of_each_member_under_vmap(name, small, support):
    recipe = Recipe(steps=20, tasks=64, samples=4, learning_rate=3e-3, evaluations=2, precision="float32")
    task, support = (PICTURES, supports.donut(PICTURES.space)) if name in DRAWING else (small, support)
    trained = train(task, support, small_net(name), recipe, seeds=2, ensemble="vmap", progress=False, watch=())
    for member in trained.members:
        first, second = (row["loss"] for row in member.history)
        assert member.diverged_at is None and second < first
    one, other = (jax.tree.leaves(member.net) for member in trained.members)
    assert all((a != b).any() for a, b in zip(one, other, strict=True)), "members share weights"


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
        (lambda: MLP(embedding=0), "embedding=0"),
        (lambda: Transformer(depth=0), "depth=0"),
        (lambda: Transformer(width=30, heads=4), "width=30 .* 4 heads .* 32 would do"),
        (lambda: Transformer(width=2, heads=4), "8 would do"),
        (lambda: Hypernetwork(width=0), "width=0"),
        (lambda: nets.registry["mpl"], "'mpl'; did you mean 'mlp'"),
    ],
    ids=[
        "no width",
        "negative width",
        "negative depth",
        "truth value",
        "empty words",
        "no blocks",
        "odd heads",
        "empty heads",
        "empty net",
        "unknown",
    ],
)
def test_bad_arguments_are_refused_by_name(make, named):
    with pytest.raises(UserError, match=named):
        make()


# -- words --------------------------------------------------------------------------------------------------------


def test_words_are_rows_of_the_table_and_others_are_nothing():
    table = jnp.arange(12.0).reshape(4, 3)
    found = embedding.look_up(table, jnp.asarray([[0.0, 3.0], [2.0, 4.0]]))
    np.testing.assert_array_equal(found[0], table[jnp.asarray([0, 3])])
    assert jnp.isnan(found[1, 1]).all() and (found[1, 0] == table[2]).all()
    np.testing.assert_array_equal(embedding.read(table, jnp.asarray([[1.0, 0.0]])), [[3, 4, 5, 0, 1, 2]])
    np.testing.assert_array_equal(embedding.read(None, jnp.asarray([[1.5, 0.0]])), [[1.5, 0]])


def test_a_net_with_words_is_the_net_on_their_vectors(small):
    words = Hyperteacher(Subsets(6, 2), encoding="tokens")
    net = MLP(WIDTH, DEPTH, embedding=5).build(words, jax.random.key(0))
    assert net.words.shape == (18, 5) and net.kernels[0].shape == (12 * 5 + 16, WIDTH)
    drawn = draw(words, samples=2)
    code = np.asarray(net.words)[np.asarray(drawn.code).astype(int)].reshape(4, -1)
    plain = eqx.tree_at(lambda n: n.words, net, None, is_leaf=lambda leaf: leaf is None)
    np.testing.assert_allclose(net(drawn.inputs, drawn.code)[0], plain(drawn.inputs, jnp.asarray(code))[0], atol=1e-6)


def test_the_json_of_an_mlp_is_what_it_was_before_there_were_words():
    assert MLP(8, 2).to_json() == {"net": "mlp", "width": 8, "depth": 2}
    assert MLP(8, 2, embedding=4).to_json() == {"net": "mlp", "width": 8, "depth": 2, "embedding": 4}


# -- transformer --------------------------------------------------------------------------------------------------


def draw(task, samples: int, tasks: int = 4):
    """Data by one compiled program: drawn piece by piece it takes seconds."""
    rows = jnp.asarray(task.space.sample(0, tasks))
    return jax.jit(lambda key: task.sample(key, rows, samples))(jax.random.key(1))


def jolted(net):
    """The net with every weight moved, so that scales of one and biases of zero cannot hide."""
    return jax.tree.map(
        lambda leaf: leaf + 0.1 * jnp.cos(jnp.arange(leaf.size, dtype=jnp.float32)).reshape(leaf.shape), net
    )


@pytest.fixture(scope="module", params=["identity", "tokens"])
def sequence(request):
    """A task, a small transformer for it, and five samples of four tasks."""
    task = Hyperteacher(Subsets(6, 2), encoding=request.param)
    net = jolted(Transformer(16, 2, 2, 32).build(task, jax.random.key(0)))
    drawn = draw(task, samples=5)
    return task, net, drawn, jax.jit(lambda n, x, c: n(x, c))


def norm(x, scale):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * scale


def written_out(net, inputs, code, heads):
    """The transformer in plain numpy, one head and one position at a time."""
    net = jax.tree.map(lambda leaf: np.asarray(leaf, float), net)
    inputs, code = np.asarray(inputs, float), np.asarray(code, float)
    told = net.code_kernel[code.astype(int)] if net.code_is_words else (code @ net.code_kernel)[:, None]
    h = np.concatenate([told, inputs @ net.input_kernel + net.input_bias], axis=1)
    t, length, d = h.shape
    size = d // heads
    trace = {}

    def turned(x, position):
        angles = position / 10_000 ** (np.arange(size // 2) * 2 / size)
        pairs = (x[..., : size // 2] + 1j * x[..., size // 2 :]) * np.exp(1j * angles)
        return np.concatenate([pairs.real, pairs.imag], axis=-1)

    for number, block in enumerate(net.blocks, start=1):
        n = norm(h, block.attention_norm)
        mixed = np.zeros_like(h)
        for head in range(heads):
            columns = slice(head * size, (head + 1) * size)
            q = norm(n @ block.query[:, columns], block.query_norm)
            k = norm(n @ block.key_and_value[:, :d][:, columns], block.key_norm)
            v = n @ block.key_and_value[:, d:][:, columns]
            for i in range(length):
                scores = [(turned(q[:, i], i) * turned(k[:, j], j)).sum(-1) / np.sqrt(size) for j in range(i + 1)]
                weights = np.exp(scores) / np.exp(scores).sum(0)
                mixed[:, i, columns] = sum(w[:, None] * v[:, j] for j, w in enumerate(weights))
        h = h + mixed @ block.mix
        trace[f"layer{number}/pre"] = h[:, -inputs.shape[1] :]
        wide = norm(h, block.feedforward_norm) @ block.widen
        gelu = wide / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))
        h = h + gelu @ block.narrow
        trace[f"layer{number}/post"] = h[:, -inputs.shape[1] :]
    trace["output"] = norm(h, net.output_norm)[:, -inputs.shape[1] :] @ net.output_kernel + net.output_bias
    return trace


def test_the_transformer_in_plain_numpy(sequence):
    _, net, drawn, call = sequence
    prediction, trace = call(net, drawn.inputs, drawn.code)
    wanted = written_out(net, drawn.inputs, drawn.code, heads=2)
    assert set(trace) == set(wanted) == set(Transformer(16, 2, 2, 32).layers())
    for name, value in wanted.items():
        np.testing.assert_allclose(trace[name], value, atol=2e-5, err_msg=name)
    assert (prediction == trace["output"]).all()


@pytest.mark.parametrize("row", [1, 4])
def test_a_row_sees_itself_and_those_before(sequence, row):
    _, net, drawn, call = sequence
    _, before = call(net, drawn.inputs, drawn.code)
    _, after = call(net, drawn.inputs.at[:, row].add(1.0), drawn.code)
    for name in before:
        np.testing.assert_array_equal(after[name][:, :row], before[name][:, :row])
        assert (after[name][:, row:] != before[name][:, row:]).any(-1).all(), f"{name} does not see row {row}"


def test_the_code_reaches_every_row(sequence):
    task, net, drawn, call = sequence
    other = jnp.roll(drawn.code, 1, axis=0)
    changed = (other != drawn.code).any(-1)
    before, after = call(net, drawn.inputs, drawn.code)[0], call(net, drawn.inputs, other)[0]
    assert changed.any() and (abs(after - before).max(-1) > 1e-4)[changed].all()
    if task.vocabulary:  # and every word does
        for place in range(task.code_size):
            swapped = drawn.code.at[:, place].set((drawn.code[:, place] + 1) % task.vocabulary)
            assert (abs(call(net, drawn.inputs, swapped)[0] - before).max(-1) > 1e-5).all()


def test_one_row_is_the_first_of_many(sequence):
    _, net, drawn, call = sequence
    whole = call(net, drawn.inputs, drawn.code)[0]
    np.testing.assert_allclose(call(net, drawn.inputs[:, :1], drawn.code)[0], whole[:, :1], atol=1e-5)


def test_apart_each_row_is_a_first_row(small):
    blueprint = Transformer(16, 2, 2, 32, together=False)
    net, drawn = blueprint.build(small, jax.random.key(0)), draw(small, samples=4)
    call = jax.jit(lambda n, x, c: n(x, c)[0])
    whole = call(net, drawn.inputs, drawn.code)
    for row in range(4):
        one = call(net, drawn.inputs[:, row : row + 1], drawn.code)
        np.testing.assert_allclose(whole[:, row : row + 1], one, atol=1e-5)


def test_episodes_do_not_see_each_other():
    """Two episodes of eight steps: the second is what it is alone, and one step is the first of its episode."""
    world = Preference(Subsets(6, 2), samples=2)
    net = Transformer(16, 1, 2, 32).build(world, jax.random.key(0))
    rng = np.random.default_rng(0)
    inputs, code = (jnp.asarray(rng.normal(size=n), jnp.float32) for n in ((3, 16, world.input_size), (3, 6)))
    call = jax.jit(lambda n, x, c: n(x, c)[0])
    whole = call(net, inputs, code)
    np.testing.assert_allclose(call(net, inputs[:, 8:], code), whole[:, 8:], atol=1e-5)
    np.testing.assert_allclose(call(net, inputs[:, :1], code), whole[:, :1], atol=1e-5)
    with pytest.raises(UserError, match="9 rows a task are not whole episodes of 8"):
        net(inputs[:, :9], code)


def test_rotary_products_depend_on_the_difference_of_positions_alone():
    q, k = jax.random.normal(jax.random.key(0), (2, 1, 1, 1, 8))
    angles = attention.rotary_angles(12, 8)
    assert angles.shape == (12, 4) and (angles[0] == 0).all() and angles[1, 0] == 1
    assert angles[1, 3] == pytest.approx(10_000**-0.75)
    turned_q, turned_k = (attention.rotate(jnp.tile(x, (1, 12, 1, 1)), angles)[0, :, 0] for x in (q, k))
    products = np.asarray(turned_q @ turned_k.T)
    for difference in range(-11, 12):
        diagonal = np.diagonal(products, difference)
        np.testing.assert_allclose(diagonal, diagonal[0], atol=1e-5)
    assert np.ptp(products[0]) > 0.1
    np.testing.assert_allclose((turned_q**2).sum(-1), (q**2).sum(), rtol=1e-5)


def test_the_last_queries_of_causal_attention_are_the_last_of_all():
    q, k, v = jax.random.normal(jax.random.key(0), (3, 2, 6, 2, 4))
    np.testing.assert_allclose(
        attention.causal_attention(q[:, -2:], k, v), attention.causal_attention(q, k, v)[:, -2:], atol=1e-6
    )
    np.testing.assert_allclose(attention.causal_attention(q, k, v)[:, 0], v[:, 0], atol=1e-6)
    assert attention.causal_mask(2, 3).tolist() == [[True, True, False], [True, True, True]]


def test_kernels_of_blocks_are_xavier_uniform_and_scales_one(teacher):
    net = Transformer(64, 1, 4, 256).build(teacher, jax.random.key(0))
    block = net.blocks[0]
    key, value = np.split(np.asarray(block.key_and_value), 2, axis=1)
    for kernel in (block.query, key, value, block.mix, block.widen, block.narrow):
        limit = math.sqrt(6 / sum(kernel.shape))
        assert 0.98 * limit < abs(kernel).max() <= limit
        assert np.asarray(kernel).std() == pytest.approx(limit / math.sqrt(3), rel=0.03)
    for kernel in (net.code_kernel, net.input_kernel, net.output_kernel):
        assert np.asarray(kernel).std() == pytest.approx(kernel.shape[0] ** -0.5, rel=0.1)
    ones = (block.attention_norm, block.query_norm, block.key_norm, block.feedforward_norm, net.output_norm)
    assert all((scale == 1).all() for scale in ones) and block.query_norm.shape == (16,)
    assert (net.input_bias == 0).all() and (net.output_bias == 0).all()
    assert len({float(kernel[0, 0]) for kernel in (block.query, key, value, block.mix)}) == 4, "kernels share a key"


# -- hypernetwork -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("width", [4, 24], ids=["narrow", "wide"])
@pytest.mark.parametrize("encoding", ["identity", "tokens"])
def test_the_net_that_a_hypernetwork_makes_in_plain_numpy(samples, width, encoding):
    """Width 4 is less than the 16 inputs, and 24 more than the 7 outputs: every order of the sum is taken."""
    task = Hyperteacher(Subsets(6, 2), outputs=7, encoding=encoding)
    net = jolted(Hypernetwork(width, embedding=3).build(task, jax.random.key(0)))
    drawn = draw(task, samples, tasks=5)
    prediction, trace = jax.jit(lambda n, x, c: n(x, c))(net, drawn.inputs, drawn.code)
    plain = jax.tree.map(lambda leaf: np.asarray(leaf, float), net)
    for row in range(5):
        code = np.asarray(drawn.code[row], float)
        code = code if plain.words is None else plain.words[code.astype(int)].ravel()
        n = norm(code, plain.code_scale) + plain.code_bias

        def made(generator, *shape, n=n):
            return (n @ generator.kernel + generator.bias).reshape(shape)

        hidden = np.asarray(drawn.inputs[row], float) @ made(plain.hidden_kernel, 16, width) / 4
        hidden = hidden + made(plain.hidden_bias, width)
        out = np.maximum(hidden, 0) @ made(plain.output_kernel, width, 7) * math.sqrt(2 / width)
        np.testing.assert_allclose(trace["layer1/pre"][row], hidden, atol=2e-5)
        np.testing.assert_allclose(prediction[row], out + made(plain.output_bias, 7), atol=5e-5)
    assert (trace["layer1/post"] == jnp.maximum(trace["layer1/pre"], 0)).all() and (trace["output"] == prediction).all()


def test_a_fresh_hypernetwork_makes_nets_of_unit_variance(teacher):
    net = Hypernetwork(256).build(teacher, jax.random.key(0))
    code = draw(teacher, samples=1, tasks=64).code
    prediction, trace = jax.jit(lambda n, x, c: n(x, c))(net, jax.random.normal(jax.random.key(2), (64, 16, 16)), code)
    assert trace["layer1/pre"].std() == pytest.approx(1, abs=0.05)
    assert prediction.std() == pytest.approx(1, abs=0.1)


def test_a_hypernetwork_cannot_tell_the_size_of_a_code(small):
    net = Hypernetwork(8).build(small, jax.random.key(0))
    code, inputs = jnp.eye(6)[:1], jnp.ones((1, 1, 16))
    np.testing.assert_allclose(net(inputs, code)[0], net(inputs, code / 2)[0], atol=1e-4)


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


def lowered_step(task: Hyperteacher, precision: str, blueprint=SMALL["mlp"], samples: int = 1) -> str:
    recipe = Recipe(tasks=96, samples=samples, precision=precision)
    state = fresh_state(blueprint.build(task, jax.random.key(0), precision), recipe)
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


@pytest.mark.parametrize(
    "blueprint, products",
    [
        # code, inputs, five of a block, five of the last block (which needs the code for keys and values only), output
        (Transformer(20, 2, 2, 48), ["96x20", "96x20", "192x20", "192x40", "192x20", "192x48", "192x20",
                                     "96x20", "192x40", "96x20", "96x48", "96x20", "96x7"]),
        # one row a task: hidden, its constant part and bias; by code, constant part and bias of the output
        (Hypernetwork(24), ["96x24", "96x24", "96x24", "96x42", "96x7", "96x7"]),
    ],
    ids=["transformer", "hypernetwork"],
)  # fmt: skip
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


@pytest.mark.parametrize("name", ["bfloat61", "float64", "", "AUTO"])
def test_unknown_precisions_are_refused_by_name(name):
    with pytest.raises(UserError, match=f"unknown precision '{name}'"):
        precision.resolve(name)
    with pytest.raises(UserError, match=f"unknown precision '{name}'"):
        Recipe(precision=name)


@pytest.mark.parametrize("name", nets.registry)
def test_a_net_is_not_built_at_a_precision_that_it_would_ignore(small, name):
    with pytest.raises(UserError, match="'bf16'"):
        small_net(name).build(PICTURES if name in DRAWING else small, jax.random.key(0), "bf16")


def test_rates_are_measured_for_both():
    rates = precision.matmul_rates(size=64, seconds=0.01)
    assert set(rates) == {"float32", "bfloat16"} and all(rate > 1e6 for rate in rates.values())
