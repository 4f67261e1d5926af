"""A support and what it is: `recombine certify`."""

from __future__ import annotations

from typing import Annotated

from tyro.conf import Positional, arg

from ..errors import UserError
from .changes import changes_of
from .printing import print_json, print_text


def certify(
    design: Positional[str],
    modules: int | None = None,
    at_most: int | None = None,
    factors: Annotated[tuple[str, ...], arg(metavar="NAME=LEVELS")] = (),
    held_out: float | None = None,
    elements: tuple[str, ...] = (),
    blocks: tuple[int, ...] = (),
    within: float | None = None,
    low: int | None = None,
    high: int | None = None,
    width: int | None = None,
    factor: str | None = None,
    trained: int | None = None,
    bumps: int | None = None,
    stripes: int | None = None,
    empty: bool = False,
    seed: int = 0,
    json: bool = False,
) -> None:
    """Makes a support and prints its certificate.

    Args:
        design: such as random, missing or donut; `recombine list supports` shows them
        modules: for a space of subsets: number of modules
        at_most: for a space of subsets: most modules active at once
        factors: for a product space: name=number, name=level,level,... or, if it can be absent, name=number,none
        held_out: share of the combinations that is held out
        elements: for missing: modules ("m3") or levels ("color=red") that are never trained
        blocks: for disconnected: block sizes
        within: for disconnected: share held out inside the blocks
        low: for regions: first level inside (of 0, 1, ...)
        high: for regions: last level inside
        width: for band: levels by which two factors may differ inside
        factor: for gap: name of the factor
        trained: for regions: train only so many of the combinations outside
        bumps: for bumps-and-stripes: how many bumps are trained
        stripes: for bumps-and-stripes: how many stripes are trained
        empty: for bumps-and-stripes: train the empty picture, too
        seed: of the support
        json: print the certificate as one JSON object
    """
    import inspect

    from ..supports import registry

    make = registry[design]
    space = _space(modules, at_most, factors)
    given = {
        "held_out": held_out,
        "elements": elements or None,
        "blocks": blocks or None,
        "within": within,
        "low": low,
        "high": high,
        "width": width,
        "factor": factor,
        "trained": trained,
        "bumps": bumps,
        "stripes": stripes,
        "empty": empty or None,
    }
    options = {name: value for name, value in given.items() if value is not None}
    accepted = inspect.signature(make).parameters
    for name in options:
        if name not in accepted:
            takes = ", ".join(f"--{p.replace('_', '-')}" for p in accepted if p in given) or "none of these"
            raise UserError(f"--{name.replace('_', '-')} does not apply to the design {design!r}, which takes {takes}")
    certificate = make(space, seed=seed, **options).certificate()
    if json:
        print_json(certificate.to_json())
    else:
        print_text(f"{design} support\n{certificate}")


def _space(modules: int | None, at_most: int | None, factors: tuple[str, ...]):
    from ..spaces import Product, Subsets

    if factors and (modules is not None or at_most is not None):
        raise UserError("give either --modules and --at-most, or --factors, not both")
    if factors:
        levels = {}
        for name, value in changes_of(factors).items():
            number, _, rest = value.partition(",")
            if number.isdecimal() and rest == "none":
                levels[name] = [*range(int(number)), "none"]
            else:
                levels[name] = int(value) if value.isdecimal() else [part for part in value.split(",") if part]
        return Product(**levels)
    if modules is None or at_most is None:
        raise UserError("a space is needed: --modules 16 --at-most 3, or --factors color=3 shape=round,square")
    return Subsets(modules, at_most)
