"""hole-shapes: as many combinations are held out in another shape: which is hardest to compose?

    recombine run hole-shapes                   laptop: about 4 minutes on two cores
    expected: scattered ones are easy; a whole level that is never seen is hardest

Liang, Qian, Ziyin, Fiete 2025 and its public code hold out a square in the middle, a corner for the rendering net, and
in one notebook a cross of whole rows and columns; what differs between these was not compared. Here it is, on equal
terms: of N = 10 k places along a factor a square of 6 k, a corner of 6 k and a cross of 2 k rows and columns hold out
36 k^2 of 100 k^2 combinations each, and so does a draw by lot. Around the square a factor is interpolated, beside the
corner it is extrapolated together with the other, and the cross has levels that are never seen at all. All claims and
thresholds are ours, written before any run.
"""

from __future__ import annotations

from typing import Any

from ...errors import UserError
from ...lab.axes import Arms
from ...lab.paths import Same
from ...lab.scales import Scale
from ...lab.study import Study
from ...lab.verdicts import Claim, Reading, at_least, at_most
from . import image_grids
from .compared_arms import error_dots, ratios
from .liang_setting import EVERY, FIRST_SEED, OURS, dark_on_paper, decoder, pictures, recipe

SHARE = 0.36  # of all combinations that is held out


def tenths(number: int) -> Same:
    """So many tenths of the places along a factor."""
    return Same("world.space.size", then=lambda size: number * size // 10)


def last_before(number: int) -> Same:
    return Same("world.space.size", then=lambda size: number * size // 10 - 1)


SHAPES: dict[str, dict[str, Any]] = {
    "square": {"support": {"name": "donut", "low": tenths(2), "high": last_before(8)}},
    "corner": {"support": {"name": "corner", "low": tenths(4)}},
    "cross": {"support": {"name": "cross", "low": tenths(4), "high": last_before(6)}},
    "scattered": {"support": {"name": "random", "held_out": SHARE}},
}


def against_square(shape: str) -> Reading:
    def reading(t: Any) -> dict[str, Any]:
        """Held-out error by that of a square of as many, each net."""
        return ratios(t, "shape", shape, "square", of="net")

    return reading


def harder(shape: str, words: str, than: str) -> Claim:
    return Claim(
        f"{shape}-is-harder",
        against_square(shape),
        at_least(1.2),
        f"{words}: the held-out error is a fifth larger than in a square of as many, whatever net",
        "same-arms",
        supported=f"{words.lower()} than {than}",
        transform="log",
        needs={"shape": [shape, "square"]},
    )


def refuse(settings: dict[str, Any]) -> None:
    size = settings["world.space.size"]
    if not isinstance(size, int) or size < 10 or size % 10:
        raise UserError(f"size={size} makes no equal shapes; a multiple of 10 does, such as size=20")


study = Study(
    id="hole-shapes",
    title="Which shape of hole is hardest?",
    question="If as many combinations are held out in another shape, how well are they drawn?",
    source=OURS,
    minutes=Scale(0.5, 4, 30, "about 1 GPU-hour"),
    metric="error",
    world=dark_on_paper(pictures("bumps-v1", Scale(10, 10, 20, 30), encoding="bump")),
    support={"name": "donut"},
    net={},
    recipe=recipe(500, 3000, 10_000),
    asks=EVERY,
    first_seed=FIRST_SEED,
    vary={
        "net": Arms(
            {
                "mlp": {"net": decoder("mlp", width=Scale(64, 128, 256, 256), depth=Scale(2, 3, 3, 4))},
                "cnn-decoder": {"net": decoder("cnn-decoder", width=Scale(8, 16, 32, 64), depth=Scale(2, 2, 3, 4))},
            },
            Scale(["mlp"], None, None, None),
        ),
        "shape": Arms(SHAPES),
    },
    claims=[
        harder("corner", "A corner is harder", "a hole in the middle"),
        harder("cross", "A level that is never seen is harder", "combinations that are not"),
        Claim(
            "scattered-is-easier",
            against_square("scattered"),
            at_most(0.5),
            "Scattered combinations are easier: the held-out error is half that of a square of as many, whatever net",
            "same-arms",
            supported="scattered combinations are easier",
            transform="log",
            needs={"shape": ["scattered", "square"]},
        ),
    ],
    charts=[error_dots("Error by shape of what is held out", "net", "shape")],
    images=[image_grids.drawings, image_grids.errors],
    otherwise="Which shape is hardest is not settled at this scale.",
    refuse=refuse,
)
