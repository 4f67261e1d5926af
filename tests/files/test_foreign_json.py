"""JSON of strangers: bounded, typed, and refused in one sentence."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from damaged_bytes import damaged
from harness import records, undisturbed

import recombine
from recombine.errors import UserError
from recombine.exporting.export_card import open_export
from recombine.files.foreign_json import NotJson, json_object, parsed_json, require_fields
from recombine.files.owned_folder import refuse_occupied
from recombine.lab.cells import canonical
from recombine.lab.driver.locks import Watch
from recombine.lab.found_stores import open_all
from recombine.lab.record import DamagedRecord, Failure, Record, _sum
from recombine.lab.settings import parsed
from recombine.lab.status import status_of
from recombine.lab.store import Store
from recombine.lab.synthetic import Synthetic
from recombine.studies import registry

STUDIES = {"synthetic": Synthetic()}
BAD = [
    "",
    "[",
    "[" * 100_000,
    '{"a":' * 50_000,
    '{"a": NaN}',
    '{"a": 1, "a": 2}',
    "\udcff",
    "9" * 5000,
    '"x"',
    "0",
    "null",
]


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_what_is_no_object_is_refused(text):
    with pytest.raises(UserError) as caught:
        json_object(text.encode("utf-8", "surrogateescape"), "file.json")
    assert "file.json" in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 300


def test_fields_have_types():
    kinds = {"n": int, "s": str}
    assert require_fields({"n": 1, "s": "x", "more": []}, kinds)["n"] == 1
    for wrong in ({"n": 1}, {"n": True, "s": "x"}, {"n": 1.0, "s": "x"}, {"n": 2**70, "s": ""}, [], 3, None):
        with pytest.raises(NotJson):
            require_fields(wrong, kinds)
    assert require_fields({}, kinds, optional=True) == {}
    assert parsed_json("[NaN]", nan=True) != [0]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store") / "s"
    undisturbed(folder, seeds=1, changes={"cells": 2})
    return folder


ABOUT = {
    "settings": [0, [], "x", None],
    "seeds": ["3", 0, -1, 2**80, True, 1.5],
    "scale": [1, "huge"],
    "version": ["x"],
    "study": [7, "none"],
    "format": ["2", 99, None],
}


@pytest.mark.parametrize("name", ABOUT)
def test_one_damaged_store_is_named_and_the_others_are_shown(name, whole, tmp_path):
    (tmp_path / "good").symlink_to(whole)
    about = json.loads((whole / "store.json").read_text())
    for number, value in enumerate(ABOUT[name]):
        folder = tmp_path / f"bad{number}"
        folder.mkdir()
        (folder / "store.json").write_text(json.dumps(about | {name: value}))
    results, unread = open_all([tmp_path], STUDIES)
    assert [result.study.id for result in results] == ["synthetic"]
    assert len(unread) == len(ABOUT[name]) and all("\n" not in why and len(why) < 500 for _, why in unread)


def test_settings_of_a_store_are_of_their_types(whole, tmp_path):
    about = json.loads((whole / "store.json").read_text())
    for value in ("two", [], {}, True, 1e999, 2**70):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        text = json.dumps(about | {"settings": about["settings"] | {"cells": value}})
        (folder / "store.json").write_text(text)
        with pytest.raises(UserError):
            status_of(folder, STUDIES) if value == 1e999 else open_all_or_raise(folder)


def open_all_or_raise(folder):
    results, unread = open_all([folder], STUDIES)
    assert not results
    raise UserError(unread[0][1])


def test_a_record_of_another_cell_is_damaged_though_its_checksum_is_right(whole):
    name, data = next(iter(records(whole).items()))
    id, body = name.removesuffix(".json"), json.loads(data)
    assert Record.from_bytes(data, id).cell.id == id
    body["cell"]["spec"]["seed"] += 1
    body.pop("sum")
    with pytest.raises(DamagedRecord, match="hash"):
        Record.from_bytes((canonical(body | {"sum": _sum(body)}) + "\n").encode(), id)


def test_damaged_records_failures_drivers_and_manifests_raise_nothing_else(whole, tmp_path):
    name, data = next(iter(records(whole).items()))
    record = Record.from_bytes(data)
    failure = Failure(record.cell, "error", "traceback").to_bytes()
    store = Store.open(whole)
    said = canonical({"process": "a.b.c.1.2", "beat": 1, "done": 1, "total": 2, "running": ["x"], "rate": 0.5}).encode()
    rng = np.random.default_rng(0)
    for number in range(200):
        with pytest.raises(DamagedRecord):
            Record.from_bytes(damaged(data, rng) + b"x", name.removesuffix(".json"))
        found = Failure.from_bytes(damaged(failure, rng))
        assert found is None or isinstance(found.error, str)
        store.files.write("drivers/d.json", damaged(said, rng), durable=False)
        status_of(whole, STUDIES, Watch(store.files)).line()
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "m.json").write_bytes(damaged(b'{"kind": "k", "files": {"x": "y"}}', rng))
        with pytest.raises(UserError):
            refuse_occupied(folder, "m.json", "k", False)
    store.files.remove("drivers/d.json")


@pytest.mark.parametrize("said", [{"done": "x", "total": "y"}, {"running": [3]}, {"rate": "fast"}, {"memory": []}])
def test_a_driver_file_with_other_types_stops_no_status(said, whole):
    from recombine.machine.processes import this_process

    other = str(this_process()).replace(str(this_process()).split(".")[0], "00000000")  # of another machine
    store = Store.open(whole)
    store.files.write("drivers/d.json", canonical({"process": other, "beat": 1} | said).encode(), durable=False)
    assert "done" in status_of(whole, STUDIES).line()
    store.files.remove("drivers/d.json")


LARGE = [
    "width=1000000000",
    "depth=100000",
    "modules=100000000000",
    "tasks=100000000000",
    "steps=inf",
    "steps=1e400",
    "learning_rate=inf",
    "learning_rate=nan",
    "net.bogus=1e999",
    "support=" + "x" * 6000,
    "x" * 6000 + "=1",
    "recipe.steps=" + "9" * 400,
]


@pytest.mark.parametrize("change", LARGE, ids=[change[:20] for change in LARGE])
def test_settings_that_no_study_can_have_are_refused_at_once(change):
    name, _, value = change.partition("=")
    study = registry["supports"]
    with pytest.raises(UserError) as caught:
        study.settings("smoke", {name: value})
        study.cells(study.settings("smoke", {name: value}), 1)
    assert len(str(caught.value)) < 600 and "\n" not in str(caught.value)


def test_values_of_settings_that_are_no_text_have_types_too():
    for usual, good, bad in ((3, 4, "x"), (0.5, 1, "x"), (True, False, 1), ("word", "other", 3), ([1, 2], [3], 3)):
        assert parsed("name", good, usual) == good
        if not isinstance(bad, str):
            with pytest.raises(UserError, match="name="):
                parsed("name", bad, usual)


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_the_card_of_an_export_may_be_anything(text, tmp_path):
    (tmp_path / "card.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError) as caught:
        open_export(tmp_path)
    assert "recombine export" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("text", BAD[1:4] + BAD[7:8], ids=str.__len__)
def test_a_setting_of_unknown_type_may_be_any_text(text):
    assert parsed("x", text, None) == text


#: where json.loads may be called: on what our own process has just written, or what came with this version
OURS = {
    "files/foreign_json.py": "the one place for what others wrote",
    "audit/prior.py": "the table that is shipped",
    "bench/sequence_speed.py": "what our own script says that times torch",
    "bench/torch_twin.py": "that script: batches that the bench has written for it",
    "lab/driver/worker.py": "orders of the driver, by a pipe of their own",
    "lab/driver/engines/local_processes.py": "events of a worker, by a pipe of their own",
    "lab/driver/engines/ray_actor.py": "the same on a node of a cluster, which may not have recombine",
    "lab/driver/engines/ray_engine.py": "what our own actor says",
    "trials/possible.py": "text that was made of data to be hashable",
    "testing/part_checks.py": "text that was made just before",
    "testing/core_seconds.py": "the same, as work whose time is taken",
}


def test_json_is_read_in_one_place():
    root = Path(recombine.__file__).parent
    found = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if re.search(r"json\.loads?\(", path.read_text())
    }
    assert found == set(OURS)
