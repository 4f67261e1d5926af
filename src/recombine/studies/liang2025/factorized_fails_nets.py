"""The nets of factorized-fails, each of any depth, as arms of what varies."""

from __future__ import annotations

from typing import Any

from ...lab.paths import Same
from ...lab.scales import Scale
from .factorized_fails_readings import COORDINATES
from .liang_setting import at_paper, decoder


def of_any_depth(name: str, width: Scale, **options: Scale) -> dict[str, Any]:
    return {"net": decoder(name, width=width, depth=Same("net.depth"), **options)}


#: 128 units for ramps, as published
MLP_WIDTH = Same("world.encoding", then=lambda code: 128 if code == "ramp" else 256)
MLP = of_any_depth("mlp", Scale(64, 128, 256, MLP_WIDTH)) | {
    # raw ramps take long, and the published rate: at ours units die; a step costs little
    "recipe.steps": Scale(150, 40_000, 40_000, 1250),
    "recipe.learning_rate": Scale(5e-3, 1e-3, 1e-3, 1e-3),
}
CNN = of_any_depth("cnn-decoder", Scale(8, 16, 32, 64))
#: the feed-forward units and the dropout of torch's encoder at paper scale
TRANSFORMER = of_any_depth(
    "pixel-transformer",
    Scale(8, 16, 32, 128),
    heads=Scale(2, 2, 4, 4),
    feedforward=Scale(32, 64, 128, 2048),
    dropout=Scale(0.0, 0.0, 0.0, 0.1),
) | {
    "recipe.steps": Scale(300, 2000, 4000, 1250)  # one of its steps costs ten of another's
}
#: 2,000 epochs of 588 pictures, in batches of 32
COORDINATE_NET = (
    of_any_depth(COORDINATES, Scale(32, 48, 128, 256))
    | at_paper(recipe__weight_decay=1e-4)
    | {"recipe.steps": Scale(150, 30_000, 40_000, 36_750)}
)
