"""Runs that were stored: their nets are found by cell, answer as when they were trained, and are shared by studies."""

from __future__ import annotations

import jax
import pytest
from kept_bases import BASE, WORLD, counting

import recombine as rc
from recombine.errors import UserError
from recombine.lab.axes import Arms
from recombine.lab.study import Study
from recombine.lab.verdicts import Claim, at_least
from recombine.nets import MLP
from recombine.trials import Measured, Trial

TOP = {"net": {"name": "scaled"}, "recipe": BASE["recipe"]}


@pytest.fixture
def here(tmp_path, monkeypatch):
    return counting(tmp_path, monkeypatch)


def middle(t):
    """Mean of all readings."""
    return t.value.mean()


def study(name, vary, **more):
    """A study of one claim on the base."""
    claim = Claim("large", middle, at_least(0.5), "Readings are large", "same-arms")
    parts = {"world": WORLD, "support": {"name": "random", "held_out": 0.25}, **BASE} | more
    return Study(id=name, title=name, question="?", source="ours", claims=[claim], vary=vary, keep=(), **parts)


def readings(**facts):
    return Measured([{"reading": "nothing", "value": 0.0}], {"seconds": 0.0, **facts})


def test_two_studies_that_share_a_base_train_it_once(here):
    folder, trained = here
    tops = {rate: TOP | {"recipe": BASE["recipe"] | {"learning_rate": rate}} for rate in (0.1, 0.2)}
    grown = Arms({f"rate {rate:g}": {"stages": [BASE, top]} for rate, top in tops.items()})
    first = rc.run(study("on-top", {"top": grown}), "smoke", seeds=2, out=folder / "one", quiet=True)
    assert len(trained) == 2 * (1 + 2)  # for each seed the base, and what is on top of it twice
    alone = rc.run(study("base", {"net.width": [16]}), "smoke", seeds=2, out=folder / "two", quiet=True)
    assert len(trained) == 6, "another study, into another folder, finds the base in the shared cache"
    rc.run(study("both", {"top": grown}), "smoke", seeds=2, out=folder / "three", quiet=True)
    assert len(trained) == 6
    assert not first.failures and not alone.failures and len(alone.records) == 2
    bases = {path.name for path in (folder / "two" / "nets").iterdir()}
    assert bases < {path.name for path in (folder / "one" / "nets").iterdir()}
    assert len(bases) == 2, "a store has the nets of its cells"


def test_the_net_of_a_cell_answers_as_the_trained_one(here):
    folder, trained = here
    result = rc.run(study("wide", {"net.width": [8, 16]}), "smoke", seeds=1, out=folder / "run", quiet=True)
    record = result.records[0]
    run, before = rc.load(folder / "run"), len(trained)
    found = run.trained(record.cell.id[:8])
    assert float(found.score("held_out")) == record.facts["held_out"]
    assert found.blueprint == MLP(8, 1) and found.support.train.size == record.facts["trained_on"]
    net = run.net(record.cell.id)
    data = Trial.from_json(record.cell.spec["trial"])
    again = rc.train(data.build_task(), data.build_support(), data.build_stages(), seeds=[0], progress=False).nets[0]
    batch = found.task.sample(jax.random.key(1), found.support.held_out.sample(jax.random.key(2), 8))
    for other in (again, found.nets[0]):
        assert (net.answer(batch.blind())[0] == other.answer(batch.blind())[0]).all()
    assert len(trained) == before + 1  # ours, to compare with
    net.save(folder / "net.safetensors")
    assert (rc.nets.load(folder / "net.safetensors").answer(batch.blind())[0] == net.answer(batch.blind())[0]).all()
    with pytest.raises(UserError, match="a net that a run kept; rc.load"):
        rc.nets.load(next((folder / "run" / "nets").glob("*.safetensors")))


def test_a_cell_without_a_net_is_named_with_what_would_help(here):
    folder, _ = here
    varied = {"support.held_out": [0.25, 0.99]}  # the second leaves too little to train on
    result = rc.run(study("few", varied), "smoke", seeds=1, out=folder / "run", quiet=True)
    run = rc.load(folder / "run")
    kept, impossible = (record.cell.id for record in result.records)
    for cell, remedy in (
        ("zzz", r"no cell of .*run begins with 'zzz'; the table has their ids"),
        ("", r"cell='' is the beginning of 2 cells of .*run; give more"),
        (impossible, f"nothing was trained in cell {impossible}: .*held_out"),
    ):
        with pytest.raises(UserError, match=remedy):
            run.net(cell)
    for path in (*(folder / "run" / "nets").iterdir(), *(folder / "shared").iterdir()):
        path.unlink()
    with pytest.raises(UserError, match=f"the net of cell {kept} is not kept any more; `recombine run` to a new"):
        run.net(kept)
    own = study("own", {}, measure=lambda spec, context: readings())
    rc.run(own, "smoke", seeds=1, out=folder / "own", quiet=True)
    with pytest.raises(UserError, match="is no trial"):
        rc.load(folder / "own").net("")


def test_a_name_of_a_net_that_leads_elsewhere_is_not_followed(here):
    folder, _ = here
    own = study("own", {}, measure=lambda spec, context: readings(net="../../nets/x"))
    rc.run(own, "smoke", seeds=1, out=folder / "own", quiet=True)
    (folder / "own" / "nets").mkdir()
    (folder / "own" / "nets" / "x.safetensors").write_bytes(b"")
    with pytest.raises(UserError, match="not kept any more"):
        rc.load(folder / "own").net("")
