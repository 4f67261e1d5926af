"""Scores from one pass over the combinations of a stream: of all, of groups, and by size."""

from __future__ import annotations

import numpy as np
import pytest

import recombine as rc
from recombine import UserError
from recombine.supports.cogs_cases import CASES, case_of
from recombine.tasks import Cogs, Scan, scan_commands
from recombine.training import train
from recombine.trials.asked_once import FEWEST, MOST_SIZES, combinations_by_lot, once_rows
from recombine.trials.keeping import OF_GROUPS, kept_mistakes

RECIPE = rc.Recipe(steps=1, tasks=4, evaluations=0, precision="float32")


@pytest.fixture(scope="module")
def run():
    """A net that has learned nothing, on COGS with few words."""
    world = Cogs(Cogs.space_from(ordinary=120, each=6, words=3, deepest=3))
    return train(world, rc.supports.cogs(world.space), rc.nets.LSTM(width=4, depth=1), RECIPE, progress=False)


def test_groups_and_sizes_are_parts_of_one_pass(run, monkeypatch):
    asked = []

    def right_if_short(net, task, rows, **more):
        found = rc.evaluate(net, task, rows, **more)
        asked.append(len(rows))
        length = task.sizes(rows)["length"]
        return type(found)(
            **{**vars(found), "statistics": found.statistics | {"right": length, "counted": 12 + 0 * length}}
        )

    monkeypatch.setattr("recombine.trials.asked_once.evaluate", right_if_short)
    rows = once_rows(run, {"streams": ["held_out"], "once": 10_000, "by": ["length", "pp_recursion/prepositions"]}, 1)
    assert asked == [run.support.held_out.size]
    scores = {row["group"]: row for row in rows if row["reading"] == "score" and row["metric"] == "exact"}
    assert set(scores) == {"", *run.support.named} and scores["generalization"]["asked"] and not scores[""]["asked"]
    of_all = run.task.sizes(run.support.held_out.combinations())["length"] == 12
    assert scores[""]["value"] == pytest.approx(of_all.mean())
    part = run.support.group("lexical").combinations()
    assert scores["lexical"]["value"] == pytest.approx((run.task.sizes(part)["length"] == 12).mean())
    sizes = [row["group"] for row in rows if row["reading"] == "by size"]
    assert "pp_recursion/prepositions=3" in sizes and sum(size.startswith("length=") for size in sizes) <= MOST_SIZES


def test_a_size_that_hardly_occurs_has_no_score(run):
    rows = once_rows(run, {"streams": ["test"], "once": FEWEST - 1, "by": ["length"]}, 1)
    assert {row["reading"] for row in rows} == {"score"}


def test_by_lot_are_so_many_different_ones_and_others_for_another_seed(run):
    side = run.support.train
    first, same, other = (side.space.rank(combinations_by_lot(side, 20, "test", seed)) for seed in (0, 0, 1))
    assert len(np.unique(first)) == 20 and (first == same).all() and (first != other).any()
    assert len(combinations_by_lot(side, 10_000, "test", 0)) == side.size


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        ({"once": 0}, "once=0"),
        ({"once": 5, "by": ["lenght"]}, "'lenght'; did you mean 'length'"),
        ({"once": 5, "by": ["lexicl/length"]}, "'lexicl'; did you mean 'lexical'"),
    ],
)
def test_it_refuses_by_name(run, ask, words):
    with pytest.raises(UserError, match=words):
        once_rows(run, {"streams": ["test"]} | ask, 1)


def test_sizes_are_those_of_texts():
    scan = Scan(scan_commands(sentences=1))
    row = [scan.text([n]) for n in range(scan.space.size)].index("walk around left twice")
    assert scan.sizes(np.array([[row]])) == {"length": 16}


def test_kept_mistakes_are_of_different_groups_and_say_which(run):
    mistakes = kept_mistakes(run)["mistakes"]  # a net that has learned nothing is wrong everywhere
    groups = [one["group"] for one in mistakes]
    assert len(mistakes) == OF_GROUPS == len(set(groups)) and set(groups) <= set(CASES)
    assert all(case_of(tuple(one["text"].split())) == one["group"] for one in mistakes)
