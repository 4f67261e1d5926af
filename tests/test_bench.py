"""The bench: both sides do the same work, and the default recipe passes the target."""

from __future__ import annotations

import statistics

import jax
import numpy as np
import pytest

import recombine as rc
from recombine import bench
from recombine.training.step import stepper


def test_the_plain_loop_and_train_compute_the_same(task, support):
    recipe = rc.Recipe(tasks=16, samples=4, precision="float32")
    trained = []
    for advance in (bench.plain_loop(recipe), stepper(recipe.shape(), True)):
        trained.append(advance(*bench.begin(rc.nets.MLP(16, 2), task, support, recipe, "float32"), 5).trained)
    for a, b in zip(jax.tree.leaves(trained[0]), jax.tree.leaves(trained[1]), strict=True):
        assert np.allclose(a, b, atol=1e-5)


def test_the_clock_stops_when_the_target_is_passed(monkeypatch):
    recipe = rc.Recipe(steps=200, tasks=16)
    arguments = (rc.nets.MLP(32, 1), recipe, stepper(recipe.shape(), True), "float32", 0, 200)
    monkeypatch.setattr(bench, "TARGET", -10.0)
    passed = bench.time_to_score(*arguments)
    assert passed.step == bench.EVALUATE_EVERY and passed.seconds is not None and passed.seconds > 0
    monkeypatch.setattr(bench, "TARGET", 2.0)
    never = bench.time_to_score(*arguments)
    assert never.step is None and never.seconds is None and never.score < 1


def test_throughput_gives_a_ratio_a_round_and_a_share_of_the_matmul_rate(monkeypatch):
    monkeypatch.setattr(bench, "WIDTHS", (16,))
    lines: list[str] = []
    with bench.one_core():
        (row,) = bench.measure_throughput(3, lines.append, seconds=0.05)
    assert len(row.ratios) == 3 and all(ratio > 0.3 for ratio in row.ratios) and 0 < row.matmul_share < 1.5
    assert len(lines) == 1


def test_a_step_of_the_cnn_decoder_takes_at_most_a_fifth_longer_than_in_a_plain_loop():
    """The median of alternating rounds, by the processor's clock. In jax's own form it would take ten times as long."""
    lines: list[str] = []
    decoders = {8: rc.nets.CNNDecoder(width=16, depth=2, base=4)}
    with bench.one_core():
        (row,) = bench.measure_convolutions(9, lines.append, seconds=0.1, decoders=decoders)
    assert len(row.ratios) == 9 and statistics.median(row.ratios) <= 1.2, row.ratios
    assert len(lines) == 1 and "8 x 8 pixels" in lines[0]


@pytest.mark.long
def test_the_default_recipe_passes_the_target_on_every_seed():
    recipe = rc.Recipe()
    for seed in range(3):
        found = bench.time_to_score(
            rc.nets.MLP(), recipe, stepper(recipe.shape(), True), "float32", seed, recipe.steps
        )  # fmt: skip
        assert found.step is not None, found


def test_the_bench_of_engines_says_what_a_cell_costs(monkeypatch):
    from recombine import bench_engine

    told: list[str] = []
    monkeypatch.setattr(bench_engine, "measure_processes", lambda say: {"ratio": 2.0})
    found = bench_engine.run_bench_engine("inprocess", told.append, few=10, many=40, records=50)
    assert found["seconds_a_cell"].keys() == {10, 40} and 0 < found["seconds_a_cell"][40] < 1
    assert found["load"] > 0 and len(found["memory"]) == 2 and "load of 50 records" in " ".join(told)
