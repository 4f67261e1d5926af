"""audit-truth: its readings on tables whose truth is planted, its cells, and what it refuses."""

from __future__ import annotations

from typing import Any

import pandas
import pytest

from recombine import UserError
from recombine.audit.planted import planted
from recombine.context import Context
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.studies import registry
from recombine.studies.audit import truth_readings as readings

STUDY = registry["audit-truth"]


def said(model: str, metric: str, *values: float) -> list[dict[str, Any]]:
    """A reading of some worlds of a model."""
    return [{"model": model, "reading": "world", "metric": metric, "seed": 0, "value": value} for value in values]


def in_bin(model: str, number: int, combinations: int, risk: float, failed: int) -> dict[str, Any]:
    sums = {"combinations": combinations, "said": risk * combinations, "failed": failed}
    return {"model": model, "reading": "bin", "metric": "bin", "group": str(number), "seed": 0, "value": risk, **sums}


def table(rows: list[dict[str, Any]]) -> StudyTable:
    return STUDY.table(pandas.DataFrame(rows))


def test_failures_count_as_ranked_as_well_as_in_the_worst_model_that_follows_coverage():
    rows = [*said("memorizer", "auroc", 1.0, 0.9), *said("binder", "auroc", 0.6, 0.8), *said("noisy", "auroc", 0.1)]
    assert readings.least_auroc(table(rows)) == pytest.approx(0.7)  # worlds are averaged; the noisy one is left out


def test_alarms_are_those_about_the_composer_and_confidence_is_that_about_the_lot():
    rows = [
        *said("composer", "called_fails", 0.0, 0.2),
        *said("binder", "called_fails", 0.9),
        *said("unrelated", "called", 0.3),
        *said("composer", "called", 1.0),
        *said("unrelated", "beyond_rate", 0.05),
    ]
    assert readings.false_alarms(table(rows)) == pytest.approx(0.1)
    assert readings.confident(table(rows)) == pytest.approx(0.3)
    assert readings.beyond_rate(table(rows)) == pytest.approx(0.05)


def test_a_model_that_was_not_run_has_no_reading():
    rows = said("binder", "called_fails", 0.5)
    with pytest.raises(PreconditionFailed, match="composer not run"):
        readings.false_alarms(table(rows))
    with pytest.raises(PreconditionFailed, match="no probability was given"):
        readings.largest_error(table(rows))


def test_calibration_is_pooled_over_worlds_and_that_of_the_worst_model():
    """Two worlds of one model that err to both sides cancel; bins count by their size."""
    binder = [in_bin("binder", 3, 10, 0.3, 5), in_bin("binder", 3, 10, 0.3, 1)]
    noisy = [in_bin("noisy", 1, 30, 0.1, 3), in_bin("noisy", 9, 10, 0.9, 5)]
    assert readings.largest_error(table(binder)) == pytest.approx(0.0)
    assert readings.largest_error(table(binder + noisy)) == pytest.approx(4 / 40)


def test_abstentions_are_averaged_over_models():
    rows = [*said("composer", "abstained", 0.0, 0.2), *said("binder", "abstained", 0.5)]
    assert readings.abstained(table(rows)) == pytest.approx(0.3)


@pytest.mark.parametrize("scale", ["smoke", "laptop", "night", "paper"])
def test_every_planted_model_has_one_cell_per_seed(scale):
    cells = STUDY.cells(STUDY.settings(scale), 2)
    assert [cell.spec["at"]["model"] for cell in cells] == [*planted, *planted]


def test_what_is_told_in_the_control_called_related_is_about_a_binder():
    """In its control, failures by lot are failures of a binder, and the audit is right to be sure."""
    changes = STUDY.control("related")
    (cell,) = STUDY.cells(STUDY.settings("smoke", changes), 1)
    rows = {row["metric"]: row["value"] for row in STUDY.measured(cell.spec, Context()).rows}
    assert cell.spec["at"]["model"] == "unrelated" and rows["called"] > 0.9 and rows["auroc"] > 0.95


@pytest.mark.parametrize(
    ("changes", "value", "remedy"),
    [
        ({"model": "bindr"}, "'bindr'", "did you mean 'binder'"),
        ({"model": ""}, "model=[]", "give at least one value"),
        ({"model": "binder,binder"}, "'binder'", "twice"),
        ({"told": "shuffeled"}, "'shuffeled'", "did you mean 'shuffled'"),
        ({"worlds": "0"}, "worlds=0", "at least 1"),
        ({"combinations": "99"}, "combinations=99", "at least 100"),
        ({"combinations": "1000000"}, "combinations=1000000", "at most 100000"),
    ],
)
def test_bad_requests_are_refused_by_value_with_what_would_do(changes, value, remedy):
    with pytest.raises(UserError) as refused:
        STUDY.cells(STUDY.settings("laptop", changes), 1)
    assert value in str(refused.value) and remedy in str(refused.value)
