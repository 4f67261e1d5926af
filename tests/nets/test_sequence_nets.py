"""Nets that write sequences: padding and the future change nothing, decoding is what it says, groups cost nothing."""

from __future__ import annotations

import dataclasses
import functools
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from letters import Backwards
from small_nets import WORDS, jolted

import recombine as rc
from recombine import UserError
from recombine.nets import (
    LSTM,
    DecoderTransformer,
    Moment,
    Net,
    Parts,
    Seq2SeqTransformer,
    count_parameters,
    cut,
    initialize,
    join,
)
from recombine.nets.layers import length_groups
from recombine.nets.layers.decoding import Written, beam_search, decode, greedy
from recombine.nets.layers.grouped_attention import GroupedAttention
from recombine.nets.layers.length_groups import lengths_up_to, sum_in_groups
from recombine.nets.layers.positions import FARTHEST, distance_biases, sinusoidal, turned
from recombine.training import evaluate, own_nats
from recombine.trials.panel import confidence_in

KEY = jax.random.key(0)
NETS = {
    "sinusoidal, tied": Seq2SeqTransformer(8, 1, 2, 8, tied=True),
    "rotary": Seq2SeqTransformer(8, 1, 2, 8, positions="rotary"),
    "decoder, relative, grouped": DecoderTransformer(16, 2, 4, 8, positions="relative", key_heads=2),
    "lstm": LSTM(8, 2),
    "lstm, attention": LSTM(8, 1, attention=True),
}
#: of 4 words and 3 places: all ways to end, or not to
EVERY = [row for row in itertools.product(range(4), repeat=3) if 0 not in row[:2]]
EVERY += [(first, 0, -1) for first in (1, 2, 3)] + [(0, -1, -1)]
TRIED = 3  # codes


def batch_of(task, rows=None):
    return task.sample(KEY, jnp.asarray(task.space.enumerate() if rows is None else rows))


def stirred(net: Net) -> Net:
    """The net with weights drawn at random, so that what it writes depends on all it reads."""
    leaves, structure = jax.tree.flatten(net)
    keys = jax.random.split(jax.random.fold_in(jax.random.key(7), 2), len(leaves))
    drawn = [leaf + 1.5 * jax.random.normal(key, leaf.shape) for key, leaf in zip(keys, leaves, strict=True)]
    return jax.tree.unflatten(structure, drawn)


def run(blueprint, batch):
    """All that is asked of one net, in one program: a compilation takes longer than all of them."""
    net = stirred(blueprint.build(WORDS, KEY))
    code, target = batch.code, batch.target
    forced = lambda code, target: net.forced(code, target)[0]  # noqa: E731
    greedily = net.written(code)
    short, few = dataclasses.replace(net, longest=3), code[:TRIED]
    each = jnp.repeat(few, len(EVERY), axis=0), jnp.tile(jnp.asarray(EVERY), (len(few), 1))

    def by_beam(width: int) -> Written:
        return beam_search(short.step, short.begin(jnp.repeat(few, width, axis=0)), len(few), 3, width)

    return {
        "logits": forced(code, target),
        "padded": forced(jnp.pad(code, ((0, 0), (0, 5)), constant_values=-1), target),
        "later word": forced(code, target.at[:, 1].set((target[:, 1] + 1) % 4)),
        "other code": forced(code.at[:, 0].set((code[:, 0] + 1) % 3), target),
        "written": greedily,
        "on written": forced(code, greedily.words),
        "greedy": greedy(short.step, short.begin(few), len(few), 3),
        "one": by_beam(1),
        "wide": by_beam(64),
        "two": short.written(few, 2),
        "each": short.likelihood(WORDS, rc.tasks.Batch(None, each[0], None, each[1]), KEY).reshape(len(few), -1),
    }


@pytest.fixture(scope="module", params=NETS)
def found(request):
    return jax.tree.map(np.asarray, jax.jit(run, static_argnums=0)(NETS[request.param], batch_of(WORDS)))


# -- reading and writing ------------------------------------------------------------------------------------------


def test_padding_of_the_code_and_what_comes_later_change_nothing(found):
    logits, later = found["logits"], found["later word"]
    np.testing.assert_allclose(found["padded"], logits, atol=1e-4)
    np.testing.assert_allclose(later[:, :2], logits[:, :2], atol=1e-4)
    assert (abs(later[:, 2] - logits[:, 2]) > 1e-4).any(1).mean() > 0.9, "what was written makes no difference"
    assert (abs(found["other code"] - logits)[:, 0] > 1e-4).any(1).mean() > 0.9, "what is read makes no difference"


