"""pcfg: what it reads off its table, two answers of one net compared, and the published table beside ours."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from paper_scale import scores_table

from recombine.lab.study_table import Missing, PreconditionFailed
from recombine.studies import registry
from recombine.studies.hupkes2020 import five_tests_readings as read
from recombine.studies.hupkes2020 import two_answers
from recombine.supports.pcfg_language import SYNONYMS, interpreted

WHOLE = ("repeat", "copy", "A1", "B2")
BOTH = ("append", "echo", "A1", ",", "reverse", "B2", "C3")


def table(points: dict[str, float], more: list[dict] = (), trained: float = 0.95, net: str = "transformer"):  # type: ignore[assignment]
    rows = []
    for test, value in points.items():
        at = {"test": test, "net": net}
        rows += [at | {"value": value, "asked": True}, at | {"value": trained, "stream": "test", "asked": False}]
    return scores_table([*rows, *({"net": net} | row for row in more)], metric="exact")


def test_a_test_costs_what_it_takes_off_task_accuracy():
    points = {"task": 0.9, "systematicity": 0.6}
    assert read.cost(table(points), "systematicity") == pytest.approx({"transformer": 0.3})
    with pytest.raises(PreconditionFailed, match="was not learned"):
        read.cost(table(points, trained=0.1), "systematicity")
    with pytest.raises(Missing, match="productivity was not run"):
        read.cost(table(points), "productivity")


def test_consistency_is_read_by_kind():
    def alike(test: str, kind: str, value: float) -> dict:
        return {"reading": "consistency", "metric": "consistent", "group": kind, "test": test, "value": value}

    more = [alike("task", "localism", 0.5), alike("task", "substitutivity", 0.6)]
    more.append(alike(read.EQUAL, "substitutivity", 0.9))
    found = table({"task": 0.9, read.EQUAL: 0.9}, more)
    assert read.consistency(found, "task", "localism") == {"transformer": 0.5}
    assert read.gain_of_use(found) == pytest.approx({"transformer": 0.3})
    with pytest.raises(Missing, match="has no localism"):
        read.consistency(found, read.EQUAL, "localism")
    lines = {row["name"]: row["value"] for row in read.test_rows(found)}
    assert lines == {"task": 0.9, read.EQUAL: 0.9, read.PRIMITIVE: 0.6, "localism": 0.5}


def on_the_way(*by_rule: float) -> list[dict]:
    return [
        {"reading": "exceptions", "metric": "by_rule", "stream": "validation", "test": read.OVER}
        | {"step": step, "value": value}
        for step, value in enumerate(by_rule)
    ]


def test_of_exceptions_the_peak_is_read_and_an_undefined_share_is_none():
    found = table({read.OVER: 0.1}, on_the_way(0.2, 0.8, np.nan, 0.1))
    assert read.peak(found) == {"transformer": 0.8}
    assert [row["value"] for row in read.test_rows(found)] == [0.8]
    with pytest.raises(Missing, match="was not run"):
        read.peak(table({"task": 0.9}))


def test_the_published_table_stands_beside_ours_with_a_mark():
    at = {"test": "task", "net": "transformer", "seed": 0}
    rows = [{"reading": "score", "metric": "exact", "stream": "held_out", "asked": True, "value": 0.5}]
    page = read.beside_published([SimpleNamespace(cell=SimpleNamespace(columns=lambda: at), rows=rows, facts={})])
    lines = [line.split() for line in page.splitlines() if "Transformer" in line and " task " in line]
    assert lines[0][-3:] == ["0.920", "0.500", "≠"]
    assert len(page.splitlines()) == 1 + 3 * len(read.NAMES)


# -- two answers of one net -------------------------------------------------------------------------------------------


def answering(monkeypatch, answer) -> list[tuple]:
    """Replaces the net by a function of a text; the texts that it was asked are written down."""
    asked: list[tuple] = []

    def answers_to(net, task, texts):
        asked.extend(texts)
        return [answer(words) for words in texts]

    monkeypatch.setattr(two_answers, "answers_to", answers_to)
    return asked


def test_step_by_step_the_next_step_reads_the_answer_to_the_last(monkeypatch):
    asked = answering(monkeypatch, lambda words: ("Z9", "Z8") if words[0] == "copy" else interpreted(words))
    assert two_answers.step_by_step(None, None, [WHOLE]) == [("Z9", "Z8", "Z9", "Z8")]  # type: ignore[arg-type]
    assert asked == [("copy", "A1", "B2"), ("repeat", "Z9", "Z8")]


def test_step_by_step_both_arguments_are_computed_before(monkeypatch):
    asked = answering(monkeypatch, interpreted)
    assert two_answers.step_by_step(None, None, [BOTH, ("echo", "A1")]) == [interpreted(BOTH), ("A1", "A1")]  # type: ignore[arg-type]
    assert asked[-1] == ("append", "A1", "A1", ",", "C3", "B2") and ("echo", "A1") in asked[:3]


@pytest.fixture
def held_out(monkeypatch):
    texts = [WHOLE, BOTH, ("copy", "A1"), ("append_too", "A1", ",", "B2")]
    monkeypatch.setattr(two_answers, "held_out_texts", lambda run, most: texts)
    member = SimpleNamespace(seed=0)
    monkeypatch.setattr(two_answers, "_task", lambda run: None)
    return SimpleNamespace(members=[member], nets=[None])


def test_a_net_that_is_always_right_is_consistent_and_one_that_reads_words_apart_is_not(monkeypatch, held_out):
    answering(monkeypatch, interpreted)
    assert two_answers.localism(held_out, 9) == two_answers.substitutivity(held_out, 9) == {"consistent": 1.0}
    asked = answering(monkeypatch, lambda words: tuple(words))  # it says what it reads
    assert two_answers.substitutivity(held_out, 9) == {"consistent": 0.0}
    twins = list(zip(asked[:3], asked[3:6], strict=True))
    assert all(sum(a != b for a, b in zip(one, other, strict=True)) == 1 for one, other in twins)
    assert not any(word in SYNONYMS for words in asked[:3] for word in words)  # the first is without any synonym


def test_a_net_that_forgets_the_first_function_is_not_consistent_step_by_step(monkeypatch, held_out):
    answering(monkeypatch, lambda words: tuple(words[1:]))
    assert two_answers.localism(held_out, 9) == {"consistent": 0.0}


def test_a_net_that_is_wrong_in_the_same_way_is_consistent_too(monkeypatch, held_out):
    answering(monkeypatch, lambda words: ("A1",))
    assert two_answers.localism(held_out, 9) == two_answers.substitutivity(held_out, 9) == {"consistent": 1.0}


def test_the_three_trainings_of_a_laptop_are_of_one_list():
    study = registry["pcfg"]
    cells = [spec["trial"] for spec in study.grid(study.settings("laptop"), 0)]
    assert [cell["support"]["split"] for cell in cells] == ["random", "systematicity", "productivity"]
    assert len({str(cell["world"]) for cell in cells}) == 1
    night = {str(spec["at"]["test"]) for spec in study.grid(study.settings("night"), 0)}
    assert night == set(read.SHOWN)
