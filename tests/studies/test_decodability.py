"""decodability: trials of other studies as points, and whether what can be read off foresees the score."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from recombine import UserError
from recombine.context import Context
from recombine.lab.cells import Cell
from recombine.lab.driver.run import _reuse, run_study
from recombine.lab.store import Store
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.lab.verdicts import judge
from recombine.studies import registry
from recombine.studies.redhardt2025 import decodability, decodability_cells
from recombine.studies.redhardt2025 import decodability_readings as read

STUDY = registry["decodability"]


METRIC = {name: registry[name].deciding_metric for name in decodability.POOLED}


def planted(relation, seeds=(0, 1, 2), names=tuple(decodability.POOLED)) -> StudyTable:
    """Studies of twelve trials each; layer 3 relates to the score by `relation`, layers 1 and 2 do not."""
    rng = np.random.default_rng(0)
    rows = []
    for seed in seeds:
        for name in names:
            for i in range(12):
                score = float(rng.uniform(0.2, 0.9))
                common = {
                    "seed": seed,
                    "lender": name,
                    "cell": f"{name}{seed}{i}",
                    "support": "random",
                    "encoding": "identity",
                    "modules": 8,
                    "recipe": "default",
                    "group": "",
                }
                rows += [
                    common
                    | {"reading": "score", "metric": METRIC[name], "stream": stream, "value": value}
                    | {"asked": stream == "held_out"}
                    for stream, value in (("test", 0.95), ("held_out", score))
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
    assert read.best_rule(read.points(table), "kept") in ("last layer", "least of all layers")
    assert judge(claims["predicts"], table, "laptop").outcome == "supported"
    assert judge(claims["predicts-at-published-layer"], table, "laptop").outcome != "supported"  # it reads layer 2
    chance = planted(lambda score, rng: rng.uniform(0, 0.4))
    assert judge(claims["predicts"], chance, "laptop").outcome != "supported"
    against = planted(lambda score, rng: -score)
    assert judge(claims["predicts"], against, "laptop").outcome != "supported"


def test_what_falls_on_both_sides_where_training_is_short_is_not_foreseen():
    """Scores and decodability fall together from undertraining; nothing of it is lost between the two sides."""
    table = planted(lambda score, rng: score / 2)
    frame = table.frame.copy()
    held_out = frame[(frame.reading == "score") & (frame.stream == "held_out")].set_index("cell").value
    trained = (frame.reading == "score") & (frame.stream == "test")
    frame.loc[trained, "value"] = frame.cell[trained].map(held_out) + 0.01 * np.arange(trained.sum()) % 0.05
    claims = {claim.id: claim for claim in STUDY.claims}
    assert abs(read.foreseen(StudyTable(frame, "r2"))) < 0.5
    assert judge(claims["predicts"], StudyTable(frame, "r2"), "laptop").outcome != "supported"


def test_a_rule_is_not_scored_on_the_study_it_was_chosen_on():
    one = planted(lambda score, rng: score / 2, names=("supports",))
    with pytest.raises(PreconditionFailed, match="it takes two studies"):
        read.foreseen(one)
    few = one[one.cell.isin([f"supports0{i}" for i in range(4)])]
    with pytest.raises(PreconditionFailed, match="no study has 5 trials"):
        read.mean_correlation(few, read.PUBLISHED_RULE)
    with pytest.raises(PreconditionFailed, match="no study of the published figures"):
        read.at_published_layer(few)


def test_undefined_readings_are_no_points():
    table = planted(lambda score, rng: score / 2, seeds=(0,))
    lost = table.cell == "supports03"
    broken = StudyTable(table.frame.assign(value=table.value.mask(lost)), "r2")
    assert len(read.points(table)) == 72 and len(read.points(broken)) == 71
    only_score = StudyTable(table.frame.assign(value=table.value.mask(lost & (table.reading == "score"))), "r2")
    assert len(read.points(only_score)) == 71


def test_what_is_lost_with_depth_is_compared_with_as_many_trained_at_random():
    falls = {"disconnected": 0.5, "as-many": 0.1, "one-apart": 0.3, "random": 0.05}
    rows = [
        {
            "seed": 0,
            "lender": "supports",
            "support": name,
            "recipe": "default",
            "cell": name,
            "group": "",
            "layer": layer,
        }
        | {"reading": "decodability", "metric": "r2", "stream": "held_out", "value": value}
        for name, fall in falls.items()
        for layer, value in (("layer1", 1.0), ("layer2", 1 - fall / 2), ("layer3", 1 - fall))
    ]
    table = StudyTable(pandas.DataFrame(rows), "r2")
    assert read.lost_with_depth(table) == {"disconnected": pytest.approx(0.4), "one-apart": pytest.approx(0.25)}
    assert read.shallow_on_disconnected(table) == 1.0
    with pytest.raises(PreconditionFailed, match="as-many has no score"):
        read.lost_with_depth(table[table.support != "as-many"])


def test_other_nets_and_teachers_are_no_points():
    table = planted(lambda score, rng: score / 2, seeds=(0,))
    frame = table.frame.assign(setting="mlp")
    frame.loc[frame.cell == "scaling-data03", "setting"] = "transformer"
    assert len(read.points(StudyTable(frame, "r2"))) == 71


def test_charts_and_texts_show_every_trial():
    table = planted(lambda score, rng: score / 2)
    by_rule, by_support = STUDY.figures(table)
    assert len(by_rule.spec["data"]["values"]) == len(by_support.spec["data"]["values"]) == 6 * 12 * 3
    assert {row["series"] for row in by_rule.spec["data"]["values"]} == set(decodability.POOLED)
    assert by_support.title == "Held-out score against decodability, first layer"
    text = read._correlations(read.points(table), "study").splitlines()
    assert len(text) == 1 + 7 * len(read.RULES)  # six studies, all of them together


def test_it_has_the_cells_of_the_studies_that_it_reads():
    for scale in ("laptop", "paper"):
        found = [cell.id for name in STUDY.depends_on for cell in cells_of(name, scale)]
        same = [decodability_cells.same_cell_in(cell) for cell in STUDY.cells(STUDY.settings(scale), 1)]
        assert [one[0].id for one in same if one is not None] == found
        assert {one[1] for one in same if one is not None} == {f"{name}-{scale}" for name in STUDY.depends_on}


def cells_of(name: str, scale: str) -> list[Cell]:
    return registry[name].cells(registry[name].settings(scale), 1)


def test_every_trial_has_a_support_and_an_encoding_beside_it():
    for cell in STUDY.cells(STUDY.settings("laptop"), 1):
        trial, columns = cell.spec["trial"], cell.columns()
        shown = columns["encoding"].removesuffix("-bent")  # an arm of `encodings`, which is `invertible` with options
        assert (columns["support"], shown) == (trial["support"]["name"], trial["world"]["encoding"])
        assert columns["lender"] in decodability.POOLED and "recipe" in columns


def test_it_reads_what_other_studies_have_run(tmp_path):
    """The trials of a study beside it are read and not run again; those of another version are not."""
    tiny = {"steps": 3, "support": ["random"], "width": 8, "modules": 6, "at_most": 2}
    supports = registry["supports"]
    run = run_study(supports, "smoke", seeds=1, changes=tiny, out=tmp_path / "supports-smoke", quiet=True).records[0]
    cell = Cell(STUDY.id, STUDY.version, decodability_cells.pooled(supports, "smoke", run.cell.spec))
    found = decodability_cells.same_cell_in(cell)
    assert found is not None and found[0].id == run.cell.id and found[1] == "supports-smoke"
    store = Store.create(tmp_path / "decodability-smoke", {"study": "decodability"})
    record = _reuse(STUDY, cell, store)
    assert record is not None and record.rows == run.rows and store.get(cell) is not None
    assert STUDY.summary(record) == supports.summary(run)
    assert STUDY.label(cell.spec) == "supports: random, seed 0"
    other = {**cell.spec, "lent": cell.spec["lent"] | {"version": supports.version + 1}}
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
