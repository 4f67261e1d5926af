"""The bench: both sides do the same work, rows say what is wanted, and the default recipe passes the target."""

from __future__ import annotations

import statistics

import jax
import numpy as np
import pytest

import recombine as rc
from recombine.bench import all_parts, counted_rows, net_rows, start_rows, table_audit, throughput
from recombine.bench.bench_row import Row, in_turns, one_core, race
from recombine.cli import main
from recombine.training.step import stepper


def test_a_row_gives_ratios_by_round_and_says_whether_what_is_wanted_is_reached():
    row = Row("work", "s", [1.0, 2.0, 4.0], {"torch": [2.0, 2.0, 2.0]}, at_most=2.0, times={"torch": 1.0})
    assert row.ratios("torch") == [2.0, 1.0, 0.5] and row.reached is True
    assert Row("work", "s", [3.0], at_most=2.0).reached is False
    assert Row("work", "rows", [3.0], times={"torch": 1.0}).wanted() == "1 times as few as torch"
    assert Row("work", "s", [3.0], {"torch": [2.0]}, times={"torch": 1.0}).reached is False
    assert "torch" in row.wanted() and "at most 2 s" in row.wanted() and "wanted" in str(row)


def test_a_row_whose_other_side_was_not_measured_is_not_judged():
    row = Row("work", "s", [1.0], times={"torch": 1.0})
    assert row.reached is None and "not measured" in str(row) and row.to_json()["reached"] is None
    assert Row("work", "s", [1.0]).reached is None and "wanted" not in str(Row("work", "s", [1.0]))


def test_sides_take_turns_and_each_round_is_long_enough():
    calls, now = [], [0.0]

    def side(name: str, seconds: float):
        def steps(count: int) -> None:
            calls.append(name)
            now[0] += seconds * count

        return steps

    took = race({"slow": side("slow", 0.5), "fast": side("fast", 0.01)}, 2, 1.0, lambda: now[0])
    assert took["slow"] == pytest.approx([0.5, 0.5]) and took["fast"] == pytest.approx([0.01, 0.01])
    assert calls[-4:] == ["slow", "fast", "slow", "fast"]
    took, gave = in_turns({"a": lambda: side("a", 2.0)(1), "b": lambda: 7}, 2, lambda: now[0])
    assert took == {"a": [2.0, 2.0], "b": [0.0, 0.0]} and gave["b"] == 7


def test_the_plain_loop_and_train_compute_the_same(task, support):
    recipe = rc.Recipe(tasks=16, samples=4, precision="float32")
    trained = []
    for advance in (throughput.plain_loop(recipe), stepper(recipe.shape(), True)):
        trained.append(advance(*throughput.begin(rc.nets.MLP(16, 2), task, support, recipe, "float32"), 5).trained)
    for a, b in zip(jax.tree.leaves(trained[0]), jax.tree.leaves(trained[1]), strict=True):
        assert np.allclose(a, b, atol=1e-5)


def test_the_clock_stops_when_the_target_is_passed(monkeypatch):
    recipe = rc.Recipe(steps=200, tasks=16)
    arguments = (rc.nets.MLP(32, 1), recipe, stepper(recipe.shape(), True), "float32", 0, 200)
    monkeypatch.setattr(throughput, "TARGET", -10.0)
    passed = throughput.time_to_score(*arguments)
    assert passed.step == throughput.EVALUATE_EVERY and passed.seconds is not None and passed.seconds > 0
    monkeypatch.setattr(throughput, "TARGET", 2.0)
    never = throughput.time_to_score(*arguments)
    assert never.step is None and never.seconds is None and never.score < 1


def test_throughput_stands_beside_a_plain_loop_and_the_rate_of_products(monkeypatch):
    monkeypatch.setattr(throughput, "WIDTHS", (16,))
    lines: list[str] = []
    with one_core():
        first, *_ = throughput.measure_throughput(3, lines.append, seconds=0.05)
    assert len(first.ratios(throughput.PLAIN)) == 3 and all(ratio > 0.3 for ratio in first.ratios(throughput.PLAIN))
    assert 0 < statistics.median(first.ratios(throughput.PRODUCTS)) < 1.5 and lines[0] == f"  {first}"


