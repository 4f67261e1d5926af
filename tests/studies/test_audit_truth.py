"""audit-truth: its readings on tables whose truth is planted, its cells, what controls tell, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest

from recombine import UserError
from recombine.audit.planted_kinds import KINDS
from recombine.audit.planted_worlds import world
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.studies import registry
from recombine.studies.audit import truth_readings as readings
from recombine.studies.audit.judging import ANSWERS_GIVEN, judge

STUDY = registry["audit-truth"]


def said(kind: str, metric: str, *values: float) -> list[dict[str, Any]]:
    """A reading of some worlds of a kind."""
    return [
        {"kind": kind, "reading": "table", "metric": metric, "group": str(i), "seed": 0, "value": value}
        for i, value in enumerate(values)
    ]


def table(rows: list[dict[str, Any]]) -> StudyTable:
    return STUDY.table(pandas.DataFrame(rows))


def test_a_kind_counts_once_whatever_the_number_of_its_worlds():
    rows = [*said("pair", "covered", 1.0, 1.0, 1.0), *said("xor", "covered", 0.5)]
    assert readings.covered(table(rows)) == pytest.approx(0.75)
    assert readings.covered_by_kind(table(rows)) == {"pair": 1.0, "xor": 0.5}


def test_counts_are_added_up_over_all_worlds_and_errors_are_a_median():
    rows = [*said("pair", "hit", 1.0, 0.0), *said("pair", "planted", 1.0, 1.0)]
    rows += [*said("level-level-pair", "hit", 3.0), *said("level-level-pair", "planted", 3.0)]
    assert readings.recall(table(rows)) == pytest.approx(4 / 5)
    ratios = [*said("pair", "rmse_ratio", 0.1, 0.2), *said("xor", "rmse_ratio", 9.0)]
    assert readings.error_ratio(table(ratios)) == pytest.approx(0.2)


def test_nothing_is_noise_and_lottery_and_the_lottery_is_ranked_by_itself():
    rows = [*said("noise", "any_found", 0.0, 1.0), *said("lottery", "any_found", 0.0), *said("pair", "any_found", 1.0)]
    assert readings.found_in_nothing(table(rows)) == pytest.approx(0.25)
    rows = [*said("lottery", "auroc_few", 0.8), *said("pair", "auroc_few", 1.0)]
    assert readings.ranks_lottery(table(rows)) == 0.8 and readings.ranks_few(table(rows)) == 1.0
    rows = [*said("additive", "found", 3.0), *said("additive", "right", 2.0), *said("pair", "found", 9.0)]
    assert readings.additive_false(table(rows)) == pytest.approx(1.0)


def test_what_was_not_run_has_no_reading():
    with pytest.raises(PreconditionFailed, match="auroc_few of lottery was not read"):
        readings.ranks_lottery(table(said("pair", "auroc_few", 1.0)))
    with pytest.raises(PreconditionFailed, match="nothing counts as planted"):
        readings.recall(table(said("noise", "planted", 0.0)))


@pytest.mark.parametrize("scale", ["smoke", "laptop", "night", "paper"])
def test_every_kind_of_world_has_one_cell_per_seed(scale):
    cells = STUDY.cells(STUDY.settings(scale), 2)
    assert [cell.spec["at"]["kind"] for cell in cells] == [*KINDS, *KINDS]


def test_it_is_judged_on_other_worlds_than_it_was_built_on():
    built, judged = (world("pair", 0, purpose) for purpose in ("developed", "judged"))
    assert built.space.levels != judged.space.levels or (built.truth != judged.truth).any()


@pytest.mark.parametrize("given", [name for name in ANSWERS_GIVEN if name not in ("truth", "unsure")])
def test_a_control_tells_other_answers_about_the_same_world(given):
    made = world("level-pair", 1)
    other = ANSWERS_GIVEN[given](made, np.random.default_rng(0))
    np.testing.assert_array_equal(other.truth, made.truth)
    np.testing.assert_array_equal(other.answers, made.answers)
    assert (other.wrong <= other.answers).all() and (other.wrong != made.wrong).any()


def test_of_what_is_shifted_other_causes_are_found():
    options = {"kind": "pair-many", "combinations": 300}
    truth, shifted = (judge(options | {"told": given}, 0, 0) for given in ("truth", "shifted"))
    hit = [{row["metric"]: row["value"] for row in rows}["hit"] for rows in (truth, shifted)]
    assert hit == [1.0, 0.0]


@pytest.mark.parametrize(
    ("changes", "value", "remedy"),
    [
        ({"kind": "piar"}, "'piar'", "did you mean 'pair'"),
        ({"kind": "pair,pair"}, "'pair'", "twice"),
        ({"told": "shuffeled"}, "'shuffeled'", "did you mean 'shuffled'"),
        ({"worlds": "0"}, "worlds=0", "at least 1"),
        ({"combinations": "99"}, "combinations=99", "at least 100"),
    ],
)
def test_bad_requests_are_refused_by_value_with_what_would_do(changes, value, remedy):
    with pytest.raises(UserError) as refused:
        STUDY.cells(STUDY.settings("laptop", changes), 1)
    assert value in str(refused.value) and remedy in str(refused.value)
