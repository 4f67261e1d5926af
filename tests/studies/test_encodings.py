"""encodings: which encodings compose, and whether the net undoes them, beside the published tables."""

from __future__ import annotations

import pandas
import pytest

from recombine import UserError
from recombine.lab.cells import Cell
from recombine.lab.record import Record
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.studies import registry
from recombine.studies.redhardt2025 import encodings_readings as read

#: cells of the published grids and of `invertible-bent`, three seeds; few-shot raises there for preferences
PUBLISHED_CELLS = {"encodings": 7 * 3, "encodings-preference": 6 * 3}
BENT = "invertible-bent"
DECODED = {
    "identity": (1.0, 1.0, 1.0),
    "invertible": (1.0, 1.0, 1.0),
    BENT: (1.0, 1.0, 1.0),
    "interval-shuffle": (0.9, 0.4, 0.6),
}
LEARNED = {"identity": 0.96, "invertible": 0.1, BENT: 0.95, "interval-shuffle": 0.8}


def rows_of(value: float, decoded: tuple[float, float, float], metric: str = "r2") -> list[dict]:
    """Scores that are the same on held-out combinations, and (net, encoding, untrained) probes of two layers."""
    shared = {"group": "", "layer": "", "step": 1}
    rows = [
        shared | {"reading": "score", "metric": metric, "stream": stream, "value": value, "asked": stream == "held_out"}
        for stream in ("test", "held_out")
    ]
    for probe, found in zip(("r2", "r2_encoding", "r2_untrained"), decoded, strict=True):
        common = shared | {"reading": "decodability", "metric": probe, "stream": "held_out"}
        rows += [common | {"layer": "layer1", "value": found}, common | {"layer": "layer2", "value": found - 0.01}]
    return rows


def planted(scores: dict[str, float]) -> StudyTable:
    rows = [
        {"encoding": name, "cell": name, "seed": 0} | row
        for name, value in scores.items()
        for row in rows_of(value, DECODED[name])
    ]
    return StudyTable(pandas.DataFrame(rows), "r2")


def test_the_almost_affine_invertible_encoding_is_of_neither_kind_and_the_bent_one_is_nonlinear():
    table = planted(LEARNED)
    assert read.of_kind(table, linear=True) == ["identity"]
    assert read.of_kind(table, linear=False) == [BENT, "interval-shuffle"]
    with pytest.raises(PreconditionFailed, match="it takes nonlinear encodings"):
        read.of_kind(table.where(encoding=["identity", "invertible"]), linear=False)
    for published in (read.TABLE_1, read.TABLE_2):
        assert published.of(BENT) == published.of("invertible") == published.numbers["invertible"]
        assert published.of("tokens") is None
    assert read.ORDER.index(BENT) == read.ORDER.index("invertible") + 1


def test_encodings_are_compared_only_where_they_were_learned():
    table = planted(LEARNED)
    assert read.linear_above_nonlinear(table) == {
        BENT: pytest.approx(0.96 - 0.95),
        "interval-shuffle": pytest.approx(0.96 - 0.8),
    }
    assert read.nonlinear_lose_more(table) == dict.fromkeys((BENT, "interval-shuffle"), pytest.approx(0.0))
    bad = planted(LEARNED | {"interval-shuffle": 0.2})
    for reading in (read.linear_above_nonlinear, lambda t: read.undone(t, by_kind=False)):
        with pytest.raises(PreconditionFailed, match=r"interval-shuffle was not learned: 0\.20 .* below 0\.5"):
            reading(bad)


def test_what_is_undone_is_told_from_the_encoding_and_from_an_untrained_net():
    table = planted(LEARNED)
    found = read.undone(table, by_kind=False)
    assert found["interval-shuffle"] == pytest.approx(0.3)  # against the untrained net, the better one
    assert isinstance(found[BENT], PreconditionFailed) and "nothing to undo" in str(found[BENT])
    assert read.decoded_above_input(table, by_kind=False)["interval-shuffle"] > 0.3  # as published: the encoding alone
    with pytest.raises(PreconditionFailed, match="it takes nonlinear encodings"):
        read.undone(table.where(encoding="identity"), by_kind=False)


def test_the_layer_is_the_one_that_the_paper_reads():
    table = planted(LEARNED)
    # Table 1: the last but one of all; Table 2: the first of a linear encoding, the second of a nonlinear one
    assert read.task_decoder(table, "interval-shuffle") == pytest.approx(0.9)
    assert read.task_decoder(table, "interval-shuffle", by_kind=True) == pytest.approx(0.89)
    assert read.task_decoder(table, "identity", by_kind=True) == pytest.approx(1.0)
    with pytest.raises(PreconditionFailed, match="few-shot has no probe"):
        read.task_decoder(table, "few-shot")