def test_a_step_of_the_cnn_decoder_takes_at_most_a_fifth_longer_than_in_a_plain_loop():
    """The median of alternating rounds, by the processor's clock. In jax's own form it would take ten times as long."""
    lines: list[str] = []
    decoders = {8: rc.nets.CNNDecoder(width=16, depth=2, base=4)}
    with one_core():
        (row,) = throughput.measure_loops(9, lines.append, seconds=0.1, decoders=decoders)
    ratios = row.ratios(throughput.PLAIN)
    assert len(ratios) == 9 and statistics.median(ratios) >= 1 / 1.2, ratios
    assert row.reached and len(lines) == 1 and "8 x 8 pixels" in lines[0]


@pytest.mark.long
def test_the_default_recipe_passes_the_target_on_every_seed():
    recipe = rc.Recipe()
    for seed in range(3):
        found = throughput.time_to_score(
            rc.nets.MLP(), recipe, stepper(recipe.shape(), True), "float32", seed, recipe.steps
        )
        assert found.step is not None, found


def test_nets_are_measured_in_both_precisions_and_rows_of_torch_wait_for_torch():
    lines: list[str] = []
    small = rc.nets.CNNDecoder(width=4, depth=1, base=4)
    exact, auto = net_rows.measure_cnn(1, [], lines.append, seconds=0.01, net=small, side=8)
    assert not exact.others and not exact.wanted()
    assert "auto (float32)" in auto.work and list(auto.others) == ["ours bfloat16"] and auto.reached is not None
    reading = rc.nets.Transformer(width=8, depth=1, heads=2, feedforward=8)
    rows = net_rows.measure_transformer(1, [], lines.append, seconds=0.01, net=reading, tasks=4)
    assert [row.reached for row in rows] == [None, None] and len(lines) == 4
    assert rows[0].wanted() == "1 times as fast as torch float32"


def test_splits_plans_and_probes_are_counted_and_judged():
    lines: list[str] = []
    split, certificate = counted_rows.measure_splits(1, lines.append, modules=8, at_most=3)
    assert split.reached and certificate.reached and "92 combinations" in split.work
    time, rows = counted_rows.measure_plans(2, [], lines.append, plans={3: ((), 9.0), 4: (("allpairspy",), None)})[:2]
    assert time.reached and 100 <= rows.ours[0] <= 140 and rows.ours[0] == rows.ours[1]
    probe = counted_rows.measure_ridge(2, ["scikit-learn"], lines.append, shape=(200, 8, 2))
    assert len(probe.ratios("scikit-learn")) == 2 and probe.reached is not None


def test_an_audit_is_timed_beside_the_group_by_of_the_same_file():
    lines: list[str] = []
    with pytest.warns(UserWarning, match="nearly all"):  # of so few rows
        (row,) = table_audit.measure_table_audit(1, lines.append, rows=2000)
    assert len(row.ours) == 1 and len(row.ratios("DuckDB's group-by")) == 1 and row.reached is None
    assert "2,000 rows, 6 factors" in lines[0]


def test_a_child_counts_its_own_processor_time(tmp_path):
    busy = start_rows.processor_seconds(("-c", "sum(range(10**7))"), str(tmp_path))
    assert busy > 2 * start_rows.processor_seconds(("-c", "pass"), str(tmp_path)) > 0


def test_every_part_can_be_asked_for_and_says_what_was_found(capsys, monkeypatch):
    row = Row("work", "s", [1.0], at_most=2.0)
    monkeypatch.setattr(all_parts, "_MEASURED", {name: lambda *_: [row] for name in all_parts.PARTS})
    found = all_parts.run_bench(tuple(all_parts.PARTS), 1, print, against=True)
    assert all(rows == [row.to_json()] for rows in found.values()) and len(found) == len(all_parts.PARTS)
    assert "scikit-learn" in capsys.readouterr().out
    for part in ("all", *all_parts.PARTS):
        with pytest.raises(SystemExit) as end:
            main(["bench", "--part", part, "--json"])
        assert end.value.code == 0


def test_the_bench_of_engines_says_what_a_cell_costs(monkeypatch):
    from recombine.bench import engine_overhead

    said: list[str] = []
    monkeypatch.setattr(engine_overhead, "measure_processes", lambda say: {"ratio": 2.0})
    found = engine_overhead.run_bench_engine("inprocess", said.append, few=10, many=40, records=50)
    assert found["seconds_a_cell"].keys() == {10, 40} and 0 < found["seconds_a_cell"][40] < 1
    assert found["load"] > 0 and len(found["memory"]) == 2 and "load of 50 records" in " ".join(said)
