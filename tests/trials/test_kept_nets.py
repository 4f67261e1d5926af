"""Kept nets: trained once, found by whoever begins in the same way, and never worth a run."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import dataclass
from typing import ClassVar

import pytest
from kept_bases import BASE, WORLD, counting

from recombine.errors import UserError
from recombine.files.arrays import pack, unpack
from recombine.files.local import alone_in
from recombine.machine.processes import this_process
from recombine.nets import MLP, Blueprint
from recombine.trials import Context, KeptNets, Trial, kept, load_kept, measure
from recombine.trials.kept import megabytes, remove_oldest


@pytest.fixture
def here(tmp_path, monkeypatch):
    return counting(tmp_path, monkeypatch)


def context(folder, cell="cell"):
    return Context(checkpoint=folder / "checkpoints" / cell)


def trial(*stages, **changes):
    return Trial(**({"world": WORLD, "support": {"name": "random"}, "stages": [*stages], "seed": 0} | changes))


def test_the_second_time_nothing_is_trained_and_every_reading_is_the_same(here):
    folder, trained = here
    first = measure(trial(BASE), context(folder / "one"))
    second = measure(trial(BASE), context(folder / "one", "another"))
    elsewhere = measure(trial(BASE), context(folder / "two"))  # another study: by the shared folder
    assert trained == [0]
    assert len(list((folder / "two" / "nets").glob("*.safetensors"))) == 1  # a store has the nets of its cells
    assert first.rows == second.rows == elsewhere.rows
    assert first.facts == second.facts


def test_two_trials_that_share_a_base_train_it_once(here):
    folder, trained = here
    for rate in (0.1, 0.2):
        top = {"net": {"name": "scaled"}, "recipe": BASE["recipe"] | {"learning_rate": rate}}
        measure(trial(BASE, top), context(folder / "one"))
    assert len(trained) == 3  # the base, and what is on top of it twice
    measure(trial(BASE), context(folder / "two"))
    assert len(trained) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"support": {"name": "random", "held_out": 0.5}},
        {"world": WORLD | {"inputs": 5}},
        {"stages": [BASE | {"recipe": BASE["recipe"] | {"steps": 31}}]},
        {"stages": [BASE | {"net": {"name": "mlp", "width": 17, "depth": 1}}]},
    ],
)
def test_another_trial_has_another_net(here, change):
    folder, trained = here
    measure(trial(BASE), context(folder))
    measure(trial(BASE, **change), context(folder))
    assert len(trained) == 2


def test_an_edited_net_of_ones_own_is_another_net(here, monkeypatch):
    folder, trained = here
    own = trial({"net": {"name": "scaled"}, "recipe": BASE["recipe"]})
    measure(own, context(folder))
    measure(own, context(folder))
    assert len(trained) == 1
    monkeypatch.setattr("inspect.getsource", lambda module: "the same file, with another line")
    measure(own, context(folder))
    assert len(trained) == 2


def test_a_net_within_another_is_part_of_what_makes_it():
    @dataclass(frozen=True)
    class Around(Blueprint):
        name: ClassVar[str] = "around"
        of: Blueprint

    @dataclass(frozen=True)
    class Alike(MLP):
        name: ClassVar[str] = "alike"

    around = [Around(MLP(8, 1)).to_json(), Around(Alike(8, 1)).to_json()]
    assert around[0] != around[1] and around[0]["of"]["net"] == "mlp"


def test_history_is_that_of_the_trial_whatever_was_kept_before(here):
    folder, trained = here
    two = trial(BASE, {"net": BASE["net"], "recipe": BASE["recipe"] | {"steps": 12, "evaluations": 2}})
    fresh = measure(two, Context())
    measure(trial(BASE), context(folder))
    begun = measure(two, context(folder))
    assert begun.rows == fresh.rows
    assert [row["step"] for row in begun.rows if row["reading"] == "history"] == [6, 6, 12, 12]
    assert len(load_kept(the_file(folder)).history) == 10 + 2


def test_stages_of_two_precisions_are_kept_and_loaded(here):
    folder, _ = here
    second = {"net": BASE["net"], "recipe": BASE["recipe"] | {"precision": "bfloat16"}}
    found = measure(trial(BASE, second), context(folder))
    assert float(load_kept(the_file(folder)).score("held_out")) == found.facts["held_out"]


def test_a_last_stage_with_its_own_split_is_judged_by_it(here):
    folder, _ = here
    last = {"net": BASE["net"], "recipe": BASE["recipe"], "support": {"name": "disconnected"}}
    found = measure(trial(BASE, last), context(folder))
    cross = [r["value"] for r in found.rows if r["group"] == "cross-block" and r["metric"] == "r2"]
    assert found.facts["held_out"] == cross[0]
    other = trial(BASE, BASE | {"support": {"name": "random"}}, support={"name": "disconnected"})
    assert measure(other, context(folder)).facts["held_out"] is not None


def test_a_file_is_believed_by_what_made_it_and_not_by_its_name(here):
    folder, trained = here
    measure(trial(BASE, seed=1), context(folder))
    arrays, notes = unpack(the_file(folder))
    wanted = measure(trial(BASE, seed=2), Context()).facts["net"]
    path = folder / "nets" / f"{wanted}.safetensors"
    for other in (notes, notes | {"member": "[" * 100_000}, notes | {"made_by": "[" * 100_000}):
        path.write_bytes(pack(arrays, other))
        with pytest.warns(UserWarning, match="set aside"):
            measure(trial(BASE, seed=2), context(folder))
        path.unlink()
        (folder / "shared" / path.name).unlink()


def test_what_is_frozen_is_not_written_again(here):
    folder, _ = here
    measure(trial(BASE, {"net": {"name": "scaled"}, "recipe": BASE["recipe"]}), context(folder / "run"))
    files = sorted((folder / "run" / "nets").glob("*.safetensors"), key=lambda path: path.stat().st_mtime)
    base, top = (set(unpack(path)[0]) for path in files)
    assert "scored/kernels.0" in base
    assert top == {"scored/scale"}


def test_a_damaged_net_is_named_set_aside_and_made_again(here):
    folder, trained = here
    whole = measure(trial(BASE), context(folder / "run"))
    for path in (*(folder / "run" / "nets").glob("*"), *(folder / "shared").glob("*.safetensors")):
        data = bytearray(path.read_bytes())
        data[-3] ^= 0xFF
        path.unlink()
        path.write_bytes(data)
    with pytest.warns(UserWarning, match=r"\.safetensors was set aside as .*\.damaged.*made again"):
        again = measure(trial(BASE), context(folder / "run"))
    assert len(trained) == 2 and again.rows == whole.rows
    assert list((folder / "run" / "nets").glob("*.damaged"))


def test_a_full_disk_costs_a_sentence_and_not_the_run(here, monkeypatch):
    folder, _ = here

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("recombine.trials.kept.write_whole", full)
    with pytest.warns(UserWarning, match=r"was not kept: No space left"):
        assert measure(trial(BASE), context(folder)).rows


def test_a_full_disk_of_the_shared_folder_does_not_say_that_the_net_is_lost(here, monkeypatch):
    folder, trained = here
    real = kept.write_whole

    def full(path, *arguments, **options):
        if path.parent == folder / "shared":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(path, *arguments, **options)

    def other_file_system(source, *arguments, **options):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr("recombine.trials.kept.write_whole", full)
    monkeypatch.setattr(kept.KeptNets, "lock", lambda self, key: contextlib.nullcontext())  # which links, too
    monkeypatch.setattr(os, "link", other_file_system)
    with pytest.warns(UserWarning, match=r"is kept, and not shared in .*No space left.*recombine clean"):
        measure(trial(BASE), context(folder))
    measure(trial(BASE), context(folder))
    assert trained == [0]


def test_no_nets_are_kept_where_none_may_be(here, monkeypatch):
    folder, trained = here
    monkeypatch.setenv("RECOMBINE_NETS", "0")
    for _ in range(2):
        measure(trial(BASE), context(folder))
    assert trained == [0, 0] and not (folder / "nets").exists()
    monkeypatch.setenv("RECOMBINE_NETS", "many")
    with pytest.raises(UserError, match=r"RECOMBINE_NETS='many'.*2000"):
        measure(trial(BASE), context(folder))


def test_the_nets_used_longest_ago_go_first(tmp_path):
    for number in range(4):
        path = tmp_path / f"{number}.safetensors"
        path.write_bytes(bytes(2**20))
        os.utime(path, (number, number))
    assert megabytes(tmp_path) == 4
    assert remove_oldest(tmp_path, 2.5) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2.safetensors", "3.safetensors"]


def test_a_lock_is_waited_for_while_its_holder_lives(tmp_path):
    kept = KeptNets(tmp_path)
    order = []

    def hold():
        with kept.lock("net"):
            order.append("first")
            time.sleep(0.5)
            order.append("first is done")

    thread = threading.Thread(target=hold)
    thread.start()
    while not order:
        time.sleep(0.01)
    with kept.lock("net"):
        order.append("second")
    thread.join()
    assert order == ["first", "first is done", "second"]
    assert not list(tmp_path.iterdir())


def process_that_is_gone():
    script = "from recombine.machine.processes import this_process; print(this_process())"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return found.stdout.strip()


def test_of_many_who_find_a_dead_holder_one_at_a_time_holds_the_lock(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "LOOK_AGAIN", 0.001)
    gone = process_that_is_gone()
    inside, most = [], []

    def hold():
        with KeptNets(tmp_path).lock("net"):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.002)
            inside.pop()

    for _ in range(20):
        (tmp_path / "net.lock").write_text(gone)
        threads = [threading.Thread(target=hold) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert most == [1] * 100
    assert not list(tmp_path.glob("*"))


def test_who_would_break_a_lock_looks_again_when_it_is_its_turn(tmp_path):
    """Two find a holder that is gone; when it is the second one's turn, a third has the lock already."""
    lock = tmp_path / "net.lock"
    lock.write_text(process_that_is_gone())
    late = threading.Thread(target=kept._break_if_abandoned, args=[lock])
    with alone_in(tmp_path):
        late.start()
        time.sleep(0.1)  # long enough for it to have broken the lock, did it not wait
        assert lock.exists()
        lock.write_text("a new holder")
    late.join()
    assert lock.read_text() == "a new holder"


