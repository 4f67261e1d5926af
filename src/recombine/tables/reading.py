"""What a table holds: its factors, named or proposed, and their combinations with counts."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import Any

from ..errors import UserError
from ..labels import listed, quoted, thousands
from . import factors as choosing
from .base import Source
from .coded import code
from .factors import Choice
from .observed import Observed, observe
from .outcome_forms import Roles
from .reading_options import Reading

MANY, FEW = 1_000_000, 0.01  # combinations, and the share of them that is seen, from which a table is warned about


def read_combinations(
    source: Source,
    factors: Any = None,
    *,
    roles: Roles | None = None,
    reading: Reading | None = None,
    taken: Collection[str | None] = (),
) -> tuple[Observed, Choice]:
    """The combinations of a table, and how its factors were chosen.

    Args:
        source: the table.
        factors: columns that are combined, as a list or "a,b,c"; proposed if left out.
        roles: columns that are no factors: the split, outcomes, the weight.
        reading: bins, dates and missing values.
        taken: further columns with another role, which cannot be factors.
    """
    roles, reading = roles or Roles(), reading or Reading()
    others = {*roles.taken, *(name for name in taken if name)}
    reading = reading.apply(source, others)
    if factors is not None:
        names = choosing.named(source, factors, others)
        coded, choice = code(source, names, roles), Choice(tuple(names), False, {})
    else:
        names, left_out = choosing.candidates(source, others, roles.used)
        if not names:
            why = listed([f"{quoted(name)}: {reason}" for name, reason in left_out.items()], 4)
            raise UserError(f"no column could be proposed as a factor ({why}); name some with --factors")
        coded = code(source, names, roles)
        choice = choosing.propose(coded, left_out, coded.outcome)
    for option, given in (("bin", reading.bins), ("date", reading.dates)):
        for name in given:
            if factors is not None and name not in choice.factors:
                raise UserError(f"{option} names {quoted(name)}, which is none of the factors; add it to them")
    for name in roles.by_factor:
        if name not in choice.factors:
            raise UserError(f"factor_outcomes names {quoted(name)}, which is none of the factors; add it to them")
    observed = observe(coded, choice.factors, roles, reading)
    _warn_about_size(observed)
    return observed, choice


def _warn_about_size(observed: Observed) -> None:
    """Said before anything takes long, and first among the notes."""
    size, seen = observed.space.size, int(observed.seen.sum())
    if size < MANY or seen >= FEW * size:
        return
    levels = sorted(((len(own), name) for name, own in observed.space.factors.items()), reverse=True)
    largest = listed([f"{quoted(name)} has {count:,}" for count, name in levels[:3]])
    warning = (
        f"{len(levels)} factors make {thousands(size)} combinations, of which {seen:,} ({seen / size:.2g} of them) "
        "were seen: nearly all that is said is about combinations that nobody tried; name fewer --factors, or put "
        f"levels together with --bin ({largest} levels)"
    )
    observed.notes.insert(0, warning)
    warnings.warn(warning, stacklevel=4)
