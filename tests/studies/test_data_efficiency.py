"""data-efficiency: the search, exponents and savings of planted needs, charts, the published setting, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from drawn_tables import (
    assert_one_step_can_be_taken,
    assert_says_so_without_records,
    assert_trained_as_published,
    paper_trials,
    planted_table,
    table_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine import UserError
from recombine.context import Context, Measured
from recombine.lab import bisection
from recombine.lab.cells import Cell
from recombine.lab.record import Record
from recombine.lab.study_table import Censored, PreconditionFailed, StudyTable
from recombine.studies.liang2025 import data_efficiency_readings as readings
from recombine.studies.liang2025 import data_efficiency_search
from recombine.studies.liang2025.data_efficiency import study

SIZES = (8, 12, 16)


def needed_table(needed: dict[tuple[int, bool], int | None], criterion: str = "localized") -> StudyTable:
    """(N, with stripes) -> pictures that are enough, of an MLP; None: never."""
    good, bad = (1.0, 0.0) if criterion == "localized" else (0.05, 0.5)
    rows = []
    for (size, with_stripes), n in needed.items():
        common = {"seed": 0, "net": "mlp", "size": size, "with_stripes": with_stripes, "centers": "whole"}
        common |= {"reading": "tried", "metric": criterion}
        rows += [common | {"pictures": 4096, "value": bad if n is None else good}]
        if n is not None:
            rows += [common | {"pictures": n, "value": good}, common | {"pictures": n - 1, "value": bad}]
    return table_of(rows)


# -- readings on planted tables ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("criterion", readings.CRITERIA)
def test_exponents_and_savings_of_planted_needs(criterion):
    table = needed_table({(n, s): 2 * n if s else n**3 // 4 for n in SIZES for s in (True, False)}, criterion)
    assert readings.exponent(table, "mlp", True, criterion) == pytest.approx(1.0)
    assert readings.exponent(table, "mlp", False, criterion) == pytest.approx(3.0, abs=0.02)
    wanted = np.mean([math.log2((n**3 // 4) / (2 * n)) for n in SIZES])
    assert readings.saved(table, criterion) == {"mlp": pytest.approx(wanted)}
    never = needed_table({(n, s): 2 * n if s else None for n in SIZES for s in (True, False)}, criterion)
    assert readings.exponent(never, "mlp", False, criterion) == Censored()  # nothing is known of it
    least = np.mean([math.log2(4096 / (2 * n)) for n in SIZES])
    (saved,) = readings.saved(never, criterion).values()
    assert isinstance(saved, Censored) and (saved.low, saved.high) == (pytest.approx(least), math.inf)


def test_where_only_the_largest_pictures_never_get_there_the_exponent_is_known_from_below():
    needed = {(8, False): 16, (16, False): None}
    found = readings.exponent(needed_table(needed), "mlp", False, "localized")
    assert isinstance(found, Censored)
    assert (found.low, found.high) == (pytest.approx(math.log2(4096 / 16)), math.inf)
    found = readings.exponent(needed_table({(8, False): None, (16, False): 16}), "mlp", False, "localized")
    assert isinstance(found, Censored) and found.low == -math.inf and found.high == pytest.approx(-8.0)


def test_what_cannot_be_read_says_why():
    with pytest.raises(PreconditionFailed, match="an exponent takes two sizes"):
        readings.exponent_of_places(needed_table({(8, True): 16}))
    with pytest.raises(PreconditionFailed, match="with and without stripes"):
        readings.saved_for_places(needed_table({(8, True): 16}))
    with pytest.raises(PreconditionFailed, match="nothing was tried"):
        readings.saved_for_pixels(needed_table({(8, True): 16}))
    lost = needed_table({(8, True): 16, (12, True): 24})
    lost.frame.loc[0, "value"] = math.nan
    with pytest.raises(PreconditionFailed, match="the mlp diverged at size 8"):
        readings.exponent_of_places(lost)


def test_the_interval_of_an_exponent_covers_it_about_as_often_as_it_says():
    covered = []
    for seed in range(60):
        noise = np.random.default_rng(seed).normal(size=(4, 4))
        rows = [
            {"series": "a", "size": n, "seed": s, "value": 3 * n**2 * math.exp(0.1 * noise[i, s])}
            for i, n in enumerate((8, 12, 16, 24))
            for s in range(4)
        ]
        rows += [{"series": "b", "size": n, "seed": 0, "value": math.nan} for n in (8, 12)]
        (fit,) = readings.fits(rows, draws=400)  # what was never reached has no exponent
        assert fit["series"] == "a" and fit["high"] - fit["low"] < 0.6
        covered.append(fit["low"] < 2 < fit["high"])
    assert np.mean(covered) > 0.75  # a bootstrap over sixteen points is a little narrow


# -- the search -------------------------------------------------------------------------------------------------------
@given(st.integers(1, 40), st.integers(2, 3000), st.integers(1, 4000))
@settings(deadline=None)
def test_bisection_finds_what_is_enough_within_a_factor(low, span, enough_from):
    most, tried = low + span, []
    enough_from = max(enough_from, low + 1)

    def enough(n: int) -> bool:
        tried.append(n)
        return n >= enough_from

    found = bisection.smallest_enough(low, most, enough)
    assert len(tried) == len(set(tried)) and all(low < n <= most for n in tried)
    assert len(tried) <= 2 * bisection.expected_tries(low, most) + 2
    if enough_from > most:
        assert found is None and tried == [most]
    else:
        assert found is not None and enough_from <= found <= max(enough_from * bisection.CLOSE, enough_from + 1)


def search_in_a_world(monkeypatch, spec: dict, place_from: int, pixels_from: int | None) -> tuple[Measured, list[dict]]:
    """The search of a cell where so many pictures are enough for each criterion; what it asked to be trained on."""
    asked: list[dict] = []

    def measured(trial, context) -> Measured:
        asked.append(dict(trial.support))
        pictures = trial.support["bumps"] + trial.support["stripes"]
        values = {"localized": float(pictures >= place_from), "error": float(pictures < (pixels_from or math.inf))}
        rows = [{"reading": "score", "stream": "held_out", "metric": name, "value": v} for name, v in values.items()]
        kept = {name: {"of": trial.support["bumps"]} for name in trial.keep}
        return Measured(rows, {"seconds": 1.0, "diverged_at": None, **kept})

    monkeypatch.setattr(data_efficiency_search, "measure_trial", measured)
    return study.measured(spec, Context()), asked


def spec_of(with_stripes: bool, size: int = 16, centers: str = "whole") -> dict:
    specs = study.grid(study.settings("laptop", {"size": [size], "net": ["mlp"]}), 0)
    at = {"with_stripes": with_stripes, "centers": centers}
    return next(spec for spec in specs if {name: spec["at"][name] for name in at} == at)


def test_stripes_alone_are_tried_first_and_may_be_enough(monkeypatch):
    found, asked = search_in_a_world(monkeypatch, spec_of(True), place_from=20, pixels_from=None)
    assert asked[0] == {"name": "bumps-and-stripes", "bumps": 0, "stripes": 32}
    assert found.facts["localized"] == 32 and found.facts["error"] is None
    assert found.facts["drawings"] == {"of": 16**2 - 10**2}  # of the net that saw every bump


@pytest.mark.parametrize("with_stripes", [True, False])
def test_both_criteria_share_what_was_tried(monkeypatch, with_stripes):
    found, asked = search_in_a_world(monkeypatch, spec_of(with_stripes), place_from=60, pixels_from=120)
    bumps = [support["bumps"] for support in asked]
    assert len(bumps) == len(set(bumps)) and found.facts["seconds"] == len(bumps)
    assert {support["stripes"] for support in asked} == {32 if with_stripes else 0}
    assert (0 in bumps) == with_stripes
    assert found.facts["panel"] == {"of": max(bumps)}  # of the net that saw most
    for criterion, enough in (("localized", 60), ("error", 120)):
        fewer = enough - (32 if with_stripes else 0)  # bumps; stripes count as pictures, too
        assert enough <= found.facts[criterion] <= enough + max(1, 0.2 * fewer)
    assert {(row["metric"], row["bumps"]) for row in found.rows} == {(m, b) for m in readings.CRITERIA for b in bumps}
    assert all(row["pictures"] == row["bumps"] + (32 if with_stripes else 0) for row in found.rows)


def test_samples_at_real_centers_go_on_beyond_one_for_each_place(monkeypatch):
    worlds = []
    measured = data_efficiency_search.measure_trial

    def noted(trial, context) -> Measured:
        worlds.append((trial.support["bumps"], trial.world["stored"]))
        rows = [{"reading": "score", "stream": "held_out", "metric": name, "value": 0.5} for name in readings.CRITERIA]
        return Measured(rows, {"seconds": 1.0, "diverged_at": None, "panel": {}})

    assert callable(measured)
    monkeypatch.setattr(data_efficiency_search, "measure_trial", noted)
    found = study.measured(spec_of(False, centers="real"), Context())
    around = 16**2 - 10**2
    assert worlds == [(around, data_efficiency_search.MOST_STORED)]
    assert {row["pictures"] for row in found.rows} == {around * data_efficiency_search.MOST_STORED}


def test_a_finished_cell_says_how_many_were_needed(monkeypatch):
    spec = spec_of(True)
    found, _ = search_in_a_world(monkeypatch, spec, place_from=20, pixels_from=None)
    record = Record(Cell(study.id, 1, spec), found.rows, found.facts, {})
    assert study.summary(record).startswith("pictures needed for 60% in place: 32, error at most 0.1: never (")
    assert study.label(spec) == "mlp, N=16, stripes and bumps, seed 0"


# -- words and charts -------------------------------------------------------------------------------------------------
def test_the_headline_says_nothing_of_what_holds_by_construction():
    outcomes = dict.fromkeys([claim.id for claim in study.claims], "open")
    supported = outcomes | {"linear-for-pixels": "supported", "linear-with-stripes": "by construction"}
    table = needed_table({(n, True): 2 * n for n in SIZES})
    sentence = "With stripes the pictures needed to draw bumps grow about as N"
    assert study.headline_for(table, supported) == f"{sentence}."
    assert study.headline_for(table, outcomes) == "No exponent is settled at this scale."


def test_what_was_never_reached_is_an_arrow_and_a_diverged_seed_is_left_out():
    def planted(at: dict) -> list[dict]:
        value = math.nan if at["seed"] == 1 else float(at["with_stripes"])
        tried = {"reading": "tried", "bumps": 0, "pictures": 2 * at["size"], "value": value}
        return [tried | {"metric": name} for name in readings.CRITERIA]

    figures = study.figures(planted_table(study, planted))
    assert [figure.title for figure in figures] == [
        "Pictures needed against size: 60% in place",
        "Pictures needed against size: error at most 0.1",
    ]
    rows = figures[0].spec["data"]["values"]
    assert {row["seed"] for row in rows} == {0, 2, 3} and len(rows) == 3 * 3 * 2 * 3
    assert all(row["reached"] == ("stripes and" in row["series"]) for row in rows)
    assert_says_so_without_records(study)


# -- settings ---------------------------------------------------------------------------------------------------------
def test_paper_scale_has_the_sizes_of_the_poster():
    specs = study.grid(study.settings("paper"), 0)
    places = {tuple(spec["at"].values()) for spec in specs}
    assert len(places) == len(specs) == 7 * 3 * 3
    assert {spec["at"]["size"] for spec in specs} == {24, 28, 32, 36, 40, 48, 56}
    assert_trained_as_published(study)
    smallest = min(paper_trials(study), key=lambda trial: trial.world["space"]["size"])
    assert_one_step_can_be_taken(smallest)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"size": "3"}, "size=3"),
        ({"net": "cnn"}, "cnn"),
        ({"size": "8,8"}, "size names 8 twice"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_compiled(changes, words):
    with pytest.raises(UserError, match=words):
        study.cells(study.settings("smoke", changes), 1)
