"""A disk that fails, fills up, may only be read, or is gone: the store stays consistent and the same run goes on."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import time
from pathlib import Path

import pytest
from harness import (
    FailingDisk,
    FullDisk,
    PowerCut,
    ReadOnlyDisk,
    another_process,
    assert_whole,
    left_over,
    records,
    undisturbed,
)
from light import Logged

from recombine.errors import UserError
from recombine.files import TEMPORARY, LocalFiles, temporary
from recombine.lab.driver.run import run_again, run_study
from recombine.lab.loaded import load
from recombine.lab.reopening import reopen
from recombine.lab.store import Store
from recombine.machine.processes import Process, this_process
from recombine.report import render
from recombine.studies import registry

SMALL = {"seeds": 1, "changes": {"cells": 2}}
GOLDEN = Path(__file__).parent.parent / "golden" / "store-format-1"


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> dict[str, bytes]:
    return undisturbed(tmp_path_factory.mktemp("whole") / "s", **SMALL)


@pytest.fixture(scope="module")
def operations(tmp_path_factory) -> int:
    """How often a small run asks the disk for something."""
    disk = FailingDisk(0)
    run_study(Logged(), "smoke", out=LocalFiles(tmp_path_factory.mktemp("count") / "s", disk), quiet=True, **SMALL)
    return disk.asked


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
def test_whichever_operation_fails_the_store_is_consistent_and_goes_on(tmp_path, expected, operations, code):
    assert operations > 10
    stopped = 0
    for at in range(1, operations + 1):
        folder = tmp_path / str(at)
        try:
            run_study(Logged(), "smoke", out=LocalFiles(folder, FailingDisk(at, code)), quiet=True, **SMALL)
        except UserError as problem:
            stopped += 1
            assert ("disk is full" in str(problem)) == (code == errno.ENOSPC) and "\n" not in str(problem)
        assert_whole(folder, expected)
        assert not left_over(folder)
        assert undisturbed(folder, **SMALL) == expected, f"operation {at}"
    assert stopped > operations // 2, "most failures must be told"


def test_wherever_the_power_is_cut_the_store_is_consistent_and_goes_on(tmp_path, expected, operations):
    for at in range(1, operations + 1):
        folder = tmp_path / str(at)
        disk = FailingDisk(at, power=True)
        with contextlib.suppress(PowerCut):  # records that are written together need fewer operations
            run_study(Logged(), "smoke", out=LocalFiles(folder, disk), quiet=True, **SMALL)
            assert disk.asked < at
        assert_whole(folder, expected)
        others = []
        if (folder / "store.json").exists():  # looks like ours, but names no writer; and one of another program
            others = [folder / f"{TEMPORARY}notes", folder / ".other-tmp-1"]
        for path in others:
            path.write_text("mine")
        with another_process():
            assert undisturbed(folder, **SMALL) == expected, f"operation {at}"
        for path in others:
            path.unlink()  # it is still there
        assert not left_over(folder), f"operation {at}"


def test_a_full_disk_is_one_sentence_and_with_room_the_run_goes_on(tmp_path, expected):
    whole = sum(map(len, expected.values()))
    for free in (50, whole // 2, whole):
        folder = tmp_path / str(free)
        with pytest.raises(UserError, match="disk is full"):
            run_study(Logged(), "smoke", out=LocalFiles(folder, FullDisk(free)), quiet=True, **SMALL)
        assert_whole(folder, expected)
        assert not left_over(folder)
        assert undisturbed(folder, **SMALL) == expected


def test_what_may_only_be_read_can_be_judged_but_not_continued(tmp_path, expected):
    undisturbed(tmp_path / "s", **SMALL)
    locked = LocalFiles(tmp_path / "s", ReadOnlyDisk())
    assert len(run_study(Logged(), "smoke", out=locked, quiet=True, **SMALL).records) == 2
    (tmp_path / "s" / "records" / next(iter(expected))).unlink()
    with pytest.raises(UserError, match=r"cannot write .*Read-only"):
        run_study(Logged(), "smoke", out=locked, quiet=True, **SMALL)
    with pytest.raises(UserError, match=r"cannot write .*Read-only"):
        run_study(Logged(), "smoke", out=LocalFiles(tmp_path / "new", ReadOnlyDisk()), quiet=True, **SMALL)


@pytest.mark.parametrize("how", ["deleted", "moved"])
def test_a_folder_that_goes_away_is_said_and_not_made_again(tmp_path, how):
    class Leaving(Logged):
        def measured(self, spec, context):
            if spec["at"]["number"] == 2:
                (tmp_path / "s").rename(tmp_path / "elsewhere")
                if how == "deleted":
                    shutil.rmtree(tmp_path / "elsewhere")
            return super().measured(spec, context)

    with pytest.raises(UserError, match="gone|No such file"):
        run_study(Leaving(), "smoke", seeds=1, out=tmp_path / "s", quiet=True)
    assert not records(tmp_path / "s")
    if how == "moved":  # it goes on at its new place, whose name may be anything
        new = (tmp_path / "elsewhere").rename(tmp_path / "an dem anderen Ort: é")
        link = tmp_path / "link"
        link.symlink_to(new)
        assert len(run_study(Logged(), "smoke", seeds=1, out=link, quiet=True).records) == 4


def test_clocks_that_jump_change_nothing(tmp_path, expected, monkeypatch):
    folder = tmp_path / "s"
    undisturbed(folder, **SMALL)
    (folder / "records" / next(iter(expected))).unlink()
    ours, dead = temporary(folder / "records"), folder / f"{TEMPORARY}{_dead_process()}-1"
    for path, when in ((ours, 0), (dead, 2**32)):
        path.write_text("half")
        os.utime(path, (when, when))
    jumps = iter(range(10**9))
    monkeypatch.setattr(time, "time", lambda: (-1) ** next(jumps) * 1e9)
    assert undisturbed(folder, **SMALL) == expected
    assert ours.exists(), "its writer lives, however old it looks"
    assert not dead.exists(), "its writer is dead, however new it looks"


def test_what_writers_elsewhere_left_goes_after_a_day_by_the_clock_of_the_files(tmp_path):
    files = LocalFiles(tmp_path)
    elsewhere = Process("0" * 8, "0" * 8, "0" * 8, 1, "1")
    young, old, theirs = (tmp_path / f"{TEMPORARY}{elsewhere}-{n}" for n in "abc")
    young.write_text("half")
    old.write_text("half")
    os.utime(old, (1, 1))
    theirs.mkdir()  # a folder is none of ours
    (tmp_path / ".tmp-of-an-editor").write_text("mine")
    files.sweep()
    assert young.exists() and not old.exists() and theirs.is_dir() and (tmp_path / ".tmp-of-an-editor").exists()


def _dead_process() -> Process:
    here = this_process()
    return Process(here.machine, here.boot, here.space, here.pid, f"{here.start}7")


@pytest.mark.filterwarnings("ignore:.*store format 1:UserWarning")
def test_a_store_of_format_1_still_opens_and_is_not_written(tmp_path):
    """Cells were flat then, and a held-out score did not say whether it is what the split is about."""
    with pytest.warns(UserWarning, match="store format 1.*not be continued"):
        table = load(GOLDEN).table
    assert set(table.support) == {"random", "missing"} and set(table.study) == {"supports"}
    stored = Store.open(GOLDEN)
    assert {r.cell.id for r in stored.records()} == {path.stem for path in (GOLDEN / "records").iterdir()}
    held_out = table[(table.reading == "score") & (table.stream == "held_out")]
    assert held_out[held_out.group == ""].asked.all() and not held_out[held_out.group != ""].asked.any()
    copied = shutil.copytree(GOLDEN, tmp_path / "old")
    before = {path: path.read_bytes() for path in copied.rglob("*.json")}
    with pytest.raises(UserError, match="format 1.*another --out"):
        Store.create(copied, stored.about)
    with pytest.raises(UserError, match="format 1"):
        Store.open(copied).put(stored.records()[0])
    with pytest.raises(UserError, match="format 1.*another --out"):
        run_again(copied, registry, quiet=True)
    result = reopen(copied, registry)
    assert len(result.records) == 2 and "random, seed 0" in render(result), "its cells have names, and a page"
    assert {path: path.read_bytes() for path in copied.rglob("*.json")} == before
    score = table[(table.reading == "score") & (table.metric == "r2") & (table.stream == "test")]
    kept = json.loads((GOLDEN / "records" / f"{score.cell.iloc[0]}.json").read_text())
    assert score.value.iloc[0] in [row["value"] for row in kept["rows"]]
