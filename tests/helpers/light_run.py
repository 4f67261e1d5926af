"""A driver as a process: `python -m light_run '{"out": ..., "engine": ..., "changes": ..., "limits": ...}'`.

Prints what failed as JSON; exit codes as those of `recombine run`.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from light import Logged

from recombine.errors import UserError
from recombine.lab.driver.engines import Limits
from recombine.lab.driver.run import run_study
from recombine.lab.study import Study


def drive(study: Study, asked: dict[str, Any]) -> int:
    limits = Limits(**asked.pop("limits", {}))
    try:
        result = run_study(study, "smoke", limits=limits, **asked)
    except UserError as problem:
        print(problem, file=sys.stderr)
        return 2
    except KeyboardInterrupt as stopped:
        return getattr(stopped, "exit_code", 130)
    print(json.dumps({failure.cell.spec["at"]["number"]: failure.error for failure in result.failures}))
    return 3 if result.failures else 0


if __name__ == "__main__":
    sys.exit(drive(Logged(), json.loads(sys.argv[1])))
