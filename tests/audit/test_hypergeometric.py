"""The tails of Fisher's exact test, against scipy.stats."""

from __future__ import annotations

import math

import pytest
from scipy.stats import hypergeom

from recombine.audit.outcomes import hypergeometric_tails


@pytest.mark.parametrize("counts", [(20, 12, 5), (7, 0, 3), (7, 7, 3), (1_000_000, 999_960, 50_000), (30, 30, 30)])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.97, 1.0])
def test_tails_are_those_of_scipy(counts, share):
    total, good, drawn = counts
    least, most = max(0, drawn - (total - good)), min(good, drawn)
    found = least + share * (most - least)
    above, below = hypergeometric_tails(found, *counts)
    wanted = hypergeom.sf(math.floor(found + 1e-9) - 1, *counts), hypergeom.cdf(math.ceil(found - 1e-9), *counts)
    assert (above, below) == pytest.approx(wanted, rel=1e-6, abs=1e-12)
