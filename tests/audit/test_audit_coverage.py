"""Coverage against brute force, association against closed forms, rates, and spaces too large to list."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recombine as rc
from recombine.audit.association import cramers_v, determines, holm, tied_levels
from recombine.audit.features import FEATURES, describe
from recombine.audit.outcomes import compare, evaluate, weak_levels
from recombine.audit.rates import difference, rate, wilson
from recombine.audit.seen import Seen
from recombine.spaces import find


@st.composite
def tables(draw):
    """A small table: rows of two to four factors with up to four levels each."""
    width = draw(st.integers(2, 4))
    sizes = [draw(st.integers(1, 4)) for _ in range(width)]
    rows = draw(st.lists(st.tuples(*(st.integers(0, n - 1) for n in sizes)), min_size=1, max_size=25))
    return rows


def audited(rows, **options):
    names = [f"f{i}" for i in range(len(rows[0]))]
    frame = pandas.DataFrame([[f"l{v}" for v in row] for row in rows], columns=names)
    return rc.audit(frame, factors=names, **options), frame


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables())
def test_coverage_is_what_brute_force_counts(rows):
    audit, frame = audited(rows)
    coverage, space = audit.coverage, audit.observed.space
    distinct = set(frame.itertuples(index=False, name=None))
    levels = [sorted(frame[name].unique()) for name in frame]
    assert [list(space.factors[name]) for name in frame] == levels
    assert coverage.combinations == math.prod(map(len, levels)) and coverage.seen == len(distinct)
    for strength in (2, 3):
        possible = [
            frozenset(zip(place, values))
            for place in itertools.combinations(range(len(levels)), strength)
            for values in itertools.product(*(levels[i] for i in place))
        ]
        seen = {
            frozenset((i, row[i]) for i in place)
            for row in distinct
            for place in itertools.combinations(range(len(levels)), strength)
        }
        found = [t for t in coverage.tuples if t.strength == strength]
        if not found:
            assert len(levels) < strength
            continue
        assert (found[0].possible, found[0].seen) == (len(possible), len(seen))
        listed = {frozenset((int(n[1]), n.partition("=")[2]) for n in names) for names in found[0].unseen}
        assert listed == set(possible) - seen
    # the co-occurrence graph, by spreading from a level until nothing is new
    elements = {(i, v) for row in distinct for i, v in enumerate(row)}
    groups = []
    while elements:
        group, grown = set(), {min(elements)}
        while grown != group:
            group, grown = (
                grown,
                {(i, v) for row in distinct if grown & set(enumerate(row)) for i, v in enumerate(row)} | grown,
            )
        groups.append({f"f{i}={v}" for i, v in group})
        elements -= group
    assert sorted(map(sorted, groups)) == sorted(map(sorted, coverage.components))
    for matrix in coverage.matrices:
        expected = pandas.crosstab(frame[matrix.factors[0]], frame[matrix.factors[1]])
        np.testing.assert_array_equal(matrix.counts, expected)
    if coverage.certificate is not None:
        assert coverage.certificate.train == len(distinct)
        assert coverage.certificate.connected == coverage.connected
    # every unseen combination is there once, with reasons
    unseen = set(itertools.product(*levels)) - distinct
    labels = [tuple(audit.observed.labels(row).values()) for row in audit.risk.combinations]
    assert len(labels) == len(unseen) and set(labels) == unseen and len(audit.risk.reasons) == len(unseen)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), st.booleans())
def test_features_are_what_brute_force_counts(rows, subsets):
    if subsets:
        space = rc.Subsets(modules=5, at_most=3)
        trained = np.unique(space.from_sets([{v for v in row} for row in rows if len(set(row)) <= 3] or [{0}]), axis=0)
    else:
        space = rc.Product(**{f"f{i}": 4 for i in range(len(rows[0]))})
        trained = np.unique(np.array(rows), axis=0)
    seen = Seen(space, trained)
    everything = space.enumerate()
    found = describe(seen, everything)
    as_sets = [frozenset(i for i in ids if i >= 0) for ids in space.elements(everything).tolist()]
    known = [frozenset(i for i in ids if i >= 0) for ids in space.elements(trained).tolist()]
    for i, own in enumerate(as_sets):
        pairs = [set(p) for p in itertools.combinations(sorted(own), 2)]
        triples = [set(p) for p in itertools.combinations(sorted(own), 3)]
        absent = [p for p in pairs if not any(p <= k for k in known)]
        lost = [t for t in triples if not any(t <= k for k in known)]
        assert found["unseen"][i] == (own not in known)
        assert found["unseen_pairs"][i] == pytest.approx(len(absent) / max(len(pairs), 1))
        assert found["any_unseen_pair"][i] == bool(absent)
        assert found["unseen_triples"][i] == pytest.approx(len(lost) / max(len(triples), 1))
        assert found["untrained"][i] == pytest.approx(np.mean([not any(e in k for k in known) for e in own]))
        assert found["nearest"][i] * space.width == pytest.approx(min(len(own ^ k) for k in known) / 2)
    assert tuple(found.names) == tuple(FEATURES) and np.isfinite(found.values).all()
    at = find(space, trained, everything)
    assert all(
        (own in known) == (place >= 0) and (place < 0 or known[place] == own)
        for own, place in zip(as_sets, at.tolist())
    )


# -- association ------------------------------------------------------------------------------------------------------
def test_cramers_v_is_zero_for_independence_and_one_for_a_function():
    assert cramers_v(np.full((3, 4), 50))[0] == 0
    v, p = cramers_v(np.diag([40, 50, 60]))
    assert v == pytest.approx(1, abs=0.01) and p < 1e-6
    assert math.isnan(cramers_v(np.array([[5, 3]]))[0])
    # on random tables the correction takes the bias away that the plain V has
    rng = np.random.default_rng(0)
    corrected, plain = [], []
    for _ in range(300):
        counts = np.histogram2d(rng.integers(0, 5, 60), rng.integers(0, 5, 60), bins=[range(6), range(6)])[0]
        corrected.append(cramers_v(counts)[0])
        expected = np.outer(counts.sum(1), counts.sum(0)) / 60
        plain.append(math.sqrt(((counts - expected) ** 2 / expected).sum() / 60 / 4))
    assert np.mean(corrected) < 0.1 < 0.2 < np.mean(plain)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, math.nan]) == [
        pytest.approx(0.03),
        pytest.approx(0.06),
        pytest.approx(0.06),
        pytest.approx(math.nan, nan_ok=True),
    ]


def test_confounding_is_found():
    rows = [(a, a % 2, b) for a in range(4) for b in range(3)] * 5
    audit, _ = audited(rows)
    worst = audit.coverage.confounded[0]
    assert worst.factors == ("f0", "f1") and "'f0' tells 'f1'" in worst.function
    assert ("f0=l1", "f1=l1") in audit.coverage.tied and not any(a.startswith("f2") for a, _ in audit.coverage.tied)
    assert determines(np.array([[1, 0], [2, 0], [0, 3]])) and not determines(np.array([[1, 1], [0, 3]]))
    assert tied_levels(np.array([[1, 1], [0, 3]])) == [(1, 1)]


def test_imbalance_of_a_million_to_one():
    frame = pandas.DataFrame({"a": ["x"] * 1_000_000 + ["y"], "b": ["p", "q"] * 500_000 + ["p"]})
    audit = rc.audit(frame, factors=["a", "b"])
    assert audit.coverage.balance[0].ratio == 1_000_000 and audit.coverage.balance[0].effective < 1.001
    assert any("Uneven" in s and "1,000,000" in s for s in audit.coverage.sentences())


# -- small and huge ---------------------------------------------------------------------------------------------------
def test_one_level_one_row():
    audit = rc.audit({"a": ["x"], "b": ["y"]}, factors=["a", "b"])
    assert audit.coverage.unseen == 0 and not audit.next and len(audit.risk.combinations) == 0
    assert audit.to_json()["coverage"]["seen"] == 1


def test_one_factor_is_refused():
    with pytest.raises(rc.UserError, match="'a' is the only factor"):
        rc.audit({"a": ["x", "y"]}, factors=["a"])


def test_a_space_of_10_to_the_46_is_counted_and_not_listed():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({f"f{i}": rng.integers(0, 100, 400).astype(str) for i in range(24)})
    with pytest.warns(UserWarning, match="24 factors make about 10"):
        audit = rc.audit(frame, factors=list(frame))
    coverage = audit.coverage
    assert (
        coverage.combinations == math.prod(map(len, audit.observed.space.factors.values())) > 10**44
        and coverage.seen == 400
    )
    assert coverage.certificate is None and any("not listed" in note for note in audit.notes)
    pairs = coverage.pairs()
    assert (
        pairs is not None
        and pairs.possible == audit.observed.space.possible_tuples(2)
        and 0 < pairs.seen < pairs.possible
    )
    assert any("triples of levels are too many" in note for note in audit.notes)
    assert not audit.risk.whole and len(audit.risk.combinations) > 5_000
    assert not Seen(audit.observed.space, audit.observed.rows).contains(audit.risk.combinations).any()


# -- rates ------------------------------------------------------------------------------------------------------------
def test_wilson_by_hand_and_rates_by_combination():
    low, high = wilson(8, 10)
    assert (low, high) == (pytest.approx(0.4902, abs=1e-4), pytest.approx(0.9433, abs=1e-4))
    assert wilson(0, 10)[0] == 0 and wilson(0, 0) == (0.0, 1.0)
    # 10 combinations of 1000 rows each, all right or all wrong: as uncertain as 10 coins, not as 10,000
    right, answers = np.repeat([1000.0, 0.0], 5), np.full(10, 1000.0)
    found = rate("x", right, answers)
    assert found.mean == 0.5 and found.low < 0.25 and found.high > 0.75 and found.answers == 10_000
    sure = rate("y", np.full(40, 3.0), np.full(40, 3.0))
    assert sure.mean == 1 and sure.low == pytest.approx(wilson(40, 40)[0])
    gap, low, high = difference(sure, found)
    assert gap == 0.5 and low < 0.3 and high > 0.7
    assert math.isnan(difference(sure, rate("z", np.zeros(0), np.zeros(0)))[0])


def test_the_interval_of_a_rate_covers_the_truth():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(100):
        own = rng.beta(4, 2, 60)  # a rate for each combination, mean 2/3
        answers = rng.integers(1, 30, 60).astype(float)
        found = rate("x", rng.binomial(answers.astype(int), own).astype(float), answers)
        hits += found.low <= 2 / 3 <= found.high
    assert hits >= 87


def test_seen_against_unseen_and_levels():
    rows = [(a, b, c) for a in range(4) for b in range(4) for c in range(3)]
    frame = pandas.DataFrame([[f"l{v}" for v in row] for row in rows for _ in range(4)], columns=list("abc"))
    trained = (frame.a != "l0") | (frame.b != "l0")
    split = np.where(trained & (np.arange(len(frame)) % 2 == 0), "train", "test")
    frame = frame.assign(split=split, right=(trained & (frame.c != "l2")).astype(int))
    audit = rc.audit(frame, factors="a,b,c", split="split", outcome="right")
    found = audit.outcomes
    assert found is not None
    assert found.unseen.mean == 0 and found.unseen.combinations == 3 and found.seen.mean == pytest.approx(2 / 3)
    assert [one.name for one in found.by_unseen_pairs] == ["0 unseen pairs", "1 unseen pair"]
    assert found.gap[0] == pytest.approx(2 / 3)
    assert weak_levels(found) and weak_levels(found)[0].startswith("'l2' of 'c'")
    # seen combinations that have outcomes on training rows only: used, and said
    frame.loc[trained & (frame.split == "test"), "right"] = np.nan
    again = rc.audit(frame, factors="a,b,c", split="split", outcome="right")
    assert again.outcomes is not None and any("flatter" in note for note in again.notes)
    assert again.outcomes.seen.answers == (frame.split == "train").sum()
    evaluated = evaluate(again.observed)
    assert (
        compare(again.observed, Seen(again.observed.space, again.observed.rows[again.observed.seen]), evaluated).seen
        == again.outcomes.seen
    )
