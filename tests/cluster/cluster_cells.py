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

    worker = "cluster_cells"

    def measure(self, spec, context):
        if log := os.environ.get("CLUSTER_LOG"):
            with open(log, "a") as file:
                file.write(f"{spec['number']} {os.getppid()}\n")
        if spec["trouble"] == "kill actor":
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(600)
        return super().measure(spec, context)


def drive(asked: dict) -> int:
    from recombine.errors import UserError
    from recombine.lab.engines import Limits
    from recombine.lab.run import run_study

    limits = Limits(**asked.pop("limits", {}))
    try:
        result = run_study(ClusterCells(), "smoke", seeds=1, limits=limits, **asked)
    except UserError as problem:
        print(problem, file=sys.stderr)
        return 2
    except KeyboardInterrupt as stopped:
        return getattr(stopped, "exit_code", 130)
    print(json.dumps({failure.cell.spec["number"]: failure.error for failure in result.failures}))
    return 3 if result.failures else 0


if __name__ == "__main__":
    if sys.argv[1].startswith("{"):
        sys.exit(drive(json.loads(sys.argv[1])))
    from recombine.lab.worker import main

    main({ClusterCells.id: ClusterCells()})
