"""Studies of audit and plan: their readings on tables whose truth is planted, and scores of single combinations."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pandas
import pytest

from recombine.audit.features import FEATURES
from recombine.lab.verdicts import NotMet
from recombine.nets import Net
from recombine.spaces import Product, Subsets
from recombine.studies import audit_transfer, each, families, plan_saves_data
from recombine.supports.certificate import components, element_usage
from recombine.tasks import registry as tasks


# -- audit-transfer ---------------------------------------------------------------------------------------------------
def transfer_table(signs: dict[str, float], n: int = 80, seed: int = 0) -> pandas.DataFrame:
    """Nets whose scores fall (sign 1) or rise (-1) with the share of unseen pairs, or do not care (0)."""
    rng = np.random.default_rng(seed)
    rows = []
    for family, sign in signs.items():
        for net in range(3):
            for _ in range(n):
                pairs = rng.integers(0, 4) / 3
                features = dict.fromkeys(FEATURES, 0.0) | {"unseen": 1.0, "unseen_pairs": pairs,
                                                           "any_unseen_pair": float(pairs > 0)}  # fmt: skip
                rows.append({
                    "reading": "combination", "family": family, "support": "random", "cell": f"{family}{net}",
                    "seed": 0, "trained_low": 0.7, "trained_median": 0.9, **features,
                    "value": 0.9 - 0.3 * sign * pairs + 0.02 * rng.standard_normal(),
                })  # fmt: skip
    return pandas.DataFrame(rows)


def test_what_holds_in_all_families_is_foreseen_in_each():
    table = transfer_table(dict.fromkeys(families.FAMILIES, 1.0))
    for family in families.FAMILIES:
        assert audit_transfer.rank_correlation(table, family) > 0.85
        assert audit_transfer.within_auroc(table, family) > 0.95
        assert audit_transfer.pairs_alone(table, family) > 0.85
        assert audit_transfer.miscalibration(table, family) < 0.1


def test_a_family_is_judged_by_what_others_taught():
    """Where a family behaves the other way around, the forecast is wrong about it: it has not looked."""
    others = {"hyperteacher": 1.0, "preference": 1.0}
    turned = audit_transfer.rank_correlation(transfer_table(others | {"bumps": -1.0}), "bumps")
    assert turned < -0.85
    table, other = transfer_table(others | {"bumps": -1.0}), transfer_table(others | {"bumps": 1.0})
    said = [audit_transfer.forecast(t, "bumps").risk.to_numpy() for t in (table, other)]
    np.testing.assert_array_equal(*said)


def test_indifferent_scores_cannot_be_ranked():
    table = transfer_table({"hyperteacher": 1.0, "preference": 0.0})
    assert abs(audit_transfer.rank_correlation(table, "preference")) < 0.2
    with pytest.raises(NotMet, match="both fails and holds"):
        audit_transfer.within_auroc(table, "preference")
    with pytest.raises(NotMet, match="no other family"):
        audit_transfer.forecast(table[table.family == "hyperteacher"], "hyperteacher")


def test_splits_that_only_teach_are_not_judged():
    table = transfer_table({"hyperteacher": 1.0, "bumps": 1.0})
    table.loc[table.cell == "bumps0", "support"] = "missing"
    assert set(audit_transfer.forecast(table, "bumps").cell) == {"bumps1", "bumps2"}


# -- scores of single combinations ------------------------------------------------------------------------------------
class DrawsLeft(Net):
    """Draws the truth where x = 0 is asked for, and else nothing."""

    truth: jnp.ndarray

    def __call__(self, batch, key=None):
        left = batch.code[..., 0] > 0.5  # (tasks,) or (tasks, samples)
        return jnp.where(left.reshape(-1, 1, 1), self.truth, 0.0), {}


def test_each_combination_is_scored_by_itself():
    task = tasks["bumps-v1"](Product(x=6, y=6), encoding="one-hot")
    rows = task.space.enumerate()
    batch = task.sample(jax.random.key(0), jnp.asarray(rows[:1]))
    net = DrawsLeft(batch.target[0])  # the picture of (0, 0)
    scores = each.per_combination(task, net, rows, "skill", seed=0)
    assert scores.shape == (36,) and scores[0] == pytest.approx(1.0, abs=1e-5)
    assert (np.abs(scores[6:]) < 1e-5).all()  # nothing is drawn: the error of an empty picture
    assert (scores[1:6] < 0.999).all()


# -- plan-saves-data --------------------------------------------------------------------------------------------------
def curve_table(scores: dict[str, list[float]], n=(10, 20, 40, 80)) -> pandas.DataFrame:
    return pandas.DataFrame([
        {"family": "hyperteacher", "method": method, "metric": metric, "n": at, "value": value}
        for method, values in scores.items() for at, value in zip(n, values, strict=True)
        for metric in ("mean", "worst")
    ])  # fmt: skip


def test_half_the_combinations_for_the_same_score_is_a_ratio_of_half():
    table = curve_table({"random": [0.2, 0.4, 0.6, 0.8], "plan": [0.4, 0.6, 0.8, 1.0]})
    assert plan_saves_data.ratio(table, "mean") == pytest.approx(0.5, rel=0.05)
    assert plan_saves_data.ratio(table, "mean", "random", "random") == pytest.approx(1.0, rel=0.05)
    with pytest.raises(NotMet, match="every way reaches"):
        plan_saves_data.combinations_needed(table, "plan")
    both = curve_table({"random": [0.2, 0.4, 0.8, 1.0], "plan": [0.4, 0.6, 0.8, 1.0]})
    assert plan_saves_data.combinations_needed(both, "plan") == pytest.approx(40 * 2**0.5)


def test_a_way_that_never_gets_there_counts_as_twice_the_most_that_was_tried():
    table = curve_table({"random": [0.6, 0.7, 0.8, 0.9], "plan": [0.1, 0.1, 0.1, 0.1]})
    expected = np.exp(np.mean([np.log(160 / n) for n in (20, 40, 80)]))
    assert plan_saves_data.ratio(table, "worst") == pytest.approx(expected, rel=0.1)
    with pytest.raises(NotMet, match="takes more training"):
        plan_saves_data.ratio(curve_table({"random": [0.1] * 4, "plan": [0.2] * 4}), "mean")


@pytest.mark.parametrize("space", [Subsets(8, 3), Product(x=6, y=6)])
@pytest.mark.parametrize("method", plan_saves_data.METHODS)
def test_every_way_chooses_as_many_as_asked_and_none_twice(space, method):
    aside = plan_saves_data.set_aside(space, seed=1)
    rows = plan_saves_data.choose(space, method, 20, 1, aside)
    assert len({int(rank) for rank in space.rank(rows)}) == 20
    assert len(set(aside.tolist())) == math.ceil(0.2 * space.size) and not np.isin(space.rank(rows), aside).any()
    if method in ("plan", "random"):
        assert (element_usage(space, rows) > 0).all() and len(components(space, rows)) == 1
