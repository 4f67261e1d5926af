"""The lab: one immutable record per cell, the same on every engine, whole or absent."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interruptible import INTERRUPTIBLE
from small_studies import coin

import recombine as rc
from recombine.context import Context
from recombine.errors import UserError
from recombine.files import TEMPORARY, write_whole
from recombine.lab.cells import Cell
from recombine.lab.driver.engines import parse_engine
from recombine.lab.driver.run import default_folder, run_again, run_study
from recombine.lab.record import DamagedRecord, Record
from recombine.lab.reopening import reopen
from recombine.lab.store import Store
from recombine.studies import registry

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, st.text())
@settings(deadline=None)
def test_a_record_comes_back_as_it_was(value, name):
    record = Record(Cell("s", 1, {"x": value, name: 1}), [{"reading": name, "value": 1.5}], {"f": value}, {"jax": "1"})
    again = Record.from_bytes(record.to_bytes())
    assert again == record and again.cell.id == record.cell.id


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_value_that_is_no_number_comes_back_undefined(value):
    again = Record.from_bytes(Record(Cell("s", 1, {}), [{"value": value}], {}, {}).to_bytes())
    assert again.rows[0]["value"] != again.rows[0]["value"]


def test_identity_depends_on_spec_and_version_only_and_not_on_order():
    assert Cell("s", 1, {"a": 1, "b": 2}).id == Cell("s", 1, {"b": 2, "a": 1}).id
    ids = {Cell("s", 1, {"a": 1}).id, Cell("s", 2, {"a": 1}).id, Cell("t", 1, {"a": 1}).id, Cell("s", 1, {"a": 2}).id}
    assert len(ids) == 4


def test_every_flipped_byte_and_every_cut_is_noticed():
    data = Record(Cell("s", 1, {"seed": 0}), [{"value": 0.25}], {}, {"jax": "1"}).to_bytes()
    for position in range(0, len(data) - 1, 3):
        flipped = bytearray(data)
        flipped[position] ^= 1
        with pytest.raises(DamagedRecord):
            Record.from_bytes(bytes(flipped))
        with pytest.raises(DamagedRecord):
            Record.from_bytes(data[:position])


def test_the_same_run_again_computes_nothing_and_more_seeds_only_the_new_ones(tmp_path):
    study = coin(ran=(ran := []))
    first = run_study(study, "smoke", seeds=3, out=tmp_path / "s", quiet=True)
    assert len(ran) == 6 and first.verdicts[0].interval.mean == 2
    again = run_study(study, "smoke", seeds=3, out=tmp_path / "s", quiet=True)
    assert len(ran) == 6 and again.to_json() == first.to_json()
    run_study(study, "smoke", seeds=6, out=tmp_path / "s", quiet=True)
    assert len(ran) == 12
    run = rc.load(tmp_path / "s")
    table = run.table
    assert len(table) == 12 and set(table.side) == {"a", "b"} and table.value.tolist() == (table.seed + 1.0).tolist()
    assert run.query("select max(value) as top from readings").top[0] == 6.0


@pytest.mark.parametrize(
    "sql", ["select nothing from readings", "copy readings to 'x.csv'", "select * from 'store.json'"]
)
def test_a_query_sees_the_readings_and_nothing_else(tmp_path, sql):
    run_study(coin(), "smoke", out=tmp_path / "s", quiet=True)
    with pytest.raises(rc.UserError, match="query failed"):
        rc.load(tmp_path / "s").query(sql)


@pytest.mark.parametrize("damage", ["truncated", "empty", "flipped", "foreign"])
def test_a_damaged_record_is_set_aside_and_its_cell_runs_again(tmp_path, damage):
    study, folder = coin(ran=(ran := [])), tmp_path / "s"
    whole = run_study(study, "smoke", seeds=3, out=folder, quiet=True)
    path = sorted((folder / "records").iterdir())[0]
    data = path.read_bytes()
    changed = {
        "truncated": data[:-20],
        "empty": b"",
        "flipped": data.replace(b"toss", b"tosz"),
        "foreign": sorted((folder / "records").iterdir())[1].read_bytes(),
    }[damage]
    path.write_bytes(changed)
    with pytest.warns(UserWarning, match=path.name):
        assert len(rc.load(folder).table) == 5, "the others still load"
    assert path.read_bytes() == changed, "loading must not touch the store"
    with pytest.warns(UserWarning, match="quarantine"):
        again = run_study(study, "smoke", seeds=3, out=folder, quiet=True)
    assert len(ran) == 7 and again.to_json() == whole.to_json()
    assert (folder / "quarantine" / path.name).read_bytes() == changed


def test_a_cell_that_fails_does_not_stop_the_others(tmp_path):
    broken = ["a"]
    study = coin(broken=broken)
    result = run_study(study, "smoke", seeds=3, out=tmp_path / "s", quiet=True)
    assert len(result.failures) == 3 and len(result.records) == 3
    assert "the coin broke" in result.failures[0].error and "measure" in result.failures[0].traceback
    broken.clear()
    assert not run_study(study, "smoke", seeds=3, out=tmp_path / "s", quiet=True).failures


def test_a_folder_of_another_run_or_no_store_is_refused(tmp_path):
    run_study(coin(), "smoke", out=tmp_path / "s", quiet=True)
    for changes, scale in (({"bias": 2.0}, "smoke"), ({}, "laptop")):
        with pytest.raises(rc.UserError, match="another run"):
            run_study(coin(), scale, changes=changes, out=tmp_path / "s", quiet=True)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    with pytest.raises(rc.UserError, match="not a store"):
        run_study(coin(), "smoke", out=tmp_path / "full", quiet=True)
    with pytest.raises(rc.UserError, match=r"no store\.json"):
        rc.load(tmp_path / "nowhere")


def test_a_store_of_another_format_is_named_and_left_alone(tmp_path):
    run_study(coin(), "smoke", out=tmp_path / "s", quiet=True)
    marker = tmp_path / "s" / "store.json"
    newer = marker.read_bytes().replace(b'"format":2', b'"format":7')
    marker.write_bytes(newer)
    for attempt in (
        lambda: rc.load(tmp_path / "s"),
        lambda: run_study(coin(), "smoke", out=tmp_path / "s", quiet=True),
    ):
        with pytest.raises(rc.UserError, match="format 7"):
            attempt()
    assert marker.read_bytes() == newer
    marker.write_bytes(b"{")
    with pytest.raises(rc.UserError, match="damaged"):
        rc.load(tmp_path / "s")


def test_a_full_disk_is_one_sentence_and_loses_nothing(tmp_path, monkeypatch):
    store = Store.create(tmp_path / "s", {"study": "coin"})
    record = Record(Cell("coin", 1, {"seed": 0}), [], {}, {})
    store.put(record)

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(rc.UserError, match="disk is full"):
        store.put(Record(Cell("coin", 1, {"seed": 1}), [], {}, {}))
    monkeypatch.undo()
    assert [r.cell.id for r in store.records()] == [record.cell.id]
    assert not [p for p in (tmp_path / "s").rglob("*") if p.name.startswith(TEMPORARY)]


def test_a_write_is_whole_or_absent(tmp_path, monkeypatch):
    path = tmp_path / "x"
    write_whole(path, b"old")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(5, "broken")))
    with pytest.raises(OSError):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_unknown_settings_scales_and_engines_get_the_near_name():
    with pytest.raises(rc.UserError, match="'bias'"):
        coin().settings("smoke", {"bais": 1})
    with pytest.raises(rc.UserError, match="laptop"):
        coin().settings("labtop")
    with pytest.raises(rc.UserError, match="is not a number"):
        coin().settings("smoke", {"bias": "much"})
    for text in ("cluster", "local:0", "local:x", "inprocess:2"):
        with pytest.raises(rc.UserError, match="unknown engine"):
            parse_engine(text)


def test_default_folder_tells_changed_settings_apart():
    folders = {default_folder(coin(), "smoke", changes) for changes in ({}, {"bias": "2"}, {"bias": "3"})}
    assert len(folders) == 3 and Path("runs/coin-smoke") in folders


@pytest.fixture(scope="module")
def tiny() -> dict:
    return {"support": ["random", "disconnected"], "steps": 30, "modules": 6, "at_most": 2, "width": 16}


def test_every_engine_gives_the_same_record(tmp_path, tiny):
    study = registry["supports"]
    results = [
        run_study(study, "smoke", seeds=1, changes=tiny, out=tmp_path / engine, engine=engine, quiet=True)
        for engine in ("inprocess", "local:2")
    ]
    assert not results[1].failures, results[1].failures
    for a, b in zip(results[0].records, results[1].records, strict=True):
        assert a.cell == b.cell and a.rows == b.rows
    assert reopen(tmp_path / "local:2", registry).to_json()["verdicts"] == results[0].to_json()["verdicts"]


def test_a_worker_that_dies_fails_its_cell_and_the_others_finish(tmp_path, tiny, monkeypatch):
    """The first worker is killed as soon as it has a cell."""
    from recombine.lab.driver.engines.local_processes import Worker

    give, killed = Worker.give, []

    def give_and_kill(self, cell, checkpoint):
        give(self, cell, checkpoint)
        if not killed:
            killed.append(cell.id)
            self.process.kill()

    monkeypatch.setattr(Worker, "give", give_and_kill)
    result = run_study(
        registry["supports"], "smoke", seeds=2, changes=tiny, out=tmp_path / "s", engine="local:1", quiet=True
    )
    assert [failure.cell.id for failure in result.failures] == killed and "ended with code" in result.failures[0].error
    assert len(result.records) == 3


def test_workers_that_cannot_start_fail_every_cell(tmp_path, tiny, monkeypatch):
    monkeypatch.setattr("recombine.lab.driver.engines.local_processes.sys.executable", shutil.which("false"))
    result = run_study(registry["supports"], "smoke", seeds=1, changes=tiny, engine="local:2", quiet=True)
    assert len(result.failures) == 2 and not result.records


@pytest.mark.parametrize(
    "about",
    [
        {},
        {"study": "supports"},
        {"scale": "[/x]"},
        {"scale": "\x1b[31m"},
        {"settings": {"widht": 3}},
        {"version": 99},
        {"study": "magic"},
        {"seeds": "three"},
        {"settings": {"support": []}},
    ],
)
def test_a_store_with_odd_content_is_refused_in_one_sentence(tmp_path, tiny, about):
    study = registry["supports"]
    whole = {"study": study.id, "version": study.version, "scale": "smoke", "settings": tiny, "seeds": 1}
    incomplete = not about or about == {"study": "supports"}
    Store.create(tmp_path / "s", about if incomplete else whole | about)
    with pytest.raises(rc.UserError) as refusal:
        reopen(tmp_path / "s", registry)
    assert "\n" not in str(refusal.value) and "\x1b" not in str(refusal.value)


@pytest.mark.parametrize(
    "change", [{"format": 3}, {"rows": [{"value": "x"}]}, {"rows": [1]}, {"facts": 3}, {"cell": {}}]
)
def test_a_forged_record_is_no_record(change):
    from recombine.lab.cells import canonical
    from recombine.lab.record import _sum

    body = json.loads(Record(Cell("s", 1, {"seed": 0}), [{"value": 0.25}], {}, {}).to_bytes()) | change
    body.pop("sum")
    with pytest.raises(DamagedRecord):
        Record.from_bytes(canonical(body | {"sum": _sum(body)}).encode())


def test_fewer_seeds_than_before_forget_nothing(tmp_path):
    run_study(coin(), "smoke", seeds=3, out=tmp_path / "s", quiet=True)
    with pytest.warns(UserWarning, match="was begun with 3 seeds, so all of them count"):
        again = run_study(coin(), "smoke", seeds=1, out=tmp_path / "s", quiet=True)
    assert len(again.records) == len(reopen(tmp_path / "s", {"coin": coin()}).records) == 6
    assert again.extent.complete and not again.extent.damaged


def test_a_record_that_is_merely_not_part_of_a_result_is_not_called_damaged(tmp_path):
    whole = run_study(coin(), "smoke", seeds=3, out=tmp_path / "s", quiet=True)
    part = dataclasses.replace(whole, records=whole.records[:4])  # as a page sees it that is made while cells come in
    later = dataclasses.replace(part)
    assert (part.extent.damaged, part.extent.absent) == (0, 2)
    path = tmp_path / "s" / "records" / f"{whole.records[5].cell.id}.json"
    path.write_bytes(path.read_bytes()[:50])
    assert (later.extent.damaged, later.extent.absent) == (1, 1)


def test_another_run_in_the_same_place_is_refused_by_what_differs(tmp_path):
    about = {"study": "s", "settings": {"width": 128, "depth": 2}, "scale": "smoke"}
    Store.create(tmp_path / "s", about)
    with pytest.raises(UserError, match=r"holds another run \(width is 128 there, not 64\)"):
        Store.create(tmp_path / "s", about | {"settings": {"width": 64, "depth": 2}})
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="there is a file where a folder is needed"):
        Store.create(tmp_path / "file" / "x", about)


def test_retry_runs_what_was_damaged(tmp_path):
    first = run_study(coin(), "smoke", seeds=2, out=tmp_path / "s", quiet=True)
    damaged, gone = (tmp_path / "s" / "records" / f"{record.cell.id}.json" for record in first.records[:2])
    damaged.write_bytes(b"{")
    gone.unlink()
    with pytest.warns(UserWarning, match="its cell runs again"):
        again = run_again(tmp_path / "s", {"coin": coin()}, quiet=True)
    assert damaged.exists() and not gone.exists() and again.extent.absent == 1


def test_ctrl_c_keeps_finished_cells_and_the_same_command_continues(tmp_path):
    command = [
        sys.executable,
        "-m",
        "recombine",
        "run",
        "supports",
        "--scale",
        "smoke",
        "--out",
        "s",
        "--engine",
        "local:1",
        "--seeds",
        "2",
        "--set",
        "support=random,missing",
        "steps=8000",
        "modules=6",
        "at_most=2",
        "width=16",
    ]  # each cell takes longer than it takes to notice the one before
    process = subprocess.Popen(
        [*INTERRUPTIBLE, *command], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    records = tmp_path / "s" / "records"
    until = time.monotonic() + 300
    while len(list(records.glob("*.json"))) < 1 and time.monotonic() < until and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    kept = {path.name: path.stat().st_mtime_ns for path in records.glob("*.json")}
    assert process.returncode == 130 and "the same command continues" in errors, errors
    assert 1 <= len(kept) < 4
    again = subprocess.run([*command, "--json"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert again.returncode == 0 and f"{len(kept)} of 4 cells were done before" in again.stderr, again.stderr
    assert {p.name: p.stat().st_mtime_ns for p in records.glob("*.json") if p.name in kept} == kept
    assert json.loads(again.stdout)["study"] == "supports" and len(list(records.glob("*.json"))) == 4


def test_a_cell_of_another_version_is_refused():
    with pytest.raises(rc.UserError, match="version 9"):
        coin().compute(Cell("coin", 9, {"seed": 0}), Context())


def test_a_damaged_checkpoint_is_named_and_goes_to_quarantine(tmp_path):
    """A cell whose state is harmed: empty, cut off, or noise. It starts again and gives the same record."""
    study = registry["supports"]
    tiny = {"support": ["random"], "steps": 8, "modules": 4, "at_most": 2, "width": 8, "evaluations": 2}
    asked = {"seeds": 1, "changes": tiny, "quiet": True}
    whole = run_study(study, "smoke", out=tmp_path / "whole", **asked)
    cell = whole.records[0].cell
    for number, harm in enumerate((b"", b"{", os.urandom(500))):
        folder = tmp_path / str(number)
        state = folder / "checkpoints" / cell.id / "seed-0.safetensors"
        state.parent.mkdir(parents=True)
        state.write_bytes(harm)
        with pytest.warns(UserWarning, match=r"seed-0\.safetensors"):
            again = run_study(study, "smoke", out=folder, **asked)
        assert again.records[0].rows == whole.records[0].rows
        assert [path.name for path in (folder / "quarantine").iterdir()] == [f"{cell.id}-seed-0.damaged"]
        assert not (folder / "checkpoints").exists()


@pytest.mark.parametrize("name", list(registry))
def test_cells_that_differ_in_their_seed_only_share_a_program(name):
    study = registry[name]
    cells = study.cells(study.settings("smoke"), 2)
    programs = [study.program(cell.spec) for cell in cells]
    half = len(cells) // 2
    assert programs[:half] == programs[half:] and all(study.cost(cell.spec) > 0 for cell in cells)


def test_a_worker_starts_without_a_word_of_warning():
    command = [sys.executable, "-W", "error::RuntimeWarning", "-m", "recombine.studies.study_worker", str(os.getpid())]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == '{"event": "ready"}\n' and not done.stderr
