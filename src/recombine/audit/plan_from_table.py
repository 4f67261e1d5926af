"""`rc.plan`: what to collect next, for a table, an audit, a support or a space.

The plan itself is made in `recombine.planning`; here tables are read, and columns and files become costs and risks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import UserError, unknown
from ..labels import quoted
from ..planning import Costs, Plan, additive, plan_space
from ..spaces import LISTED_UP_TO, Product, Space, require_free
from ..supports import Support
from ..tables import Observed, Reading, Roles, Source, find_roles, open_source, read_combinations, reading_of
from .frequency import Frequency
from .result import Audit
from .suggestions import known_risks

COST, RISK = "cost", "risk"  # columns of tables that the user gives
_SAMPLED = 200_000  # training combinations looked at where they follow a rule and cannot be listed


def plan(
    data: Any,
    factors: Any = None,
    *,
    budget: float | int | None = None,
    strength: int | None = None,
    forbid: Any = (),
    cost: Any = None,
    risk: Any = None,
    levels: Any = None,
    split: str | None = None,
    outcome: str | None = None,
    weight: str | None = None,
    bin: Any = None,
    date: Any = None,
    missing: str | None = None,
    covered: Any = None,
    seed: int = 0,
) -> Plan:
    """Which combinations to add, in order, and what each buys.

    Args:
        data: a table (a path or glob, or several; pandas, polars, arrow, Hugging Face, a mapping of columns), an
            `Audit`, a `Support` or a `Space`.
        factors: columns that are combined; proposed if left out. Only for tables.
        budget: how many combinations, or with costs how much they may cost in all; without it, until all is covered.
        strength: every set of so many levels of different factors is to be seen together; pairs if left out.
        forbid: what cannot be had, such as "weather=snow & time=noon"; or mappings from factors to levels.
        cost: a column of the table (costs are taken to add up over levels), a file with columns factor, level, cost or
            with all factors and cost, a mapping from levels to costs, or a function of rows.
        risk: a table with all factors and a column risk (such as `Audit.table`), or a function of rows; an `Audit` has
            its own.
        levels: levels that the data lack, as {"weather": ["fog"]} or ["weather=fog,hail"].
        split: column whose value train marks training rows.
        outcome: column that says whether the model was right, or an expression; what it reads is no factor. Only for
            tables.
        weight: column that says how many rows a row counts as: what is common in use is preferred. Only for tables.
        bin: columns of numbers as bins, as for `rc.audit`. Only for tables, as are date and missing.
        date: columns of dates by month, weekday and so on.
        missing: "level" makes a level of missing values.
        covered: rows of a declared space that are covered.
        seed: decides between combinations that buy the same.

    Example:
        >>> print(rc.plan({"color": ["red", "red", "blue"], "shape": ["box", "ball", "box"]}, ["color", "shape"]))
        Before: 3 of 4 combinations trained; 1 of 4 pairs unseen.
        After 1 more combination: every level trained, one group, 0 pairs unseen.
           1  blue, ball: shows 1 new pair (color=blue with shape=ball)
    """
    common: dict[str, Any] = {"budget": budget, "strength": strength, "forbid": forbid, "seed": seed}
    if covered is not None and not isinstance(data, Space):
        raise UserError("covered= is for a declared space; a table, an audit and a support say themselves what is")
    if isinstance(data, (Space, Support, Audit)):
        if any(option is not None for option in (factors, split, outcome, weight, bin, date, missing)):
            raise UserError(
                "factors=, split=, outcome=, weight=, bin=, date= and missing= are for tables; "
                f"{type(data).__name__} has its own"
            )
        space, rows, notes = _declared(data, covered)
        require_free(space, "a plan")
        if isinstance(data, Audit) and risk is None:
            risk = known_risks(data.risk, data.observed)
        wider = _widened(space, levels)
        if wider is not space and isinstance(risk, Mapping):
            risk = dict(zip(wider.rank(space.unrank(list(risk))).tolist(), risk.values(), strict=True))
        if isinstance(data, Audit):
            common["frequency"] = Frequency(data.observed, wider)
            if data.forbidden:
                common["forbid"] = [*data.forbidden.expressions, *_several(forbid)]
        made = plan_space(wider, rows, cost=_costs(wider, cost), risk=_risks(wider, risk), **common)
        made.notes += notes
        return made
    with open_source(data) as source:
        roles = find_roles(source, split=split, outcome=outcome, weight=weight)
        reading = reading_of(bin, date, missing)
        observed = _observed(source, factors, roles, reading, cost if isinstance(cost, str) else None)
        space = _widened(observed.space, levels)
        prices = _costs(space, cost, source, observed)
    common["frequency"] = Frequency(observed, space)
    made = plan_space(space, observed.rows[observed.seen], cost=prices, risk=_risks(space, risk), **common)
    made.notes += observed.notes
    return made


def _several(forbid: Any) -> list[Any]:
    """What is forbidden as a list, whether one thing or several."""
    return [forbid] if isinstance(forbid, (str, Mapping)) else list(forbid or ())


def _declared(data: Any, covered: Any) -> tuple[Space, Any, list[str]]:
    if isinstance(data, Space):
        return data, covered, []
    if isinstance(data, Audit):
        return data.observed.space, data.observed.rows[data.observed.seen], list(data.observed.notes)
    side = data.train
    if side.listed or data.space.size <= LISTED_UP_TO:
        return data.space, side.combinations(), []
    note = f"The training side follows a rule; a sample of {_SAMPLED:,} of its combinations was taken for all of them."
    return data.space, side.sample(0, _SAMPLED), [note]


def _observed(source: Source, factors: Any, roles: Roles, reading: Reading, cost: str | None) -> Observed:
    # of the outcome only the columns matter: what it says of rows is no part of a plan
    others = {*roles.taken, *roles.used, *([cost] if cost in source.columns else [])}
    plain = Roles(split=roles.split, weight=roles.weight)
    observed, choice = read_combinations(source, factors, roles=plain, reading=reading, taken=others)
    if choice.proposed:
        said = choice.sentence()
        observed.notes.append(said[:1].upper() + said[1:])  # names of columns keep their spelling
    return observed


def _widened(space: Space, levels: Any) -> Any:
    """The space with levels that the data lack. They come last, so that rows stay what they are."""
    if not levels:
        return space
    if not space.columns:
        raise UserError(f"levels= is for factors; {space} has modules")
    if isinstance(levels, str):
        levels = [levels]
    if not isinstance(levels, (Mapping, Sequence)):
        raise UserError(f"levels={levels!r} names no levels; give {{'weather': ['fog']}} or 'weather=fog,hail'")
    if not isinstance(levels, Mapping):
        pairs = [str(one).partition("=") for one in levels]
        for name, sign, found in pairs:
            if not sign:
                raise UserError(f"levels {name!r} must be written as factor=level,level")
            if not found.strip(", "):
                raise UserError(f"levels {quoted(name + sign + found)} names no level; write factor=level,level")
        levels = {name: [level for level in found.split(",") if level] for name, _, found in pairs}
    wider = {name: list(own) for name, own in space.columns.items()}
    for name, more in levels.items():
        if name not in wider:
            raise unknown("factor in levels:", name, wider)
        if isinstance(more, str) or not isinstance(more, Iterable):
            raise UserError(f"the levels {more!r} of {name!r} must be a list, such as ['fog', 'hail']")
        there = {str(level) for level in wider[name]}
        wider[name] += [level for level in dict.fromkeys(map(str, more)) if level not in there]
    return Product(**wider)


# -- costs and risks from tables --------------------------------------------------------------------------------------
def _costs(space: Space, cost: Any, source: Source | None = None, observed: Observed | None = None) -> Any:
    if not isinstance(cost, (str, os.PathLike)):
        return cost
    if source is not None and observed is not None and str(cost) in source.columns:
        rows, costs, weights = _column(source, observed.space, str(cost))
        return additive(space, rows, costs, weights)
    if source is not None and not os.path.exists(cost):
        raise unknown("column or file for the cost", cost, source.columns)
    with open_source(cost) as prices:
        names = set(prices.columns)
        if {"factor", "level", COST} <= names:
            relation, parameters = prices.relation(["factor", "level", COST])
            found = prices.run(f"SELECT v0, v1, v2 FROM {relation}", parameters).fetchall()
            return Costs(space, {(name, level): _number(value, prices.name) for name, level, value in found})
        if space.columns and {*space.columns, COST} <= names:
            rows, costs, weights = _column(prices, space, COST)
            fitted = additive(space, rows, costs, weights)
            fitted.own = dict(zip(space.rank(rows).tolist(), costs.tolist(), strict=True))
            return fitted
        raise UserError(
            f"{prices.name} has no costs that can be read; it needs the columns factor, level and cost, or all factors "
            "and cost"
        )


def _column(source: Source, space: Space, column: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Combinations of a table with the mean of a column of numbers, and the number of rows, of each."""
    relation, parameters = source.relation([*space.columns, column])
    n = len(space.columns)
    keys = ", ".join(f"v{i}" for i in range(n))
    number = f"TRY_CAST(v{n} AS DOUBLE)"
    bad = source.run(
        f"SELECT min(v{n}) FROM {relation} WHERE v{n} IS NOT NULL AND {number} IS NULL", parameters
    ).fetchone()[0]
    if bad is not None:
        raise UserError(f"the {column} {quoted(bad)} in {source.name} is not a number")
    found = source.run(
        f"SELECT {keys}, avg({number}), count(v{n}) FROM {relation} WHERE v{n} IS NOT NULL GROUP BY {keys} "
        f"ORDER BY {keys}",
        parameters,
    ).fetchall()
    places = [{str(level): i for i, level in enumerate(levels)} for levels in space.columns.values()]
    rows, values, weights = [], [], []
    for *labels, value, weight in found:
        if all(label in place for label, place in zip(labels, places, strict=True)):
            rows.append([place[label] for label, place in zip(labels, places, strict=True)])
            values.append(value)
            weights.append(weight)
    if not rows:
        raise UserError(f"{source.name} has no row with a {column} for a combination of these factors")
    return np.array(rows, dtype=space.dtype), np.array(values, float), np.array(weights, float)


def _number(value: Any, where: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UserError(f"the cost {quoted(value)} in {where} is not a number") from None


def _risks(space: Space, risk: Any) -> Any:
    """A table of risks as a mapping from ranks; what is none goes on as it is."""
    if risk is None or callable(risk) or (isinstance(risk, Mapping) and all(isinstance(k, int) for k in risk)):
        return risk
    if not space.columns:
        raise UserError("risks of modules are a function of rows or a mapping from ranks")
    with open_source(risk) as source:
        for name in (*space.columns, RISK):
            source.column(name, "the risks")
        rows, values, _ = _column(source, space, RISK)
    return dict(zip(space.rank(rows).tolist(), values.tolist(), strict=True))
