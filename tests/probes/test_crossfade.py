"""crossfade: drawings that are the truth or a fade, the ends of a gap, and what has no gap."""

from __future__ import annotations

import numpy as np
import pytest
from turned_digits import turned

from recombine import UserError, probes
from recombine.probes.crossfade import ends_of_gap
from recombine.tasks import RotationIndifferent


def test_the_ends_of_a_gap_are_the_nearest_trained_levels():
    before, after = ends_of_gap(np.array([4, 5, 9]), np.array([0, 3, 6, 8, 10]))
    assert before.tolist() == [3, 3, 8] and after.tolist() == [6, 6, 10]
    with pytest.raises(UserError, match="trained levels on both sides"):
        ends_of_gap(np.array([0, 1]), np.array([2, 3]))


def test_the_truth_is_at_no_distance_from_itself_and_as_far_from_the_fade_as_the_fade_from_it():
    found = probes.crossfade(turned())
    assert found.value("to_truth_truth").mean == 0.0
    assert (
        found.value("to_fade_truth").mean == pytest.approx(found.value("apart").mean)
        and found.value("apart").mean > 0.1
    )


def test_where_all_angles_look_alike_the_fade_is_the_truth():
    found = probes.crossfade(turned(RotationIndifferent), controls=False)
    assert found.value("apart").mean == pytest.approx(0.0, abs=1e-6)
    assert found.value("to_truth").mean == pytest.approx(found.value("to_fade").mean)


def test_a_gap_at_the_border_has_no_fade():
    with pytest.raises(UserError, match="trained levels on both sides"):
        probes.crossfade(turned(low=0, high=4))