def test_a_kind_composes_as_each_of_its_encodings_does_where_all_got_there_in_training():
    table = planted(LEARNED)
    assert read.composes(table, linear=True, success=0.95) == {"identity": pytest.approx(0.96)}
    assert read.composes(table, linear=False, success=0.8) == {BENT: 0.95, "interval-shuffle": 0.8}
    with pytest.raises(PreconditionFailed, match=r"interval-shuffle reached 0\.80 on trained combinations, not 0\.9"):
        read.composes(table, linear=False, success=0.9)


@pytest.mark.parametrize("name, published", [("encodings", read.TABLE_1), ("encodings-preference", read.TABLE_2)])
def test_charts_and_text_show_ours_beside_the_published_numbers(name, published):
    study = registry[name]
    specs = study.grid(study.settings("smoke"), 0)
    records = [
        Record(Cell(study.id, 1, spec), rows_of(0.8, (0.9, 0.4, 0.6), study.deciding_metric), {}, {}) for spec in specs
    ]
    table = study.table(pandas.DataFrame([r.cell.columns() | {"cell": r.cell.id} | x for r in records for x in r.rows]))
    figures = study.figures(table)
    assert [figure.title.partition(" by encoding")[0] for figure in figures] == [
        "Held-out score",
        "Task decoder",
        "Input decoder",
    ]
    shown = figures[0].spec["data"]["values"]
    assert {row["value"] for row in shown if row["series"] == "here"} == {0.8}
    assert {row["encoding"]: row["value"] for row in shown if row["series"] == "published"} == {
        encoding: published.numbers[encoding][2] for encoding in ("identity", "interval-shuffle")
    }
    assert study.texts is not None
    ((where, text),) = study.texts.texts(records).items()
    line = next(line for line in text.splitlines() if line.startswith("interval-shuffle"))
    assert where == published.name and study.source.endswith(where)
    layer = 0.89 if published.by_kind else 0.90
    task, encoding, score = published.numbers["interval-shuffle"]
    wanted = [f"{value:.2f}" for value in (layer, task, 0.4, encoding, 0.8, score)]
    assert line.split()[1:] == wanted


def test_each_encoding_has_its_own_options_and_only_those():
    specs = registry["encodings"].grid(registry["encodings"].settings("paper"), 0)
    options = {spec["at"]["encoding"]: spec["trial"]["world"].get("encoding_options") for spec in specs}
    assert options.pop("few-shot") == {"pairs": 50} and options.pop("invertible") == {"layers": 5, "scale": 0.1}
    assert options.pop(BENT) == {"layers": 3, "scale": 1.0}
    assert set(options.values()) == {None}
    shown = {spec["at"]["encoding"]: spec["trial"]["world"]["encoding"] for spec in specs}
    assert shown.pop(BENT) == "invertible" and all(arm == name for arm, name in shown.items())


@pytest.mark.parametrize("name", PUBLISHED_CELLS)
def test_the_pages_say_how_the_invertible_encoding_and_the_probe_differ_from_the_paper(name):
    differs = " ".join(registry[name].differs)
    for words in (
        ".998",
        ".56",
        "`invertible-bent`, three layers of deviation 1",
        "512 tasks",
        "`tokens` in the public",
    ):
        assert words in differs
    assert "invertible-bent" in registry[name].history and "no threshold was moved" in registry[name].history


@pytest.mark.parametrize("name", PUBLISHED_CELLS)
def test_tasks_are_decoded_at_the_last_row_as_published(name):
    study = registry[name]
    for scale in ("smoke", "laptop", "night", "paper"):
        trials = [spec["trial"] for spec in study.grid(study.settings(scale), 1)]
        assert all(trial["probes"] == [{"name": "decodability", "row": "last"}] for trial in trials)


@pytest.mark.parametrize(
    "name, changes, words",
    [
        ("encodings", {"encoding": "invertible", "modules": "15"}, "15 must be even; 16 would do"),
        ("encodings", {"encoding": "identty"}, "did you mean 'identity'"),
        ("encodings-preference", {"encoding": "few-shot"}, "few-shot.*examples"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_compiled(name, changes, words, monkeypatch):
    monkeypatch.setattr("jax.stages.Lowered.compile", lambda *_, **__: pytest.fail("something was compiled"))
    study = registry[name]
    with pytest.raises(UserError, match=words):
        study.cells(study.settings("laptop", changes), 3)
