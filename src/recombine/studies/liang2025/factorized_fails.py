"""factorized-fails: is a factorized input enough for a decoder to compose?

    recombine run factorized-fails              laptop: about 10 minutes on two cores
    expected: MLPs and CNNs fail on unseen combinations, whatever the code; nets with one token per pixel nearly compose

After Liang, Qian, Ziyin, Fiete 2025, its poster and public code. Every code here is factorized by construction. Bumps
of one pixel on a square with a square hole: each x and each y is trained, their combinations inside the hole are not.
The thresholds are ours. What the paper found for transformers is not known. `paper` scale is the published setting but
for what stands in `differs`: dark bumps on 28 x 28 white pixels, CNNs of 64 channels and depths 2 to 6 (50 epochs),
MLPs of depths 3 to 7 and transformers of depths 2 to 5 (20 epochs), all begun as torch draws them; 5 seeds in the
figure (one in the code). `laptop` has 16 pixels, one depth per net and narrower nets.
"""

from __future__ import annotations

from ...lab.axes import Arms
from ...lab.scales import Scale
from ...lab.study import Study
from ...lab.verdicts import Measurement
from . import image_grids
from . import liang_history as history
from .factorized_fails_claims import CLAIMS, PLAIN
from .factorized_fails_nets import CNN, COORDINATE_NET, MLP, TRANSFORMER
from .factorized_fails_readings import COORDINATES, how_much_worse, most_localized, unlike
from .liang_setting import (
    EVERY,
    FIRST_SEED,
    PUBLISHED,
    SOURCE,
    dark_on_paper,
    ours,
    pictures,
    require_room,
)

DEPTHS = Scale([2], [2], [2, 3, 4], [2, 3, 4, 5, 6])
ALL_CODES = ["one-hot", "bump", "ramp"]
CODES = Scale(["one-hot"], ALL_CODES, ALL_CODES, ALL_CODES)

study = Study(
    id="factorized-fails",
    version=3,
    title="Are factorized inputs enough?",
    question="A decoder gets the coordinates of a picture in a perfectly factorized code: does it draw unseen ones?",
    source=SOURCE,
    history=history.FACTORIZED_FAILS,
    differs=history.FACTORIZED_FAILS_DIFFER,
    minutes=Scale(1, 10, 420, "about 3 GPU-hours"),
    metric="error",
    world=dark_on_paper(pictures("bumps-v1", Scale(8, 16, 20, 28))),
    support={"name": "donut"},
    net={},
    recipe=Scale(ours(150, 5e-3), ours(3000, evaluations=2), ours(10_000, evaluations=4), PUBLISHED),
    asks=EVERY,
    probes=[{"name": "similarity", "matrices": False}],
    first_seed=FIRST_SEED,
    vary=[
        {
            "net": Arms({"mlp": MLP}),
            "net.depth": Scale([2], [4], [3, 4, 5], [3, 4, 5, 6, 7]),
            "world.encoding": CODES,
        },
        {
            "net": Arms({"cnn-decoder": CNN}, Scale([], None, None, None)),
            "net.depth": DEPTHS,
            "world.encoding": CODES,
        },
        {
            "net": Arms({"pixel-transformer": TRANSFORMER}, Scale([], None, None, None)),
            "net.depth": Scale([1], [2], [2], [2, 3, 4, 5]),
            "world.encoding": Scale(["one-hot"], ["bump"], ALL_CODES, ALL_CODES),
        },
        {
            "net": Arms({COORDINATES: COORDINATE_NET}),
            "net.depth": Scale([2], [2], [2, 4], [2, 4]),
            "world.encoding": Scale(["one-hot"], ["one-hot"], ALL_CODES, ALL_CODES),
        },
    ],
    # each with the nets that its claims are about
    controls={
        "indifferent": {"net": ["mlp", "cnn-decoder"]},
        "indifferent-transformer": {"world.name": "bumps-indifferent-v1", "net": ["pixel-transformer"]},
        # few enough places to be learned by heart
        "lookup": {"net": [COORDINATES], "size": 5, f"{COORDINATES}:recipe.steps": 1200},
    },
    claims=CLAIMS,
    measurements=[
        Measurement(f"{net}-localized", most_localized(net), f"{words}: most held-out bumps in the right place")
        for net, words in (*PLAIN.items(), (COORDINATES, "Coordinate nets"))
    ]
    + [
        Measurement(f"{net}-unlike", unlike(net), f"{words}: 1 - SSIM of unseen pictures")
        for net, words in PLAIN.items()
    ],
    charts=[how_much_worse],
    images=[image_grids.drawings, image_grids.errors],
    otherwise="Whether factorized inputs are enough is not settled at this scale.",
    refuse=require_room,
)
