"""audit-transfer: its forecasts on tables whose truth is planted, its cells, and what its trials keep."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from recombine import UserError
from recombine.audit.features import FEATURES
from recombine.context import Context
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.studies import registry
from recombine.studies.audit import forecasts
from recombine.studies.audit.families import FAMILIES

STUDY = registry["audit-transfer"]
TINY = {"steps": 5, "bumps:recipe.steps": 5, "width": 8, "precision": "float32"}


def transfer_table(signs: dict[str, float], n: int = 80, seed: int = 0) -> StudyTable:
    """Nets whose scores fall (sign 1) or rise (-1) with the share of unseen pairs, or do not care (0)."""
    rng = np.random.default_rng(seed)
    rows = []
    for family, sign in signs.items():
        for net in range(3):
            for _ in range(n):
                pairs = rng.integers(0, 4) / 3
                features = dict.fromkeys(FEATURES, 0.0) | {
                    "unseen": 1.0,
                    "unseen_pairs": pairs,
                    "any_unseen_pair": float(pairs > 0),
                }
                rows.append(
                    {
                        "reading": "combination",
                        "family": family,
                        "support": "random",
                        "cell": f"{family}{net}",
                        "seed": 0,
                        "trained_low": 0.7,
                        "trained_median": 0.9,
                        **features,
                        "value": 0.9 - 0.3 * sign * pairs + 0.02 * rng.standard_normal(),
                    }
                )
    return STUDY.table(pandas.DataFrame(rows))


# -- readings -----------------------------------------------------------------------------------------------------
def test_what_holds_in_all_families_is_foreseen_in_each():
    table = transfer_table(dict.fromkeys(FAMILIES, 1.0))
    for family in FAMILIES:
        assert forecasts.rank_correlation(table, family) > 0.85
        assert forecasts.within_auroc(table, family) > 0.95
        assert forecasts.pooled_auroc(table, family) > 0.95
        assert forecasts.pairs_alone(table, family) > 0.85
        assert forecasts.miscalibration(table, family) < 0.1


def test_a_family_is_judged_by_what_others_taught():
    """Where a family behaves the other way around, the forecast is wrong about it: it has not looked."""
    others = {"hyperteacher": 1.0, "preference": 1.0}
    turned = forecasts.rank_correlation(transfer_table(others | {"bumps": -1.0}), "bumps")
    assert turned < -0.85
    table, other = transfer_table(others | {"bumps": -1.0}), transfer_table(others | {"bumps": 1.0})
    said = [forecasts.forecast(t, "bumps").risk.to_numpy() for t in (table, other)]
    np.testing.assert_array_equal(*said)


def test_indifferent_scores_cannot_be_ranked():
    table = transfer_table({"hyperteacher": 1.0, "preference": 0.0})
    assert abs(forecasts.rank_correlation(table, "preference")) < 0.2
    with pytest.raises(PreconditionFailed, match="both fails and holds"):
        forecasts.within_auroc(table, "preference")
    with pytest.raises(PreconditionFailed, match="no other family"):
        forecasts.forecast(table.where(family="hyperteacher"), "hyperteacher")
    with pytest.raises(PreconditionFailed, match="bumps has no scores"):
        forecasts.pairs_alone(table, "bumps")
    with pytest.raises(PreconditionFailed, match="nothing to learn"):
        forecasts.forecast(table, "hyperteacher")  # of preferences all hold


def test_splits_that_only_teach_are_not_judged():
    table = transfer_table({"hyperteacher": 1.0, "bumps": 1.0})
    table.frame.loc[table.frame.cell == "bumps0", "support"] = "missing"
    assert set(forecasts.forecast(table, "bumps").cell) == {"bumps1", "bumps2"}
    taught = forecasts.forecast(table, "hyperteacher").risk.to_numpy()
    without = forecasts.forecast(table[table.cell != "bumps0"], "hyperteacher").risk.to_numpy()
    assert (taught != without).any()  # but they do teach


def test_the_headline_says_where_it_was_foreseen():
    outcomes = {"ranks-hyperteacher": "supported", "ranks-bumps": "supported", "tells-preference": "refuted"}
    assert STUDY.headline_for(transfer_table({}), outcomes) == (
        "A forecast that was learned in the other families ranks combinations in hyperteacher and bumps; it tells "
        "failures less well than is wanted in preference."
    )
    assert "not settled" in STUDY.headline_for(transfer_table({}), {})


# -- cells --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("scale", "cells"), [("smoke", 2 * 4), ("laptop", 3 * 5), ("night", 3 * 8), ("paper", 3 * 8)])
def test_every_family_has_some_shares_and_the_two_splits_that_teach(scale, cells):
    specs = STUDY.grid(STUDY.settings(scale), 0)
    assert len(specs) == cells
    for spec in specs:
        at, support = spec["at"], spec["trial"]["support"]
        assert support["name"] == at["support"]
        if at["support"] == "random":
            assert support["held_out"] == at["held_out"]
    shares = [spec["at"]["held_out"] for spec in specs if spec["at"]["support"] == "random"]
    within = [s["trial"]["support"]["within"] for s in specs if s["at"]["support"] == "disconnected"]
    assert set(within) == {min(shares)}


def test_bumps_have_a_size_and_preferences_their_own_decay():
    trials = {spec["at"]["family"]: spec["trial"] for spec in STUDY.grid(STUDY.settings("laptop"), 0)}
    assert {name: trial["world"]["name"] for name, trial in trials.items()} == {
        "hyperteacher": "hyperteacher-v1",
        "preference": "preference-v1",
        "bumps": "sized-bumps-v1",
    }
    decay = {name: trial["stages"][0]["recipe"]["weight_decay"] for name, trial in trials.items()}
    assert decay == {"hyperteacher": 0.2, "preference": 0.05, "bumps": 0.01}


def test_a_cell_keeps_its_panel_and_a_table_for_the_prior_and_has_one_row_per_combination():
    settings = STUDY.settings("smoke", TINY | {"family": "hyperteacher", "support": "random"})
    spec = STUDY.grid(settings, 0)[0]
    found = STUDY.measured(spec, Context())
    unseen = found.facts["combinations"] - found.facts["trained_on"]
    assert len(found.rows) == unseen == len(found.facts["risk"]["failed"])
    assert {row["reading"] for row in found.rows} == {"combination"} and set(FEATURES) <= set(found.rows[0])
    assert len(found.facts["panel"]["score"]) == found.facts["combinations"]
    otherwise = STUDY.measured(spec | {"options": spec["options"] | {"told": "shuffled"}}, Context())
    assert "risk" not in otherwise.facts  # nobody should learn from it
    assert sorted(row["value"] for row in otherwise.rows) == sorted(row["value"] for row in found.rows)
    assert [row["value"] for row in otherwise.rows] != [row["value"] for row in found.rows]


def test_a_net_that_diverged_has_no_rows():
    changes = TINY | {"family": "hyperteacher", "support": "random", "learning_rate": 1e9}
    found = STUDY.measured(STUDY.grid(STUDY.settings("smoke", changes), 0)[0], Context())
    assert found.rows == [] and found.facts["diverged_at"] is not None


@pytest.mark.parametrize(
    ("changes", "value", "remedy"),
    [
        ({"family": "bump"}, "'bump'", "did you mean 'bumps'"),
        ({"family": ""}, "family=[]", "give at least one value"),
        ({"family": "bumps,bumps"}, "'bumps'", "twice"),
        ({"told": "shuffeled"}, "'shuffeled'", "did you mean 'shuffled'"),
        ({"held_out": "1.5"}, "held_out=1.5", "between 0 and 1"),
        ({"held_out": ""}, "held_out=[]", "give at least one value"),
        ({"held_out": "0.5,0.5"}, "0.5", "twice"),
        ({"preference:world.space.modules": "9"}, "modules=9", "features=8"),
        ({"world": "indifferent-v1"}, "sized-bumps-v1 has no control 'indifferent'", "leave its family out"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_compiled(changes, value, remedy, monkeypatch):
    monkeypatch.setattr("jax.stages.Lowered.compile", lambda *_, **__: pytest.fail("something was compiled"))
    with pytest.raises(UserError) as refused:
        STUDY.cells(STUDY.settings("laptop", changes), 1)
    assert value in str(refused.value) and remedy in str(refused.value)
