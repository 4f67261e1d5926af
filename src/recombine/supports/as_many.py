"""as-many: as many combinations as another design trains, drawn at random; what tells a design from its size."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ..errors import UserError, require_int, unknown
from ..spaces import Space
from .designs import random, supports
from .support import Support

LIKE = {"name": "disconnected"}


@supports.register("as-many")
def as_many(space: Space, *, like: Mapping[str, Any] | None = None, seed: int = 0) -> Support:
    """A random split that trains as many combinations as another design: the control of equal size.

    A design that trains less than `random` may fail for that alone. Against this one it fails for what it leaves out.

    Args:
        space: what is split.
        like: the other design by name, with its options; two disconnected blocks by default.
        seed: of both.

    Example:
        >>> blocks = rc.supports.disconnected(rc.Subsets(6, 2))
        >>> rc.supports.as_many(rc.Subsets(6, 2)).train.size == blocks.train.size == 12
        True
    """
    require_int("seed", seed, at_least=0)
    wanted = dict(LIKE if like is None else like)
    name = wanted.pop("name", None)
    if not isinstance(name, str) or name not in supports or name == "as-many":
        raise unknown("name of the design in like", name, [one for one in supports if one != "as-many"])
    known = list(inspect.signature(supports[name]).parameters)[1:]
    for option in wanted:
        if option not in known:
            raise unknown(f"option of {name!r} in like", option, known)
    trained = supports[name](space, seed=seed, **wanted).train.size
    share = (space.size - trained + 0.5) / space.size
    try:
        found = random(space, held_out=share, seed=seed)
    except UserError as problem:
        raise UserError(f"as many as {name} ({trained} of {space.size}) drawn at random: {problem}") from problem
    return Support(
        space, found.train, found.held_out, "as-many", settings={"like": {"name": name} | wanted, "seed": seed}
    )
