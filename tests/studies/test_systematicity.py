"""systematicity: what it reads off its table, and the table of published numbers beside ours."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from paper_scale import scores_table

from recombine.lab.study_table import Missing, PreconditionFailed
from recombine.studies import registry
from recombine.studies.lake2018 import systematicity_readings as read


def table(points: dict[tuple[str, str, str], float], trained: float = 0.99):
    rows = []
    for (split, net, data), value in points.items():
        at = {"split": split, "net": net, "data": data}
        rows += [at | {"value": value, "asked": True}, at | {"value": trained, "stream": "test", "asked": False}]
    return scores_table(rows, metric="exact")


def test_each_net_has_a_reading_and_one_that_has_not_learned_has_none():
    jump = {("add-jump", "transformer", "published"): 0.01, ("add-jump", "lstm", "published"): 0.4}
    assert read.of_every_net(table(jump), "add-jump", learned=True) == {"transformer": 0.01, "lstm": 0.4}
    assert read.lstm_on_jump(table(jump)) == 0.4
    with pytest.raises(PreconditionFailed, match="was not learned"):
        read.of_every_net(table(jump, trained=0.2), "add-jump", learned=True)
    with pytest.raises(Missing, match="length was not run"):
        read.of_every_net(table(jump), "length")


def test_coverage_is_read_for_each_number_of_verbs_from_fifty_on():
    scores = {"4 verbs": 0.1, "20 verbs": 0.5, "50 verbs": 0.7, "100 verbs": 0.9, "32 of jump": 0.8, "1 of jump": 0.3}
    found = table({("add-jump", "transformer", data): value for data, value in scores.items()})
    assert read.gain_of_coverage(found) == pytest.approx({"50 verbs": 0.6, "100 verbs": 0.8})
    assert read.gain_of_examples(found) == pytest.approx(0.5)


def test_divergence_is_read_by_order_and_equal_scores_have_no_order():
    def splits(*values: float):
        return table({(name, "transformer", "published"): v for name, v in zip(read.DIVERGENCES, values, strict=False)})

    assert read.against_divergence(splits(0.9, 0.8, 0.7, 0.3, 0.1)) == pytest.approx(-1)
    assert read.against_divergence(splits(0.5, 0.5, 0.5, 0.5, 0.5)) == 0
    with pytest.raises(Missing, match="three splits"):
        read.against_divergence(splits(0.5, 0.4))


def test_lengths_are_drawn_of_published_data_alone():
    at = {"reading": "by size", "stream": "held_out", "group": "length=12", "net": "lstm", "value": 0.5}
    rows = [at | {"split": split, "data": data} for split, data in (("simple", "published"), ("add-jump", "4 verbs"))]
    found = read.length_rows(scores_table(rows, metric="exact"))
    assert [(row["series"], row["length"], row["value"]) for row in found] == [("simple", 12, 0.5)]


def record(split: str, score: float, net: str = "lstm", seed: int = 0, **facts):
    at = {"split": split, "net": net, "data": "published", "seed": seed}
    return SimpleNamespace(cell=SimpleNamespace(columns=lambda: at), facts={"held_out": score} | facts)


def test_published_numbers_stand_beside_ours_with_a_mark_where_they_disagree():
    text = read.beside_published([record("simple", 0.98), record("add-jump", 0.5), record("add-jump", 0.7, seed=1)])
    lines = text.splitlines()
    simple, jump, length = (
        next(line for line in lines if f" {name} " in line) for name in ("simple", "add-jump", "length")
    )
    assert simple.split()[-2:] == ["0.997", "0.980"] and jump.split()[-3:] == ["0.001", "0.600", "≠"]
    assert length.endswith("--")
    assert "(ours: transformer)" in read.beside_published([record("simple", 1.0, net="transformer")])


def test_wrong_answers_of_the_first_seed_are_shown_below_the_truth():
    wrong = [{"text": "jump", "truth": "I_JUMP", "said": "I_WALK"}]
    records = [record("add-jump", 0.0, mistakes=wrong), record("add-jump", 0.0, seed=1, mistakes=wrong)]
    found = read.wrong_answers(records)
    assert list(found) == ["Wrong on add-jump: lstm"]
    assert (
        "I_JUMP" in found["Wrong on add-jump: lstm"] and "they part at word 1 of 1" in found["Wrong on add-jump: lstm"]
    )


def test_arms_of_coverage_have_as_many_commands_and_train_on_as_many():
    study = registry["systematicity"]
    cells = [spec["trial"] for spec in study.grid(study.settings("night"), 0)]
    verbs = [one for one in cells if one["world"].get("space", {}).get("verbs")]
    assert {one["world"]["space"]["verbs"] for one in verbs} == {4, 8, 20, 50, 100}
    assert {(one["world"]["space"]["number"], one["support"]["trained"]) for one in verbs} == {(20_910, 13_000)}
