"""A driver as a process: `python -m light_run '{"out": ..., "engine": ..., "changes": ..., "limits": ...}'`.

Prints what failed as JSON; exit codes as those of `recombine run`.
"""

from __future__ import annotations

import json
import sys

from light import Logged

from recombine.errors import UserError
from recombine.lab.engines import Limits
from recombine.lab.run import run_study


def main() -> int:
    asked = json.loads(sys.argv[1])
    limits = Limits(**asked.pop("limits", {}))
    try:
        result = run_study(Logged(), "smoke", limits=limits, **asked)
    except UserError as problem:
        print(problem, file=sys.stderr)
        return 2
    except KeyboardInterrupt as stopped:
        return getattr(stopped, "exit_code", 130)
    print(json.dumps({failure.cell.spec["number"]: failure.error for failure in result.failures}))
    return 3 if result.failures else 0


if __name__ == "__main__":
    sys.exit(main())
