"""re-entanglement: do later layers mix up what came in factorized, and is that why decoders fail?

    recombine run re-entanglement               laptop: about 9 minutes on two cores
    expected: layers lose factorization, but no more by training; the loss neither predicts failure nor causes it

Liang, Qian, Ziyin, Fiete 2025 read the metric tensor g of each layer over the grid of (x, y) and report that the
factorization F = 1 - mean|g01| / mean(|g00| + |g11|) falls layer by layer (to .96 with bump codes, to .75 with ramps,
by the axes of the poster) while the volume form warps around the hole: F of the input, which is 1, against that of the
last layer. That F predicts failure across nets and that it is a cause are not shown there; both readings are ours, and
so are all thresholds, written before any run. So is the comparison with the same nets before training: without it, a
fall says nothing about learning. The cause is tried by training with a penalty on g01 (`straightened`), at the trained
points and, apart, on the whole frame; of several weights the one counts that keeps F highest where it is taken.
"""

from __future__ import annotations

from typing import Any

from ...errors import require_int
from ...lab.axes import Arms
from ...lab.cells import Spec
from ...lab.paths import Same
from ...lab.scales import Scale
from ...lab.study import Settings, Study
from . import liang_history as history
from .liang_setting import EVERY, SMALLEST, SOURCE, dark_on_paper, decoder, pictures, recipe
from .re_entanglement_claims import CLAIMS, MEASUREMENTS
from .re_entanglement_images import drawings, errors, name_of, volumes
from .re_entanglement_readings import against_error, by_layer


def cells_of(study: Study, settings: Settings, seed: int) -> list[Spec]:
    """Nets of every depth without a penalty; those of the middle depth with each, at trained points and everywhere."""
    require_int("size", settings["world.space.size"], at_least=SMALLEST)
    specs = study.specs(settings, seed)
    middle = sorted(settings["layers"])[len(settings["layers"]) // 2]
    plain = [spec for spec in specs if not spec["at"]["penalty"] and not spec["at"]["everywhere"]]
    if any(settings["penalty"]):
        plain = [by_derivative(spec) if is_bent(spec["at"], middle, settings) else spec for spec in plain]
    bent = [spec for spec in specs if spec["at"]["penalty"] and is_bent(spec["at"], middle, settings)]
    bent = [by_derivative(straightened(spec)) for spec in bent]
    study.require_possible(plain + bent)
    return plain + bent


def is_bent(at: dict[str, Any], middle: int, settings: Settings) -> bool:
    """Whether a net is penalized: of the middle depth; at laptop scale with the last code, in which F falls most."""
    few = settings["scale"] == "laptop" and 0.0 in settings["penalty"]
    return at["layers"] == middle and (not few or at["encoding"] == settings["encoding"][-1])


def straightened(spec: Spec) -> Spec:
    """The same cell with a penalty on g01."""
    (stage,) = spec["trial"]["stages"]
    inner = {"net": stage["net"]["name"]} | {name: v for name, v in stage["net"].items() if name != "name"}
    penalty = {"weight": spec["at"]["penalty"], "everywhere": spec["at"]["everywhere"]}
    stages = [stage | {"net": {"name": "straightened", "of": inner, **penalty}}]
    return spec | {"trial": spec["trial"] | {"stages": stages}}


def by_derivative(spec: Spec) -> Spec:
    """The same cell with F read by the derivative too, as it is penalized."""
    return spec | {"trial": spec["trial"] | {"probes": [{"name": "geometry"}]}}


study = Study(
    id="re-entanglement",
    title="Do later layers mix up what came in factorized?",
    question="Do the layers of a decoder lose the factorization of its input, and is that why it fails?",
    source=SOURCE,
    version=2,
    history=history.RE_ENTANGLEMENT,
    differs=history.RE_ENTANGLEMENT_DIFFER,
    minutes=Scale(0.4, 9, 200, "about 4 GPU-hours"),
    world=dark_on_paper(pictures("bumps-v1", Scale(8, 12, 28, 28))),
    support={"name": "donut"},
    recipe=recipe(600, 3000, 6000),
    asks=EVERY,
    probes=[{"name": "geometry", "derivative": False}],
    first_seed={"keep": ["panel", "drawings", "volumes"]},
    metric="error",
    vary={
        "decoder": Arms(
            {
                "mlp": {"net": decoder("mlp", width=Scale(48, 128, 256, 256), depth=Same("options.layers"))},
                "cnn-decoder": {
                    "net": decoder("cnn-decoder", width=Scale(8, 16, 32, 64), depth=Same("options.layers"))
                },
            },
            chosen=Scale(["mlp"], None, None, None),
        ),
        "world.encoding": Scale(["bump"], ["bump", "ramp"], ["bump", "ramp"], ["bump", "ramp"]),
        "options.layers": Scale([2, 3], [3, 4], [2, 3, 4, 5, 6], [2, 3, 4, 5, 6]),
        "options.penalty": Scale([0.0, 1.0], [0.0, 0.1, 1.0, 10.0], [0.0, 0.1, 1.0, 10.0], [0.0, 0.1, 1.0, 10.0]),
        "options.everywhere": [False, True],
    },
    cells_of=cells_of,
    controls={
        # as many nets as a correlation takes
        "unrelated": {"layers": [2, 3, 4, 5], "penalty": [0.0]},
        # F is held at 1 by the loss, on the whole frame; of one-hot codes by the differences of which it is read
        "straightened": {"encoding": ["one-hot"], "layers": [2], "penalty": [10.0], "everywhere": [True]},
        # nothing can compose, so nothing can cure
        "lookup": {"layers": [2]},
    },
    claims=CLAIMS,
    measurements=MEASUREMENTS,
    charts=[by_layer, against_error],
    images=[drawings, errors, volumes],
    otherwise="Whether layers re-entangle, and whether it matters, is not settled.",
    label_of=lambda spec: f"{name_of(spec)}, seed {spec['seed']}",
)
