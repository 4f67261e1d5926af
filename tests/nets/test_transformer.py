"""The transformer against plain numpy, and what each row of it can see."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_nets import draw, jolted, norm

from recombine import Subsets
from recombine.nets import Transformer
from recombine.nets.layers import attention
from recombine.tasks import Batch, Hyperteacher, Preference


@pytest.fixture(scope="module", params=["identity", "tokens"])
def sequence(request):
    """A task, a small transformer for it, and five samples of four tasks."""
    task = Hyperteacher(Subsets(6, 2), encoding=request.param)
    net = jolted(Transformer(16, 2, 2, 32).build(task, jax.random.key(0)))
    drawn = draw(task, samples=5)
    return task, net, drawn, jax.jit(lambda n, x, c: n(Batch(None, c, x)))


def written_out(net, inputs, code, heads):
    """The transformer in plain numpy, one head and one position at a time."""
    net = jax.tree.map(lambda leaf: np.asarray(leaf, float), net)
    inputs, code = np.asarray(inputs, float), np.asarray(code, float)
    code_words = net.code_kernel[code.astype(int)] if net.code_is_words else (code @ net.code_kernel)[:, None]
    h = np.concatenate([code_words, inputs @ net.input_kernel + net.input_bias], axis=1)
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
    if words := task.words.get("code"):  # and every word does
        for place in range(task.encoding.size):
            swapped = drawn.code.at[:, place].set((drawn.code[:, place] + 1) % words)
            assert (abs(call(net, drawn.inputs, swapped)[0] - before).max(-1) > 1e-5).all()


def test_one_row_is_the_first_of_many(sequence):
    _, net, drawn, call = sequence
    whole = call(net, drawn.inputs, drawn.code)[0]
    np.testing.assert_allclose(call(net, drawn.inputs[:, :1], drawn.code)[0], whole[:, :1], atol=1e-5)


def test_apart_each_row_is_a_first_row(small):
    blueprint = Transformer(16, 2, 2, 32, together=False)
    net, drawn = blueprint.build(small, jax.random.key(0)), draw(small, samples=4)
    call = jax.jit(lambda n, x, c: n(Batch(None, c, x))[0])
    whole = call(net, drawn.inputs, drawn.code)
    for row in range(4):
        one = call(net, drawn.inputs[:, row : row + 1], drawn.code)
        np.testing.assert_allclose(whole[:, row : row + 1], one, atol=1e-5)


def test_episodes_do_not_see_each_other():
    """Two episodes of eight steps: each is what it is alone, and one step is the first of its episode."""
    world = Preference(Subsets(6, 2), samples=2)
    net = Transformer(16, 1, 2, 32).build(world, jax.random.key(0))
    rng = np.random.default_rng(0)
    shape = (3, *world.shapes().inputs.shape[1:])
    assert shape[:3] == (3, 2, 8)
    inputs, code = (jnp.asarray(rng.normal(size=n), jnp.float32) for n in (shape, (3, 6)))
    call = jax.jit(lambda n, x, c: n(Batch(None, c, x))[0])
    whole = call(net, inputs, code)
    assert whole.shape == (3, 2, 8, 5)
    for episode in range(2):
        alone = slice(episode, episode + 1)
        np.testing.assert_allclose(call(net, inputs[:, alone], code), whole[:, alone], atol=1e-5)
    np.testing.assert_allclose(call(net, inputs[:, :, :1], code), whole[:, :, :1], atol=1e-5)
    assert (abs(call(net, inputs.at[:, 0].add(1.0), code) - whole)[:, 0] > 1e-5).any(), "it does not read its episode"


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
