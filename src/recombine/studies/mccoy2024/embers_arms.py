"""What embers varies: how common shifts are, and the size of the net."""

from __future__ import annotations

from typing import Any

from ...lab.axes import Arms
from ...lab.scales import Scale

#: where all are alike, the fit and the charts take the order that Zipf's law would have had
FREQUENCIES: dict[str, dict[str, Any]] = {
    "zipf": {"world.space.frequency": "zipf", "options.law": "zipf"},
    "web": {"world.space.frequency": "web", "options.law": "web"},
    "uniform": {"world.space.frequency": "uniform", "options.law": "zipf"},
}
DECIDING = ["zipf", "uniform"]

#: about 0.3, 1 and 3 million weights
SIZES: dict[str, dict[str, Any]] = {
    "usual": {},
    "0.3M": {"net.width": 96, "net.depth": 3, "net.feedforward": 192},
    "1M": {"net.width": 128, "net.depth": 6, "net.feedforward": 384},
    "3M": {"net.width": 192, "net.depth": 6, "net.feedforward": 768},
}
SMALLEST, LARGER = ["0.3M"], ["1M", "3M"]

VARY = [
    {
        "frequency": Arms(FREQUENCIES, Scale(["zipf"], DECIDING, list(FREQUENCIES), list(FREQUENCIES))),
        "size": Arms(SIZES, Scale(["usual"], ["usual"], SMALLEST, SMALLEST)),
    },
    {
        "frequency": Arms({"zipf": FREQUENCIES["zipf"]}),
        "size": Arms({name: SIZES[name] for name in LARGER}, Scale([], [], LARGER, LARGER)),
    },
]
