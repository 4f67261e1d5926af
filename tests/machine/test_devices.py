"""One net on several devices: the same random numbers, the same sums up to rounding, and one device left as it was."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import textwrap

import jax
import pytest
from small_studies import coin

import recombine as rc
from recombine.context import Context, Measured
from recombine.lab.cells import Cell
from recombine.machine.devices import Layout, choose, one_device
from recombine.training import Recipe, train
from recombine.training.step import stepper

ON_FOUR = """
import json, re, tempfile
import jax, jax.numpy as jnp, numpy as np
import recombine as rc
from recombine.machine import devices, precision
from recombine.keys import key_for
from recombine.tasks import draw_batch
from recombine.training import Recipe, drive, members
from recombine.training.step import one_step, start

found = {"devices": len(jax.local_devices())}
space = rc.Subsets(6, 2)



class Cheap(rc.tasks.Task):  # to compile: one call of the random generator
    def sample(self, key, combinations, samples=None):
        inputs = jax.random.normal(key, (len(combinations), samples or self.samples, 4))
        code = jax.nn.one_hot(combinations[:, 0], 6)
        return rc.tasks.Batch(combinations, code, inputs, jnp.sin(inputs) * code[:, None, :4], code)


task = Cheap(space, tuple("abcdef"), 2)
support = rc.supports.random(space, held_out=0.25, seed=0)
mlp, short = rc.nets.MLP(width=32, depth=1), Recipe(steps=40, tasks=16, evaluations=4, precision="float32")


def farthest(a, b):
    return max(float(jnp.abs(x - y).max()) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


def compare(a, b):
    return {
        "weights": [farthest(m.net, n.net) for m, n in zip(a.members, b.members, strict=True)],
        "loss": [abs(m.history[-1]["loss"] / n.history[-1]["loss"] - 1) for m, n in zip(a.members, b.members)],
        "homes": sorted({len(leaf.sharding.device_set) for net in b.nets for leaf in jax.tree.leaves(net)}),
    }


def trained(net, recipe, **how):
    return rc.train(task, support, net, recipe, progress=False, watch=(), **how)


class OneCallAStep(rc.nets.MLP):
    steps_in_scan_on_cpu = False


alone = trained(mlp, short, seeds=2, devices=1)
found["threads"] = compare(alone, trained(mlp, short, seeds=2))
found["vmap, two devices"] = compare(alone, trained(mlp, short, seeds=2, ensemble="vmap", devices=2))
found["one call per step"] = compare(alone, trained(OneCallAStep(width=32, depth=1), short, seeds=2))

# the data of a step: the same bits, an equal share on each device
layout = devices.choose("auto", 16)
draw = lambda layout: jax.jit(lambda key: layout.shared_out(draw_batch(task, support.train.sampler(), key, 16, 1)))
a, b = (draw(x)(key_for("train", 0)) for x in (devices.Layout(), layout))
found["same data"] = all(bool((np.asarray(x) == np.asarray(y)).all()) for x, y in zip(a, b, strict=True))
found["shares"] = [shard.data.shape[0] for shard in b.inputs.addressable_shards]

# what the devices say to each other in a step: sums of gradients, never data; as compiled off the CPU
def spoken(kind):
    recipe = Recipe(tasks=16, precision=kind)
    sampler, keys = support.train.sampler(), (key_for("init", 0), key_for("train", 0))
    begun = start(mlp, task, sampler, recipe, keys, kind)
    given = layout.copied((*begun, task, sampler, recipe.rates(), keys[1]))
    step = jax.jit(lambda *x: one_step(*x, recipe.shape(), layout))
    text = step.lower(*given).compile().as_text()
    return sorted(re.findall(r" (all-reduce|all-gather|all-to-all|collective-permute|reduce-scatter)\\(", text))

precision.with_layout_constraint = lambda x, layout: x
found["spoken"] = spoken("bfloat16")

# a checkpoint of several devices is continued by one, and the other way around
members.CHECKPOINT_SECONDS, drive.CALL_SECONDS = 0.0, 0.001
class Stop(Exception): pass
def stop(seed, step, steps, facts):
    if step >= 22: raise Stop
for name, (first, second) in {"four, then one": (4, 1), "one, then four": (1, 4)}.items():
    folder, steps = tempfile.mkdtemp(), []
    try:
        rc.train(task, support, mlp, short, devices=first, checkpoint=folder, progress=stop, watch=())
    except Stop:
        pass
    watch = lambda seed, step, *_: steps.append(step)
    resumed = rc.train(task, support, mlp, short, devices=second, checkpoint=folder, progress=watch, watch=())
    found[name] = {"from": steps[0], "weights": [farthest(alone.nets[0], resumed.nets[0])]}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def on_four():
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"
    command = [sys.executable, "-c", textwrap.dedent(ON_FOUR)]
    result = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"XLA_FLAGS": flags})
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_four_devices_were_there_and_each_made_a_quarter_of_the_same_data(on_four):
    assert on_four["devices"] == 4
    assert on_four["same data"] and on_four["shares"] == [4, 4, 4, 4]


