"""What to collect next: `recombine plan`."""

from __future__ import annotations

from pathlib import Path

from tyro.conf import Positional

from .printing import print_json, print_text
from .reading_as import AS_IS, ReadAs


def plan(
    data: Positional[tuple[str, ...]],
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
    outcome: str | None = None,
    weight: str | None = None,
    force: bool = False,
    json: bool = False,
    reading: ReadAs = AS_IS,
) -> None:
    """Says which combinations to collect next, in order, and what each buys.

    Args:
        data: a table, as a file, several files of the same columns, or a quoted glob: .csv, .tsv, .jsonl or .parquet
            (larger than memory is fine)
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
        outcome: column that says whether the model was right, or an expression; what it reads is then no factor
        weight: column that says how many rows a row counts as; what is common in use is preferred
        force: replace a file there, also one that recombine did not write
        json: print one JSON object on stdout and nothing else there
        reading: how columns become factors
    """
    from ..audit.plan_from_table import plan as make_plan
    from ..files import refuse_foreign
    from ..planning.table import require_plan_name

    if out is not None:  # before it takes long
        require_plan_name(out)
        refuse_foreign(out, force)
    found = make_plan(
        list(data),
        factors,
        budget=budget,
        strength=strength,
        forbid=forbid,
        cost=cost,
        risk=risk,
        levels=levels,
        split=split,
        outcome=outcome,
        weight=weight,
        seed=seed,
        **reading.options(),
    )
    if out is not None:
        found.write(out, force=force)
    if json:
        print_json(found.to_json() | ({"file": str(out)} if out else {}))
        return
    print_text(found)
    if out is not None:
        print_text(f"plan: {out}")
