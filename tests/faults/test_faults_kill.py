"""kill -9 of the driver, of a worker, of both, at random moments, many times in a row: nothing is lost."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from pathlib import Path

import pytest
from harness import Driver, assert_whole, completions, left_over, records, undisturbed, until

WORKERS = 2


@pytest.mark.parametrize("kills, cells", [(10, 60), pytest.param(50, 300, marks=pytest.mark.long)])
def test_whatever_is_killed_nothing_is_lost(tmp_path: Path, kills: int, cells: int):
    asked = {"seeds": 1, "changes": {"cells": cells, "seconds": 0.05}}
    quick = {"seeds": 1, "changes": {"cells": cells, "seconds": 0.05}}
    expected = undisturbed(tmp_path / "whole", engine="inprocess", **quick)
    folder, log = tmp_path / "s", tmp_path / "log"
    other = tmp_path / "s" / "records" / ".somebody-elses-tmp"
    choose = random.Random(kills)
    for round in range(kills):
        what = choose.choice(["driver", "worker", "both"])
        driver = Driver(folder, log, **asked)
        before = len(records(folder))
        # from before its first cell to some cells later; the last rounds may find everything done
        until(lambda driver=driver: driver.workers() or driver.process.poll() is not None)
        if choose.random() < 0.8:
            until(lambda b=before, d=driver: len(records(folder)) > b or d.process.poll() is not None)
        time.sleep(choose.uniform(0, 0.1))
        victims = [driver.process.pid] if what != "worker" else []
        if what != "driver" and (workers := driver.workers()):
            victims.insert(choose.randrange(2) if victims else 0, choose.choice(workers))
        for victim in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        if what == "worker":  # its driver goes on; and is then asked to stop
            time.sleep(choose.uniform(0, 0.2))
            with contextlib.suppress(ProcessLookupError):
                driver.process.send_signal(signal.SIGTERM)
        driver.wait()
        if folder.exists():
            assert_whole(folder, expected)
        if round == 0:
            other.parent.mkdir(parents=True, exist_ok=True)
            other.write_text("mine")
    code, _, err = Driver(folder, log, **asked).wait()
    assert code == 0, err
    assert records(folder) == expected
    assert not left_over(folder) and other.read_text() == "mine"
    ran = completions(log)
    assert len(ran) == cells
    # of each kill: what had come to its end and was not durable yet, at most one cell per worker and what was under way
    assert sum(ran.values()) - cells <= kills * 2 * WORKERS, ran.most_common(5)
