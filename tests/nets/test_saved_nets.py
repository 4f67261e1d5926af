"""Saved nets: one file, built again without the world, bit for bit the same; nothing that a file says is trusted."""

from __future__ import annotations

import dataclasses
import json
import struct
from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from every_name import NETS, every
from small_nets import PICTURES, WORDS, draw, jolted, small_net, world_for

import recombine as rc
from recombine import nets
from recombine.errors import UserError
from recombine.files.arrays import pack, unpack
from recombine.nets import MLP, Blueprint, Net, Straightened, Transformer, Wrapper, cut, initialize
from recombine.nets.saved import NOTE, SUM, Built, _built, _sum, recall, remember
from recombine.nets.stand_in import facts_of, stand_in
from recombine.tasks import Batch, Task
from recombine.training import Stage

QUICK = rc.Recipe(steps=4, tasks=8, precision="float32", evaluations=1)


class Within(Wrapper):
    """A scale, with a key of its own, on a frozen net."""

    scale: jax.Array
    noise: jax.Array

    def group(self, path, leaf):
        return "no_decay" if path == "scale" else "frozen"

    def __call__(self, batch, key=None):
        prediction, trace = self.net(batch, key)
        shift = jax.random.normal(self.noise, prediction.shape[-1:])
        return prediction * self.scale + shift, trace

    def answer(self, batch, key=None, how=None):
        return self(batch, key)

    def losses(self, task, batch, moment, memory):
        return Net.losses(self, task, batch, moment, memory)


@dataclass(frozen=True)
class OnTop(Blueprint):
    """Around whatever the stage before was."""

    name: ClassVar[str] = "on-top"

    def layers(self):
        return ("output",)

    def build(self, task, key, precision="float32", start=None):
        assert start is not None
        return Within(start, jnp.ones(1), jax.random.key(7))


@pytest.fixture
def on_top(monkeypatch):
    monkeypatch.setitem(nets.registry._things, "on-top", OnTop)


def answers_alike(net: Net, other: Net, batch: Batch) -> bool:
    """Bit for bit, also every activation, and asked with a key."""
    ask = eqx.filter_jit(lambda net: net.answer(batch.blind(), jax.random.key(3)))
    found, wanted = ([np.asarray(leaf) for leaf in jax.tree.leaves(ask(one))] for one in (other, net))
    return all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in zip(found, wanted, strict=True))


def built(blueprint, task: Task, precision: str = "float32") -> Net:
    return jolted(initialize(blueprint, task, jax.random.key(0), precision))


# -- there and back ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", every(sorted(nets.registry), at_once=NETS))
def test_a_loaded_net_answers_exactly_as_the_saved_one(name, small, tmp_path):
    task = world_for(name, small)
    net = built(small_net(name), task)
    net.save(tmp_path / "net.safetensors", blueprint=small_net(name), task=task)
    loaded = rc.nets.load(tmp_path / "net.safetensors")
    assert cut(loaded).static == cut(net).static
    assert answers_alike(net, loaded, draw(task, 3))


@pytest.mark.parametrize("name", ["mlp", "transformer", "hypernetwork"])
def test_nets_of_words_and_of_either_precision_come_back(name, tmp_path):
    task = rc.tasks.Hyperteacher(rc.Subsets(6, 2), encoding="language")
    net = built(small_net(name), task, "bfloat16")
    net.save(tmp_path / "net", blueprint=small_net(name), task=task)
    assert answers_alike(net, rc.nets.load(tmp_path / "net"), draw(task, 3))


def test_a_net_that_answers_in_words_comes_back(preference, tmp_path):
    net = built(MLP(8, 1), preference)
    net.save(tmp_path / "net", blueprint=MLP(8, 1), task=preference)
    assert answers_alike(net, rc.nets.load(tmp_path / "net"), draw(preference, 2))


@pytest.mark.parametrize("encoding", ["one-hot", "ramp", "margin"])
def test_a_net_that_draws_comes_back_whatever_its_code(encoding, tmp_path):
    task = rc.tasks.Bumps(rc.Product(x=8, y=8), encoding=encoding)
    blueprint = Straightened(nets.CoordinateMLP(8, 1), weight=0.5, everywhere=True)
    net = built(blueprint, task)
    net.save(tmp_path / "net", blueprint=blueprint, task=task)
    loaded = rc.nets.load(tmp_path / "net")
    assert answers_alike(net, loaded, draw(task, 1)) and loaded.blueprint == blueprint


def test_a_trained_net_knows_what_built_it_and_so_does_a_loaded_one(small, support, tmp_path):
    run = rc.train(small, support, MLP(8, 1), dataclasses.replace(QUICK, ema=0.9), seeds=2, progress=False)
    for number, net in enumerate([*run.nets, run.members[0].raw]):
        first, second = tmp_path / "new" / f"{number}.safetensors", tmp_path / f"{number}-again"
        net.save(first)  # the folder is made
        loaded = rc.nets.load(str(first))
        assert answers_alike(net, loaded, draw(small, 3))
        loaded.save(second)
        loaded.save(second)  # one of ours is replaced
        arrays, notes = unpack(first)
        again, same = unpack(second)
        assert same == notes and all(again[name].tobytes() == array.tobytes() for name, array in arrays.items())


