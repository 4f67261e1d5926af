"""A study that costs nothing, for tests of what runs studies: the value of a cell is its seed plus a bias."""

from __future__ import annotations

from typing import Any

from recombine.context import Measured
from recombine.lab.study import Study
from recombine.lab.verdicts import Claim, at_least


def biased(t: Any) -> float:
    """Mean."""
    return t.value.mean()


def coin(
    id: str = "coin",
    *,
    ran: list[str] | None = None,
    broken: Any = (),
    sides: tuple[str, ...] = ("a", "b"),
    **more: Any,
) -> Study:
    """`ran` gets the side of each cell that is computed; a cell whose side is in `broken` fails."""

    def measure(spec, context):
        side = spec["at"]["side"]
        if ran is not None:
            ran.append(side)
        if side in broken:
            raise RuntimeError("the coin broke")
        return Measured([{"reading": "toss", "value": spec["seed"] + spec["options"]["bias"]}], {"seconds": 0.0})

    return Study(
        id=id,
        title="Coin",
        question="Is it biased?",
        source="nobody",
        options={"bias": 1.0, "side": sides[0]},
        vary={"options.side": list(sides)},
        claims=[Claim("biased", biased, at_least(0), "It is", "fair")],
        controls={"fair": {"bias": -9.0}},
        measure=measure,
        **more,
    )
