"""decodability: trials of other studies as points, and whether what can be read off foresees the score."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from recombine import UserError
from recombine.context import Context
from recombine.lab.cells import Cell
from recombine.lab.run import _reuse, run_study
from recombine.lab.store import Store
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.lab.verdicts import judge
from recombine.studies import registry
from recombine.studies.redhardt2025 import decodability, decodability_cells
from recombine.studies.redhardt2025 import decodability_readings as read

from . import paper_scale

STUDY = registry["decodability"]


def planted(relation, seeds=(0, 1, 2), lenders=tuple(decodability.LENDERS)) -> StudyTable:
    """Four studies of twelve trials; layer 3 relates to the score by `relation`, layers 1 and 2 do not."""
    rng = np.random.default_rng(0)
    rows = []
    for seed in seeds:
        for lender in lenders:
            for i in range(12):
                score = float(rng.uniform(0.2, 0.9))
                common = {
                    "seed": seed,
                    "lender": lender,
                    "cell": f"{lender}{seed}{i}",
                    "support": "random",
                    "encoding": "identity",
                    "recipe": "default",
                    "group": "",
                }
                rows += [
                    common
                    | {"reading": "score", "metric": "r2", "stream": stream, "value": score}
                    | {"asked": stream == "held_out"}
                    for stream in ("test", "held_out")
                ]
                layers = {
                    "layer1": 1 - rng.uniform(0, 0.01),
                    "layer2": rng.uniform(0.5, 1),
                    "layer3": relation(score, rng),
                }
                probed = {"reading": "decodability", "metric": "r2", "stream": "held_out"}
                rows += [common | probed | {"layer": name, "value": float(value)} for name, value in layers.items()]
    return StudyTable(pandas.DataFrame(rows), "r2")


def test_decodability_is_foreseen_where_it_was_planted_and_nowhere_else():
    claims = {claim.id: claim for claim in STUDY.claims}
    table = planted(lambda score, rng: score / 2)
    assert read.best_rule(read.points(table)) in ("last layer", "least of all layers")
    assert judge(claims["predicts"], table, "laptop").outcome == "supported"
    assert judge(claims["predicts-at-published-layer"], table, "laptop").outcome != "supported"  # it reads layer 2
    chance = planted(lambda score, rng: rng.uniform(0, 0.4))
    assert judge(claims["predicts"], chance, "laptop").outcome == "refuted"
    against = planted(lambda score, rng: -score)
    assert judge(claims["predicts"], against, "laptop").outcome != "supported"


def test_a_rule_is_not_scored_on_the_study_it_was_chosen_on():
    one = planted(lambda score, rng: score / 2, lenders=("supports",))
    with pytest.raises(PreconditionFailed, match="it takes two studies"):
        read.foreseen(one)
    few = one[one.cell.isin([f"supports0{i}" for i in range(4)])]
    with pytest.raises(PreconditionFailed, match="no study has 5 trials"):
        read.at_published_layer(few)


def test_undefined_readings_are_no_points():
    table = planted(lambda score, rng: score / 2, seeds=(0,))
    lost = table.cell == "supports03"
    broken = StudyTable(table.frame.assign(value=table.value.mask(lost)), "r2")
    assert len(read.points(table)) == 48 and len(read.points(broken)) == 47
    only_score = StudyTable(table.frame.assign(value=table.value.mask(lost & (table.reading == "score"))), "r2")
    assert len(read.points(only_score)) == 47


def test_the_first_layer_is_read_across_blocks_only_where_the_net_fails():
    common = {"seed": 0, "lender": "supports", "support": "disconnected", "recipe": "default", "cell": "a", "layer": ""}
    score = common | {"reading": "score", "metric": "r2"}
    probe = common | {"reading": "decodability", "metric": "r2", "stream": "held_out", "group": ""}
    rows = [
        score | {"stream": "test", "group": "", "value": 0.9, "asked": False},
        score | {"stream": "held_out", "group": "", "value": 0.85, "asked": False},
        score | {"stream": "held_out", "group": "cross-block", "value": 0.4, "asked": True},
        probe | {"layer": "layer1", "value": 0.97},
    ]
    table = StudyTable(pandas.DataFrame(rows), "r2")
    assert read.shallow_on_disconnected(table) == pytest.approx(0.97)
    composing = StudyTable(table.frame.assign(value=table.value.replace(0.4, 0.88)), "r2")
    with pytest.raises(PreconditionFailed, match=r"composes on disconnected \(gap 0\.02\)"):
        read.shallow_on_disconnected(composing)
    with pytest.raises(PreconditionFailed, match="disconnected was not run"):
        read.shallow_on_disconnected(table[table.support == "random"])


def test_charts_and_texts_show_every_trial():
    table = planted(lambda score, rng: score / 2)
    by_rule, by_support = STUDY.figures(table)
    assert len(by_rule.spec["data"]["values"]) == len(by_support.spec["data"]["values"]) == 4 * 12 * 3
    assert {row["series"] for row in by_rule.spec["data"]["values"]} == set(decodability.LENDERS)
    assert by_support.title == "Held-out score against decodability, first layer"
    text = read._correlations(read.points(table), "study").splitlines()
    assert len(text) == 1 + 5 * len(read.RULES)  # four studies and all of them together


def test_it_has_the_cells_of_the_studies_that_it_reads():
    for scale in ("laptop", "paper"):
        lent = [cell.id for name in STUDY.depends_on for cell in cells_of(name, scale)]
        same = [decodability_cells.same_cell_in(cell) for cell in STUDY.cells(STUDY.settings(scale), 1)]
        assert [one[0].id for one in same if one is not None] == lent
        assert {one[1] for one in same if one is not None} == {f"{name}-{scale}" for name in STUDY.depends_on}


def cells_of(name: str, scale: str) -> list[Cell]:
    return registry[name].cells(registry[name].settings(scale), 1)


def test_every_trial_has_a_support_and_an_encoding_beside_it():
    for cell in STUDY.cells(STUDY.settings("laptop"), 1):
        trial, columns = cell.spec["trial"], cell.columns()
        assert (columns["support"], columns["encoding"]) == (trial["support"]["name"], trial["world"]["encoding"])
        assert columns["lender"] in decodability.LENDERS and "recipe" in columns


def test_it_reads_what_other_studies_have_run(tmp_path):
    """The trials of a study beside it are read and not run again; those of another version are not."""
    tiny = {"steps": 3, "support": ["random"], "width": 8, "modules": 6, "at_most": 2}
    lender = registry["supports"]
    lent = run_study(lender, "smoke", seeds=1, changes=tiny, out=tmp_path / "supports-smoke", quiet=True).records[0]
    cell = Cell(STUDY.id, STUDY.version, decodability_cells.pooled(lender, "smoke", lent.cell.spec))
    found = decodability_cells.same_cell_in(cell)
    assert found is not None and found[0].id == lent.cell.id and found[1] == "supports-smoke"
    store = Store.create(tmp_path / "decodability-smoke", {"study": "decodability"})
    record = _reuse(STUDY, cell, store)
    assert record is not None and record.rows == lent.rows and store.get(cell) is not None
    assert STUDY.summary(record) == lender.summary(lent)
    assert STUDY.label(cell.spec) == "supports: random, seed 0"
    other = {**cell.spec, "lent": cell.spec["lent"] | {"version": lender.version + 1}}
    assert _reuse(STUDY, Cell(STUDY.id, STUDY.version, other), store) is None
    with pytest.raises(UserError, match="another version of the study 'supports'"):
        STUDY.measured(other, Context())
    assert decodability_cells.same_cell_in(Cell(STUDY.id, STUDY.version, cell.spec | {"control": "unrelated"})) is None


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"studies": "phases"}, "did you mean 'phase'"),
        ({"studies": "required-tasks"}, "required-tasks"),  # its cells are searches
        ({"studies": "decodability"}, "decodability"),
        ({"studies": "supports,supports"}, "names 'supports' twice"),
        ({"world": "indiferent-v1"}, "did you mean 'indifferent-v1'"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_compiled(changes, words, monkeypatch):
    monkeypatch.setattr("jax.stages.Lowered.compile", lambda *_, **__: pytest.fail("something was compiled"))
    with pytest.raises(UserError, match=words):
        STUDY.cells(STUDY.settings("laptop", changes), 3)


def test_paper_scale_trains_as_published():
    paper_scale.assert_trained_as_published(STUDY)


def test_a_report_without_a_single_record_says_so():
    paper_scale.assert_says_so_without_records(STUDY)
