"""A study of nothing: cells that sleep and give a number, and cells that misbehave. For `bench` and tests of faults.

It is not registered and `recombine list` does not show it; its worker processes know it and nothing else.
"""

from __future__ import annotations

import hashlib
import os
import signal
import time
from typing import Any

from ..context import Context, Measured
from .cells import Cell, Spec
from .record import Record
from .scales import Scale
from .study import Settings, Study
from .verdicts import Claim, at_least

EATEN = 2**29  # bytes
#: what a cell can do instead of giving its number
TROUBLE = ("raise", "hang", "eat", "exit", "crash")


def cells_of(study: Study, settings: Settings, seed: int) -> list[Spec]:
    """Cells by their number."""
    options = study.base(settings)["options"]
    trouble = dict(text.split(":", 1) for text in options["trouble"] if text)
    return [
        {
            "seed": seed,
            "at": {"number": number},
            "program": number % options["programs"],
            "seconds": options["seconds"],
            "trouble": trouble.get(str(number), ""),
        }
        for number in range(options["cells"])
    ]


def measure(spec: Spec, context: Context) -> Measured:
    """The hash of a place in the grid, as a number."""
    if spec["seconds"]:
        time.sleep(spec["seconds"])
    misbehave(spec["trouble"])
    digest = hashlib.sha256(f"{spec['seed']}/{spec['at']['number']}".encode()).digest()
    return Measured([{"reading": "number", "value": int.from_bytes(digest[:6], "big") / 2**48}])


class Synthetic(Study):
    """Cells whose number is a hash of their place in the grid."""

    def __init__(self, **changes: Any):
        super().__init__(**FIELDS | changes)

    def compute(self, cell: Cell, context: Context) -> Record:
        """Without provenance: nothing of it depends on versions or hardware."""
        found = self.measured(cell.spec, context)
        return Record(cell, found.rows, found.facts, {})


FIELDS: dict[str, Any] = {
    "id": "synthetic",
    "title": "Nothing",
    "question": "Does the lab lose anything?",
    "source": "nobody",
    "minutes": Scale(0, 0.2, 1, 1),
    "options": {
        "cells": Scale(4, 1000, 10000, 10000),  # per seed
        "seconds": 0.0,  # what a cell takes
        "programs": 2,  # kinds of cells, which share a program
        "trouble": [""],  # what some do, as NUMBER:raise
    },
    "claims": [Claim("there", lambda t: t.value.mean(), at_least(0), "Numbers come", "nothing", description="mean")],
    "controls": {"nothing": {"cells": 1}},
    "cells_of": cells_of,
    "measure": measure,
    "label_of": lambda spec: f"number {spec['at']['number']}, seed {spec['seed']}",
    "program_of": lambda spec: str(spec["program"]),
    "worker": "recombine.lab.synthetic",
}


def misbehave(how: str) -> None:
    """What cells in the wild do."""
    if how == "raise":
        raise RuntimeError("this cell was asked to fail")
    held = b"x" * EATEN if how == "eat" else b""
    while how == "hang" or held:
        time.sleep(60)
    if how == "exit":
        os._exit(0)
    if how == "crash":
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    from .driver.worker import main

    main({"synthetic": Synthetic()})
