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
from recombine.audit.prior import SHIPPED, fit_prior, load_prior, risk_table
from recombine.audit.risk_model import RiskModel, fit_risk
from recombine.audit.seen import Seen
from recombine.cli import main
from recombine.lab.cells import Cell
from recombine.lab.store import Record, Store

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
    said = ~risk.abstained
    assert risk.basis == "outcomes" and risk.model is not None and said.mean() > 0.8
    assert risk.model.quality.auroc >= 0.95 and risk.model.quality.calibration_error <= 0.1
    if 0 < failed[said].mean() < 1:
        assert auroc(risk.probability[said], failed[said]) >= 0.95
    assert calibration_error(calibration(risk.probability[said], failed[said])) <= 0.1
    wrong = (risk.calls == "fails") & (failed == 0)
    assert wrong.sum() <= 0.05 * max((failed == 0).sum(), 1) + 2
    assert (np.diff(risk.probability[said]) <= 1e-12).all()  # the riskiest first


def test_noise_is_told_with_its_rate():
    audit, failed = audit_of("noisy", tested=300)
    risk = audit.risk
    assert risk.basis == "outcomes"
    said = ~risk.abstained
    assert np.abs(risk.probability[said] - failed[said]).mean() < 0.12
    inside = (risk.low[said] <= failed[said]) & (failed[said] <= risk.high[said])
    assert inside.mean() > 0.8


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_composer_raises_no_alarm(seed):
    audit, _ = audit_of("composer", seed=seed)
    assert audit.risk.basis == "base rate" and (audit.risk.calls != "fails").all()
    said = ~audit.risk.abstained
    assert said.any() and (audit.risk.high[said] < 0.1).all()


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_failure_for_another_reason_gets_no_confident_number(seed):
    audit, failed = audit_of("unrelated", seed=seed)
    risk = audit.risk
    said = ~risk.abstained
    assert risk.basis == "no signal" and any("No signal" in s for s in risk.sentences())
    assert set(risk.calls) <= {"open", "abstains"}
    assert np.ptp(risk.probability[said]) == 0 and abs(risk.probability[said][0] - 0.3) < 0.12
    assert (risk.low[said] < 0.05).all() and (risk.high[said] > 0.95).all()


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
    assert audit.coverage.untrained == ["weather=snow"] and audit.next[0].levels == 1
    assert any("'snow' (weather) was never trained" in words for words in audit.risk.reasons)


def test_it_abstains_outside_what_it_was_learned_on():
    frame, _ = planted("pair-binder", share=0.2, tested=300)
    with_untrained = pandas.concat(
        [frame, pandas.DataFrame([{"weather": "fog", "light": "0", "road": "0", "vehicle": "0", "split": "test"}])]
    )
    audit = rc.audit(with_untrained, factors=list(LEVELS), split="split", outcome="right")
    fog = np.array([audit.observed.labels(row)["weather"] == "fog" for row in audit.risk.combinations])
    assert fog.sum() == 80 and audit.risk.abstained[fog].all() and not audit.risk.abstained[~fog].any()
    assert np.isnan(audit.risk.probability[fog]).all() and audit.risk.why_abstained["untrained"] == 80
    assert any("abstains outside" in s for s in audit.risk.sentences())


def test_too_few_outcomes_give_no_number(tmp_path):
    frame, _ = planted("pair-binder", tested=20)
    audit = rc.audit(frame, factors=list(LEVELS), split="split", outcome="right")
    assert audit.risk.basis == (
        "prior" if (pytest.importorskip("importlib.resources").files("recombine.audit") / SHIPPED).is_file() else "none"
    )
    assert any("too few" in s for s in audit.risk.sentences())
    only_seen = rc.audit(
        frame[frame.split == "train"].assign(right=1), factors=list(LEVELS), split="split", outcome="right"
    )
    assert only_seen.risk.basis != "outcomes" and any("training rows only" in n for n in only_seen.notes)


def test_the_same_table_gives_the_same_audit():
    frame, _ = planted("noisy")
    first, second = (
        rc.audit(f, factors=list(LEVELS), split="split", outcome="right")
        for f in (frame, frame.sample(frac=1, random_state=1))
    )
    assert json.dumps(first.to_json()) == json.dumps(second.to_json())
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
    assert printed == json.loads(out.read_text()) and printed["features"] == list(FEATURES)
    assert printed["provenance"]["families"] == ["factors", "sets"] and printed["provenance"]["judged_on"] == "families"
    model = load_prior(out)
    assert model.quality.auroc > 0.8 and model.quality.signal
    assert load_prior(out).to_bytes() == out.read_bytes()
    frame, truth = planted("pair-binder", share=0.15)
    audit = rc.audit(frame.drop(columns="right"), factors=list(LEVELS), split="split", prior=out)
    risk = audit.risk
    said = ~risk.abstained
    failed = np.array([truth[tuple(audit.observed.labels(row).values())] for row in risk.combinations])
    assert risk.basis == "prior" and "prior" in risk.said and said.mean() > 0.5
    assert auroc(risk.probability[said], failed[said]) > 0.9


def test_what_is_no_prior_is_refused(tmp_path, capsys):
    path = tmp_path / "p.json"
    for content, words in (
        ("{", "not JSON"),
        ("[]", "not a risk model"),
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
    frame, truth = planted("pair-binder")
    audit = rc.audit(frame, factors=list(LEVELS), split="split")
    assert audit.risk.basis == "prior" and "first guess" in str(audit)
    pairs = audit.risk.features["unseen_pairs"]
    assert audit.risk.probability[pairs > 0].min() > audit.risk.probability[pairs == 0].max()
