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
from . import image_grids
from . import liang_history as history
from .liang_setting import (
    EVERY,
    FIRST_SEED,
    PUBLISHED,
    SOURCE,
    bright,
    dark_on_paper,
    decoder,
    ours,
    pictures,
    require_room,
)
from .render_weights import scaled
from .similar_drawings import similar
from .superposition_claims import CLAIMS, MEASUREMENTS
from .superposition_readings import explained_by

REGULARIZED = {term: Same("world", scaled(term)) for term in ("entropy", "variance")}
BRIGHT = {"world": Same("world", then=bright)}


def for_steps(laptop: int, night: int) -> dict[str, Any]:
    """Longer training of nets that are slow to compose; as all others at the other scales."""
    return {"recipe.steps": Scale(Same("recipe.steps"), laptop, night, Same("recipe.steps"))}


def sized(name: str, width: Scale) -> dict[str, Any]:
    return {"net": decoder(name, width=width, depth=Same("net.depth"))}


study = Study(
    id="superposition",
    title="Are unseen combinations drawn as blends of seen ones?",
    question="Where a decoder fails, does it superpose trained pictures that share a factor?",
    source=SOURCE,
    version=2,
    history=history.SUPERPOSITION,
    differs=history.SUPERPOSITION_DIFFER,
    minutes=Scale(1, 8, 45, "about 1 GPU-hour"),
    metric="error",
    world=dark_on_paper(pictures("bumps-v1", Scale(8, 16, 20, 28), sigma=1.0)),
    support={"name": "donut"},
    net={"depth": Scale(2, 3, 3, 4)},
    recipe=Scale(ours(200, 5e-3), ours(5000), ours(20_000), PUBLISHED),
    asks=EVERY,
    probes=[{"name": "superposition"}, {"name": "transport"}, {"name": "similarity"}],
    first_seed=FIRST_SEED | {"keep": ["panel", "drawings", "similarity"]},
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
                    "coordinate-mlp": sized("coordinate-mlp", Scale(32, 64, 128, 256))
                    | BRIGHT
                    | for_steps(15_000, 30_000),
                    "rendering": {"net": decoder("rendering", variance_of="raw", **REGULARIZED)}
                    | BRIGHT
                    | for_steps(12_000, 40_000),
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
    measurements=MEASUREMENTS,
    charts=[explained_by],
    images=[image_grids.drawings, image_grids.errors, similar],
    otherwise="What unseen combinations are drawn as is not settled at this scale.",
    refuse=require_room,
)
