"""How fast it is here: `recombine bench`."""

from __future__ import annotations

import sys
from typing import Literal

from ..errors import UserError, require_int
from .printing import print_json


def bench(
    part: Literal["all", "throughput", "convolutions", "time-to-score", "engine"] = "all",
    repeats: int = 3,
    engine: str | None = None,
    json: bool = False,
) -> None:
    """Measures speed on one core: time to score against the published settings, throughput against a plain loop.

    And, with --engine, how much an engine adds to a cell, at 1,000 and at 10,000 cells.

    Args:
        part: what to measure; time-to-score takes a quarter of an hour a repeat without bfloat16 hardware
        repeats: rounds or seeds
        engine: measure this engine and nothing else: local (if no name follows), local:N, inprocess, ...
        json: print one JSON object on stdout and nothing else there
    """
    from ..bench import run_bench

    require_int("repeats", repeats, at_least=1)

    def say(text: str) -> None:
        print(text, file=sys.stderr if json else sys.stdout, flush=True)

    if engine is not None or part == "engine":
        from ..bench_engine import run_bench_engine

        if part not in ("all", "engine"):
            raise UserError(f"--engine measures engines and --part {part} does not; give one of them")
        found = run_bench_engine(engine or "local", say)
    else:
        parts = ("throughput", "convolutions", "time-to-score") if part == "all" else (part,)
        found = run_bench(parts, repeats, say)
    if json:
        print_json(found)
