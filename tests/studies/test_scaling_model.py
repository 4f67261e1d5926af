"""scaling-model: what width and depth add, and what harder encodings need."""

from __future__ import annotations

import pandas
import pytest
from paper_scale import scores_table

from recombine import UserError
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.studies import registry
from recombine.studies.redhardt2025 import scaling_model_readings as read

#: cells of the published grids, three seeds (notes of the public sweeps); few-shot raises there for preferences


@pytest.mark.parametrize(
    "values, expected",
    [((0.2, 0.6, 1.0), 6.5), ((0.9, 0.95, 1.0), 5.0), ((0.1, 0.2, 0.3), 8.0), ((0.4, 0.8, 0.9), 6.0)],
)
def test_the_width_needed_lies_on_the_line_between_widths(values, expected):
    part = pandas.DataFrame({"width": [32, 64, 128], "value": values})
    assert read.octaves_needed(part, 0.8) == pytest.approx(expected)


def planted_scores():
    planted = {"identity": (0.4, 0.8, 0.9, 0.95), "interval-shuffle": (0.1, 0.4, 0.8, 0.9)}
    return scores_table(
        [
            {"encoding": name, "depth": 2, "width": width, "value": value}
            for name, values in planted.items()
            for width, value in zip((32, 64, 128, 256), values, strict=True)
        ]
    )


def test_it_reads_width_and_encoding():
    table = planted_scores()
    assert read.extra_width(table, 0.8) == pytest.approx(1.0)
    assert read.width_rise(table) == {
        "identity, 2 layers": pytest.approx(0.55),
        "interval-shuffle, 2 layers": pytest.approx(0.8),
    }
    full = planted_scores()
    full.frame["value"] = 0.97
    assert all("nothing can rise" in str(one) for one in read.width_rise(full).values())
    with pytest.raises(PreconditionFailed, match="only one width"):
        read.width_rise(table.where(width=32))
    with pytest.raises(PreconditionFailed, match="it takes narrower nets to compare"):
        read.extra_width(full, 0.8)
    with pytest.raises(PreconditionFailed, match="it takes linear and nonlinear encodings"):
        read.extra_width(table.where(encoding="identity"), 0.8)
    with pytest.raises(PreconditionFailed, match=r"no linear encoding reached 0\.99: it takes wider nets or more trai"):
        read.extra_width(table, 0.99)


def test_a_wider_net_that_is_worse_on_the_way_decides():
    worse = planted_scores().frame
    # worse by .3 than 128, better than 32
    worse.loc[(worse.encoding == "identity") & (worse.width == 256), "value"] = 0.6
    assert read.width_rise(StudyTable(worse, "r2"))["identity, 2 layers"] == pytest.approx(-0.3)


def test_an_encoding_that_was_not_learned_decides_nothing():
    table = planted_scores()
    trained = table.frame.assign(stream="test", asked=False)
    trained.loc[trained.encoding == "interval-shuffle", "value"] = 0.4
    found = read.width_rise(StudyTable(pandas.concat([table.frame.assign(asked=True), trained]), "r2"))
    assert found["identity, 2 layers"] == pytest.approx(0.55)
    assert "interval-shuffle was not learned: 0.40" in str(found["interval-shuffle, 2 layers"])


def test_depth_is_compared_at_the_same_width_and_encoding():
    values = {(2, 32): 0.2, (4, 32): 0.5, (2, 64): 0.6, (4, 64): 0.7}
    table = scores_table([{"encoding": "identity", "depth": d, "width": w, "value": v} for (d, w), v in values.items()])
    assert read.depth_gain(table) == pytest.approx(0.2)
    with pytest.raises(PreconditionFailed, match="only one depth was trained"):
        read.depth_gain(table.where(depth=2))


def test_a_diverged_net_is_not_left_out_of_a_comparison():
    table = scores_table(
        [
            {"encoding": "identity", "depth": 2, "width": w, "value": v, "cell": str(w)}
            for w, v in ((32, 0.2), (64, 0.5), (128, 0.9))
        ]
    )
    assert read.width_rise(table) == {"identity, 2 layers": pytest.approx(0.7)}
    table.frame.loc[table.frame.width == 128, "reading"] = "history"  # the widest has no score
    with pytest.raises(PreconditionFailed, match="1 of 3 nets have no score: they diverged"):
        read.width_rise(table)


@pytest.mark.parametrize("name, target", [("scaling-model", 0.8), ("scaling-model-preference", 0.6)])
def test_there_is_one_chart_per_depth_with_the_score_at_which_widths_are_compared(name, target):
    study = registry[name]
    table = scores_table(
        [
            {"encoding": encoding, "depth": depth, "width": width, "value": 0.5}
            for depth in (4, 2)
            for encoding in ("interval-shuffle", "identity")
            for width in (32, 64)
        ],
        study.deciding_metric,
    )
    figures = study.figures(table)
    assert [figure.title for figure in figures] == [
        "Held-out score against width, 2 hidden layers",
        "Held-out score against width, 4 hidden layers",
    ]
    for figure in figures:
        assert len(figure.spec["data"]["values"]) == 4
        assert figure.spec["layer"][0]["data"]["values"][0]["threshold"] == target


@pytest.mark.parametrize("name", ["scaling-model", "scaling-model-preference"])
def test_the_invertible_encoding_is_bent_so_that_it_is_nonlinear(name):
    study = registry[name]
    for spec in study.grid(study.settings("paper"), 0):
        wanted = {"layers": 3, "scale": 1.0} if spec["at"]["encoding"] == "invertible" else None
        assert spec["trial"]["world"]["encoding_options"] == wanted
    assert any("deviation 1" in sentence for sentence in study.differs)


@pytest.mark.parametrize(
    "name, changes, words",
    [
        ("scaling-model-preference", {"encoding": "few-shot"}, "few-shot.*examples"),
        ("scaling-model", {"width": "0"}, "width=0"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_compiled(name, changes, words, monkeypatch):
    monkeypatch.setattr("jax.stages.Lowered.compile", lambda *_, **__: pytest.fail("something was compiled"))
    study = registry[name]
    with pytest.raises(UserError, match=words):
        study.cells(study.settings("laptop", changes), 3)
