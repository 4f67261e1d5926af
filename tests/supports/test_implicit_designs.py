"""Splits by a rule, of spaces that cannot be listed."""

from __future__ import annotations

import json
import math
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine import Product, Subsets, supports

PUBLISHED = Subsets(16, 3)  # 696 combinations, of which .25 is held out
FACTORS = Product(color=4, shape=4, size=3)  # 48


@pytest.mark.parametrize("space", [Subsets(18, 4), Product(a=12, b=10, c=9)], ids=str)
@pytest.mark.parametrize("share", [0.1, 0.25, 0.5])
def test_a_rule_splits_everything_near_the_asked_share(space, share):
    support = supports.implicit(space, held_out=share)
    rows = space.enumerate()
    held, trained = support.held_out.contains(rows), support.train.contains(rows)
    assert (held ^ trained).all(), "every combination lies on exactly one side"
    sd = math.sqrt(share * (1 - share) / space.size)
    assert abs(held.mean() - share) < 4 * sd
    # no number of active modules, and no element, is favored
    hot = space.multihot(rows)
    by_element = (hot & held[:, None]).sum(0) / hot.sum(0)
    assert (abs(by_element - share) < 5 * np.sqrt(share * (1 - share) / hot.sum(0))).all()


@pytest.mark.parametrize("space", [PUBLISHED, FACTORS, Subsets(200, 12)], ids=str)
def test_a_rule_says_the_same_on_host_and_device(space):
    support = supports.implicit(space, held_out=0.4)
    rows = space.sample(0, 2000)
    for side in (support.train, support.held_out):
        on_device = jax.jit(lambda rule, r: rule(space.elements(r)))(side.rule, jnp.asarray(rows))
        assert (np.asarray(on_device) == side.contains(rows)).all()


def test_a_space_that_cannot_be_listed_is_split_and_certified():
    space = Subsets(200, 12)
    begun = time.process_time()
    support = supports.random(space, held_out=0.25)
    certificate = support.certificate()
    seconds = time.process_time() - begun
    assert certificate.combinations == space.size and not certificate.exact
    assert certificate.disjoint and certificate.compositional and certificate.connected
    assert abs(certificate.held_out / space.size - 0.25) < 1e-6
    assert [c.strength for c in certificate.coverage] == [1, 2, 3]
    assert certificate.coverage[1].share == 1.0
    json.dumps(certificate.to_json(), allow_nan=False)
    assert seconds < 10, seconds


def test_held_out_share_of_a_sample_is_the_asked_one_in_a_space_that_cannot_be_listed():
    space = Product(**{f"f{i}": 10 for i in range(30)})
    support = supports.implicit(space, held_out=0.3)
    assert abs(support.held_out.contains(space.sample(0, 20_000)).mean() - 0.3) < 4 * math.sqrt(0.21 / 20_000)
