"""Drawn sides: training combinations for a share that is asked, drawn until they will do; else the nearest share."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterator

import numpy as np

from ..errors import UserError, require_int
from ..keys import generator, key_for
from ..spaces import LISTED_UP_TO, Space
from .certificate import components, element_usage

ATTEMPTS = 1000
_FEW = 1 << 15  # combinations that a split of many is judged by first


def refuse_single(space: Space) -> None:
    if space.size < 2:
        raise UserError(f"{space} has one combination, so it cannot be split; a split needs at least two")


def refuse_unlisted(space: Space) -> None:
    if space.size > LISTED_UP_TO:
        raise UserError(f"{space} has {space.size:,} combinations, too many to list; use the design 'implicit'")


def seeded(name: str, seed: int) -> np.random.Generator:
    return generator(key_for(name, require_int("seed", seed, at_least=0)))


def held_out_count(space: Space, held_out: object) -> int:
    """int(N * share) combinations are held out, as published; refused where that is none or all of them."""
    share = share_number("held_out", held_out)
    refuse_single(space)
    n = int(space.size * share)
    if share > 0 and 1 <= n < space.size:
        return n
    asked = f"held_out={share} of the {space.size:,} combinations of {space}"
    near = 1.5 / space.size if n < 1 else (space.size - 0.5) / space.size
    why = "holds out none" if n < 1 else "leaves none to train on"
    raise UserError(f"{asked} {why}; the nearest possible is held_out={round(near, len(str(space.size)) + 1):g}")


def share_number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise UserError(f"{name}={value!r} is not a number between 0 and 1")
    return float(value)


def wanted_words(compositional: bool, connected: bool) -> str:
    return " and ".join(word for word, on in (("compositional", compositional), ("connected", connected)) if on)


def accepted(space: Space, rows: np.ndarray, compositional: bool, connected: bool) -> bool:
    if compositional and not (element_usage(space, rows) > 0)[space.occurs].all():
        return False
    return not connected or len(components(space, rows)) == 1


def accepted_ranks(space: Space, ranks: np.ndarray, compositional: bool, connected: bool) -> bool:
    """`accepted` by ranks. More combinations can only add to what a few show, so few are looked at first."""
    few = ranks[:: max(1, len(ranks) // _FEW)]
    if accepted(space, space.unrank(few), compositional, connected):
        return True
    return len(few) < len(ranks) and accepted(space, space.unrank(ranks), compositional, connected)


def training_ranks(
    space: Space,
    held_out: float,
    choose: Callable[[int, int], np.ndarray | None],
    wanted: str,
    fewest: int = 1,
    rounded: str = "held out",
) -> np.ndarray:
    """What `choose(number, tries)` finds for the share that is asked; else a refusal that names a near share.

    `rounded`: which number is rounded down, by design as published. `fewest`: no smaller number can do.
    """
    held_out = share_number("held_out", held_out)
    refuse_single(space)
    refuse_unlisted(space)
    down = rounded == "trained"
    n = int(space.size * (1 - held_out)) if down else space.size - int(space.size * held_out)
    of = f"held_out={held_out} of the {space.size:,} combinations of {space}"
    if 1 <= n < space.size and held_out > 0:
        found = choose(n, ATTEMPTS) if n >= fewest else None
        if found is not None:
            return found
        why = f"{of} leaves {n:,} to train on, and no such split was {wanted} in {ATTEMPTS:,} tries"
    else:
        why = f"{of} " + ("holds out none" if n >= space.size else "leaves none to train on")
    for near in range(space.size - 1, 0, -1) if n >= space.size else rising(max(n, fewest - 1), space.size):
        if choose(near, 5) is not None:
            middle = space.size - near + (-0.5 if down else 0.5)  # of the shares that leave `near`
            share = round(middle / space.size, len(str(space.size)) + 1)
            raise UserError(f"{why}; the nearest found is held_out={share:g} (train on {near:,} of {space.size:,})")
    asked = [] if down else [word for word in ("compositional", "connected") if word in wanted]
    remedy = f"; {' and '.join(f'{word}=False' for word in asked)} allow it" if asked else ""
    raise UserError(f"{why}, and no other share was found that is{remedy}")


def fewest_trained(space: Space, connected: bool) -> int:
    """The fewest combinations that can connect all elements: each joins as many as it has. None can if that is 1."""
    if not connected:
        return 1
    most = max(space.sizes)
    return math.ceil((int(space.occurs.sum()) - 1) / (most - 1)) if most > 1 else space.size


def rising(after: int, below: int) -> Iterator[int]:
    """Numbers to try, an eighth apart where they are large."""
    while (after := max(after + 1, after * 9 // 8)) < below:
        yield after
