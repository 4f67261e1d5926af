"""The live view and the progress behind it."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.progress import Progress

from recombine.lab.cells import Cell
from recombine.lab.driver.run_progress import RunProgress, in_words
from recombine.lab.driver.view import Bars, Lines, shown
from recombine.lab.record import Record
from recombine.lab.synthetic import Synthetic
from recombine.labels import duration

STUDY = Synthetic()
DONE = Record(Cell("synthetic", 1, {}), [], {}, {})
CELLS = STUDY.cells(STUDY.settings("smoke", {"cells": 40}), 1)


def label(cell: Cell) -> str:
    return STUDY.label(cell.spec)


def test_the_estimate_weighs_cells_by_what_they_take():
    now = [0.0]
    progress = RunProgress(4, 0, label, lambda: now[0])
    progress.expect({CELLS[0].id: 30.0, CELLS[1].id: 10.0, CELLS[2].id: 10.0, CELLS[3].id: 10.0})
    assert progress.rate is None and progress.seconds_left is None
    progress.heard("started", CELLS[0], None)
    now[0] = 60.0
    progress.heard("done", CELLS[0], None)
    assert progress.rate == 1 / 60 and progress.seconds_left == 60.0, "as long again, with three of four cells left"
    progress.heard("started", CELLS[1], None)
    progress.heard("failed", CELLS[1], ("it broke", ""))
    assert (progress.done, progress.failed, progress.left, progress.running) == (
        1,
        1,
        2,
        {},
    ) and progress.last_error.endswith("it broke")
    progress.heard("started", CELLS[2], None)
    progress.heard("lost", CELLS[2], "its node is gone")
    assert progress.left == 2 and progress.to_json()["running"] == []


@pytest.mark.parametrize(
    "seconds, words", [(3.2, "3.2 s"), (61.0, "61 s"), (4500.0, "75.0 min"), (7260.0, "2.0 h"), (259200.0, "3.0 days")]
)
def test_times_are_said_as_people_say_them(seconds, words):
    assert duration(seconds) == words
    assert in_words(2.0, seconds, 3 * 10**9) == f"2 a second, about {words} left, 3.0 GB"


def test_a_terminal_shows_bars_rate_memory_and_the_last_error():
    screen = io.StringIO()
    progress = RunProgress(2, 0, label)
    progress.memory = lambda: 250_000_000
    progress.expect({cell.id: 1.0 for cell in CELLS[:2]})
    with Progress(console=Console(file=screen, force_terminal=True, width=160)) as bars:
        view = Bars(STUDY, progress, bars)
        for event, cell, payload in (
            ("started", CELLS[0], None),
            ("progress", CELLS[0], (0.5, "half")),
            ("failed", CELLS[0], ("it broke", "")),
            ("started", CELLS[1], None),
            ("lost", CELLS[1], "gone"),
            ("started", CELLS[1], None),
            ("done", CELLS[1], DONE),
        ):
            progress.heard(event, cell, payload)
            view.show(event, cell, payload)
        notes = {task.description.strip(): task.fields["note"] for task in bars.tasks}
    assert notes["last error"].endswith("it broke") and "250 MB" in notes["synthetic"] and "FAILED" in screen.getvalue()
    assert not view.lines, "no bar is left of cells that ended"


def test_a_pipe_gets_a_line_a_cell_and_fewer_where_cells_are_fast(capsys):
    now = [0.0]
    progress = RunProgress(len(CELLS), 0, label, lambda: now[0])
    lines = Lines(STUDY, progress)
    for number, cell in enumerate(CELLS):
        progress.heard("started", cell, None)
        now[0] += 0.001
        event = "failed" if number == 30 else "done"
        payload = DONE if event == "done" else ("it broke", "")
        progress.heard(event, cell, payload)
        lines.show(event, cell, payload)
    lines.rest()
    printed = capsys.readouterr().err.splitlines()
    assert printed[0].startswith("[1/40] number 0") and printed[19].startswith("[20/40]") and len(printed) < 30
    assert any("FAILED it broke" in line for line in printed) and printed[-1].startswith("[40/40]")


def test_quiet_is_quiet(capsys):
    with shown(STUDY, RunProgress(1, 1, label), True) as show:
        show("done", CELLS[0], None)
    assert capsys.readouterr().err == ""
