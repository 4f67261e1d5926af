"""Decodability by layer for the panel: how well a linear map reads off each layer what a combination is made of.

    of          "constituents", where the task has them (weights of modules, places along factors), or "elements": which
                elements a combination has
    layers      layer -> one number per combination, 1 is read without error (`combination_decodability`)
    trained     layer -> training combinations together, each read by a map that has not seen it
    held_out    layer -> held-out combinations together, those that the score of the split is about
    untrained   layer -> the same of a net with the same blueprint before training: what the architecture gives

The activations are those of the answers that the panel scores, averaged over the samples and steps of a task. A layer
of more than WIDEST units is read through a fixed random projection to so many numbers (`pooled_layers`), off which less
can be read, mostly, than off the layer itself.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..machine.processes import one_blas_thread
from ..probes.combination_decodability import PARTS, Decoded, decoded_combinations
from ..training import Items, Trained

WIDEST = 256  # numbers of each layer and item: 16 MB for each layer of 1,000 combinations with 16 draws


@one_blas_thread()
def decodability_by_layer(run: Trained, asked: Items, control: Items) -> dict[str, Any]:
    """What the panel keeps of a net's layers, from the items that the trained and an untrained net were asked about."""
    rows, draws, support = asked.combinations, asked.draws, run.support
    whole = run.task.asked_about(rows)  # a stripe has no place along one of its factors
    trained = support.train.contains(rows)
    held_out = support.side(support.asks).contains(rows) & whole
    fitted_on = trained & whole if (trained & whole).sum() >= PARTS else trained
    constituents = asked.kept["constituents"]
    if of_constituents := constituents is not None:
        targets = np.asarray(constituents, float).reshape(len(rows), draws, -1)
    else:
        targets = np.repeat(support.space.multihot(rows)[:, None].astype(float), draws, axis=1)

    def decoded(items: Items) -> dict[str, Decoded]:
        features = {name: layer.reshape(len(rows), draws, -1) for name, layer in items.trace.items()}
        return {name: decoded_combinations(layer, targets, fitted_on) for name, layer in features.items()}

    layers, fresh = decoded(asked), decoded(control)
    return {
        "of": "constituents" if of_constituents else "elements",
        "layers": {name: [_rounded(value) for value in found.values] for name, found in layers.items()},
        "trained": {name: _rounded(found.together(fitted_on)) for name, found in layers.items()},
        "held_out": {name: _rounded(found.together(held_out)) for name, found in layers.items()},
        "untrained": {name: _rounded(found.together(held_out)) for name, found in fresh.items()},
    }


def _rounded(value: float) -> float | None:
    """Three digits: records stay small."""
    return round(float(value), 3) if math.isfinite(value) else None
