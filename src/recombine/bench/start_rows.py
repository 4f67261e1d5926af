"""bench of beginnings: commands, an import, the first cell of a study, and the map of scores that a cell keeps.

Each beginning is a process of its own, and its processor time is what counts: that of the whole command for `list` and
`--help`, and for `import recombine` and the first cell what they take beyond a Python that does nothing.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

from .bench_row import Row, Say, in_turns

STUDY = "supports"
FIRST_CELL = "from recombine.bench.start_rows import first_cell; first_cell()"


def measure_start(rounds: int, say: Say) -> list[Row]:
    """list, --help, import and the first cell; all have run once before, so that what can be kept is kept."""
    commands = {
        "nothing": ("-c", "pass"),
        "import": ("-c", "import recombine"),
        "list": ("-m", "recombine", "list"),
        "help": ("-m", "recombine", "--help"),
        "cell": ("-c", FIRST_CELL),
    }
    took: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds + 1):
            for name, words in commands.items():
                found = processor_seconds(words, folder)
                if number:  # the first round fills the caches
                    took[name].append(found)
    for name in ("import", "cell"):
        took[name] = [max(each - nothing, 0.001) for each, nothing in zip(took[name], took["nothing"], strict=True)]
    rows = [
        Row("recombine list", "s", took["list"], at_most=0.3),
        Row("recombine --help", "s", took["help"], at_most=0.2),
        Row("import recombine", "s", took["import"], at_most=0.02),
        Row(f"first cell of {STUDY} at smoke scale, warm", "s", took["cell"], at_most=3.0),
    ]
    for row in rows:
        say(f"  {row}")
    return rows


def processor_seconds(words: tuple[str, ...], folder: str) -> float:
    """Of this Python run with these words, and of its own children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"COLUMNS": "80", "RECOMBINE_NETS": "0"}  # no net is taken from a run before
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL, cwd=folder, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def first_cell() -> None:
    """Runs a study in this process and ends the process when its first cell is done."""
    from ..lab.driver.engines.in_process import InProcess
    from ..lab.driver.run import run_study
    from ..studies import registry

    class First(InProcess):
        def compute(self, study: Any, cells: Any, checkpoints: Any, tell: Any, stop: Any) -> None:
            def listen(event: str, cell: Any, payload: Any) -> None:
                tell(event, cell, payload)
                if event in ("done", "failed"):
                    os._exit(event != "done")

            super().compute(study, cells, checkpoints, listen, stop)

    run_study(registry[STUDY], "smoke", seeds=1, engine=First(), quiet=True)


def measure_map(rounds: int, say: Say, scale: str = "laptop") -> Row:
    """The score of every combination that a cell of `supports` keeps, by the training of that cell."""
    from ..studies import registry
    from ..training import train
    from ..trials import Trial
    from ..trials.keeping import kept_scores

    study = registry[STUDY]
    trial = Trial.from_json(study.grid(study.settings(scale), 0, checked=False)[0]["trial"])
    task, support, stages = trial.build_task(), trial.build_support(), trial.build_stages()

    def trained() -> Any:
        return train(task, support, stages, seeds=[trial.seed], progress=False, watch=())

    run = trained()  # compiles
    kept_scores(run)
    took, _ = in_turns({"map": lambda: kept_scores(run), "training": trained}, rounds, time.process_time)
    work = f"map of scores of a {STUDY} cell at {scale} scale, {support.space.size:,} combinations"
    row = Row(work, "s", took["map"], {"its training": took["training"]})
    say(f"  {row}")
    return row
