"""required-tasks: the number of combinations that is enough, how it is searched, and how it grows."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from recombine import UserError
from recombine.context import Context, Measured
from recombine.lab import bisection
from recombine.lab.cells import Cell
from recombine.lab.record import Record, tidy
from recombine.lab.study_table import Censored, PreconditionFailed, StudyTable
from recombine.spaces import Subsets
from recombine.studies import registry
from recombine.studies.redhardt2025 import required_tasks_charts, required_tasks_search
from recombine.studies.redhardt2025 import required_tasks_readings as read

STUDY = registry["required-tasks"]


def needed_table(needed: dict[tuple[str, int, int], int], threshold: float = 0.9) -> StudyTable:
    """Trials on both sides of the number that is enough."""
    rows = []
    for (net, m, k), n in needed.items():
        common = {"seed": 0, "net": net, "modules": m, "at_most": k, "threshold": threshold, "reading": "tried"}
        rows += [
            common | {"trained_on": n - 1, "value": 0.5},
            common | {"trained_on": n, "value": 0.95},
            common | {"trained_on": 2 * n, "value": 0.97},
        ]
    return StudyTable(pandas.DataFrame(rows), "r2")


def test_it_tells_an_exponential_from_a_power():
    exponential = needed_table({("mlp", 10, k): round(1000 * np.exp(k)) for k in (2, 3, 4, 5, 6)})
    power = needed_table({("mlp", 10, k): round(1000 * k**2) for k in (2, 3, 4, 5, 6)})
    assert read.log_likelihoods(exponential) < 0 < read.log_likelihoods(power)
    with pytest.raises(PreconditionFailed, match="for the mlp at M=10, K=4: it takes more training"):
        read.log_likelihoods(power[(power.at_most != 4) | (power.value < 0.9)])
    with pytest.raises(PreconditionFailed, match="it takes three values of K"):
        read.size_exponents(power[power.at_most < 4])
    # three values of K so near to each other are told apart by less than the search can find
    assert read.log_likelihoods(power[power.at_most.isin([4, 5, 6])]) == 0


def test_laws_are_compared_with_one_rate_for_all_m():
    both = needed_table({("mlp", m, k): round(100 * m * k**2) for m in (10, 14) for k in (2, 4, 8)})
    one = needed_table({("mlp", 10, k): round(1000 * k**2) for k in (2, 4, 8)})
    assert read.log_likelihoods(both) == pytest.approx(2 * read.log_likelihoods(one), rel=0.05)


def test_a_number_that_was_never_enough_is_known_to_an_interval():
    table = needed_table({("mlp", 10, k): round(0.9 * Subsets(10, k).size) for k in (3, 4, 5)})
    never = StudyTable(table.frame.assign(value=0.1)[table.value < 0.97], "r2")  # nothing above .9 of them
    (found,) = read.size_exponents(never).values()
    assert isinstance(found, Censored) and found.low < found.high and found.high > 0.5
    known = read.required(never).set_index("at_most")
    assert (known.high == known["size"]).all() and known.needed.isna().all()


def test_growth_is_read_against_the_size_of_the_space():
    # a net that needs the same share of any space is not sub-exponential, though the space itself bends
    share = needed_table({("mlp", 10, k): round(0.5 * Subsets(10, k).size) for k in (2, 3, 4, 5)})
    assert read.size_exponents(share) == {"M=10": pytest.approx(1.0, abs=0.02)}
    root = needed_table({("mlp", 10, k): round(100 * Subsets(10, k).size ** 0.5) for k in (3, 4, 5)})
    assert read.size_exponents(root) == {"M=10": pytest.approx(0.5, abs=1e-2)}
    sizes = {("mlp", 10, k): Subsets(10, k).size for k in (3, 4, 5)}
    assert read.log_likelihoods_of_space(root) == pytest.approx(read.log_likelihoods(needed_table(sizes)))


def test_nets_are_compared_where_a_number_was_enough_for_one_of_them():
    both = needed_table({("mlp", 8, 3): 80, ("transformer", 8, 3): 20, ("mlp", 8, 4): 40, ("transformer", 8, 4): 40})
    assert read.fewer(both) == pytest.approx(1.0)
    with pytest.raises(PreconditionFailed, match="both nets"):
        read.fewer(both[both.net == "mlp"])
    with pytest.raises(PreconditionFailed, match="enough for either net: it takes more training"):
        read.fewer(both[both.value < 0.9])
    # where no number was enough for a net, what it needs lies between the most that was tried and all there are
    least = np.log2([79 / 20, 39 / 40]).mean()
    found = read.fewer(both[(both.net == "transformer") | (both.value < 0.9)])
    assert isinstance(found, Censored) and found.low == pytest.approx(least) and found.high > found.low
    other = read.fewer(both[(both.net == "mlp") | (both.value < 0.9)])
    assert isinstance(other, Censored) and other.high == pytest.approx(np.log2([80 / 19, 40 / 39]).mean())
    broken = StudyTable(both.frame.assign(value=[float("nan"), *both.frame.value[1:]]), "r2")
    with pytest.raises(PreconditionFailed, match="the mlp diverged at M=8, K=3"):
        read.fewer(broken)
    with pytest.raises(PreconditionFailed, match="no split was possible"):
        read.fewer(both[both.reading == "score"])


@pytest.mark.parametrize("enough_from", [5, 17, 60, 150, 10_000])
def test_the_bisection_finds_the_number_that_is_enough(monkeypatch, enough_from):
    spec = next(
        spec
        for spec in STUDY.grid(STUDY.settings("laptop"), 0)
        if (spec["at"]["modules"], spec["at"]["at_most"]) == (8, 3)
    )
    tried = []

    def pretend(spec, n, context):
        tried.append(n)
        value = 0.95 if n >= enough_from else 0.5
        asked = spec["options"]["threshold"]
        row = {"reading": "tried", "metric": "r2", "threshold": asked, "trained_on": n, "value": value}
        return Measured([row], {"seconds": 0.0, "panel": {"score": [n]}})

    monkeypatch.setattr(required_tasks_search, "try_number", pretend)
    found = STUDY.measured(spec, Context())
    most = int(0.9 * Subsets(8, 3).size)
    if enough_from > most:
        assert tried == [most] and found.facts["needed"] is None
    else:
        assert enough_from <= found.facts["needed"] <= max(enough_from + 1, enough_from * bisection.CLOSE)
        assert len(tried) <= 8 and len(set(tried)) == len(tried)
    # of all that were tried, the panel of the number that was enough is kept; of the largest if none was
    assert found.facts["panel"] == {"score": [found.facts["needed"] or most]}
    # the page shows every net of the search, and the score that was asked for
    record = Record(Cell(STUDY.id, STUDY.version, spec), found.rows, found.facts, {})
    (figure,) = required_tasks_charts.search(STUDY.table(tidy([record])))
    rows = figure.spec["data"]["values"]
    assert sorted(tried) == [row["trained_on"] for row in rows]
    assert [tried[row["turn"] - 1] for row in rows] == [row["trained_on"] for row in rows]
    assert figure.spec["layer"][0]["data"]["values"][0]["threshold"] == 0.9 and "R² above 0.9" in figure.caption
    wanted = f"{found.facts['needed']} of 92 were" if enough_from <= most else "no number was enough: 0.500"
    assert STUDY.summary(record).startswith(wanted)


def test_a_number_is_trained_on_exactly_and_one_that_cannot_be_split_is_none():
    (spec,) = STUDY.grid(STUDY.settings("smoke", {"net": ["mlp"], "steps": 2, "mlp:net.width": 8}), 0)
    found = required_tasks_search.try_number(spec, 20, Context())
    assert found is not None and found.rows[0]["trained_on"] == 20 and found.rows[0]["threshold"] == 0.3
    assert len(found.facts["panel"]["score"]) == Subsets(6, 3).size
    assert (
        required_tasks_search.try_number(spec, 1, Context()) is None
    )  # one combination of three does not use six modules


def test_the_headline_says_where_the_number_even_falls():
    outcomes = {"sub-exponential": "supported", "transformer-needs-fewer": "refuted"}
    grows = needed_table({("mlp", 10, k): 20 * k for k in (3, 4, 5)})
    falls = needed_table({("mlp", 10, k): 200 - 20 * k for k in (3, 4, 5)})
    assert STUDY.headline_for(grows, outcomes) == (
        "The number of combinations needed grows slower than the root of the space; "
        "the transformer does not need fewer than the MLP."
    )
    assert STUDY.headline_for(falls, outcomes).startswith("The number of combinations needed falls as the space grows;")
    assert STUDY.headline_for(grows, {}) == "No claim on numbers is settled at this scale."


def test_a_chart_says_how_many_searches_found_nothing():
    table = needed_table({("mlp", 8, 3): 80, ("transformer", 8, 3): 20})
    first, search = STUDY.figures(table[(table.net == "transformer") | (table.value < 0.9)])
    (row,) = first.spec["data"]["values"]
    assert (row["series"], row["value"], row["family"]) == ("transformer", 20, "M = 8, K = 3")
    assert "1 searches found no number" in first.caption and search.title == "The search, M = 8 and K = 3"
    (alone,) = STUDY.figures(table[table.value < 0.9])  # where no number was enough there is the search to look at
    assert alone.title == search.title
    assert STUDY.figures(table[table.reading == "score"]) == []


def test_the_samples_of_a_task_are_one_sequence_only_where_training_has_several():
    together = {
        scale: {
            spec["trial"]["stages"][0]["net"]["together"]
            for spec in STUDY.grid(STUDY.settings(scale), 0)
            if spec["at"]["net"] == "transformer"
        }
        for scale in ("laptop", "paper")
    }
    assert together == {"laptop": {False}, "paper": {True}}


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"net": "mlp,cnn"}, "cnn"),
        ({"threshold": "2"}, r"threshold=2\.0 must lie between 0 and 1"),
        ({"modules": "1"}, "modules=1"),
        ({"modules": ""}, "modules=.. is empty"),
        ({"method": "bisecton"}, "did you mean 'bisection'"),
        ({"held_out": "1.5"}, r"held_out=1\.5 must lie between 0 and 1"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_compiled(changes, words, monkeypatch):
    monkeypatch.setattr("jax.stages.Lowered.compile", lambda *_, **__: pytest.fail("something was compiled"))
    with pytest.raises(UserError, match=words):
        STUDY.cells(STUDY.settings("laptop", changes), 3)