def test_the_lock_of_a_process_that_is_gone_holds_nothing(tmp_path):
    gone = process_that_is_gone()
    assert gone != str(this_process())
    (tmp_path / "net.lock").write_text(gone)
    begun = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with KeptNets(tmp_path).lock("net"):
            assert (tmp_path / "net.lock").read_text().startswith(f"{this_process()} ")
    assert time.monotonic() - begun < 5


# -- what is kept, loaded by a user --------------------------------------------------------------------------------


def the_file(folder):
    return max((folder / "nets").glob("*.safetensors"), key=lambda path: path.stat().st_mtime)


def test_a_kept_net_is_loaded_with_its_world_its_split_and_its_history(here):
    folder, trained = here
    found = measure(trial(BASE), context(folder))
    run = load_kept(the_file(folder))
    score = run.score("held_out")
    assert float(score) == found.facts["held_out"] and score.metric == "r2"
    assert run.support.train.size == found.facts["trained_on"] and len(run.history)
    assert trained == [0]


def test_what_is_on_top_of_a_frozen_net_is_loaded_with_it(here):
    folder, _ = here
    found = measure(trial(BASE, {"net": {"name": "scaled"}, "recipe": BASE["recipe"]}), context(folder / "run"))
    path = the_file(folder / "run")
    assert float(load_kept(path).score("held_out")) == found.facts["held_out"]
    for base in (*(folder / "run" / "nets").glob("*.safetensors"), *(folder / "shared").glob("*.safetensors")):
        if base.name != path.name:
            base.unlink()
    with pytest.raises(UserError, match="not kept any more.*recombine run"):
        load_kept(path)


def test_files_that_are_no_kept_nets_are_refused_in_a_sentence(here):
    folder, _ = here
    measure(trial(BASE), context(folder))
    arrays, notes = unpack(the_file(folder))
    made_by = json.loads(notes["made_by"])
    broken = {
        "no safetensors": b"hello",
        "nothing of ours": pack(arrays, {}),
        "another world": pack(arrays, notes | {"made_by": json.dumps(made_by | {"world": {"name": "os.system"}})}),
        "no JSON": pack(arrays, notes | {"made_by": "{"}),
        "a list": pack(arrays, notes | {"made_by": "[]"}),
        "an array less": pack({k: v for k, v in arrays.items() if "biases" not in k}, notes),
    }
    for name, data in broken.items():
        path = folder / f"{name}.safetensors"
        path.write_bytes(data)
        with pytest.raises(UserError):
            load_kept(path)
    with pytest.raises(UserError, match="os.system"):
        load_kept(folder / "another world.safetensors")
