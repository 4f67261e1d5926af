"""Clocks that jump: nothing that is measured or waited for follows the time of day."""

from __future__ import annotations

import ast
import itertools
import json
import math
import os
import time
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from fruit_gallery import filled, gallery_of, only_fruit  # noqa: F401  (a fixture)
from harness import undisturbed
from light import Logged

from recombine.files.local import ABANDONED
from recombine.lab.cells import Cell
from recombine.lab.driver.locks import PATIENCE, Locks, Watch
from recombine.lab.driver.run import run_study
from recombine.lab.driver.run_progress import RunProgress, in_words
from recombine.lab.store import Store
from recombine.machine.processes import this_process
from recombine.training import checkpoints
from recombine.trials import kept

SOURCE = Path(__file__).parents[2] / "src" / "recombine"
#: files that may ask for the time of day: dates of files are compared with it, or it is shown
MAY = {"cli/following_page.py", "trials/kept.py", "report/gallery.py"}
SMALL = {"seeds": 1, "changes": {"cells": 2}}


def jumping():
    """A time of day that jumps by years, forward and back."""
    jumps = itertools.cycle([0.0, 1e9, -1e9, 3e5, -4e5])
    real = time.time
    return lambda: real() + next(jumps)


def test_durations_are_not_measured_by_the_time_of_day():
    asking = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and ast.unparse(node) in ("time.time", "datetime.now", "time.time_ns"):
                asking.add(path.relative_to(SOURCE).as_posix())
    assert asking <= MAY


def test_a_run_gives_the_same_records_whatever_the_clock_says(tmp_path, monkeypatch):
    expected = undisturbed(tmp_path / "calm", **SMALL)
    monkeypatch.setattr(time, "time", jumping())
    run_study(Logged(), "smoke", out=tmp_path / "s", quiet=True, **SMALL)
    found = {path.name: path.read_bytes() for path in (tmp_path / "s" / "records").iterdir()}

    def measured(records):
        return {name: json.loads(data)["rows"] for name, data in records.items()}

    assert measured(found) == measured(expected)
    assert not list((tmp_path / "s" / "locks").iterdir()) and not list((tmp_path / "s" / "drivers").iterdir())


def test_a_lock_is_held_as_long_as_its_driver_beats(tmp_path, monkeypatch):
    store = Store.create(tmp_path / "s", {"study": "x", "version": 1, "scale": "smoke", "settings": {}, "seeds": 1})
    monkeypatch.setattr(time, "time", jumping())
    cell, mine, other = Cell("x", 1, {"seed": 0}), Locks(store.files), Locks(store.files)
    mine.open()
    try:
        assert mine.lock(cell) and not any(other.lock(cell) for _ in range(5))
        mine.release(cell)
        assert other.lock(cell)
    finally:
        mine.close()


def test_a_driver_on_another_machine_dies_by_the_clock_of_who_looks(tmp_path):
    store = Store.create(tmp_path / "s", {"study": "x", "version": 1, "scale": "smoke", "settings": {}, "seeds": 1})
    machine, _, rest = str(this_process()).partition(".")
    said = {"process": f"{machine[::-1]}0.{rest}", "beat": 7}
    store.files.write("drivers/d.json", json.dumps(said).encode())
    os.utime(tmp_path / "s" / "drivers" / "d.json", (1, 1))  # the date of its file says nothing
    now = [100.0]
    watch = Watch(store.files, clock=lambda: now[0])
    assert watch.driver("d") is not None
    now[0] += PATIENCE - 1
    assert watch.driver("d") is not None
    now[0] += 2
    assert watch.driver("d") is None


def test_the_progress_line_has_no_negative_or_endless_time():
    now = [50.0]
    progress = RunProgress(10, 0, lambda cell: "x", clock=lambda: now[0])
    cell = Cell("x", 1, {"seed": 0})
    progress.expect({cell.id: 2.0, "other": 6.0})
    for step in (5.0, -100.0, 0.0):  # a suspended machine, and a clock that was set back
        progress.heard("started", cell, None)
        now[0] += step
        progress.heard("done", cell, None)
        assert progress.rate is None or progress.rate > 0
        left = progress.seconds_left
        assert left is None or (math.isfinite(left) and left >= 0)
        assert "-" not in in_words(progress.rate, left, None)


def test_checkpoints_are_read_whatever_their_date(tmp_path):
    one = checkpoints.Checkpoint(tmp_path / "stage-0" / "seed-0.safetensors", "mark")
    one.save({"a": jnp.arange(3.0)}, [{"step": 1, "loss": float("nan")}], 2.0)
    for date in (0, 1e10):
        os.utime(one.path, (date, date))
        state, history, seconds = one.load({"a": jnp.zeros(3)})
        assert np.asarray(state["a"]).tolist() == [0, 1, 2] and history[0]["step"] == 1 and seconds == 2.0


def test_a_lock_on_a_kept_net_is_broken_if_its_date_is_a_day_off_either_way(tmp_path):
    lock = tmp_path / "k.lock"
    machine, _, rest = str(this_process()).partition(".")
    for age, gone in ((0, False), (ABANDONED / 2, False), (2 * ABANDONED, True), (-2 * ABANDONED, True)):
        lock.write_text(f"{machine[::-1]}0.{rest} 1")  # of a process that cannot be seen from here
        os.utime(lock, (time.time() - age, time.time() - age))
        kept._break_if_abandoned(lock)
        assert lock.exists() != gone, age
        lock.unlink(missing_ok=True)


def test_kept_nets_of_a_clock_that_jumped_ahead_do_not_push_out_more_than_the_cap(tmp_path):
    for number, date in enumerate((1, 2, time.time() + 1e8)):
        path = tmp_path / f"{number}.safetensors"
        path.write_bytes(bytes(2**20))
        os.utime(path, (date, date))
    assert kept.remove_oldest(tmp_path, 2) == 1 and not (tmp_path / "0.safetensors").exists()


def test_a_report_dated_ahead_is_made_again(tmp_path):
    store = filled(tmp_path / "a")
    gallery_of([store])
    report = store / "report.html"
    before, ahead = report.read_bytes(), time.time() + 1e6
    report.write_bytes(before.replace(b"</footer>", b"<!-- old --></footer>", 1).rpartition(b"<!-- recombine ")[0])
    os.utime(report, (ahead, ahead))
    gallery_of([store])
    assert b"<!-- old -->" not in report.read_bytes()
