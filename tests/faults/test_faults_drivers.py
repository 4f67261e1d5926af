"""Two drivers on one store, and locks that dead ones left."""

from __future__ import annotations

import subprocess
import sys

import pytest
from harness import Driver, completions, left_over, records, undisturbed, until
from light import Logged

from recombine.files import LocalFiles
from recombine.lab.cells import Cell, canonical
from recombine.lab.driver.locks import PATIENCE, Locks, Watch
from recombine.lab.driver.queue import Queue
from recombine.lab.driver.run import run_study
from recombine.lab.driver.stop import Interrupted, Stop
from recombine.lab.status import status_of
from recombine.lab.study import Study
from recombine.machine.processes import Process, this_process

CELL = Cell("synthetic", 1, {"seed": 0})


def test_two_drivers_at_once_share_the_work(tmp_path):
    asked = {"seeds": 1, "changes": {"cells": 24, "seconds": 0.5}}  # the second has six seconds to come
    assert Driver(tmp_path / "whole", engine="local:6", **asked).wait()[0] == 0  # cells sleep: more than cores at once
    expected = records(tmp_path / "whole")
    folder, log = tmp_path / "s", tmp_path / "log"
    first = Driver(folder, log, **asked)
    until(lambda: len(records(folder)) >= 1)
    second = Driver(folder, log, **asked)
    found = until(lambda: (s := status_of(folder, {"synthetic": Logged()})).drivers == 2 and s)
    assert first.process.poll() is None and found.total == 24 and 1 <= found.done < 24
    for driver in (first, second):
        code, out, err = driver.wait()
        assert code == 0 and out.strip() == "{}", err
    assert records(folder) == expected and not left_over(folder)
    assert sum(completions(log).values()) == 24, "no cell was computed twice"


def test_a_driver_that_is_killed_leaves_its_cells_to_the_other(tmp_path):
    asked = {"seeds": 1, "changes": {"cells": 16, "seconds": 0.5}}  # the second has eight seconds to come
    first = Driver(tmp_path / "s", engine="local:1", **asked)
    until(lambda: len(list((tmp_path / "s" / "locks").glob("*.json"))) == 1)
    second = Driver(tmp_path / "s", engine="local:1", **asked)
    until(lambda: len(list((tmp_path / "s" / "drivers").glob("*.json"))) == 2)
    assert first.process.poll() is None and len(records(tmp_path / "s")) < 16
    first.kill()
    code, _, err = second.wait()
    assert code == 0 and len(records(tmp_path / "s")) == 16 and not left_over(tmp_path / "s"), err


def dead_process() -> Process:
    child = subprocess.Popen([sys.executable, "-S", "-c", "pass"])
    child.wait()
    here = this_process()
    return Process(here.machine, here.boot, here.space, child.pid, "1")


def reused_number() -> Process:
    here = this_process()
    return Process(here.machine, here.boot, here.space, here.pid, f"{here.start}1")


def before_the_last_boot() -> Process:
    here = this_process()
    return Process(here.machine, "00000000", here.space, here.pid, here.start)


@pytest.mark.parametrize("who", [dead_process, reused_number, before_the_last_boot, None])
def test_a_lock_of_a_dead_driver_holds_nothing_up(tmp_path, who):
    undisturbed(tmp_path / "s", seeds=1)
    gone = sorted((tmp_path / "s" / "records").iterdir())[0]
    gone.unlink()
    files = LocalFiles(tmp_path / "s")
    files.write(f"locks/{gone.name}", canonical({"driver": "dead"}).encode())
    if who is not None:  # else: its own file is gone already
        files.write("drivers/dead.json", canonical({"process": str(who()), "beat": 3}).encode())
    assert len(run_study(Logged(), "smoke", seeds=1, out=tmp_path / "s", quiet=True).records) == 4
    assert not left_over(tmp_path / "s")


