"""Groups of held-out combinations: disjoint, complete, and sampled from the right side."""

from __future__ import annotations

import math

import equinox as eqx
import jax
import numpy as np
import pytest

from recombine import Listed, Product, Subsets, UserError, supports
from recombine.supports.support import from_ranks

PUBLISHED = Subsets(16, 3)  # 696 combinations, of which .25 is held out
SMALL = Subsets(8, 3)  # 92
FACTORS = Product(color=4, shape=4, size=3)  # 48

PARTITIONS = {
    "number active": (lambda: supports.random(PUBLISHED), ("1 active", "2 active", "3 active")),
    "blocks": (lambda: supports.disconnected(PUBLISHED, within=0.25), ("cross-block", "within-block")),
    "rarest": (lambda: supports.unpopular(PUBLISHED), ("with rarest (m15)", "without rarest")),
    "rarest level": (lambda: supports.unpopular(FACTORS), ("with rarest (shape=3)", "without rarest")),
    "number active, by a rule": (lambda: supports.implicit(PUBLISHED), ("1 active", "2 active", "3 active")),
}


@pytest.mark.parametrize("name", PARTITIONS)
def test_groups_partition_the_held_out_side(name):
    make, names = PARTITIONS[name]
    support = make()
    parts = [support.group(group) for group in names]
    rows = np.concatenate([part.combinations() for part in parts])
    ranks = np.sort(support.space.rank(rows))
    assert (ranks == np.sort(support.space.rank(support.held_out.combinations()))).all()
    assert [support.certificate().groups[group] for group in names] == [len(part.combinations()) for part in parts]


@pytest.mark.parametrize("name", [name for name in PARTITIONS if "rule" not in name])
def test_sizes_of_listed_groups_add_up(name):
    make, names = PARTITIONS[name]
    support = make()
    assert sum(len(support.group(group)) for group in names) == len(support.held_out)


def test_a_group_of_a_rule_is_smaller_than_its_side():
    support = supports.implicit(PUBLISHED)
    assert len(support.group("1 active")) < len(support.group("3 active")) <= len(support.held_out)


@pytest.mark.parametrize("name", PARTITIONS)
def test_samples_of_a_group_lie_in_it_on_host_and_device(name):
    make, names = PARTITIONS[name]
    support = make()
    for group in names:
        side, predicate = support.group(group), support.groups[group]
        drawn = eqx.filter_jit(side.sampler())(jax.random.key(0), 50)
        for rows in (side.sample(0, 50), np.asarray(drawn)):
            assert np.asarray(predicate(rows)).all() and support.held_out.contains(rows).all()


def test_groups_without_members_are_left_out_and_unknown_ones_refused():
    support = supports.disconnected(PUBLISHED)
    assert "within-block" not in support.groups and "1 active" not in support.groups
    with pytest.raises(UserError, match="'cross-blok'; did you mean 'cross-block'"):
        support.group("cross-blok")


def test_streams_draw_from_the_right_side():
    support = supports.random(PUBLISHED)
    assert support.side("held_out") is support.held_out
    assert all(support.side(stream) is support.train for stream in ("train", "validation", "test", "probe_fit"))
    assert (support.side("held_out/2 active").combinations() >= 0).sum(1).tolist() == [2] * len(
        support.group("2 active")
    )


def test_a_named_group_of_the_training_side_is_a_stream():
    first = supports.Among(np.arange(10) < 4)
    space = Listed([[number] for number in range(10)], names=[f"word {number}" for number in range(10)])
    support = from_ranks(space, np.arange(2, 7), np.array([0, 8]), "mine", named={"first": first})
    assert support.side("validation/first").ranks.tolist() == [2, 3]
    assert support.side("held_out/first").ranks.tolist() == [0]
    with pytest.raises(UserError, match="'validation/frist'; did you mean 'validation/first'"):
        support.side("validation/frist")


def test_a_listed_side_is_sampled_uniformly():
    support = supports.random(SMALL)
    for rows in (
        support.train.sample(0, 69 * 200),
        np.asarray(support.train.sampler()(jax.random.key(0), 69 * 200)),
    ):
        counts = np.unique_counts(SMALL.rank(rows)).counts
        assert len(counts) == support.train.size == 69
        # 69 Poisson counts of 200: sd 14
        assert abs(counts - 200).max() < 5 * math.sqrt(200)