def test_what_is_written_word_by_word_is_what_a_whole_pass_says(found):
    """With the cache and without: the same words, and the same nats."""
    (words, nats), logits = found["written"], found["on written"].astype(np.float64)
    over = np.cumsum(words == 0, axis=1) - (words == 0) > 0
    assert (words[over] == -1).all() and (words[~over] >= 0).all(), "after the end there is nothing"
    np.testing.assert_array_equal(np.where(over, -1, logits.argmax(-1)), words)
    chosen = np.take_along_axis(logits, np.maximum(words, 0)[..., None], axis=-1)[..., 0]
    each = chosen - np.log(np.exp(logits).sum(-1))
    np.testing.assert_allclose(np.where(over, 0, each).sum(1), nats, atol=1e-3)
    assert len(np.unique(words, axis=0)) > 1 and (words[:, 1] > 0).any(), "it writes one word, whatever it reads"


def test_a_wide_beam_finds_the_best_of_all_sequences_and_a_beam_of_one_is_greedy(found):
    np.testing.assert_array_equal(found["one"].words, found["greedy"].words)
    np.testing.assert_allclose(found["one"].nats, found["greedy"].nats, atol=1e-4)
    each, wide = found["each"], found["wide"]
    np.testing.assert_allclose(np.exp(each).sum(1), 1, atol=1e-4)  # exact: they are all there is
    np.testing.assert_allclose(wide.nats, each.max(1), atol=1e-4)
    np.testing.assert_array_equal(wide.words, np.asarray(EVERY)[each.argmax(1)])
    two = found["two"].nats
    assert (two >= found["greedy"].nats - 1e-5).all() and (two <= wide.nats + 1e-4).all()


def test_a_beam_is_never_less_probable_than_greedy_even_where_the_beam_loses_it():
    """Two words look better first and lead nowhere; greedy's path falls out of a beam of two, and is kept."""
    first = jnp.log(jnp.array([1e-9, 0.34, 0.33, 0.33]))  # greedy takes 1
    after = jnp.log(jnp.array([[0.25] * 4, [0.20, 0.30, 0.25, 0.25], [1e-3, 0.499, 0.499, 1e-3], [0.25] * 4]))
    last = jnp.log(jnp.array([[0.25] * 4, [0.97, 0.01, 0.01, 0.01], [0.25] * 4, [0.25] * 4]))

    def step(state, previous, place):
        seen = jnp.where(place == 1, previous, state)  # the first word
        logits = jnp.where(place == 0, first, jnp.where(place == 1, after[previous], last[seen]))
        return seen, logits

    plain = greedy(step, jnp.zeros(1, jnp.int32), 1, 3)
    searched = beam_search(step, jnp.zeros(2, jnp.int32), 1, 3, 2)
    assert searched.nats[0] < plain.nats[0], "the example does not show what it should"
    found = decode(step, lambda times: jnp.zeros(times, jnp.int32), 1, 3, 2)
    assert found.nats[0] == plain.nats[0] and (found.words == plain.words).all()


def test_decoding_stops_when_every_sequence_has_ended():
    calls = []

    def two_words(state, previous, place):
        jax.debug.callback(lambda at: calls.append(int(at)), place)
        return state, jnp.where(place < 2, jnp.array([[0.0, 1.0]]), jnp.array([[1.0, 0.0]])) * jnp.ones((len(state), 1))

    written = greedy(two_words, jnp.zeros(1), 1, 40)
    jax.effects_barrier()
    assert written.words[0, :4].tolist() == [1, 1, 0, -1] and len(calls) == 3
    calls.clear()
    beam_search(two_words, jnp.zeros(2), 1, 40, 2)
    jax.effects_barrier()
    assert len(calls) < 40


# -- what a net learns, and how it is scored ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained():
    task = Backwards(longest=4)
    support = rc.supports.random(task.space, held_out=0.2, seed=0)
    recipe = rc.Recipe(steps=400, tasks=32, learning_rate=3e-3, weight_decay=0.01, evaluations=0, precision="float32")
    return rc.train(task, support, Seq2SeqTransformer(32, 1, 2, 64), recipe, progress=False)


def test_a_net_learns_to_write_words_from_their_end(trained):
    assert float(trained.score("held_out")) > 0.7 and float(trained.score("test")) > 0.9


def test_one_forced_pass_gives_the_exact_match_of_greedy_decoding(trained):
    rows = trained.task.space.enumerate()
    for net in (trained.nets[0], jolted(trained.nets[0])):  # of the other, some are wrong
        asked, forced = (evaluate(net, trained.task, rows, key=KEY, by=by) for by in ("answer", "forced"))
        assert [metric.name for metric in forced.metrics] == ["exact"]
        np.testing.assert_array_equal(asked.by_combination("exact"), forced.by_combination("exact"))
    assert 0 < asked.scores()["exact"] < 1
    plain = rc.nets.MLP(8, 1).build(rc.tasks.Hyperteacher(rc.Subsets(4, 2)), KEY)
    with pytest.raises(UserError, match=r"MLPNet.*by='answer'"):
        evaluate(plain, trained.task, rows, key=KEY, by="forced")