def test_what_a_net_knows_is_no_part_of_it(small, support):
    net = rc.train(small, support, MLP(8, 1), QUICK, progress=False).nets[0]
    again = jax.tree.map(lambda leaf: leaf, net)
    assert jax.tree.structure(net) == jax.tree.structure(again) and recall(net) and recall(again) is None
    known = len(_built)
    del net
    assert len(_built) < known, "what built a net is forgotten with it"


def test_a_net_of_two_stages_comes_back_with_what_is_frozen_in_it(small, support, on_top, tmp_path):
    other = rc.tasks.Hyperteacher(small.space, seed=5)
    stages = [Stage(MLP(8, 1), QUICK, task=other), Stage(OnTop(), dataclasses.replace(QUICK, precision="bfloat16"))]
    net = rc.train(small, support, stages, progress=False).nets[0]
    net.save(tmp_path / "net")
    arrays, _ = unpack(tmp_path / "net")
    assert {"scale", "noise", "net.kernels.0"} <= set(arrays)
    loaded = rc.nets.load(tmp_path / "net")
    assert loaded.net.precision == "float32"
    assert answers_alike(net, loaded, draw(small, 3))
    jolted_net = eqx.tree_at(lambda one: one.scale, net, jnp.full(1, 3.0))
    jolted_net.save(tmp_path / "net", blueprint=[MLP(8, 1), OnTop()], task=small)
    assert answers_alike(jolted_net, rc.nets.load(tmp_path / "net"), draw(small, 3))


def test_a_stand_in_answers_what_nets_ask_and_can_be_written_down_again(preference, small):
    for task in (PICTURES, WORDS, small, preference):
        facts = json.loads(json.dumps(facts_of(task)))
        assert facts_of(stand_in(facts)) == facts
        assert all(part is None or part.shape[0] == 1 for part in stand_in(facts).shapes())
    with pytest.raises(UserError, match="not for 999"):
        stand_in(facts_of(small)).shapes(999)


# -- what is not saved ------------------------------------------------------------------------------------------------


def test_a_net_that_was_changed_is_saved_with_what_built_it(small, tmp_path):
    net = built(MLP(8, 1), small)
    with pytest.raises(UserError, match=r"MLPNet does not know what built it.*blueprint=MLP\(width=64\), task=task"):
        net.save(tmp_path / "net")
    for half in ({"blueprint": MLP(8, 1)}, {"task": small}, {"blueprint": [], "task": small}):
        with pytest.raises(UserError, match="blueprint= and task= go together"):
            net.save(tmp_path / "net", **half)
    with pytest.raises(UserError, match=r"MLPNet was not saved.*biases\.0 as float32\[9\], and it has float32\[8\]"):
        net.save(tmp_path / "net", blueprint=MLP(9, 1), task=small)
    other = rc.tasks.Hyperteacher(rc.Subsets(7, 2))
    with pytest.raises(UserError, match=r"kernels\.0 as float32\[23, 8\]"):
        net.save(tmp_path / "net", blueprint=MLP(8, 1), task=other)
    assert not list(tmp_path.iterdir())


def test_settings_that_are_no_arrays_must_be_the_same(small, tmp_path):
    net = built(Transformer(16, 1, 2, 32, together=False), small)
    with pytest.raises(UserError, match=r"together=True.* differs in what is no array"):
        net.save(tmp_path / "net", blueprint=Transformer(16, 1, 2, 32), task=small)


def test_a_net_that_is_not_registered_or_needs_its_task_is_named(small, tmp_path, monkeypatch):
    @dataclass(frozen=True)
    class Curious(MLP):
        name: ClassVar[str] = "curious"

        def fresh(self, task, key, precision):
            return dataclasses.replace(super().fresh(task, key, precision), words=task.teacher_of_mine)

    net = built(MLP(8, 1), small)
    with pytest.raises(UserError, match=r"'curious' is not registered; `@recombine\.nets\.registry\.register"):
        net.save(tmp_path / "net", blueprint=Curious(8, 1), task=small)
    monkeypatch.setitem(nets.registry._things, "curious", MLP)
    with pytest.raises(UserError, match="'curious' is registered as something else"):
        net.save(tmp_path / "net", blueprint=Curious(8, 1), task=small)
    monkeypatch.setitem(nets.registry._things, "curious", Curious)
    with pytest.raises(UserError, match=r"'curious'.*more of its task.*teacher_of_mine"):
        net.save(tmp_path / "net", blueprint=Curious(8, 1), task=small)
    assert not list(tmp_path.iterdir())


