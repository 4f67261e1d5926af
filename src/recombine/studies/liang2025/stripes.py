"""stripes: do stripes in the training data teach a decoder to compose? ("Plan B")

    recombine run stripes                       laptop: about 5 minutes on two cores
    expected: stripes teach a CNN where a bump goes and how two stripes combine, and an MLP only where

Liang, Qian, Ziyin, Fiete 2025 add full-length stripes to bumps around a hole: a stripe crosses the hole and holds no
combination of it. The public code contains no stripes and the paper's recipe was not at hand, so the recipe (all 2N
stripes, the code of the missing factor, the mask) is ours, and so are all thresholds; they were written before any run
of this study, after a prototype in the notes (14) that saw stripes teach an MLP where, and not how to combine.
Every claim says which of two readings it is about: the error of pixels, or whether a bump is put in the right place.

Cells: stripes x bumps, none or all of the stripes at laptop scale; and, with all of both, stripes masked inside the
hole (do they teach drawing, or merely put ink there?). From night scale on also other codes of the missing factor, and
one kind of picture first, for half of the steps.
"""

from __future__ import annotations

from ...charts.words import title
from ...lab.axes import Arms
from ...lab.scales import Scale
from ...lab.study import Study
from ...lab.verdicts import Measurement
from . import liang_history as history
from .image_grids import drawings, errors
from .liang_setting import EVERY, FIRST_SEED, SOURCE, dark_on_paper, decoder, pictures, recipe
from .stripes_charts import SCORES, WORDS, headline, heat, variants
from .stripes_claims import CLAIMS
from .stripes_grid import VARIANTS, cells_of
from .stripes_readings import difference, error_ratio

study = Study(
    id="stripes",
    title="Do stripes teach a decoder to compose?",
    question=(
        "If the training data shows each factor alone, as a stripe, does a plain decoder draw unseen combinations?"
    ),
    source=SOURCE,
    version=2,
    history=history.STRIPES,
    differs=history.STRIPES_DIFFER,
    minutes=Scale(0.3, 5, 340, "about 6 GPU-hours"),
    world=dark_on_paper(pictures("bumps-and-stripes-v1", Scale(8, 12, 28, 28))),
    support={"name": "bumps-and-stripes"},
    recipe=recipe(300, 3000, 6000),
    asks=EVERY,
    first_seed=FIRST_SEED,
    metric="error",
    vary={
        "net": Arms(
            {
                "mlp": {"net": decoder("mlp", width=Scale(64, 128, 256, 256), depth=Scale(2, 3, 3, 3))},
                "cnn-decoder": {"net": decoder("cnn-decoder", width=Scale(8, 16, 32, 64), depth=Scale(2, 3, 6, 8))},
            },
            chosen=Scale(["mlp"], None, None, None),
        ),
        "variant": Arms(VARIANTS, chosen=Scale(["mixed", "masked"], ["mixed", "masked"], None, None)),
        "support.stripes": Scale([0.0, 1.0], [0.0, 1.0], [0.0, 0.125, 0.25, 0.5, 1.0], [0.0, 0.125, 0.25, 0.5, 1.0]),
        "support.bumps": Scale([10, 500], [10, 500], [0, 10, 50, 100, 250, 500], [0, 10, 50, 100, 250, 500]),
    },
    cells_of=cells_of,
    controls={
        # nothing can compose, for an MLP or, in the cells that decide, for a CNN
        "lookup": {"net": ["mlp"], "variant": ["mixed", "masked"]},
        "lookup-cnn": {
            "world.name": "bumps-and-stripes-lookup-v1",
            "net": ["cnn-decoder"],
            "variant": ["mixed"],
            "bumps": [500],
        },
    },
    claims=CLAIMS,
    measurements=[
        *(
            Measurement(
                f"{net}-error",
                error_ratio(net),
                f"Held-out error with all stripes by that without, {net}",
                "held-out error with all stripes by that with none",
            )
            for net in ("mlp", "cnn-decoder")
        ),
        *(
            Measurement(
                f"{variant}-{metric}",
                difference(variant, than, metric),
                f"{title(WORDS[variant])} against {WORDS[than]}: {words}",
                f"{words}, difference, mean over nets",
            )
            for variant, than in (
                ("absent-mean", "mixed"),
                ("off-frame", "off-frame-zeros"),
                ("stripes-then-bumps", "mixed"),
                ("stripes-then-both", "mixed"),
                ("bumps-then-both", "mixed"),
            )
            for metric, words in SCORES.items()
        ),
    ],
    charts=[
        heat("localized"),
        heat("error"),
        variants,
    ],
    images=[drawings, errors],
    headline=headline,
)
