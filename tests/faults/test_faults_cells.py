"""Cells that raise, hang, eat memory, leave or crash: the study finishes, they are reported, and can be tried again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest
from harness import HERE, Driver, alive, completions, left_over, records, undisturbed, until
from light import Logged

from recombine.errors import UserError
from recombine.lab.driver.engines import Limits, parse_engine
from recombine.lab.driver.run import run_again, run_study
from recombine.lab.status import status_of
from recombine.lab.store import Store

TROUBLE = {"1": "raise", "4": "eat", "5": "exit", "6": "crash"}
SAYS = {"1": "asked to fail", "4": "more memory", "5": "code 0 and no result", "6": "SIGKILL"}


@pytest.fixture(autouse=True)
def light_workers(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(HERE))


def test_cells_that_misbehave_are_reported_and_the_others_finish(tmp_path):
    changes = {"cells": 8, "trouble": [f"{n}:{how}" for n, how in TROUBLE.items()]}
    limits = {"memory": 400_000_000}
    code, out, err = Driver(tmp_path / "s", changes=changes, limits=limits).wait()
    errors = json.loads(out)
    assert code == 3 and errors.keys() == SAYS.keys(), (code, out, err)
    assert all(words in errors[n] for n, words in SAYS.items()), errors
    assert len(records(tmp_path / "s")) == 4 and not left_over(tmp_path / "s")
    kept = [Store.open(tmp_path / "s").failure(cell) for cell in _cells(changes)]
    assert {str(f.cell.spec["at"]["number"]): f.error for f in kept if f} == errors
    assert "misbehave" in next(f for f in kept if f and f.cell.spec["at"]["number"] == 1).traceback

    found = status_of(tmp_path / "s", {"synthetic": Logged()})
    assert (found.total, found.done, found.failed, found.left, found.drivers) == (8, 4, 4, 0, 0)
    assert "asked to fail" in str(found) and json.loads(json.dumps(found.to_json()))["done"] == 4

    class Healed(Logged):
        def measured(self, spec, context):
            return super().measured(spec | {"trouble": spec["trouble"] if spec["at"]["number"] == 6 else ""}, context)

        def compute(self, cell, context):
            if cell.spec["at"]["number"] == 6:
                raise RuntimeError("still ill")
            return super().compute(cell, context)

    again = run_again(tmp_path / "s", {"synthetic": Healed()}, quiet=True)
    assert len(again.records) == 7 and [f.error for f in again.failures] == ["RuntimeError: still ill"]
    assert Store.open(tmp_path / "s").failed() == {again.failures[0].cell.id}


def test_a_cell_that_hangs_is_ended_by_the_limit_of_time(tmp_path):
    asked = {"changes": {"cells": 1, "trouble": ["0:hang"]}, "limits": {"seconds": 1.0}}
    code, out, err = Driver(tmp_path / "s", **asked).wait()
    assert code == 3 and "longer than the limit of 1 s" in json.loads(out)["0"], (code, out, err)
    assert not left_over(tmp_path / "s")


def _cells(changes):
    return Logged().cells(Logged().settings("smoke", changes), 1)


def test_retry_takes_the_failed_ones_or_all(tmp_path):
    changes = {"cells": 4, "trouble": ["1:raise"]}
    run_study(Logged(), "smoke", seeds=1, changes=changes, out=tmp_path / "s", quiet=True)
    for path in (tmp_path / "s" / "records").iterdir():
        path.unlink()
    failed = run_again(tmp_path / "s", {"synthetic": Logged()}, quiet=True)
    assert not failed.records and len(failed.failures) == 1
    everything = run_again(tmp_path / "s", {"synthetic": Logged()}, only_failed=False, quiet=True)
    assert len(everything.records) == 3 and len(everything.failures) == 1


def test_the_same_record_on_every_engine(tmp_path):
    asked = {"seeds": 2, "changes": {"cells": 5}}
    here = undisturbed(tmp_path / "a", **asked)
    assert len(here) == 10 and undisturbed(tmp_path / "b", engine="local:2", **asked) == here


def test_limits_need_processes_and_must_be_numbers():
    with pytest.raises(UserError, match="need processes"):
        parse_engine("inprocess", Limits(seconds=3))
    for bad in (0, -1.0, float("nan")):
        with pytest.raises(UserError, match="cell-timeout"):
            Limits(seconds=bad)


def test_workers_end_when_their_driver_is_killed(tmp_path):
    driver = Driver(tmp_path / "s", changes={"seconds": 60.0})
    until(lambda: len(list((tmp_path / "s" / "locks").glob("*.json"))) == 2)
    workers = driver.workers()
    assert len(workers) == 2
    driver.kill()
    until(lambda: not any(map(alive, workers)), seconds=60)


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_asked_once_it_finishes_what_runs_and_the_same_command_continues(tmp_path, number, code):
    asked = {"changes": {"cells": 8, "seconds": 0.4}}
    driver = Driver(tmp_path / "s", tmp_path / "log", **asked)
    until(lambda: len(records(tmp_path / "s")) >= 1)
    driver.process.send_signal(number)
    ended, _, err = driver.wait()
    assert ended == code and "finished first" in err, err
    done = records(tmp_path / "s")
    assert 1 <= len(done) < 8 and len(done) == len(completions(tmp_path / "log")), "what ran was kept"
    assert not left_over(tmp_path / "s") and not Store.open(tmp_path / "s").failed()
    assert Driver(tmp_path / "s", tmp_path / "log", **asked).wait()[0] == 0
    assert len(records(tmp_path / "s")) == 8 and set(completions(tmp_path / "log").values()) == {1}


def test_asked_twice_it_stops_now(tmp_path):
    driver = Driver(tmp_path / "s", changes={"seconds": 600.0})
    until(lambda: len(list((tmp_path / "s" / "locks").glob("*.json"))) == 2)
    workers = driver.workers()
    assert driver.process.stderr is not None
    driver.process.send_signal(signal.SIGTERM)
    until(lambda: "finished first" in driver.process.stderr.readline())
    driver.process.send_signal(signal.SIGTERM)  # a scheduler may repeat itself: still not at once
    time.sleep(0.3)
    assert driver.process.poll() is None and all(map(alive, workers))
    driver.process.send_signal(signal.SIGINT)
    assert driver.wait(timeout=120)[0] == 130
    assert not any(map(alive, workers)) and not left_over(tmp_path / "s")


def test_the_light_lab_is_light():
    script = "import light_run, sys; print('jax' in sys.modules, 'light' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"], "its processes take a second to start instead of a fraction"