def test_files_of_others_are_not_replaced(small, tmp_path):
    net = remember(built(MLP(8, 1), small), [Built(MLP(8, 1), small, "float32")])
    (tmp_path / "thesis").write_bytes(b"mine")
    (tmp_path / "model.safetensors").write_bytes(pack({"weight": np.ones(3)}, {}))
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    for name in ("thesis", "model.safetensors", "folder", "link"):
        with pytest.raises(UserError, match=f"{name} is there already and is no saved net.*another path"):
            net.save(tmp_path / name)
    with pytest.raises(UserError, match="cannot write"):
        net.save(tmp_path / "thesis" / "net")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


# -- what is not loaded -----------------------------------------------------------------------------------------------


@pytest.fixture
def saved(small, tmp_path):
    """A saved net, its arrays, and what its note says."""
    net = remember(built(MLP(8, 1), small), [Built(MLP(8, 1), small, "float32")])
    net.save(tmp_path / "net")
    arrays, notes = unpack(tmp_path / "net")
    return tmp_path / "net", arrays, json.loads(notes[NOTE])


def refused(path, data: bytes) -> str:
    path.write_bytes(data)
    with pytest.raises(UserError) as problem:
        rc.nets.load(path)
    text = str(problem.value)
    assert text.startswith(str(path)) and "\n" not in text and len(text) < 600
    return text


def packed(arrays, about) -> bytes:
    note = about if isinstance(about, str) else json.dumps(about)
    return pack(arrays, {NOTE: note, SUM: _sum(note)})


def test_files_that_are_damaged_or_of_others_are_refused_in_a_sentence(saved):
    path, arrays, about = saved
    whole = path.read_bytes()
    assert "no saved net" in refused(path, b"hello")
    assert "no saved net" in refused(path, b"")
    assert "no saved net" in refused(path, pack(arrays, {}))
    assert "rc.load(run).net(cell)" in refused(path, pack(arrays, {"made_by": "{}"}))
    assert "damaged" in refused(path, whole[:-7])
    assert "checksum" in refused(path, whole[:-1] + bytes([whole[-1] ^ 1]))
    assert "checksum" in refused(path, whole.replace(rb"\"depth\": 1", rb"\"depth\": 2"))
    header = json.dumps({"a": {"dtype": "F8_E4M3", "shape": [2], "data_offsets": [0, 2]}}).encode()
    assert "no saved net" in refused(path, struct.pack("<Q", len(header)) + header + b"ab")
    assert "2.0" in refused(path, packed(arrays, about | {"format": 99, "version": "2.0"}))
    for nothing in (path.parent, path.parent / "nowhere"):
        with pytest.raises(UserError, match=r"is no file; net\.save\(path\) writes one"):
            rc.nets.load(nothing)


def test_arrays_must_be_those_of_the_net(saved):
    path, arrays, about = saved
    kernel = arrays["kernels.0"]
    assert "biases.0" in refused(path, packed({k: v for k, v in arrays.items() if k != "biases.0"}, about))
    assert "more" in refused(path, packed(arrays | {"more": kernel}, about))
    assert "float64" in refused(path, packed(arrays | {"kernels.0": kernel.astype(np.float64)}, about))
    assert str(list(kernel.T.shape)) in refused(path, packed(arrays | {"kernels.0": kernel.T.copy()}, about))


def test_what_a_file_says_is_not_trusted(saved):
    path, arrays, about = saved
    (stage,) = about["stages"]

    def with_net(**changes):
        return packed(arrays, about | {"stages": [stage | {"net": stage["net"] | changes}]})

    def with_task(**changes):
        return packed(arrays, about | {"stages": [stage | {"task": stage["task"] | changes}]})

    assert "os.system" in refused(path, with_net(net="os.system"))
    assert "unknown net" in refused(path, with_net(net=["mlp"]))
    assert "unknown net" in refused(path, with_net(net={"net": "mlp"}))
    assert "no_such_field" in refused(path, with_net(no_such_field=1))
    assert "depth='x'" in refused(path, with_net(depth="x"))
    assert "too small for that" in refused(path, with_net(depth=10**9))
    assert "too small for that" in refused(path, with_net(width=-(10**9)))
    code = {"shape": [1, 10**12], "dtype": "float32"}
    assert "too small for that" in refused(path, with_task(shapes=stage["task"]["shapes"] | {"code": code}))
    code = {"shape": [1, 6], "dtype": "object"}
    assert "object" in refused(path, with_task(shapes=stage["task"]["shapes"] | {"code": code}))
    assert "shape=-6" in refused(
        path, with_task(shapes=stage["task"]["shapes"] | {"code": code | {"shape": [1, -6], "dtype": "int32"}})
    )
    for words in ([], {"code": "many"}, None):
        refused(path, with_task(words=words))
    for wrong in ("{", "[]", "null", "[" * 100_000, "{}", '{"format": "1"}', '{"format": 1, "stages": []}'):
        refused(path, packed(arrays, wrong))
    for stages in ([None], [{}], [{"net": {}, "precision": "float32", "task": stage["task"]}], "mlp", {"a": 1}):
        refused(path, packed(arrays, about | {"stages": stages}))
    refused(path, packed(arrays, about | {"stages": [stage | {"precision": "float8"}]}))