def test_a_net_is_confident_in_what_it_writes_where_it_is_right(trained):
    """The geometric mean of the probabilities of its words, for the panel."""
    net, rows = trained.nets[0], trained.task.space.enumerate()
    items = evaluate(net, trained.task, rows, key=KEY, keep=["answer"])
    nats = own_nats(net, items, trained.task, key=KEY)
    answers = items.kept["answer"]
    np.testing.assert_allclose(nats, net.written(batch_of(trained.task).code).nats, atol=1e-3)
    confidence = confidence_in(net, trained.task, items, KEY)
    np.testing.assert_allclose(np.log(confidence) * (answers >= 0).sum(1), nats, atol=1e-3)
    right = items.by_combination("exact") == 1
    assert (
        right.any()
        and (confidence <= 1).all()
        and (right.all() or confidence[right].mean() > confidence[~right].mean())
    )


def test_a_beam_is_asked_for_by_how(trained):
    rows = trained.task.space.enumerate()
    assert evaluate(trained.nets[0], trained.task, rows, key=KEY, how={"beam": 2}).scores()["exact"] > 0.7
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(UserError, match=f"beam={wrong}"):
            evaluate(trained.nets[0], trained.task, rows, key=KEY, how={"beam": wrong})


# -- groups of equal length ---------------------------------------------------------------------------------------


def test_the_lengths_that_have_a_program_grow_by_halves():
    assert lengths_up_to(49) == (15, 22, 33, 49)
    assert lengths_up_to(4) == (4,) and lengths_up_to(18) == (12, 18)


def test_a_sum_in_groups_is_the_sum_and_so_is_its_gradient():
    lengths = np.random.default_rng(0).integers(1, 25, 16)
    target = jnp.where(jnp.arange(25) < lengths[:, None], jnp.arange(16)[:, None] + 1, -1)
    code = jnp.arange(16)[:, None] * 2

    def nats_of(weights, code, target):
        counted = jnp.where(target >= 0, jnp.sin(weights["a"] * target + code) + weights["b"], 0)
        return (counted**2).sum()

    weights = {"a": jnp.float32(0.3), "b": jnp.float32(0.7)}
    for rows in (4, 16):
        grouped = jax.jit(jax.value_and_grad(lambda w: 3 * sum_in_groups(nats_of, w, code, target, rows)))(weights)  # noqa: B023
        plain = jax.value_and_grad(lambda w: 3 * nats_of(w, code, target))(weights)
        np.testing.assert_allclose(jax.tree.leaves(grouped), jax.tree.leaves(plain), rtol=1e-5)


@pytest.mark.parametrize("blueprint", [Seq2SeqTransformer(8, 1, 1, 8), LSTM(6, 1)])
def test_the_loss_in_groups_is_the_loss_of_the_task_and_its_gradient_the_same(blueprint, monkeypatch):
    monkeypatch.setattr(length_groups, "SHORTEST", 1)
    monkeypatch.setattr(length_groups, "FACTOR", 2.5)
    assert lengths_up_to(4) == (2, 4)
    batch = batch_of(WORDS, WORDS.space.enumerate()[:32])
    moment = Moment(KEY, jnp.zeros(()))

    def losses(trained, grouped):
        net = join(Parts(trained, parts.frozen, parts.static))
        said = net.losses if grouped else functools.partial(Net.losses, net)
        return said(WORDS, batch, moment, None).parts["loss"]

    parts = cut(initialize(blueprint, WORDS, KEY, "float32"))
    both = jax.jit(lambda trained: [jax.value_and_grad(losses)(trained, grouped) for grouped in (True, False)])
    assert str(jax.make_jaxpr(both)(parts.trained)).count("cond[") == 1, "it is not computed in groups"
    (grouped, by_groups), (plain, whole) = both(parts.trained)
    assert float(grouped) == pytest.approx(float(plain), rel=1e-5)
    for path, leaf in whole.items():
        np.testing.assert_allclose(by_groups[path], leaf, atol=1e-5, err_msg=path)


# -- parts --------------------------------------------------------------------------------------------------------


def test_turned_queries_and_keys_know_only_how_far_apart_they_are():
    x, y = jax.random.normal(KEY, (2, 1, 1, 1, 8))

    def product(at, other):
        return float((turned(x, np.array([at])) * turned(y, np.array([other]))).sum())

    assert product(3, 7) == pytest.approx(product(20, 24), abs=1e-4) != pytest.approx(product(3, 8), abs=1e-3)


