"""(c) and (h): a recursive net with a memory in each slot, on one device and on four."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import jax
import numpy as np
import pytest
from recursion import CELLS, Corridor, Recursive
from started import Stopped, stop_at

import recombine as rc
from recombine.errors import UserError
from recombine.testing import check_net, check_task
from recombine.training import evaluate

RECIPE = rc.Recipe(steps=4000, tasks=64, learning_rate=3e-3, weight_decay=0.0, evaluations=4, precision="float32")


@pytest.fixture(scope="module")
def trained():
    task = Corridor()
    return rc.train(task, rc.supports.random(task.space, seed=0), Recursive(), RECIPE, progress=False)


def test_the_corridor_is_a_task_and_the_recursion_a_net():
    check_task(Corridor())
    check_net(Recursive(), Corridor())


def test_many_passes_solve_what_one_cannot(trained):
    rows = trained.task.space.enumerate()
    far = rows[(rows[:, :4] == 0).all(1)]  # the first wall is further away than one pass can see

    def score(count):
        return evaluate(trained.nets[0], trained.task, far, key=jax.random.key(0), how={"count": count}).scores()[
            "exact"
        ]

    assert score(CELLS) > 0.95
    assert score(1) < 0.3 and score(2) < 0.6
    assert float(trained.score("held_out")) > 0.95


def test_slots_are_refilled_where_they_halted_and_all_of_it_is_logged(trained):
    history = trained.history
    assert {"train/answer", "train/halt", "train/halted", "train/solved", "train/refilled"} <= set(history.columns)
    first, last = history.iloc[0], history.iloc[-1]
    assert last["train/halted"] > first["train/halted"]
    # without halting one slot in eight is refilled in a step; who halts makes room sooner
    assert last["train/refilled"] > 1.5 / CELLS
    assert last["train/refilled"] <= 1


def test_a_memory_that_does_not_begin_with_the_tasks_is_refused():
    with pytest.raises(AssertionError, match=r"memory.*table.*\(3, 64\).*64"):
        check_net(Recursive(forgets=True), Corridor())
    task = Corridor()
    with pytest.raises(UserError, match=r"'table'.*\(3, 64\).*64"):
        rc.train(task, rc.supports.random(task.space, seed=0), Recursive(forgets=True), RECIPE, progress=False)


def test_fields_of_how_that_a_net_does_not_have_are_refused(trained):
    with pytest.raises(UserError, match=r"'counts'.*'count'"):
        trained.score("held_out", how={"counts": 3})


ON_FOUR = """
import json, tempfile
import jax, numpy as np
import recombine as rc
from recombine.testing import check_net
from recombine.training import drive, members
from recursion import Corridor, Recursive
task = Corridor()
support, recipe = rc.supports.random(task.space, seed=0), rc.Recipe(steps=300, tasks=64, precision="float32")
check_net(Recursive(), task)


def trained(**how):
    return rc.train(task, support, Recursive(), recipe, progress=how.pop("progress", False), watch=(), **how).members[0]


def apart(a, b):
    return max(float(np.abs(x - y).max()) for x, y in zip(jax.tree.leaves(a.raw), jax.tree.leaves(b.raw)))


one, four = trained(devices=1), trained(devices=4)
found = {"devices": len(jax.local_devices()), "weights": apart(one, four)}
members.CHECKPOINT_SECONDS, drive.CALL_SECONDS = 0.0, 0.001
class Stop(Exception): pass
def stop(seed, step, steps, facts):
    if step >= 100: raise Stop
for name, count in {"resumed on one": 1, "resumed on four": 4}.items():
    folder = tempfile.mkdtemp()
    try:
        trained(devices=count, checkpoint=folder, progress=stop)
    except Stop:
        pass
    found[name] = apart(trained(devices=count, checkpoint=folder), one if count == 1 else four)
print(json.dumps(found))
"""


def test_memory_on_four_devices_is_that_on_one_and_resuming_is_bit_equal():
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"
    here = str(Path(__file__).parents[1] / "helpers")
    command = [sys.executable, "-c", textwrap.dedent(ON_FOUR)]
    environment = os.environ | {"XLA_FLAGS": flags, "PYTHONPATH": here}
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["devices"] == 4
    assert found["weights"] < 1e-4
    assert found["resumed on one"] == 0 and found["resumed on four"] == 0


def test_resuming_with_a_memory_is_bit_equal_here(tmp_path, monkeypatch):
    monkeypatch.setattr("recombine.training.members.CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr("recombine.training.drive.CALL_SECONDS", 0.001)
    task = Corridor()
    recipe = rc.Recipe(steps=120, tasks=32, precision="float32", evaluations=3)
    support = rc.supports.random(task.space, seed=0)

    with pytest.raises(Stopped):
        rc.train(task, support, Recursive(), recipe, checkpoint=tmp_path, progress=stop_at(50))
    resumed = rc.train(task, support, Recursive(), recipe, checkpoint=tmp_path, progress=False)
    whole = rc.train(task, support, Recursive(), recipe, progress=False)
    np.testing.assert_array_equal(resumed.nets[0].kernel, whole.nets[0].kernel)
    columns = [name for name in whole.history.columns if name != "seconds"]
    assert resumed.history[columns].equals(whole.history[columns])
