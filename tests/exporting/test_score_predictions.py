"""Predictions of others: scored as ours are, and refused with a reason where they are not what they should be."""

from __future__ import annotations

import json
import shutil

import equinox as eqx
import numpy as np
import pytest

import recombine as rc

SMALL = {"train": 64, "validation": 8, "test": 16, "held_out": 24}


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    space = rc.Subsets(6, 2)
    task, support = rc.tasks.Hyperteacher(space, seed=0), rc.supports.random(space, held_out=0.25)
    return rc.export(task, support, tmp_path_factory.mktemp("numbers") / "it", **SMALL)


@pytest.fixture(scope="module")
def actions(tmp_path_factory):
    space = rc.Subsets(4, 2)
    task, support = rc.tasks.Preference(space, seed=0), rc.supports.random(space, held_out=0.25)
    return rc.export(task, support, tmp_path_factory.mktemp("actions") / "it", **SMALL)


def right(export, *names):
    found = {}
    for name in names or ("held_out",):
        there = export.arrays(name, ["target", "item"])
        found |= {name: there["target"].copy(), f"{name}_item": there["item"].copy()}
    return found


def refused(export, predictions, *words):
    with pytest.raises(rc.UserError) as caught:
        rc.score(export, predictions)
    said = str(caught.value)
    assert all(str(word) in said for word in words), said


def test_a_known_error_gives_the_score_of_the_formula(numbers):
    found = right(numbers)
    truth = found["held_out"].astype(np.float64)
    found["held_out"] = (truth + 0.5).astype(np.float32)
    by_hand = 1 - 0.25 / truth.var(1)  # by item and output: the error is the same everywhere
    assert rc.score(numbers, found)["held_out"]["r2"] == pytest.approx(by_hand.mean(), rel=1e-4)


def test_rows_in_another_order_are_put_back(numbers):
    found = right(numbers)
    order = np.random.default_rng(0).permutation(len(found["held_out"]))
    shuffled = {name: values[order] for name, values in found.items()}
    assert rc.score(numbers, shuffled)["held_out"]["r2"] == 1.0
    shuffled["held_out_item"] = found["held_out_item"]  # as if they were in order
    assert rc.score(numbers, shuffled)["held_out"]["r2"] < 0.5


def test_whole_numbers_are_scored_as_they_are_and_as_logits(actions):
    found = right(actions)
    words = actions.card["task"]["words"]["target"]
    wrong = found["held_out"].copy()
    wrong[0, 0, 0] = (wrong[0, 0, 0] + 1) % words  # one step of one episode
    logits = np.eye(words, dtype=np.float32)[np.maximum(wrong, 0)]
    for answers in (wrong, logits):
        scored = rc.score(actions, found | {"held_out": answers})
        assert scored["held_out"]["episode_accuracy"] == pytest.approx(23 / 24)
    refused(actions, found | {"held_out": wrong.astype(np.float32)}, "float32", "round")


def test_the_table_is_what_an_audit_reads(numbers, tmp_path):
    found = right(numbers, "test", "held_out")
    found["held_out"] = found["held_out"] + 100  # everything that is held out is wrong
    scored = rc.score(numbers, found)
    table = scored.table()
    assert table["split"].tolist() == [name for name, count in numbers.sizes.items() for _ in range(count)]
    outcome = {name: table["outcome"][table["split"] == name] for name in numbers.sizes}
    assert np.isnan(outcome["train"]).all() and (outcome["test"] == 1).all() and (outcome["held_out"] == 0).all()
    for ending in ("csv", "parquet"):
        path = scored.write(tmp_path / f"table.{ending}")
        audit = rc.audit(path, scored.factors, split="split", outcome="outcome")
        assert audit.outcomes.seen.mean == 1.0 and audit.outcomes.unseen.mean == 0.0
    assert np.asarray(rc.Subsets(6, 2).multihot(numbers.arrays("train")["combination"]))[0].tolist() == [
        table[f"m{number}"][0] for number in range(6)
    ]


