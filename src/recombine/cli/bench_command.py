"""How fast it is here: `recombine bench`."""

from __future__ import annotations

import sys
from typing import Literal

from ..errors import UserError, require_int
from .printing import print_json

Part = Literal[
    "all",
    "throughput",
    "convolutions",
    "transformer",
    "sequences",
    "splits",
    "plans",
    "audit",
    "ridge",
    "start",
    "map",
    "time-to-score",
    "engine",
]


def bench(
    part: Part = "all",
    repeats: int = 3,
    against: bool = False,
    engine: str | None = None,
    json: bool = False,
) -> None:
    """Measures speed on one core: what a row takes, what another side takes, and whether what is wanted is reached.

    And, with --engine, how much an engine adds to a cell, at 1,000 and at 10,000 cells.

    Args:
        part: what to measure; all is everything but time-to-score (a quarter of an hour per repeat) and engine
        repeats: rounds or seeds
        against: measure torch, scikit-learn, allpairspy and covertable in the same run, those that are installed
        engine: measure this engine and nothing else: local (if no name follows), local:N, inprocess, ...
        json: print one JSON object on stdout and nothing else there
    """
    from ..bench.all_parts import PARTS, run_bench

    require_int("repeats", repeats, at_least=1)

    def say(text: str) -> None:
        print(text, file=sys.stderr if json else sys.stdout, flush=True)

    if engine is not None or part == "engine":
        from ..bench.engine_overhead import run_bench_engine

        if part not in ("all", "engine"):
            raise UserError(f"--engine measures engines and --part {part} does not; give one of them")
        found = run_bench_engine(engine or "local", say)
    else:
        parts = [name for name in PARTS if name != "time-to-score"] if part == "all" else [part]
        found = run_bench(parts, repeats, say, against)
    if json:
        print_json(found)
