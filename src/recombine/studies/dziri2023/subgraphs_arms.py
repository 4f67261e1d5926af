"""What subgraphs varies: worlds and how their answers are written, data, and sizes of nets."""

from __future__ import annotations

from typing import Any

from ...lab.axes import Arms
from ...lab.scales import Scale

LISTS = "dynamic-program-v1"
STEPS, PADDED, PRODUCTS = "steps", "steps, padded", "products"


def products(steps: bool) -> dict[str, Any]:
    """Products by digits; sizes beyond training come last."""
    trained = Scale(["1x1", "2x1"], *[["1x1", "2x1", "3x1", "2x2", "3x2"]] * 3)
    sizes = Scale(["1x1", "2x1", "2x2"], *[["1x1", "2x1", "3x1", "2x2", "3x2", "4x2", "3x3"]] * 3)
    space = {"sizes": sizes, "each": Scale(150, 20_000, 20_000, 100_000)}
    world = {"name": "multiplication-v1", "space": space, "steps": steps}
    return {"world": world, "support": {"name": "sizes", "trained": trained, "in_domain": 0.1}}


def puzzles(steps: bool) -> dict[str, Any]:
    """Einstein's riddle; it has no computation graph, so only whole answers are scored."""
    trained = ["2x2", "3x2", "2x3"]
    space = {"sizes": [*trained, "3x3", "4x3"], "each": 400}  # drawing and solving them takes milliseconds each
    world = {"name": "einstein-v1", "space": space, "steps": steps}
    return {"world": world, "support": {"name": "sizes", "trained": trained, "in_domain": 0.1}}


ARMS: dict[str, dict[str, Any]] = {
    # lists, with every step written
    STEPS: {},
    # the same in texts and answers of one length for all sizes: no length is new, only what fills it
    PADDED: {"world.padded": True},
    PRODUCTS: products(steps=False),
    "answer": {"world.steps": False},
    "answer, padded": {"world.steps": False, "world.padded": True},
    "steps, relative": {"net.positions": "relative"},
    "steps, padded, relative": {"world.padded": True, "net.positions": "relative"},
    "steps, sinusoidal": {"net.positions": "sinusoidal"},
    "products, steps": products(steps=True),
    "puzzles": puzzles(steps=False),
    "puzzles, steps": puzzles(steps=True),
}
#: the contrast that decides
DECIDING = [STEPS, PADDED, PRODUCTS]
#: lists, whatever is written of them
OF_LISTS = [name for name in ARMS if not name.startswith(("products", "puzzles"))]
#: lists with every step written: what labels are read of
WITH_STEPS = [name for name in ARMS if name.startswith("steps")]

#: share of the lists of trained sizes that is held out: what is left is the data
DATA: dict[str, dict[str, Any]] = {
    "a hundredth": {"support.in_domain": 0.991},
    "a tenth": {"support.in_domain": 0.91},
}
ALL, USUAL = "all", "usual"


def sized(width: int, depth: int, paper_width: int, paper_depth: int) -> dict[str, Any]:
    """A net of another size; the feed-forward part is as wide in proportion as that of the usual one."""
    return {
        "net.width": Scale(width, width, width, paper_width),
        "net.depth": Scale(depth, depth, depth, paper_depth),
        "net.feedforward": Scale(2 * width, 2 * width, 2 * width, 4 * paper_width),
    }


NETS: dict[str, dict[str, Any]] = {"small": sized(64, 2, 384, 6), "large": sized(256, 6, 1152, 18)}
SIZES = ["small", USUAL, "large"]
LATER = Scale([], [], list(NETS), list(NETS))
ALL_DATA, USUAL_NET, WHOLE = Arms({ALL: {}}), Arms({USUAL: {}}), Arms({STEPS: {}})
VARY = [
    {"arm": Arms(ARMS, Scale([STEPS], DECIDING, list(ARMS), list(ARMS))), "data": ALL_DATA, "net_size": USUAL_NET},
    {"arm": WHOLE, "data": ALL_DATA, "net_size": Arms(NETS, LATER)},
    {
        "arm": WHOLE,
        "data": Arms(DATA, Scale([], [], list(DATA), list(DATA))),
        "net_size": Arms(NETS | {USUAL: {}}, Scale([USUAL], [USUAL], SIZES, SIZES)),
    },
]