def test_a_driver_elsewhere_lives_as_long_as_it_counts_by_our_own_clock(tmp_path):
    files, now = LocalFiles(tmp_path), [0.0]
    elsewhere = Process("00000000", "1", "2", 3, "4")
    watch = Watch(files, lambda: now[0])

    def beat(number: int) -> None:
        files.write("drivers/far.json", canonical({"process": str(elsewhere), "beat": number}).encode())

    files.write(f"locks/{CELL.id}.json", canonical({"driver": "far"}).encode())
    for number in range(5):
        beat(number)
        assert watch.owner(CELL.id) == "far"
        now[0] += 0.9 * PATIENCE
    beat(2)  # a count that runs backward is a change, too
    assert watch.drivers().keys() == {"far"}
    now[0] += 1.1 * PATIENCE
    assert watch.owner(CELL.id) is None and not watch.drivers()


def test_a_torn_lock_is_waited_for_a_moment_only(tmp_path):
    files, now = LocalFiles(tmp_path), [0.0]
    watch = Watch(files, lambda: now[0])
    files.write(f"locks/{CELL.id}.json", b"")
    assert watch.owner(CELL.id) == ""
    now[0] += 6.0
    assert watch.owner(CELL.id) is None


def test_a_lock_is_had_once_and_not_for_what_is_done(tmp_path):
    files = LocalFiles(tmp_path)
    one, two = Locks(files), Locks(files)
    one.open()
    two.open()
    try:
        assert one.lock(CELL) and not two.lock(CELL)
        one.release(CELL)
        assert two.lock(CELL)
        two.release(CELL)
        files.write(f"records/{CELL.id}.json", b"done")
        assert not one.lock(CELL) and files.names("locks") == []
    finally:
        one.close()
        two.close()
    assert files.names("drivers") == []


# -- the queue --------------------------------------------------------------------------------------------------------
class Shapes(Study):
    """Programs a, b and c; cells of b take longest."""

    def __init__(self):
        pass

    def program(self, spec):
        return spec["shape"]

    def cost(self, spec):
        return {"a": 1.0, "b": 9.0, "c": 3.0}[spec["shape"]] + spec.get("more", 0.0)


def shapes(text: str) -> list[Cell]:
    return [Cell("shapes", 1, {"seed": n, "shape": shape}) for n, shape in enumerate(text)]


def test_a_worker_stays_with_a_program_and_long_cells_come_first():
    queue = Queue(Shapes(), shapes("abcabcabc"))
    order = "".join(cell.spec["shape"] for _ in range(9) if (cell := queue.take("one")))
    assert order == "bbbcccaaa" and queue.take("one") is None and len(queue) == 0


def test_two_workers_compile_each_program_once_until_one_must_help():
    queue = Queue(Shapes(), shapes("abcabcabc"))
    taken = {worker: "" for worker in ("one", "two")}
    for turn in range(9):
        worker = ("one", "two")[turn % 2]
        cell = queue.take(worker)
        assert cell is not None
        taken[worker] += cell.spec["shape"]
    assert taken == {"one": "bbbaa", "two": "ccca"}


def test_what_was_measured_counts_more_than_a_guess():
    queue = Queue(Shapes(), shapes("abc"), seconds={"a": 100.0, "c": 3.0})
    assert [queue.take().spec["shape"] for _ in range(3)] == ["b", "a", "c"], "b is guessed by a's scale"


def test_nothing_is_given_once_it_was_asked_to_stop_and_refused_cells_are_set_aside():
    stop = Stop()
    queue = Queue(Shapes(), shapes("aab"), stop, lock=lambda cell: cell.spec["shape"] != "b")
    first = queue.take("one")
    assert first is not None and first.spec["shape"] == "a" and [c.spec["shape"] for c in queue.refused] == ["b"]
    queue.put_back(first)
    assert queue.take("two") == first
    stop.ask()
    assert queue.take("one") is None and len(queue) == 1
    with pytest.raises(Interrupted):
        stop.ask()
