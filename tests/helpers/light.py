"""The lab without jax, so that processes of these tests start in a fraction of a second; run as a module, a worker.

Only what `recombine/__init__.py` imports for users is left out: everything of the lab is the real thing.
"""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "recombine"

if "recombine" not in sys.modules:  # in pytest itself the whole library is there
    package = types.ModuleType("recombine")
    package.__path__ = [str(SOURCE)]
    sys.modules["recombine"] = package

from recombine.lab.synthetic import Synthetic  # noqa: E402


class Logged(Synthetic):
    """Writes down which cells ran to completion, and how often."""

    def __init__(self, worker: str = "light"):
        super().__init__(worker=worker)

    def measured(self, spec, context):
        found = super().measured(spec, context)
        if log := os.environ.get("FAULTS_LOG"):
            with open(log, "a") as file:
                file.write(f"{spec['seed']}/{spec['at']['number']}\n")
        return found


if __name__ == "__main__":
    from recombine.lab.driver.worker import main

    main({"synthetic": Logged()})
