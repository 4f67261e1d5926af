"""What an export holds: the items that our own scores are about, disjoint sides, and every world there is."""

from __future__ import annotations

import json

import jax
import numpy as np
import pandas
import pytest
from every_name import WORLDS, every

import recombine as rc
from recombine.keys import key_for
from recombine.supports import registry as designs
from recombine.tasks import registry as tasks
from recombine.training import draw_combinations, evaluate

#: designs that suit the lists of one world
LISTS = {
    "scan": "scan-v1",
    "cogs": "cogs-v1",
    "pcfg": "pcfg-v1",
    "ciphers": "ciphers-v1",
    "sizes": "dynamic-program-v1",
}
SMALL = {"train": 40, "validation": 8, "test": 8, "held_out": 24}


def small_world(name: str):
    made = tasks[name]
    space = made.default_space()
    if space.free and not space.columns:
        return made(rc.Subsets(modules=4, at_most=2), seed=0)
    if hasattr(made, "space_of"):
        return made(made.space_of({1: 8}.get(space.width, 3 if space.width == 4 else 6)), seed=0)
    return made(space, seed=0)


def ranks(task, arrays) -> set[int]:
    return set(task.space.rank(arrays["combination"]).tolist())


@pytest.mark.parametrize("name", every(tasks, at_once=WORLDS))
def test_every_world_is_exported_and_its_own_answers_are_right(name, tmp_path):
    task = small_world(name)
    alone = {"compositional": False, "connected": False} if task.space.width == 1 else {}
    support = rc.supports.random(task.space, held_out=0.3, **alone)
    found = rc.export(task, support, tmp_path / "it", **({} if task.repeats else SMALL))
    assert found.sizes == ({s: getattr(support, s).size for s in ("train", "held_out")} if task.repeats else SMALL)
    sides = {set_: ranks(task, found.arrays(set_)) for set_ in found.sizes}
    assert not sides["train"] & sides["held_out"]
    assert sides["held_out"] <= set(support.held_out.ranks.tolist())
    truth = found.arrays("held_out")
    scored = rc.score(found, {"held_out": truth["target"], "held_out_item": truth["item"]})
    best = {"error": 0.0, "mse": 0.0, "undefined": 0.0, "by_rule": 0.0}
    assert scored["held_out"] == {one.name: best.get(one.name, 1.0) for one in task.metrics}


@pytest.mark.parametrize("design", designs)
def test_every_design_is_exported(design, tmp_path):
    task = rc.tasks.Hyperteacher(rc.Subsets(16, 3))
    if design == "bumps-and-stripes":
        task = tasks["bumps-and-stripes-v1"](rc.Product(x=[0, 1, 2, 3, "none"], y=[0, 1, 2, 3, "none"]))
    if design in ("donut", "corner", "cross", "band", "gap", "stair", "l-shape", "cross-arms", "diagonal", "orthotope"):
        task = rc.tasks.Bumps(rc.Product(x=6, y=6))
    if design in LISTS:
        task = tasks[LISTS[design]](tasks[LISTS[design]].default_space())
    options = {"ranks": [0, 1, 2, 3, 4, 5, 9]} if design == "listed" else {}
    support = designs[design](task.space, **options)
    found = rc.export(task, support, tmp_path / "it", **({} if task.repeats else SMALL))
    assert found.card["certificate"]["content"] == support.certificate().content
    assert ranks(task, found.arrays("held_out")).isdisjoint(ranks(task, found.arrays("train")))


def test_it_has_the_items_that_our_own_scores_are_about(task, support, tmp_path):
    trained = rc.train(task, support, rc.nets.MLP(width=8, depth=2), rc.Recipe(steps=3), progress=False)
    found = rc.export(task, support, tmp_path / "it", train=2000, test=96, held_out=96)
    predictions = {}
    for name in ("test", "held_out"):
        rows = draw_combinations(support.side(name), key_for(name, 0), 96)
        items = evaluate(trained.nets[0], task, rows, key=key_for(name, 0), keep=("answer",))
        predictions |= {name: items.kept["answer"], f"{name}_item": found.arrays(name)["item"]}
    scored = rc.score(found, predictions)
    for name in ("test", "held_out"):
        ours = trained.score(name, tasks=96, groups=False).values
        assert scored[name] == pytest.approx({metric: values[0] for metric, values in ours.items()}, abs=1e-5)


def test_a_test_on_known_combinations_has_none_that_the_exported_training_set_lacks(tmp_path):
    space = rc.Subsets(12, 3)
    task, support = rc.tasks.Hyperteacher(space), rc.supports.random(space)
    found = rc.export(task, support, tmp_path / "it", train=20, validation=50, test=50, held_out=20)
    known = ranks(task, found.arrays("train"))
    assert len(known) < support.train.size / 4
    assert ranks(task, found.arrays("test")) <= known and ranks(task, found.arrays("validation")) <= known


def test_so_many_items_of_each_combination(task, support, tmp_path):
    found = rc.export(task, support, tmp_path / "it", per_combination=3, validation=0)
    assert found.sizes == {"train": 3 * support.train.size, "test": 3 * support.train.size, "held_out": 15}
    counts = np.unique(task.space.rank(found.arrays("held_out")["combination"]), return_counts=True)
    assert counts[0].tolist() == support.held_out.ranks.tolist() and set(counts[1]) == {3}


def test_equal_calls_give_equal_files_and_other_seeds_give_other_hashes(task, support, tmp_path):
    for name in ("a", "b"):
        rc.export(task, support, tmp_path / name, **SMALL)
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    same = ["README.md", "card.json", "held_out.npz", "task.safetensors", "test.npz", "train.npz", "validation.npz"]
    assert files == same
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    other = rc.export(task, support, tmp_path / "c", **SMALL, seed=1)
    assert other.hash != rc.open_export(tmp_path / "a").hash


def test_parquet_holds_the_same_numbers(task, support, tmp_path):
    found = rc.export(task, support, tmp_path / "npz", **SMALL)
    other = rc.export(task, support, tmp_path / "parquet", **SMALL, format="parquet")
    assert found.hash == other.hash
    for name in found.sizes:
        left, right = found.arrays(name), other.arrays(name)
        assert list(left) == list(right)
        for part in left:
            np.testing.assert_array_equal(left[part], right[part])
    frame = pandas.read_parquet(tmp_path / "parquet" / "held_out.parquet")  # by somebody else's reader
    np.testing.assert_array_equal(np.stack(frame.target), found.arrays("held_out")["target"].reshape(24, -1))


def test_the_card_is_data_and_says_what_it_is(task, support, tmp_path):
    found = rc.export(task, support, tmp_path / "it", **SMALL)
    card = json.loads((tmp_path / "it" / "card.json").read_text())
    assert card["task"]["id"] == "hyperteacher-v1" and card["support"]["design"] == "random"
    assert card["metrics"][0]["name"] == "r2" and card["certificate"]["compositional"] is True
    assert card["sets"]["train"]["arrays"]["inputs"] == {"shape": [16, 16], "dtype": "float32"}
    assert set(card["files"]) == {path.name for path in (tmp_path / "it").iterdir()} - {"card.json"}
    again = found.task()
    key, rows = jax.random.key(3), task.space.sample(0, 4)
    np.testing.assert_array_equal(again.sample(key, rows).target, task.sample(key, rows).target)
