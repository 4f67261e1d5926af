"""Nets: published sizes, initialization, traces that are what they say, and words."""

from __future__ import annotations

import json
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from every_name import NETS, every
from small_nets import (
    DEPTH,
    DRAWING,
    PICTURES,
    READ,
    READING,
    WIDTH,
    WORDS,
    WRITING,
    draw,
    small_net,
    with_biases,
    world_for,
)

from recombine import Recipe, Subsets, UserError, nets, supports, train
from recombine.nets import MLP, Hypernetwork, Transformer, count_parameters
from recombine.nets.layers import embedding
from recombine.tasks import Batch, Hyperteacher, Preference
from recombine.testing import check_net

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
    assert words.words == {"code": 28} and words.encoding.size == 32
    more = size_of(MLP(128, 2, embedding=16), words) - size_of(MLP(128, 2), numbers)
    assert more == 28 * 16 + 32 * 15 * 128
    assert size_of(Transformer(), words) - size_of(Transformer(), numbers) == (28 - 32) * 256


def test_parameters_of_a_net_are_counted(teacher):
    assert count_parameters(MLP(128, 2).build(teacher, jax.random.key(0))) == PARAMETERS[128, 2]


# -- a small net --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def batch(small):
    return jax.jit(lambda key, rows: small.sample(key, rows))(jax.random.key(1), small.space.sample(0, 12))


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


def test_weights_can_begin_uniform_as_torch_draws_them(teacher):
    """Within 1/sqrt(fan in), biases too: smaller by sqrt(3) than LeCun's."""
    net = MLP(512, 2, initial="uniform").build(teacher, jax.random.key(0))
    for kernel, bias in zip(net.kernels, net.biases, strict=True):
        bound = kernel.shape[0] ** -0.5
        assert 0.99 * bound < abs(kernel).max() <= bound and 0.8 * bound < abs(bias).max() <= bound
        assert float(kernel.std()) == pytest.approx(bound / math.sqrt(3), rel=0.02)
    with pytest.raises(UserError, match="'unifrom'; did you mean 'uniform'"):
        MLP(8, 1, initial="unifrom")


def test_the_forward_pass_in_plain_numpy(net, batch):
    prediction, trace = eqx.filter_jit(net)(batch)
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
    prediction, trace = eqx.filter_jit(net)(batch)
    announced = ("layer1/pre", "layer1/post", "layer2/pre", "layer2/post", "output")
    assert MLP(WIDTH, DEPTH).layers() == announced and set(trace) == set(announced)
    for i in range(1, DEPTH + 1):
        assert (trace[f"layer{i}/post"] == jnp.maximum(trace[f"layer{i}/pre"], 0)).all()
        assert (np.asarray(trace[f"layer{i}/pre"]) < 0).any()
    assert (trace["output"] == prediction).all()


def test_samples_of_a_task_do_not_touch_each_other(net, batch):
    call = jax.jit(lambda n, b: n(b)[0])
    some = Batch(batch.combinations[3:5], batch.code[3:5], batch.inputs[3:5, 2:4])
    np.testing.assert_allclose(call(net, some), call(net, batch)[3:5, 2:4], atol=1e-5)


def test_an_unused_trace_costs_nothing(net, batch):
    """The compiled prediction does as many products as there are layers, with or without a trace."""
    text = jax.jit(lambda n, b: n(b)[0]).lower(net, batch).as_text()
    assert text.count("dot_general") == DEPTH + 1


PLAIN = [name for name in nets.registry if name not in {*DRAWING, *WRITING, *READING}]
CHECKED = [(name, encoding) for name in PLAIN for encoding in ("identity", "tokens")]


@pytest.mark.parametrize("name, encoding", every(CHECKED, at_once=[("mlp", "identity"), ("transformer", "tokens")]))
def test_registered_nets_pass_the_public_check(name, encoding):
    check_net(small_net(name), Hyperteacher(Subsets(6, 2), samples=3, encoding=encoding))


@pytest.mark.parametrize("name", every(DRAWING, at_once=NETS))
def test_registered_nets_that_draw_pass_the_public_check(name):
    check_net(small_net(name), PICTURES)


@pytest.mark.parametrize("name", READING)
def test_registered_nets_that_read_pictures_pass_the_public_check(name):
    check_net(small_net(name), READ)


@pytest.mark.parametrize("name", every(WRITING, at_once=NETS))
def test_registered_nets_that_write_pass_the_public_check(name):
    check_net(small_net(name), WORDS)


@pytest.mark.parametrize("name", every(nets.registry, at_once=NETS))
def test_twenty_steps_reduce_the_loss_of_each_member_under_vmap(name, small, support):
    recipe = Recipe(steps=20, tasks=64, samples=4, learning_rate=3e-3, evaluations=2, precision="float32")
    task = world_for(name, small)
    if task is not small:
        support = (
            supports.donut(task.space) if task is PICTURES or task is READ else supports.random(task.space, seed=0)
        )
    trained = train(task, support, small_net(name), recipe, seeds=2, ensemble="vmap", progress=False, watch=())
    for member in trained.members:
        first, second = (row["loss"] for row in member.history)
        assert member.diverged_at is None and second < first
    one, other = (jax.tree.leaves(eqx.filter(member.net, eqx.is_array)) for member in trained.members)
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
    found = embedding.look_up(table, jnp.asarray([[0, 3], [2, 4]]))
    np.testing.assert_array_equal(found[0], table[jnp.asarray([0, 3])])
    assert jnp.isnan(found[1, 1]).all() and (found[1, 0] == table[2]).all()
    np.testing.assert_array_equal(embedding.read(table, jnp.asarray([[1, 0]])), [[3, 4, 5, 0, 1, 2]])
    np.testing.assert_array_equal(embedding.read(None, jnp.asarray([[1.5, 0.0]])), [[1.5, 0]])


def test_a_net_with_words_is_the_net_on_their_vectors(small):
    words = Hyperteacher(Subsets(6, 2), encoding="tokens")
    net = MLP(WIDTH, DEPTH, embedding=5).build(words, jax.random.key(0))
    assert net.words.shape == (18, 5) and net.kernels[0].shape == (12 * 5 + 16, WIDTH)
    drawn = draw(words, samples=2)
    assert drawn.code.dtype == jnp.int32
    code = np.asarray(net.words)[np.asarray(drawn.code)].reshape(4, -1)
    plain = eqx.tree_at(lambda n: n.words, net, None, is_leaf=lambda leaf: leaf is None)
    np.testing.assert_allclose(net(drawn)[0], plain(drawn._replace(code=jnp.asarray(code)))[0], atol=1e-6)


def test_the_json_of_an_mlp_is_what_it_was_before_there_were_words():
    assert MLP(8, 2).to_json() == {"net": "mlp", "width": 8, "depth": 2}
    assert MLP(8, 2, embedding=4).to_json() == {"net": "mlp", "width": 8, "depth": 2, "embedding": 4}
    assert MLP(8, 2, initial="uniform").to_json() == {"net": "mlp", "width": 8, "depth": 2, "initial": "uniform"}
