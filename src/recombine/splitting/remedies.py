"""Refusals whose remedy was tried: what a message proposes is known to split this table."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from shlex import quote
from typing import Any

from ..errors import UserError
from ..labels import quoted, visible
from ..supports.certificate import element_usage
from ..tables import Source, read_combinations
from ..tables.factors import candidates, named
from .table_designs import SHARE

#: designs that can hold out a level of a factor that stands alone
OF_ONE_FACTOR = ("missing", "gap", "popular")
_MOST_TRIED = 4  # columns that are tried as a second factor

#: arguments that change -> a split of the same table, or a UserError; with another design without options of the old
Splits = Callable[..., Any]


def refuse_one_factor(source: Source, factors: tuple[str, ...], asked: dict[str, Any], split: Splits) -> None:
    """Raises if the table is read as one factor, unless the design can split that."""
    name, *others = factors
    if others or asked["design"] in OF_ONE_FACTOR:
        return

    def remedies() -> Iterator[tuple[str, dict[str, Any]]]:
        for other in _others(source, [name, asked["group"]]):
            both = [name, other]
            yield f"combine it with another column, as in --factors {quote(','.join(both))}", {"factors": both}
        yield "hold out a whole level of it: --design missing", {"factors": [name], "design": "missing"}

    raise UserError(
        f"one factor, {quoted(name)}, makes no combinations, which the design {asked['design']!r} holds out; "
        f"{_first_that_splits(remedies(), split, 'a split needs a table with two factors')}"
    )


def refuse_factor_as_group(source: Source, factors: Any, asked: dict[str, Any], split: Splits) -> None:
    """Raises if the group is one of the factors that were named: its levels would stay whole and be combined."""
    group, names = asked["group"], [] if factors is None else named(source, factors, ())
    if group not in names:
        return

    def remedies() -> Iterator[tuple[str, dict[str, Any]]]:
        rest = [name for name in names if name != group]
        if len(rest) > 1:
            yield f"leave it out of the factors: --factors {quote(','.join(rest))}", {"factors": rest}
        for element in _levels(source, names, group):
            typed = f"--design missing --elements {quote(visible(element))}"
            own = {"design": "missing", "elements": [element], "held_out": None, "group": None}
            yield f"hold out all rows of a level instead of --group: {typed}", {"factors": list(names)} | own

    raise UserError(
        f"{quoted(group)} is a factor and the group: each of its levels would have to stay in one set, and be combined "
        f"in several; {_first_that_splits(remedies(), split, 'name another column as --group')}"
    )


def _others(source: Source, taken: list[str | None]) -> list[str]:
    try:
        return candidates(source, taken)[0][:_MOST_TRIED]
    except UserError:  # there is none
        return []


def _levels(source: Source, names: list[str], group: str) -> list[str]:
    """Levels of the group, as elements, those in a fifth of the combinations or nearest to that first."""
    observed, _ = read_combinations(source, names)
    space, rows = observed.space, observed.rows
    shares = element_usage(space, rows) / len(rows)
    own = [i for i, element in enumerate(space.element_names) if element.startswith(f"{group}=")]
    return [space.element_names[i] for i in sorted(own, key=lambda i: abs(shares[i] - SHARE))][:_MOST_TRIED]


def _first_that_splits(remedies: Iterator[tuple[str, dict[str, Any]]], split: Splits, otherwise: str) -> str:
    for words, changes in remedies:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                split(**changes)
        except UserError:
            continue
        return words
    return otherwise
