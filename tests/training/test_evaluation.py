"""The one evaluator: items that do not depend on their number, shared programs, and nothing undefined in a mean."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from one_weight import Multiple, OneWeightNet

import recombine as rc
from recombine.nets import Blueprint, Net
from recombine.tasks import ANSWERS, Batch
from recombine.training import Member, Recipe, Trained, draw_combinations, evaluate, stream_scores
from recombine.training.evaluation import _draw_program, ask, losses_of

KEY = jax.random.key(5)
SMALL = rc.nets.MLP(width=16, depth=2)


@pytest.fixture(scope="module")
def net(task):
    return SMALL.build(task, jax.random.key(0))


def row_by_row(items) -> dict[str, np.ndarray]:
    return {**items.statistics, **items.trace, **items.kept, "finite": items.finite}


# -- items ------------------------------------------------------------------------------------------------------------


def test_an_item_does_not_depend_on_how_many_others_are_asked_about(task, support, net):
    """700 items are three blocks, of which the last is padded; 100 are a part of the first, 256 all of it."""
    rows = draw_combinations(support.held_out, KEY, 700)
    asked = {"key": KEY, "trace": ("layer1/post",), "keep": ("answer", "inputs")}
    many = row_by_row(evaluate(net, task, rows, **asked))
    for count in (100, 256, 257, 1):
        assert (draw_combinations(support.held_out, KEY, count) == rows[:count]).all()
        few = row_by_row(evaluate(net, task, rows[:count], **asked))
        for name, values in few.items():
            assert len(values) == count and (values == many[name][:count]).all(), name


def test_items_are_those_of_the_stream_and_each_block_has_its_own(task, support, net):
    rows = draw_combinations(support.train, KEY, 512)
    items = evaluate(net, task, rows, key=KEY, keep=("combinations", "inputs"))
    assert (items.kept["combinations"] == rows).all() and support.train.contains(rows).all()
    assert len(np.unique(items.kept["inputs"].reshape(512, -1), axis=0)) == 512, "two blocks share an item"
    other = evaluate(net, task, rows, key=jax.random.key(6), keep=("inputs",))
    assert not (other.kept["inputs"] == items.kept["inputs"]).any()


def test_draws_vary_fastest_and_a_combination_has_a_score_of_its_own(space, net, task):
    rows = space.enumerate()
    items = evaluate(net, task, rows, 30, key=KEY, keep=("combinations", "answer", "target"))  # 630 items
    assert (items.kept["combinations"] == np.repeat(rows, 30, axis=0)).all()
    scores = items.by_combination("r2_pooled")
    assert scores.shape == (21,)
    for number in (0, 8, 20):  # the ninth lies in two blocks
        mine = slice(30 * number, 30 * number + 30)
        answer, target = (items.kept[name][mine].astype(float) for name in ("answer", "target"))
        deviation = target - target.mean((0, 1))
        assert scores[number] == pytest.approx(1 - ((answer - target) ** 2).sum() / (deviation**2).sum(), abs=1e-6)
    some = np.arange(21) % 4 == 1
    part = items.where(some)
    assert (part.by_combination("r2_pooled") == scores[some]).all() and (part.combinations == rows[some]).all()
    assert part.scores()["r2"] == evaluated_on(items, some)


def evaluated_on(items, some: np.ndarray) -> float:
    which = np.repeat(some, items.draws)
    return items.metrics[0]({name: values[which] for name, values in items.statistics.items()})


def test_what_is_kept_and_traced_is_what_the_net_was_shown_and_did(task, support, net):
    rows = draw_combinations(support.held_out, KEY, 300)
    items = evaluate(net, task, rows, key=KEY, trace=SMALL.layers(), keep=("answer", *Batch._fields))
    shown = Batch(*(jnp.asarray(items.kept[name]) for name in Batch._fields))
    prediction, trace = net(shown)
    np.testing.assert_allclose(items.kept["answer"], prediction, atol=1e-5)
    assert set(items.trace) == set(trace)
    for name, values in trace.items():
        np.testing.assert_allclose(items.trace[name], values, atol=1e-5)
    assert not evaluate(net, task, rows, key=KEY).kept and not evaluate(net, task, rows, key=KEY).trace


# -- programs ---------------------------------------------------------------------------------------------------------

TRACED: Counter = Counter()


class TracedNet(OneWeightNet):
    """Counts how often a program of it is made."""

    def __call__(self, batch, key=None):
        TRACED["net"] += 1
        return super().__call__(batch, key)


def test_another_split_count_seed_or_weight_compiles_nothing(space):
    one, other = (rc.supports.random(space, held_out=share, seed=seed) for share, seed in ((0.25, 0), (0.5, 3)))
    TRACED.clear()
    stream_scores(Multiple(space), one.held_out, TracedNet(jnp.asarray(0.5)), KEY, 100)
    drawn = _draw_program()._cache_size()
    assert TRACED["net"] == 1
    for side in (one.held_out, one.train, other.held_out, other.train):
        for count in (1, 100, 600):
            net = TracedNet(jnp.asarray(0.1 * count))
            stream_scores(Multiple(space, by=3.0), side, net, jax.random.key(count), count)
    evaluate(TracedNet(jnp.asarray(0.2)), Multiple(space), space.enumerate(), 7, key=KEY)
    assert TRACED["net"] == 1, "the net was traced again"
    assert _draw_program()._cache_size() == drawn, "the sampler was traced again"
    evaluate(TracedNet(jnp.asarray(0.2)), Multiple(space), space.enumerate(), key=KEY, samples=3)
    assert TRACED["net"] == 2, "another number of samples is another program"


# -- what is not finite -----------------------------------------------------------------------------------------------


class HolesNet(Net):
    """Right, but for combinations with the first module, for which it answers what is not a number, or infinite."""

    hole: float = eqx.field(static=True)

    def __call__(self, batch, key=None):
        answer = jnp.where(batch.code[:, :1, None] > 0, self.hole, batch.inputs)
        return answer, {"output": answer}


@pytest.mark.parametrize("hole", [math.nan, math.inf, -math.inf])
def test_an_answer_that_is_not_finite_gives_an_undefined_score_and_enters_no_mean(space, hole):
    task, rows = Multiple(space), space.enumerate()
    lacking = space.multihot(rows)[:, 0] == 0
    items = evaluate(HolesNet(hole), task, rows, 20, key=KEY)
    assert (items.finite == np.repeat(lacking, 20)).all()
    assert all(math.isnan(value) for value in items.scores().values())
    assert items.where(lacking).scores()["r2"] == pytest.approx(1.0)
    by_combination = items.by_combination("r2")
    assert np.isnan(by_combination[~lacking]).all() and by_combination[lacking] == pytest.approx(1.0)


def test_a_seed_with_an_undefined_score_makes_the_score_undefined(space, support):
    facts = {"history": [], "diverged_at": None, "seconds": 1.0, "steps_per_second": 1.0, "compile_seconds": 1.0}
    nets = [HolesNet(0.0), HolesNet(math.nan), HolesNet(0.0)]
    members = [Member(seed=seed, net=net, raw=net, **facts) for seed, net in enumerate(nets)]
    score = Trained(Multiple(space), support, SMALL, Recipe(steps=1), members).score("held_out", groups=False)
    found = score.values["r2"]
    assert math.isnan(found[1]) and math.isfinite(found[0]) and math.isfinite(found[2])
    assert math.isnan(float(score)) and str(score.interval) == "undefined"


# -- how a net is asked -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Times:
    """Ways to ask."""

    factor: float = 1.0
    steps: int = 1


class AskedNet(OneWeightNet):
    """One pass reads the target; an answer must not, and takes `how` into account. It has a likelihood."""

    How: ClassVar[type] = Times
    likelihood_is: ClassVar[str] = "exact"

    def __call__(self, batch, key=None):
        return batch.target, {"output": batch.target}

    def answer(self, batch, key=None, how=None):
        TRACED["blind"] += batch.target is None and batch.constituents is None
        TRACED["key"] += key is not None
        answer = how.factor * how.steps * self.weight * batch.inputs
        return answer, {"asked": answer}

    def likelihood(self, task, batch, key, how=None):
        return -how.factor * ((batch.target - self.weight * batch.inputs) ** 2).sum((1, 2))


ASKED = AskedNet(jnp.asarray(0.5))


def test_a_net_is_asked_blind_and_by_its_answer(space):
    TRACED.clear()
    items = evaluate(ASKED, Multiple(space), space.enumerate(), key=KEY, trace=("asked",), keep=("answer", "target"))
    assert TRACED["blind"] == TRACED["key"] == 1
    assert (items.kept["answer"] == 0.5 * items.kept["target"]).all(), "a pass that saw the target would be right"
    assert (items.trace["asked"] == items.kept["answer"]).all()


def test_how_is_said_by_fields_or_by_the_dataclass_of_the_net(space):
    def asked(how):
        return evaluate(ASKED, Multiple(space), space.enumerate(), key=KEY, how=how).scores()["r2"]

    assert asked({"factor": 2.0}) == asked(Times(factor=2.0)) == pytest.approx(1.0)
    assert asked({"steps": 2}) == pytest.approx(1.0) and asked(None) == asked({}) == asked(Times()) < 0.9
    batch = Multiple(space).sample(KEY, jnp.asarray(space.enumerate()))
    assert (ask(ASKED, batch, KEY, {"factor": 2.0})[0] == batch.inputs).all()
    members = [Member(0, ASKED, ASKED, [], None, 1.0, 1.0, 1.0)]
    run = Trained(Multiple(space), rc.supports.random(space), SMALL, Recipe(steps=1), members)
    assert float(run.score("held_out", how={"factor": 2.0})) == pytest.approx(1.0) != float(run.score("held_out"))


def test_by_likelihood_gives_nats_of_the_target(space):
    rows = space.enumerate()
    asked = {"key": KEY, "by": "likelihood", "how": {"factor": 3.0}}
    items = evaluate(ASKED, Multiple(space), rows, 4, keep=("target",), **asked)
    by_hand = -3.0 * ((0.5 * items.kept["target"]) ** 2).sum((1, 2))
    np.testing.assert_allclose(items.statistics["nats"], by_hand, rtol=1e-5)
    assert items.scores() == {"nats": pytest.approx(by_hand.mean(), rel=1e-5)}
    np.testing.assert_allclose(items.by_combination("nats"), by_hand.reshape(-1, 4).mean(1), rtol=1e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"by": "likelihod"}, "'likelihod'.*'likelihood'"),
        ({"keep": ("answr",)}, "'answr'.*'answer'"),
        ({"trace": ("askd",)}, "'askd'.*'asked'"),
        ({"trace": ("asked",), "by": "likelihood"}, "'asked'.*by='answer'"),
        ({"how": {"facter": 1.0}}, "'facter'.*'factor'"),
        ({"how": rc.Interval}, r"AskedNet.*Times\(factor, steps\)"),
        ({"how": 3}, r"how=3.*Times\(factor, steps\)"),
        ({"draws": 0}, "draws=0"),
        ({"combinations": np.zeros((0, 2), int)}, "at least one"),
    ],
)
def test_what_cannot_be_asked_is_refused(space, change, message):
    asked = {"combinations": space.enumerate(), "key": KEY} | change
    with pytest.raises(rc.UserError, match=message):
        evaluate(ASKED, Multiple(space), **asked)


def test_a_likelihood_that_a_net_does_not_have_and_a_metric_that_a_task_does_not_have_are_refused(space, task, net):
    with pytest.raises(rc.UserError, match="MLPNet.*by='answer'"):
        evaluate(net, task, space.enumerate(), key=KEY, by="likelihood")
    with pytest.raises(rc.UserError, match="MLPNet.*Plainly"):
        evaluate(net, task, space.enumerate(), key=KEY, how=Times())
    with pytest.raises(rc.UserError, match="'r2_poled'.*'r2_pooled'"):
        evaluate(net, task, space.enumerate(), key=KEY).by_combination("r2_poled")


# -- what differs from training ---------------------------------------------------------------------------------------


class DroppingNet(OneWeightNet):
    """Drops half of its answer, in training."""

    dropout: eqx.nn.Dropout = eqx.nn.Dropout(0.5)

    def __call__(self, batch, key=None):
        answer = self.dropout(self.weight * batch.inputs, key=key)
        return answer, {"output": answer}

    losses = Net.losses


def test_dropout_is_on_in_training_and_off_when_a_net_is_asked(space, support):
    net = DroppingNet(jnp.asarray(1.0))
    items = evaluate(net, Multiple(space), space.enumerate(), key=KEY, keep=("answer", "inputs"))
    assert (items.kept["answer"] == items.kept["inputs"]).all()
    losses = losses_of(net, Multiple(space), support.held_out, KEY)
    assert losses == pytest.approx({"loss": 0.0, "total": 0.0}, abs=1e-12)
    batch = Multiple(space).sample(KEY, jnp.asarray(space.enumerate()))
    dropped, _ = net(batch, KEY)
    assert 0.3 < float((dropped == 0).mean()) < 0.7

    @dataclass(frozen=True)
    class Dropping(Blueprint):
        name: ClassVar[str] = "dropping"

        def layers(self):
            return ("output",)

        def fresh(self, task, key, precision):
            return DroppingNet(jnp.asarray(1.0))

    recipe = Recipe(steps=2, tasks=16, learning_rate=0.0, weight_decay=0.0, evaluations=1)
    (member,) = rc.train(Multiple(space), support, Dropping(), recipe, progress=False).members
    assert member.history[0]["train/loss"] > 0.3 and member.history[0]["held_out/loss"] < 1e-12


# -- whole numbers ----------------------------------------------------------------------------------------------------


class Parity(Multiple):
    """Whether an input is positive, for three places, of which those after the first count by chance."""

    id = "parity-v1"
    metrics = ANSWERS

    @property
    def words(self):
        return {"target": 2}

    def sample(self, key, combinations, samples=None):
        batch = super().sample(key, combinations, 3)
        target = (batch.inputs[..., 0] > 0).astype(jnp.int32)
        counts = jax.random.bernoulli(jax.random.fold_in(key, 1), 0.5, target.shape).at[:, 0].set(True)
        return batch._replace(target=jnp.where(counts, target, -1))


class ParityNet(OneWeightNet):
    """Logits, or the words themselves; right but for the sign of its weight."""

    logits: bool = eqx.field(static=True, default=True)

    def __call__(self, batch, key=None):
        score = self.weight * batch.inputs[..., 0]
        answer = jnp.stack([-score, score], axis=-1) if self.logits else (score > 0).astype(jnp.int32)
        return answer, {"output": answer}


@pytest.mark.parametrize("logits", [True, False])
def test_words_are_scored_by_exact_match_where_they_count(space, logits):
    task = Parity(space)
    nets = [ParityNet(jnp.asarray(sign), logits=logits) for sign in (1.0, -1.0)]
    right, wrong = (evaluate(net, task, space.enumerate(), 20, key=KEY) for net in nets)
    assert right.scores() == {"exact": 1.0, "accuracy": 1.0} and wrong.scores() == {"exact": 0.0, "accuracy": 0.0}
    assert right.finite.all() and set(np.unique(right.statistics["counted"])) == {1, 2, 3}


def test_answers_of_bfloat16_that_are_not_finite_have_no_score():
    """NumPy does not take bfloat16 for a kind of float; an argmax of NaN would be scored as an answer."""
    task = rc.tasks.Preference(rc.Subsets(4, 2), features=4, objects=1)

    class Lost(Net):
        scale: jax.Array

        def __call__(self, batch, key=None):
            logits = jnp.full((*batch.inputs.shape[:-1], 5), jnp.nan) * self.scale
            return logits.astype(jnp.bfloat16), {}

    items = evaluate(Lost(jnp.ones(1)), task, task.space.enumerate(), key=jax.random.key(0))
    assert not items.finite.any() and np.isnan(items.scores()["episode_accuracy"])


def test_combinations_outside_the_space_are_refused(task):
    net = rc.nets.MLP(8, 1).build(task, jax.random.key(0))
    with pytest.raises(rc.UserError, match="not a combination"):
        evaluate(net, task, [[7, 99]], key=jax.random.key(0))
    with pytest.raises(rc.UserError, match="samples=0"):
        evaluate(net, task, task.space.enumerate(), key=jax.random.key(0), samples=0)


def test_a_mask_of_numbers_chooses_items_and_combinations_alike(task):
    net = rc.nets.MLP(8, 1).build(task, jax.random.key(0))
    rows = task.space.enumerate()[:3]
    items = evaluate(net, task, rows, 2, key=jax.random.key(0))
    chosen = items.where(np.array([1, 0, 1]))
    assert chosen.combinations.tolist() == rows[[0, 2]].tolist() and len(chosen.finite) == 4
