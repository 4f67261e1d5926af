"""superposition: is what a decoder draws for unseen combinations a blend of pictures that it was trained on?

    recombine run superposition                 laptop: about 8 minutes on two cores
    expected: nets that fail blend; that cured nets do not is undecided, since minutes do not cure all of them

Liang, Qian, Ziyin, Fiete 2025 show that held-out outputs look like sums of trained pictures that share x or y. How much
they are is read here by non-negative least squares, against how much the true picture explains; both definitions are
ours, and so are the thresholds, written before any run.
"""

from __future__ import annotations

from typing import Any

from ...lab.axes import Arms
from ...lab.paths import Same
from ...lab.scales import Scale
from ...lab.study import Study
from ...lab.verdicts import Measurement
from . import image_grids
from .paper import EVERY, FIRST_SEED, PUBLISHED, SOURCE, decoder, ours, pictures, require_room
from .superposition_claims import CLAIMS
from .superposition_readings import explained_by, mean_explained, nearer_template


def probes(kernels: bool) -> list[dict[str, Any]]:
    return [{"name": "superposition", "kernels": kernels}, {"name": "transport"}]


def sized(name: str, width: Scale) -> dict[str, Any]:
    return {"net": decoder(name, width=width, depth=Same("net.depth"))}


study = Study(
    id="superposition",
    title="Are unseen combinations drawn as blends of seen ones?",
    question="Where a decoder fails, does it superpose trained pictures that share a factor?",
    source=SOURCE,
    history="After a first run with 12 pixels, in which a CNN did not fail, laptop scale has 16 pixels and the "
    "rendering net as published.",
    minutes=Scale(1, 8, 45, "about 1 GPU-hour"),
    metric="error",
    world=pictures("bumps-v1", Scale(8, 16, 20, 28)),
    support={"name": "donut"},
    net={"depth": Scale(2, 3, 3, 4)},
    recipe=Scale(ours(200, 5e-3), ours(5000), ours(20_000), PUBLISHED),
    asks=EVERY,
    probes=probes(kernels=False),
    first_seed=FIRST_SEED | {"probes": probes(kernels=True)},
    vary=[
        {
            "net": Arms(
                {
                    "mlp": sized("mlp", Scale(64, 128, 256, 256)),
                    "cnn-decoder": sized("cnn-decoder", Scale(8, 16, 32, 64)),
                },
                Scale(["mlp"], None, None, None),
            ),
            "world.encoding": Scale(
                ["one-hot"], ["one-hot", "bump"], ["one-hot", "bump", "ramp-normalized"], ["one-hot", "bump", "ramp"]
            ),
        },
        {
            "net": Arms(
                {
                    "coordinate-mlp": sized("coordinate-mlp", Scale(32, 64, 128, 256)),
                    "rendering": {"net": decoder("rendering", variance_of="raw")},  # as published
                },
                Scale(["coordinate-mlp"], None, None, None),
            ),
            "world.encoding": ["one-hot"],
        },
    ],
    # every picture is the same, so the truth explains whatever a blend does, and no more; nets that learn it are cured
    controls={
        "indifferent-untrained": {"world.name": "bumps-indifferent-v1", "steps": 1, "learning_rate": 1e-12},
    },
    claims=CLAIMS,
    measurements=[
        Measurement(
            "others", mean_explained("by_others"), "As many trained pictures that share no factor, failing nets"
        ),
        Measurement("shared", mean_explained("by_shared"), "Trained pictures that share a factor, failing nets"),
        Measurement("truth", mean_explained("by_truth"), "The truth, failing nets"),
        Measurement(
            "mean-code",
            mean_explained("mean_code"),
            "Correlation with the sum of the two drawings with a mean code, failing nets",
            "correlation over pixels, mean over nets",
        ),
        Measurement(
            "transport",
            nearer_template,
            "How much nearer failing drawings are to the template of superposition than to the truth",
        ),
    ],
    charts=[explained_by],
    images=[image_grids.drawings, image_grids.errors],
    otherwise="What unseen combinations are drawn as is not settled at this scale.",
    refuse=require_room,
)
