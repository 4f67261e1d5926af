"""factorized-fails: is a factorized input enough for a decoder to compose?

    recombine run factorized-fails              laptop: about 10 minutes on two cores
    expected: MLPs and CNNs fail on unseen combinations, whatever the code; nets with one token per pixel nearly compose

After Liang, Qian, Ziyin, Fiete 2025, its poster and public code. Every code here is factorized by construction. Bumps
of one pixel on a square with a square hole: each x and each y is trained, their combinations inside the hole are not.
The thresholds are ours. What the paper found for transformers is not known. `paper` scale is the published setting: 28
pixels, 64 channels, depths 2 to 6, 5 seeds in the figure (one in the code); `laptop` has 12 pixels and narrower nets.
"""

from __future__ import annotations

from ...lab.axes import Arms
from ...lab.paths import Same
from ...lab.scales import Scale
from ...lab.study import Study
from ...lab.verdicts import Measurement
from . import image_grids
from .factorized_fails_claims import CLAIMS, PLAIN
from .factorized_fails_readings import COORDINATES, how_much_worse, most_localized
from .paper import EVERY, FIRST_SEED, PUBLISHED, SOURCE, decoder, ours, pictures, require_room

DEPTHS = Scale([2], [2, 3], [2, 3, 4], [2, 3, 4, 5, 6])
CODES = Scale(
    ["one-hot"],
    ["one-hot", "bump", "ramp-normalized"],
    ["one-hot", "bump", "ramp-normalized"],
    ["one-hot", "bump", "ramp"],
)


def of_any_depth(name: str, width: Scale, **options: Scale) -> dict[str, dict]:
    return {"net": decoder(name, width=width, depth=Same("net.depth"), **options)}


TRANSFORMER = of_any_depth("pixel-transformer", Scale(8, 16, 32, 128), heads=Scale(2, 2, 4, 4)) | {
    "recipe.steps": Scale(300, 900, 4000, 3125)  # one of its steps costs ten of another's
}


study = Study(
    id="factorized-fails",
    title="Are factorized inputs enough?",
    question="A decoder gets the coordinates of a picture in a perfectly factorized code: does it draw unseen ones?",
    source=SOURCE,
    history="After a first run, in which transformers composed and the coordinate net had not finished, one claim on "
    "all plain nets became one for each net, with the same threshold, and laptop scale trains longer.",
    minutes=Scale(1, 10, 420, "about 3 GPU-hours"),
    metric="error",
    world=pictures("bumps-v1", Scale(8, 12, 16, 28)),
    support={"name": "donut"},
    net={},
    recipe=Scale(ours(150, 5e-3), ours(3000, evaluations=2), ours(10_000, evaluations=4), PUBLISHED),
    asks=EVERY,
    first_seed=FIRST_SEED,
    vary=[
        {
            "net": Arms(
                {
                    "mlp": of_any_depth("mlp", Scale(64, 128, 256, 256)),
                    "cnn-decoder": of_any_depth("cnn-decoder", Scale(8, 16, 32, 64)),
                },
                Scale(["mlp"], None, None, None),
            ),
            "net.depth": DEPTHS,
            "world.encoding": CODES,
        },
        {
            "net": Arms({"pixel-transformer": TRANSFORMER}, Scale([], None, None, None)),
            "net.depth": Scale([1], [2], [2], [2, 3, 4, 5]),
            "world.encoding": CODES,
        },
        {
            "net": Arms({COORDINATES: of_any_depth(COORDINATES, Scale(32, 48, 128, 256))}),
            "net.depth": DEPTHS,
            "world.encoding": CODES,
        },
    ],
    # each with the nets that its claims are about
    controls={
        "indifferent": {"net": ["mlp", "cnn-decoder"]},
        "indifferent-transformer": {"world.name": "bumps-indifferent-v1", "net": ["pixel-transformer"]},
        "lookup": {"net": [COORDINATES]},
    },
    claims=CLAIMS,
    measurements=[
        Measurement(f"{net}-localized", most_localized(net), f"{words}: most held-out bumps in the right place")
        for net, words in (*PLAIN.items(), (COORDINATES, "Coordinate nets"))
    ],
    charts=[how_much_worse],
    images=[image_grids.drawings, image_grids.errors],
    otherwise="Whether factorized inputs are enough is not settled at this scale.",
    refuse=require_room,
)
