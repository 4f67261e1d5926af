"""A study of nothing: cells that sleep and give a number, and cells that misbehave. For `bench` and tests of faults.

It is not registered and `recombine list` does not show it; its worker processes know it and nothing else.
"""

from __future__ import annotations

import hashlib
import os
import signal
import time
from typing import Any

from .cells import Cell
from .store import Record
from .study import Context, Knob, Measured, Study
from .verdicts import Claim

EATEN = 2**29  # bytes
#: what a cell can do instead of giving its number
TROUBLE = ("raise", "hang", "eat", "exit", "crash")


class Synthetic(Study):
    """Cells whose number is a hash of their place in the grid."""

    id, version, title = "synthetic", 1, "Nothing"
    question, source = "Does the lab lose anything?", "nobody"
    knobs = (
        Knob("cells", "cells a seed", 4, 1000, 10000),
        Knob("seconds", "what a cell takes", 0.0, 0.0, 0.0),
        Knob("programs", "kinds of cells, which share a program", 2, 2, 2),
        Knob("trouble", f"what some do, as NUMBER:{'|'.join(TROUBLE)}", [""], [""], [""]),
    )
    controls = {"nothing": {"cells": 1}}
    running_time = {"smoke": "no time", "laptop": "seconds", "paper": "a minute"}
    claims = (Claim("there", "Numbers come", "nobody", "at least", 0.0, lambda t: t.value.mean(), "mean", "nothing"),)
    worker = "recombine.lab.synthetic"

    def grid(self, settings: dict[str, Any], seed: int) -> list[dict[str, Any]]:
        trouble = dict(text.split(":", 1) for text in settings["trouble"] if text)
        return [
            {"seed": seed, "number": n, "program": n % settings["programs"], "seconds": settings["seconds"],
             "trouble": trouble.get(str(n), "")}
            for n in range(settings["cells"])
        ]  # fmt: skip

    def program(self, spec: dict[str, Any]) -> str:
        return str(spec["program"])

    def label(self, spec: dict[str, Any]) -> str:
        return f"number {spec['number']}, seed {spec['seed']}"

    def measure(self, spec: dict[str, Any], context: Context) -> Measured:
        if spec["seconds"]:
            time.sleep(spec["seconds"])
        misbehave(spec["trouble"])
        digest = hashlib.sha256(f"{spec['seed']}/{spec['number']}".encode()).digest()
        return Measured([{"reading": "number", "value": int.from_bytes(digest[:6], "big") / 2**48}])

    def compute(self, cell: Cell, context: Context) -> Record:
        """Without provenance: nothing of it depends on versions or hardware."""
        measured = self.measure(cell.spec, context)
        return Record(cell, measured.rows, measured.facts, {})


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
    from .worker import main

    main({Synthetic.id: Synthetic()})
