"""What to collect next: `recombine plan`."""

from __future__ import annotations

import sys
from pathlib import Path

from tyro.conf import Positional

from .printing import print_json


def plan(
    data: Positional[str],
    factors: str | None = None,
    budget: float | None = None,
    strength: int | None = None,
    forbid: tuple[str, ...] = (),
    cost: str | None = None,
    risk: str | None = None,
    levels: tuple[str, ...] = (),
    split: str | None = None,
    seed: int = 0,
    out: Path | None = None,
    json: bool = False,
) -> None:
    """Says which combinations to collect next, in order, and what each buys.

    Args:
        data: a table, as a file or a quoted glob: .csv, .tsv, .jsonl or .parquet (larger than memory is fine)
        factors: columns that are combined, as a,b,c (default: proposed, and said which)
        budget: how many combinations, or with costs how much they may cost in all (default: until all is covered)
        strength: sets of so many levels are to be seen together: 1 for levels only, 3 for triples (default: 2, pairs)
        forbid: what cannot be had, such as "weather=snow & time=noon"; also | ! ( ) != < <= > >= and in {a, b}
        cost: a column, or a file with the columns factor, level and cost, or with all factors and cost
        risk: a file with all factors and a column risk, such as the combinations.parquet of an audit
        levels: levels that the data lack, as weather=fog,hail
        split: column whose value train marks the rows the model was trained on (default: all of them)
        seed: of choices among equals
        out: file for the plan: .csv, .parquet or .json
        json: print one JSON object on stdout and nothing else there
    """
    from ..audit.plan import plan as make_plan

    found = make_plan(
        data, factors, budget=budget, strength=strength, forbid=forbid, cost=cost, risk=risk, levels=levels,
        split=split, seed=seed,
    )  # fmt: skip
    if out is not None:
        found.write(out)
    if json:
        print_json(found.to_json() | ({"file": str(out)} if out else {}))
        return
    code = sys.stdout.encoding or "utf-8"
    print(str(found).encode(code, "replace").decode(code))
    if out is not None:
        print(f"plan: {out}")
