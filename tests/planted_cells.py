"""Cells whose fate is written in them, for tests of engines on other machines. Run as a module it is their worker."""

from __future__ import annotations

import os
import signal
import time

from recombine.lab.study import Knob, Measured, Study
from recombine.lab.verdicts import Claim


class PlantedCells(Study):
    """A cell does what its name says, and measures its number. Needs no jax program."""

    id, version, title, question, source = "planted-cells", 1, "Planted", "Do they arrive?", "nobody"
    knobs = (
        Knob("fates", "what cells do", *(["well"],) * 3),
        Knob("count", "cells of each", *(1,) * 3),
        Knob("seconds", "how long a cell takes", *(0.0,) * 3),
    )
    controls = {"none": {"fates": ["raise"]}}
    running_time = dict.fromkeys(("smoke", "laptop", "paper"), "no time")
    claims = (Claim("arrive", "They do", "nobody", "at least", 0.0, lambda t: t.value.mean(), "mean", "none"),)
    worker = "planted_cells"

    def grid(self, settings, seed):
        return [
            {"seed": seed, "fate": fate, "number": number, "seconds": settings["seconds"]}
            for fate in settings["fates"]
            for number in range(settings["count"])
        ]

    def program(self, spec):
        return f"{spec['fate']} {spec['number'] % 4}"

    def measure(self, spec, context):
        if log := os.environ.get("PLANTED_LOG"):
            with open(log, "a") as file:
                file.write(f"{spec['fate']} {spec['number']} {spec['seed']}\n")
        context.progress(0.5, "half")
        time.sleep(spec["seconds"])
        if spec["fate"] == "raise":
            raise RuntimeError("as planted")
        if spec["fate"] == "hang":
            time.sleep(3600)
        if spec["fate"] == "kill worker":
            os.kill(os.getpid(), signal.SIGKILL)
        if spec["fate"] == "kill actor":
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(3600)
        if spec["fate"] == "leave":
            os._exit(0)
        return Measured([{"reading": "number", "value": float(spec["number"])}], {"fate": spec["fate"]})


planted_cells = PlantedCells()

if __name__ == "__main__":
    from recombine.lab.worker import main

    main({planted_cells.id: planted_cells})
