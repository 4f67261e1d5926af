"""What notebooks show: tables of the things that users hold in their hands, with every label inert."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from small_studies import coin

import recombine as rc
from recombine.notebook import table_html
from recombine.probes import Readings
from recombine.training.trained import Score

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e&"


def words(html: str) -> list[list[str]]:
    """The rows of a table as text; refuses what is no well-formed markup."""
    return [["".join(cell.itertext()) for cell in row] for row in ElementTree.fromstring(html).iter("tr")]


def test_labels_are_shown_and_do_nothing():
    html = table_html(HOSTILE, [(HOSTILE, 1)], (HOSTILE, "n"))
    assert "<script" not in html and "\x1b" not in html and "\u202e" not in html
    head, row = words(html)
    assert head[0] == row[0] and "<script>alert(1)</script>" in row[0] and row[1] == "1"


def test_a_support_says_what_it_is(support):
    shown = dict(words(support._repr_html_()))
    assert shown["trained"] == f"{support.train.size:,}" and shown["held out"] == f"{support.held_out.size:,}"
    assert shown["compositional"] == "yes"


def test_a_support_of_hostile_levels_is_inert():
    space = rc.Product(color=[HOSTILE, "blue"], shape=["star", "cube"])
    assert "<script" not in rc.supports.random(space, held_out=0.25, seed=0)._repr_html_()


def test_a_score_has_one_row_per_group():
    values = {"r2": [0.5, 0.7], "2 active/r2": [0.1, 0.3], "mse": [1.0, 1.0]}
    rows = words(Score("held_out", "r2", values, [0, 1], [7])._repr_html_())
    assert [row[:2] for row in rows[1:]] == [["all", "0.600"], ["2 active", "0.200"]]
    assert "seeds [7]" in Score("held_out", "r2", values, [0, 1], [7])._repr_html_()


def test_readings_have_one_row_per_layer_and_one_column_per_metric():
    rows = [
        {"seed": seed, "layer": layer, "factor": "mean", "metric": "r2", "value": 0.25}
        for seed in (0, 1)
        for layer in ("layer1", "layer2")
    ]
    shown = words(Readings("decodability", rows, "r2")._repr_html_())
    assert shown[0] == ["layer", "r2"] and [row[0] for row in shown[1:]] == ["layer1", "layer2"]
    assert shown[1][1].startswith("0.250")


@pytest.mark.parametrize("diverged", [False, True])
def test_trained_nets_have_one_row_per_seed(task, support, diverged):
    recipe = rc.Recipe(steps=2, learning_rate=1e30 if diverged else 1e-3)
    run = rc.train(task, support, rc.nets.MLP(width=8, depth=1), recipe, seeds=2, progress=False)
    rows = words(run._repr_html_())
    assert [row[0] for row in rows[1:]] == ["0", "1"]
    assert all(row[1].startswith("diverged" if diverged else "trained") for row in rows[1:])


def test_a_result_has_one_row_per_claim():
    result = rc.run(coin(), "smoke", seeds=4, quiet=True)
    head, row = words(result._repr_html_())
    (verdict,) = result.verdicts
    assert head[:2] == ["verdict", "claim"] and row == [verdict.outcome, "It is", str(verdict.interval), "at least 0"]
    assert "coin, smoke scale" in result._repr_html_() and "incomplete" not in result._repr_html_()
    broken = rc.run(coin(broken=("b",)), "smoke", seeds=4, quiet=True)
    assert "incomplete: 4 of 8 cells" in broken._repr_html_()