@pytest.mark.parametrize("how", ["threads", "vmap, two devices", "one call per step"])
def test_several_devices_give_the_numbers_of_one_within_the_rounding_of_sums(on_four, how):
    found = on_four[how]
    assert max(found["weights"]) < 1e-5  # float32 sums in another order, over 40 steps of weights of size 1
    assert max(found["loss"]) < 1e-5
    assert found["homes"] == [1], "what is kept lies on one device"


def test_only_sums_travel(on_four):
    assert on_four["spoken"] == ["all-reduce"]


@pytest.mark.parametrize("way", ["four, then one", "one, then four"])
def test_a_checkpoint_goes_on_with_another_number_of_devices(on_four, way):
    assert on_four[way]["from"] >= 20
    assert max(on_four[way]["weights"]) < 1e-5


def test_cells_of_a_study_run_on_one_device(monkeypatch):
    monkeypatch.setattr(jax, "local_devices", lambda: ["a", "b", "c", "d"])
    seen = []

    def measure(spec, context):
        seen.append(choose("auto", 16))
        return Measured([])

    study = dataclasses.replace(coin(), measure=measure)
    study.compute(Cell("coin", 1, {}), Context())
    assert seen == [Layout()] and choose("auto", 16) == Layout(("a", "b", "c", "d"))


def test_auto_takes_what_cuts_the_batch_equally(monkeypatch):
    monkeypatch.setattr(jax, "local_devices", lambda: list("abcdefgh"))
    counts = {tasks: len(choose("auto", tasks).devices) for tasks in (96, 100, 12, 97, 1)}
    assert counts == {96: 8, 100: 5, 12: 6, 97: 0, 1: 0}
    assert choose(1, 96) == Layout() and choose(4, 96) == Layout(tuple("abcd"))
    with jax.default_device(jax.devices()[0]):
        assert choose("auto", 96) == Layout(), "who names a device gets it"
    with one_device():
        assert choose("auto", 96) == Layout() and choose(2, 96) == Layout(("a", "b"))
    for devices in (0, 9, True, "all"):
        with pytest.raises(rc.UserError, match=f"devices={devices!r} must be 'auto' or a number from 1 to 8"):
            choose(devices, 96)
    with pytest.raises(rc.UserError, match="devices=3 .* 100 tasks equally; 1 or 2 or 4 or 5 would do"):
        choose(3, 100)


def test_with_one_device_nothing_changes(task, support):
    assert choose("auto", 16) == Layout() and not Layout().several
    assert stepper(Recipe().shape(), True) is stepper(Recipe().shape(), True)
    tree = {"a": jax.numpy.ones(3)}
    layout = Layout()
    assert all(f(tree) is tree for f in (layout.copied, layout.shared_out, layout.on_one))
    with pytest.raises(rc.UserError, match="devices=2"):
        train(task, support, rc.nets.MLP(width=8, depth=1), Recipe(steps=1), devices=2)
