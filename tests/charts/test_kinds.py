"""Charts of studies as data: thresholds of their claims, words of their metric, one chart per value of a column."""

from __future__ import annotations

import pandas as pd
import pytest
from drawn_charts import data_of

from recombine.charts import kinds
from recombine.charts.words import SCORES, metric_words
from recombine.errors import UserError
from recombine.lab.study_table import StudyTable
from recombine.tasks import registry


def table(metric: str = "r2") -> StudyTable:
    rows = [{"net": net, "seed": seed, "value": 0.1 * seed} for net in ("mlp", "cnn") for seed in range(3)]
    return StudyTable(pd.DataFrame(rows), metric)


def rows(t: StudyTable) -> kinds.Rows:
    return t.frame.to_dict("records")


def test_thresholds_are_those_of_the_claims_that_are_named():
    chart = kinds.dots("t", "c", rows, y="net", value="gap", claims=["*-composes", "missing"])
    known = {"random-composes": 0.05, "popular-composes": 0.05, "missing": 0.15, "other": 0.7}
    (figure,) = kinds.figures_of([chart], table(), known)
    assert [row["threshold"] for row in data_of(figure.spec["layer"][0])] == [0.05, 0.15]
    with pytest.raises(UserError, match="missing"):  # a claim that is not there is no threshold that is not drawn
        kinds.figures_of([chart], table(), {"random-composes": 0.05})


def test_an_axis_says_what_the_metric_says():
    chart = kinds.dots("On {metric}", "{Metric}, by net.", rows, y="net", value="held-out {metric}")
    (figure,) = kinds.figures_of([chart], table("episode_accuracy"), {})
    assert figure.title == "On share of episodes right" and figure.caption == "Share of episodes right, by net."
    assert figure.spec["layer"][0]["encoding"]["x"]["title"] == "held-out share of episodes right"


def test_words_of_metrics_are_the_metrics_own():
    own = {metric.name: metric.words for task in registry.values() for metric in task.metrics}
    assert {name: own.get(name, words) for name, words in SCORES.items()} == SCORES
    assert all(metric_words(name) for name in own) and metric_words("no such metric") == "no such metric"


def test_one_chart_per_value_of_a_column_and_none_of_nothing():
    chart = kinds.dots("Of {split}", "c", rows, y="net", value="R²", split="net")
    found = kinds.figures_of([chart, lambda t: []], table(), {})
    assert [figure.title for figure in found] == ["Of mlp", "Of cnn"]
    assert {row["net"] for row in data_of(found[0].spec)} == {"mlp"}
    assert kinds.figures_of([chart], table()[table().value > 9], {}) == []
