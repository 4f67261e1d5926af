"""subgraphs and compounding: planted answers are read as what they are, and readings as one can count them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas
import pytest

from recombine import UserError
from recombine.lab.cells import Cell
from recombine.lab.study_table import Censored, Missing, PreconditionFailed, StudyTable
from recombine.studies import registry
from recombine.studies.dziri2023 import compounding_errors, subgraphs_charts, subgraphs_texts
from recombine.studies.dziri2023 import compounding_readings as foretold
from recombine.studies.dziri2023 import subgraphs_readings as read
from recombine.studies.dziri2023.asked_by_size import Asked, score_rows
from recombine.studies.dziri2023.digit_rows import digit_rows, gains_of, places_right
from recombine.studies.dziri2023.node_rows import node_rows, shown_graphs, shown_in, traced
from recombine.studies.dziri2023.planted_answers import KINDS, planted
from recombine.studies.dziri2023.written_answers import length_rows, wrong_ones
from recombine.supports import sizes as by_size
from recombine.supports.size_split import text_sizes
from recombine.tasks import DynamicProgram, Multiplication
from recombine.tasks.sequences.graph_tracing import computations

PLACED = Path(__file__).parent / "planted" / "dziri2023.py"
LISTS = DynamicProgram.space_from(exhaustive=2, longest=4, each=60)
SPLIT = by_size(LISTS, trained=("1", "2"))


def in_worlds(name: str):
    """A world of the planted readings by name."""
    spec = importlib.util.spec_from_file_location("planted_dziri2023", PLACED)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def table(rows: list[dict], **at: str) -> StudyTable:
    place = {"seed": 0, "arm": "steps", "data": "all", "net_size": "usual"} | at
    return StudyTable(pandas.DataFrame([place | row for row in rows]), "exact")


def answers_of(kind: str, padded: bool = False, size: str = "3", seed: int = 0) -> tuple[DynamicProgram, Asked]:
    task = DynamicProgram(LISTS, steps=True, padded=padded)
    there = np.array(text_sizes(LISTS))
    ranks = np.flatnonzero(there == size)
    answers = planted(task, kind, ranks, there[ranks], ["1", "2"], seed)
    return task, Asked(size, int(size) - 2, ranks, answers)


def rows_of(kind: str, **more) -> list[dict]:
    task, asked = answers_of(kind, **more)
    return node_rows(task, SPLIT, [asked], 1)


def value(rows: list[dict], reading: str, metric: str, layer: str = "") -> float:
    (found,) = [r["value"] for r in rows if (r["reading"], r["metric"], r["layer"]) == (reading, metric, layer)]
    return found


# -- planted answers --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("padded", [False, True])
def test_scattered_errors_are_new_ones_and_as_often_where_training_showed_more(padded):
    rows = rows_of("scattered", padded=padded)
    assert value(rows, "rates", "eps") == pytest.approx(0.2, abs=0.04)
    shares = {
        kind: np.mean([r["value"] for r in rows if r["metric"] == kind]) for kind in ("propagation", "local error")
    }
    assert shares["propagation"] < 0.03 < 0.1 < shares["local error"]


def test_a_cliff_has_right_steps_before_it_and_none_behind():
    rows = rows_of("cliff")
    right = [value(rows, "labels", "correct", str(n)) + value(rows, "labels", "restoration", str(n)) for n in (2, 10)]
    assert right == [1.0, 0.0]


def test_answers_are_wholly_right_or_wholly_wrong():
    rows = rows_of("all or nothing")
    assert 0.3 < value(rows, "rates", "all right") == value(rows, "rates", "answer right") < 0.7
    shares = {round(r["value"], 9) for r in rows if r["metric"] == "correct"}
    assert len(shares) == 1


@pytest.mark.parametrize("size, right", [("2", 1.0), ("3", 0.0)])
def test_only_larger_sizes_are_wrong(size, right):
    assert value(rows_of("larger wrong", size=size), "rates", "all right") == right


def test_an_unknown_kind_is_refused_with_the_near_one():
    with pytest.raises(UserError, match="'clif'; did you mean 'cliff'"):
        answers_of("clif")
    assert len({answers_of(kind)[1].answers.tobytes() for kind in KINDS}) == len(KINDS)


# -- what is read of answers ------------------------------------------------------------------------------------------
def test_steps_that_are_not_written_have_a_label_of_their_own_and_count_as_wrong():
    task, asked = answers_of("larger wrong", size="2")
    answers = asked.answers.copy()
    answers[:, 4:] = -1  # of ten steps and an answer
    rows = node_rows(task, SPLIT, [asked._replace(answers=answers)], 1)
    labels = {(r["layer"], r["metric"]): r["value"] for r in rows if r["reading"] == "labels"}
    assert labels["2", "correct"] == 1 and labels["7", "not written"] == labels["8", "not written"] == 1
    assert labels["7", "local error"] == 0 and value(rows, "rates", "answer right") == 0
    assert value(rows, "rates", "eps") == pytest.approx(2 / 6)  # after right steps: four, then both "same"


def test_frequencies_are_those_of_lists_that_were_trained():
    task, asked = answers_of("cliff", size="3")
    found, seen = traced(task, asked), shown_in(task, SPLIT)
    times = seen.times(computations(found.graph, found.truth))
    trained = [task.text([int(rank)]).split() for rank in np.asarray(LISTS.rank(SPLIT.train.combinations()))]
    for row, rank in enumerate(asked.ranks[:10]):
        last = task.text([int(rank)]).split()[-1]
        ends = sum(last in one for one in trained)  # "with" of the last number: that number by itself at the end
        assert times[row, found.graph.names.index("with 2")] <= ends
        pair = task.text([int(rank)]).split()[1:]
        assert times[row, found.graph.names.index("best 1")] == sum(one == pair for one in trained)
    assert (times[:, found.graph.names.index("best 0")] == 0).all()


def test_lengths_and_wrong_answers_say_what_was_written():
    task, asked = answers_of("larger wrong", size="3")
    short = np.full_like(asked.answers, -1)
    short[:, :5], short[:, 5] = asked.answers[:, :5], 0
    rows = length_rows(task, SPLIT, [asked._replace(answers=short)], 1)
    assert {r["metric"]: r["value"] for r in rows} == {"written": 5, "wanted": 16, "no longer than trained": 1}
    (first, second) = wrong_ones(task, [asked])
    assert first["size"] == "3" and first["beyond"] == 1 and len(first["said"].split()) == 16
    assert first["truth"] == task.meaning([int(asked.ranks[0])]) != first["said"] and second["text"] != first["text"]


def test_scores_are_those_of_sizes_and_of_trained_and_larger_ones_together():
    task, small = answers_of("larger wrong", size="2")
    _, large = answers_of("larger wrong", size="3")
    rows = [r for r in score_rows(task, [small, large], 1) if r["metric"] == "exact"]
    assert {r["group"]: (r["value"], r["asked"], r["beyond"]) for r in rows} == {
        "2": (1.0, False, 0),
        "3": (0.0, False, 1),
        "in-domain": (1.0, False, None),
        "larger": (0.0, True, None),
    }


def test_graphs_that_are_shown_are_those_of_a_wrong_answer():
    task, asked = answers_of("cliff")
    rows = shown_graphs(task, [asked, asked._replace(beyond=3)], 1)
    assert len(rows) == 18 and {r["metric"] for r in rows} >= {"input", "correct", "local error"}
    assert {r["node"]: r["parents"] for r in rows}["best 1"] == "with 1;best 2"
    figures = subgraphs_charts.graphs(table(rows))
    assert len(figures) == 1 and figures[0].title.endswith("(steps; size 3, 1 beyond training)")
    assert figures[0].spec["height"] > 0


# -- places -----------------------------------------------------------------------------------------------------------
def test_places_count_from_the_end_and_a_missing_first_digit_is_a_zero():
    pairs = Multiplication.space_from(sizes=("2x1", "2x2"), each=60)
    task = Multiplication(pairs)
    ranks = np.flatnonzero(np.array(text_sizes(pairs)) == "2x2")
    right = np.asarray(task.meanings)[ranks].astype(np.int32)
    assert places_right(task, Asked("2x2", 0, ranks, right), 4).tolist() == [1, 1, 1, 1]
    wrong = right.copy()
    wrong[:, 0] = np.where(right[:, 0] == 10, 2, right[:, 0] + 1)  # the first digit is another one
    three = (right > 0).sum(1) == 3
    shares = places_right(task, Asked("2x2", 0, ranks, wrong), 4)
    assert shares.tolist() == pytest.approx([1, 1, 1 - three.mean(), three.mean()])
    rows = digit_rows(task, [Asked("2x2", 0, ranks, right), Asked("2x2", 1, ranks, right)], 1)
    assert sum(r["reading"] == "gain" for r in rows) == 4 and sum(r["reading"] == "score" for r in rows) == 8


def test_gains_are_the_published_ones_of_the_best_pair_of_digits():
    gains = gains_of("multiplication-v1", (2, 2))
    assert gains is not None and gains[0] == pytest.approx(1) and gains[3] == pytest.approx(0.79, abs=0.005)
    assert max(gains[1:3]) < 0.5 and gains_of("multiplication-v1", (4, 3)) is None
    lists = gains_of("dynamic-program-v1", (5,))
    assert lists is not None and lists == pytest.approx((0.85, 0.88, 0.77, 0.92, 0.90), abs=0.005)


# -- readings ---------------------------------------------------------------------------------------------------------
def test_accuracy_is_read_by_how_far_a_size_lies_beyond_training():
    t = table(in_worlds("scores")(0.9, (0.4, 0.2, 0.1)))
    assert read.in_domain(t) == 0.9 and read.drop(t) == pytest.approx(0.5)
    assert [read.beyond(t, n) for n in (1, 2, -1)] == [0.4, 0.2, 0.1] and read.two_beyond(t) == {"steps": 0.2}
    with pytest.raises(Missing, match="4 sizes beyond"):
        read.beyond(t, 4)


def test_of_a_net_that_has_not_learned_nothing_is_read_but_that():
    rows = [r | ({"value": 0.1} if r["stream"] == "test" else {}) for r in in_worlds("scores")()]
    with pytest.raises(PreconditionFailed, match="was not learned"):
        read.drop(table(rows))
    assert isinstance(read.two_beyond(table(rows))["steps"], PreconditionFailed)


def test_a_wrong_node_that_was_never_shown_bounds_the_ratio():
    rows = in_worlds("shown")(4.0, 0.0, 4.0, 0.0)({})
    bound = read.right_to_wrong(table(rows))["steps"]
    assert isinstance(bound, Censored) and bound.low == pytest.approx(400) and bound.high == np.inf
    none = in_worlds("shown")(0.0, 0.0, 0.0, 0.0)({})
    assert isinstance(read.right_to_wrong(table(none))["steps"], PreconditionFailed)


def test_the_recursion_and_the_bound_are_compared_at_every_larger_size():
    eps = 0.1
    t = table(in_worlds("steps_right")(in_worlds("by_recursion")(eps), eps)({}))
    assert foretold.off_by_depth(t) == pytest.approx({"5": 0, "6": 0, "7": 0}, abs=1e-9)
    assert foretold.off_by_width(t) == pytest.approx({"5": 0, "6": 0, "7": 0}, abs=1e-9)
    apart = foretold.off_by_depth(t, trained=True)
    assert apart["5"] == pytest.approx(0.999**10 - 0.9**10) and apart["5"] == apart["7"]


# -- pages ------------------------------------------------------------------------------------------------------------
def record(arm: str, rows: list[dict], seed: int = 0, **facts):
    at = {"arm": arm, "data": "all", "net_size": "usual", "seed": seed}
    return SimpleNamespace(cell=SimpleNamespace(columns=lambda: at), rows=rows, facts=facts)


def test_published_numbers_stand_beside_ours_with_a_mark_where_they_disagree():
    scores = in_worlds("scores")
    seeds = [record("steps", scores(0.99, (0.3,))), record("steps", scores(0.97, (0.5,)), 1)]
    text = subgraphs_texts.beside_published(seeds)
    lines = text.splitlines()
    inside, larger, product = (next(one for one in lines if name in one) for name in ("trained", "larger", "products"))
    assert inside.split()[-2:] == ["1.000", "0.980"] and larger.split()[-3:] == ["0.000", "0.400", "≠"]
    assert product.endswith("--") and "0.790" in lines[-1] and not lines[-1].endswith("≠")


def test_wrong_answers_of_the_first_seed_are_shown_below_the_truth():
    kept = [{"text": "1 2", "truth": "1 2 3", "said": "1 2 4", "size": "5", "beyond": 1}]
    found = subgraphs_texts.wrong_answers([record("steps", [], mistakes=kept), record("steps", [], 1, mistakes=kept)])
    assert list(found) == ["Wrong: steps, size 5 (1 beyond training)"]
    assert "^" in next(iter(found.values())) and "word 3 of 3" in next(iter(found.values()))


def test_compounding_finds_its_cells_where_subgraphs_has_run():
    study, lender = registry["compounding"], registry["subgraphs"]
    for scale in ("laptop", "night"):
        lent = {cell.id for cell in lender.cells(lender.settings(scale), 2)}
        for cell in study.cells(study.settings(scale), 2):
            same = compounding_errors.same_cell_in(cell)
            assert same is not None and same[0].id in lent and same[1] == f"subgraphs-{scale}"
    control = Cell("compounding", 1, {"control": "same-arms", "options": {}})
    assert compounding_errors.same_cell_in(control) is None
