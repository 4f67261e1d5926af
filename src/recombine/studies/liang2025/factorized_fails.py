"""factorized-fails: is a factorized input enough for a decoder to compose?

    recombine run factorized-fails              laptop: about 10 minutes on two cores
    expected: MLPs and CNNs fail on unseen combinations, whatever the code; nets with one token per pixel nearly compose

After Liang, Qian, Ziyin, Fiete 2025, its poster and public code. Every code here is factorized by construction. Bumps
of one pixel on a square with a square hole: each x and each y is trained, their combinations inside the hole are not.
The thresholds are ours. What the paper found for transformers is not known. `paper` scale is the published setting: 28
pixels, 64 channels, depths 2 to 6, 5 seeds in the figure (one in the code); `laptop` has 12 pixels and narrower nets.
"""

from __future__ import annotations

from ...charts import kinds
from ...lab.axes import Arms
from ...lab.paths import Same
from ...lab.scales import Scale
from ...lab.study import Study
from ...lab.verdicts import Claim, Measurement, at_least, at_most
from . import image_grids
from .factorized_fails_readings import (
    COORDINATES,
    coordinates_error,
    failures,
    least_error,
    least_failure,
    most_localized,
    ratios,
)
from .paper import COMPOSES, EVERY, FIRST_SEED, OURS, PUBLISHED, SOURCE, decoder, ours, pictures, require_room

PLAIN = {"mlp": "MLPs", "cnn-decoder": "CNNs", "pixel-transformer": "Transformers with a token a pixel"}
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
    "recipe.steps": Scale(300, 900, 6000, 3125)  # one of its steps costs ten of another's
}


def fails(net: str, words: str) -> Claim:
    return Claim(
        f"{net}-fails",
        least_failure(net),
        at_least(5.0),
        f"{words} err at least 5 times as much on unseen combinations, whatever code and depth",
        "indifferent-transformer" if net == "pixel-transformer" else "indifferent",
        source=OURS if net == "pixel-transformer" else SOURCE,
        supported=f"{words} fail on unseen combinations, whatever the code",
        refuted=f"{words} draw some unseen combinations nearly as well as trained ones",
    )


study = Study(
    id="factorized-fails",
    title="Are factorized inputs enough?",
    question="A decoder gets the coordinates of a picture in a perfectly factorized code: does it draw unseen ones?",
    source=SOURCE,
    history="After a first run, in which transformers composed and the coordinate net had not finished, one claim on "
    "all plain nets became one for each net, with the same threshold, and laptop scale trains longer.",
    minutes=Scale(1, 10, 300, "about 3 GPU-hours"),
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
            "net.depth": Scale([1], [2], [2, 3], [2, 3, 4, 5]),
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
    claims=[
        *(fails(net, words) for net, words in PLAIN.items()),
        Claim(
            "fails-as-if-blank",
            least_error,
            at_least(0.5),
            "What MLPs and CNNs draw there is at least half as wrong as an empty picture",
            "indifferent",
        ),
        Claim(
            "coordinates-compose",
            coordinates_error,
            at_most(COMPOSES),
            "A net that shares its weights over pixels and knows where they are does not fail",
            "lookup",
            source=f"{SOURCE}, public code",
            supported="a net that shares its weights over pixels does not fail",
            refuted="a net that shares its weights over pixels fails, too",
        ),
    ],
    measurements=[
        Measurement(f"{net}-localized", most_localized(net), f"{words}: most held-out bumps in the right place")
        for net, words in (*PLAIN.items(), (COORDINATES, "Coordinate nets"))
    ],
    charts=[
        kinds.Chart(
            "How much worse on unseen combinations",
            "Held-out error by the error on trained combinations (which counts as at least .02), by net, depth and "
            "code; one point per seed. At 1 a net draws what it never saw as well as what it saw.",
            failures,
            ratios,
        )
    ],
    images=[image_grids.drawings, image_grids.errors],
    otherwise="Whether factorized inputs are enough is not settled at this scale.",
    refuse=require_room,
)
