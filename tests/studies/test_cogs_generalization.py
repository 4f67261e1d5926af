"""cogs: what it reads off its table, case by case and by depth, and the published numbers beside ours."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from paper_scale import scores_table

from recombine.lab.study_table import Missing, PreconditionFailed
from recombine.studies import registry
from recombine.studies.kim2020 import cogs_generalization_readings as read
from recombine.supports.cogs_cases import CASES, STRUCTURAL


def table(points: dict[tuple[str, str], float], trained: float = 0.99):
    """(net, group) -> exact match."""
    rows = [{"net": net, "stream": "held_out", "group": group, "value": v} for (net, group), v in points.items()]
    rows += [{"net": net, "stream": "test", "value": trained} for net in {net for net, _ in points}]
    return scores_table(rows, metric="exact")


def test_each_net_and_each_structure_has_a_reading():
    points = {(net, case): at for net, at in (("transformer", 0.1), ("lstm, attention", 0.2)) for case in STRUCTURAL}
    found = read.structural(table(points))
    assert len(found) == 6 and found["lstm, attention, cp_recursion"] == 0.2
    with pytest.raises(PreconditionFailed, match="was not learned"):
        read.structural(table(points, trained=0.2))


def test_only_plain_nets_are_asked_where_a_claim_is_about_them():
    points = {("transformer", "generalization"): 0.3, (read.RELATIVE, "generalization"): 0.9}
    assert read.of_every_net(table(points), "generalization", only=read.PLAIN) == {"transformer": 0.3}
    assert read.gain_of_positions(table(points)) == pytest.approx(0.6)
    with pytest.raises(Missing, match="one of the two"):
        read.gain_of_positions(table({("transformer", "generalization"): 0.3}))
    with pytest.raises(Missing, match="was not run"):
        read.of_every_net(table({("transformer", "generalization"): 0.3}), "generalization", only=[read.RELATIVE])


def test_differences_are_of_one_net():
    points = {("transformer", "lexical"): 0.4, ("transformer", "structural"): 0.1}
    points |= {("transformer", "in-distribution"): 0.9, ("transformer", "generalization"): 0.3}
    assert read.lexical_minus_structural(table(points)) == pytest.approx({"transformer": 0.3})
    assert read.gap(table(points)) == pytest.approx(0.6) and read.lexical(table(points)) == pytest.approx(0.4)


def test_every_case_is_drawn_and_depths_begin_with_those_of_training():
    assert read.CASE_ORDER[1:] == list(CASES) and len(CASES) == 21
    rows = [
        {"reading": "by size", "group": group, "net": "transformer", "value": 0.5}
        for group in (
            "in-distribution/clauses=2",
            "cp_recursion/clauses=3",
            "pp_recursion/prepositions=4",
            "in-distribution/length=12",
        )
    ]
    found = scores_table(rows, metric="exact")
    assert [(row["series"], row["depth"]) for row in read.depth_rows(found)] == [
        ("clauses", 2),
        ("clauses", 3),
        ("prepositions", 4),
    ]
    assert [row["length"] for row in read.length_rows(found)] == [12]


def record(net: str, **groups: float):
    rows = [
        {"reading": "score", "stream": "held_out", "metric": "exact", "group": name, "value": value}
        for name, value in groups.items()
    ]
    return SimpleNamespace(cell=SimpleNamespace(columns=lambda: {"net": net, "seed": 0}), rows=rows, facts={})


def test_published_numbers_stand_beside_ours_and_every_case_of_ours_below():
    said = read.beside_published([record("transformer", generalization=0.7, cp_recursion=0.25, other=0.1)])
    line = next(line for line in said.splitlines() if line.startswith("Kim") and "generalization" in line)
    assert line.split()[-3:] == ["0.350", "0.700", "≠"]
    assert "(ours: transformer)" in said and said.splitlines()[-1].split()[-3:] == ["cp_recursion", "--", "0.250"]


def test_a_net_answers_every_case_in_each_cell():
    study = registry["cogs"]
    for scale in ("laptop", "night"):
        cells = study.grid(study.settings(scale), 0)
        assert all(not cell["trial"]["support"].get("cases") for cell in cells)
    assert {cell["trial"]["world"]["space"]["each"] for cell in cells} == {1000}