def test_biases_go_by_distance_and_share_one_beyond_the_farthest():
    biases = jnp.arange(2 * (2 * FARTHEST + 1), dtype=jnp.float32).reshape(2, -1)
    found = np.asarray(distance_biases(biases, np.arange(40), np.arange(40)))
    assert found.shape == (2, 40, 40)
    assert found[0, 3, 5] == found[0, 20, 22] == FARTHEST + 2 and found[0, 5, 3] == FARTHEST - 2
    assert found[0, 0, FARTHEST] == found[0, 0, 39] == 2 * FARTHEST and found[1, 39, 0] == 2 * FARTHEST + 1


def test_positions_tell_places_apart():
    table = np.asarray(sinusoidal(np.arange(64), 16))
    np.testing.assert_allclose((table**2).sum(1), 8, rtol=1e-5)
    assert np.linalg.norm(table[:, None] - table[None], axis=-1)[~np.eye(64, dtype=bool)].min() > 0.1


def test_grouped_heads_are_plain_heads_whose_keys_and_values_are_the_same():
    """4 heads of 4 that share 2 keys: as 4 keys in which each of the two stands twice."""
    grouped = GroupedAttention.fresh(KEY, 16, 4, 2, None, "float32")
    keys, values = jnp.split(grouped.key_and_value.reshape(16, 2, 2, 4), 2, axis=1)
    twice = jnp.concatenate([jnp.repeat(part[:, 0], 2, axis=1) for part in (keys, values)], axis=1).reshape(16, 32)
    plain = dataclasses.replace(grouped, key_and_value=twice, key_heads=4)
    x, seen = jax.random.normal(KEY, (3, 5, 16)), np.tri(5, dtype=bool)[None]
    found = [one.read(x, np.arange(5), one.memory(x, np.arange(5)), seen) for one in (grouped, plain)]
    np.testing.assert_allclose(*found, atol=1e-5)


def test_sizes_in_closed_form():
    d, f, code, target = 16, 32, 3, 4
    block = 4 * d * d + 2 * d * f + 2 * d
    pair = 2 * block + 4 * d * d + d  # the decoder's block also reads the encoder
    words = (code + target + 1) * d
    count = lambda net: count_parameters(eqx.filter_eval_shape(net.build, WORDS, KEY))  # noqa: E731
    assert count(Seq2SeqTransformer(d, 3, 2, f)) == words + 3 * pair + 2 * d + d * target
    assert count(Seq2SeqTransformer(d, 3, 2, f, tied=True)) == words + 3 * pair + 2 * d
    assert (
        count(DecoderTransformer(d, 2, 4, f, key_heads=1))
        == words + 2 * (block - 2 * d * (d - d // 4)) + d + d * target
    )
    assert count(LSTM(d, 2)) == words + 4 * (8 * d * d + 4 * d) + (d + 1) * target


# -- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, named",
    [
        (lambda: Seq2SeqTransformer(width=30, heads=4), "width=30 .* 4 heads .* 32 would do"),
        (lambda: DecoderTransformer(heads=4, key_heads=3), "key_heads=3 .* 4 heads .* 2 would do"),
        (lambda: Seq2SeqTransformer(positions="rotray"), "'rotray'; did you mean 'rotary'"),
        (lambda: LSTM(depth=0), "depth=0"),
        (lambda: LSTM(attention=1), "attention=1 must be True or False"),
        (lambda: LSTM(longest=0), "longest=0"),
        (lambda: LSTM(longest=3).require(WORDS), "longest=3 .* backwards-v1, .* longest=4 would do"),
        (lambda: LSTM().require(rc.tasks.Hyperteacher(rc.Subsets(4, 2))), "'lstm' .* hyperteacher-v1 .* scan-v1 has"),
    ],
)
def test_nets_that_cannot_be_are_refused_with_one_that_would_do(make, named):
    with pytest.raises(UserError, match=named):
        make()


def test_a_target_that_is_longer_than_a_net_writes_is_refused_and_a_net_can_have_more_room():
    shapes, small, roomy = Backwards(longest=5).shapes(), LSTM(8, 1), LSTM(8, 1, longest=9)
    with pytest.raises(UserError, match=r"6 words, and the net writes 4 at most; longest=6 would do"):
        eqx.filter_eval_shape(lambda batch: small.build(WORDS, KEY)(batch), shapes)
    assert eqx.filter_eval_shape(lambda batch: roomy.build(WORDS, KEY)(batch)[0], shapes).shape == (1, 6, 4)
    assert eqx.filter_eval_shape(lambda batch: roomy.build(WORDS, KEY).written(batch.code).words, shapes).shape == (
        1,
        9,
    )