def test_predictions_that_cannot_be_scored_are_refused_with_the_reason(numbers):
    good = right(numbers)
    answers, item = good["held_out"], good["held_out_item"]
    refused(numbers, {}, "empty", "held_out")
    refused(numbers, {"held_out": answers}, "held_out_item", "held_out.npz")
    refused(numbers, good | {"heldout": answers}, "heldout", "held_out")
    refused(numbers, {"held_out": answers[:20], "held_out_item": item[:20]}, 20, 24, item[20], "last batch")
    refused(numbers, good | {"held_out": answers[:20]}, 20, 24)
    refused(numbers, good | {"held_out": answers[:, :3]}, (24, 3, 16), (24, 16, 16))
    refused(numbers, good | {"held_out_item": np.arange(24)}, "no item of held_out", "copy the array 'item'")
    refused(numbers, good | {"held_out_item": np.where(np.arange(24) == 3, item[0], item)}, item[0], "twice")
    refused(numbers, good | {"held_out_item": item.astype(np.float32)}, "float32", "item")
    refused(numbers, good | {"held_out_item": -item}, -item[0], "no item")
    refused(numbers, good | {"held_out": answers.astype(str)}, "<U", "not numbers")
    for bad in (np.nan, np.inf):
        broken = answers.copy()
        broken[[5, 9], 0, 0] = bad
        refused(numbers, good | {"held_out": broken}, "2 rows", "first of them 5")


def test_predictions_of_another_export_or_set_are_refused(numbers, actions, tmp_path):
    task = rc.tasks.Hyperteacher(rc.Subsets(6, 2), seed=1)
    other = rc.export(task, rc.supports.random(task.space), tmp_path / "other", **SMALL)
    refused(numbers, right(other), other.hash[:6], numbers.hash[:6], "another export")
    mixed = right(numbers) | {"held_out_item": numbers.arrays("test")["item"]}
    refused(numbers, mixed, "no item of held_out")


def test_files_that_are_no_predictions_are_refused(numbers, tmp_path):
    refused(numbers, tmp_path / "none.npz", "none.npz")
    refused(numbers, tmp_path / "it.csv", "it.csv", ".npz")
    (tmp_path / "text.npz").write_text("held_out")
    refused(numbers, tmp_path / "text.npz", "text.npz", "cannot be read")
    np.savez(tmp_path / "objects.npz", held_out=np.array([{}], dtype=object))
    refused(numbers, tmp_path / "objects.npz", "objects.npz", "pickled")
    np.savez(tmp_path / "good.npz", **right(numbers))
    assert rc.score(numbers, tmp_path / "good.npz")["held_out"]["r2"] == 1.0


def test_an_export_that_was_changed_is_refused(numbers, tmp_path):
    for name in ("held_out.npz", "task.safetensors"):
        folder = tmp_path / name.partition(".")[0]
        shutil.copytree(numbers.folder, folder)
        data = bytearray((folder / name).read_bytes())
        data[len(data) // 2] ^= 1
        (folder / name).write_bytes(data)
        refused(folder, right(numbers), name, "export again")
    with pytest.raises(rc.UserError, match="card.json"):
        rc.score(tmp_path, right(numbers))


@pytest.mark.parametrize("change", [{"kind": "x"}, {"format": 99}, {"sets": {"../x": {}}}, {"hash": None}, {"task": 3}])
def test_a_card_that_nobody_wrote_is_refused(numbers, tmp_path, change):
    card = json.loads((numbers.folder / "card.json").read_text()) | change
    (tmp_path / "card.json").write_text(json.dumps(card))
    refused(tmp_path, right(numbers), "card.json" if "format" not in change else "format", "export")


FIELDS = ["task.words", "support.groups", "support.design", "metrics", "metrics.0.name", "files", "sets.held_out.file"]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", [None, True, -1, 1.5, "x", [3], {"x": "y"}], ids=repr)
def test_a_card_with_a_field_of_another_kind_ends_in_one_sentence(numbers, tmp_path, field, value):
    """Or in the score, where the value may stand there."""
    shutil.copytree(numbers.folder, tmp_path / "e")
    card = json.loads((numbers.folder / "card.json").read_text())
    *path, last = [int(part) if part.isdecimal() else part for part in field.split(".")]
    place = card
    for part in path:
        place = place[part]
    place[last] = value
    (tmp_path / "e" / "card.json").write_text(json.dumps(card))
    try:
        assert rc.score(tmp_path / "e", right(numbers))["held_out"]
    except rc.UserError as problem:
        assert "\n" not in str(problem) and "again" in str(problem)


def test_a_task_that_is_not_registered_is_given(tmp_path):
    class Mine(rc.tasks.Hyperteacher):
        id = "mine-v1"
        extra: int = eqx.field(static=True, default=1)

    task = Mine(rc.Subsets(4, 2))
    found = rc.export(task, rc.supports.random(task.space), tmp_path / "it", **SMALL)
    refused(found, right(found), "mine-v1", "task=task")
    assert rc.score(found, right(found), task=task)["held_out"]["r2"] == 1.0
    with pytest.raises(rc.UserError) as caught:
        rc.score(found, right(found), task=rc.tasks.Hyperteacher(task.space))
    assert "hyperteacher-v1" in str(caught.value) and "mine-v1" in str(caught.value)
