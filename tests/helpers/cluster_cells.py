"""Cells for tests on a cluster, their worker, and their driver: run as a module it is the one or the other.

python -m cluster_cells PID     a worker, started by a process PID
python -m cluster_cells JSON    a driver: `run_study` with what the JSON says; prints what failed
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

from light import Logged  # of tests/faults: the lab without jax, so that processes start quickly


class ClusterCells(Logged):
    """Some of them end the process above their worker, which on a cluster is an actor."""

    def __init__(self):
        super().__init__(worker="cluster_cells")

    def measured(self, spec, context):
        if log := os.environ.get("CLUSTER_LOG"):
            with open(log, "a") as file:
                file.write(f"{spec['at']['number']} {os.getppid()}\n")
        if spec["trouble"] == "kill actor":
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(600)
        return super().measured(spec, context)


if __name__ == "__main__":
    if sys.argv[1].startswith("{"):
        from light_run import drive

        sys.exit(drive(ClusterCells(), {"seeds": 1} | json.loads(sys.argv[1])))
    from recombine.lab.driver.worker import main

    main({"synthetic": ClusterCells()})
