"""Planted worlds: each is what its kind says, its truth is its truth, and built and judged ones are apart."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.audit.planted_kinds import BASE, KINDS
from recombine.audit.planted_worlds import LEAST, PURPOSES, world
from recombine.errors import UserError


@pytest.mark.parametrize("kind", KINDS)
def test_a_world_is_what_its_kind_says(kind):
    made, of = world(kind, 3, combinations=1000), KINDS[kind]
    n, width = made.rows.shape
    assert 3 <= width <= 8 and all(2 <= size <= 12 for size in made.space.levels)
    assert of.answers in (None, made.answers.sum()) and 200 <= made.answers.sum() <= 50_000
    assert (made.wrong <= made.answers).all() and ((made.truth >= 0) & (made.truth <= 1)).all()
    assert made.frequency.sum() == pytest.approx(1) and (made.answers == 0).any()
    assert n < made.space.size if of.zeros else n == made.space.size
    assert sorted(len(cause.pattern) for cause in made.causes if cause.pattern) == sorted(
        of.patterns or ((2, 2) if of.xor else ())
    )
    assert [cause.rule for cause in made.causes if cause.rule] == ([of.rule] if of.rule else [])
    covered = np.zeros(n, bool)
    for cause in made.causes:
        held = cause.covers(made.rows, made.rules)
        covered |= held
        assert 0 < held.sum() < n
        assert not of.untrained or not made.trained[held].any()
    if not (of.lottery or of.additive):  # what no cause covers fails as often as anything else
        rest = made.truth[~covered]
        assert np.ptp(rest) < 1e-12 and BASE[0] <= rest[0] <= BASE[1]
        assert not covered.any() or made.truth[covered].min() > 0.4


def test_answers_follow_the_truth():
    made = world("pair-many", 0, combinations=300)
    z = (made.wrong - made.answers * made.truth) / np.sqrt(np.maximum(made.answers * made.truth * (1 - made.truth), 1))
    assert abs(z[made.answers > 20].mean()) < 0.5 and 0.7 < z[made.answers > 20].std() < 1.3
    held = made.causes[0].covers(made.rows, made.rules)
    assert made.answers[held].sum() >= LEAST / 2


def test_the_same_seed_is_the_same_world_and_purposes_are_apart():
    first, again = (world("xor", 5) for _ in range(2))
    np.testing.assert_array_equal(first.wrong, again.wrong)
    built, judged = (world("xor", 5, purpose) for purpose in PURPOSES)
    assert built.space.levels != judged.space.levels or (built.trained != judged.trained).any()


def test_a_table_holds_what_the_world_does():
    made = world("level", 1, combinations=200)
    frame = made.frame()
    assert frame.times.sum() == made.trained.sum() + made.answers.sum()
    assert frame[frame.right == "0"].times.sum() == made.wrong.sum()
    assert frame[frame.split == "train"].right.isna().all()


@pytest.mark.parametrize(("given", "value", "remedy"), [(("piar", 0), "'piar'", "pair"), (("pair", -1), "-1", "0")])
def test_bad_worlds_are_refused(given, value, remedy):
    with pytest.raises(UserError) as refused:
        world(*given)
    assert value in str(refused.value) and remedy in str(refused.value)
    with pytest.raises(UserError, match="'tuned'"):
        world("pair", 0, "tuned")
