"""code-width: does a wider bump code, in which neighbors overlap more, cure a decoder?

    recombine run code-width                    laptop: about 5 minutes on two cores
    expected: no width cures it; wider codes help a little

A notebook of the public code of Liang, Qian, Ziyin, Fiete 2025 multiplies the variance of the bump code by m = 1, 3, 5,
7, 9, 11 and records held-out errors of 3.36, 3.11, 2.72, 2.69, 2.30 and 2.54 thousandths (one run each; a CNN of 256
channels and 10 layers, hole from 10 to 18 of 28): .84 to .57 of an empty picture's. So at every width it fails, and the
widest has three quarters of the error of the narrowest. The thresholds are ours, written before any run: half of an
empty picture's error, and nine tenths. Nets are smaller than those of the notebook, and the hole is that of the paper.
"""

from __future__ import annotations

from typing import Any

from ...lab.axes import Arms
from ...lab.scales import Scale
from ...lab.study import Study
from ...lab.study_table import StudyTable
from ...lab.verdicts import Claim, Measurement, at_least, at_most
from . import drawn, image_grids
from .compared_arms import error_dots, ratios
from .liang_setting import EVERY, FIRST_SEED, SOURCE, dark_on_paper, decoder, pictures, recipe, require_room

WIDTHS = [1, 3, 5, 7, 9, 11]  # published
NOTEBOOK = f"{SOURCE}, public code"


def errors_by_width(t: StudyTable) -> dict[str, Any]:
    """Held-out error, each net and width of the code."""
    parts = {f"{net}, {width}": part for (net, width), part in t.by("net", "code")}
    return drawn.each(parts, drawn.error_if_learned)


def widest_by_narrowest(t: StudyTable) -> dict[str, Any]:
    """Held-out error with the widest code by that with the narrowest, each net."""
    widths = sorted(set(t.code), key=lambda word: float(word.split()[-1]))
    return ratios(t, "code", widths[-1], widths[0], of="net")


study = Study(
    id="code-width",
    title="Does a wider code cure a decoder?",
    question="If the bump code of each factor is wider, does a decoder draw unseen combinations?",
    source=NOTEBOOK,
    differs=(
        "The notebook has CNNs of 256 channels and 10 layers, 1,000 pictures for 250 epochs, and a hole from 10 to 18; "
        "here nets, recipe and hole are those of the other studies of this paper.",
    ),
    minutes=Scale(0.5, 5, 60, "about 2 GPU-hours"),
    metric="error",
    world=dark_on_paper(pictures("bumps-v1", Scale(8, 16, 20, 28), encoding="bump")),
    support={"name": "donut"},
    net={},
    recipe=recipe(400, 3000, 10_000),
    asks=EVERY,
    first_seed=FIRST_SEED,
    vary={
        "net": Arms(
            {
                "mlp": {"net": decoder("mlp", width=Scale(64, 128, 256, 256), depth=Scale(2, 3, 3, 4))},
                "cnn-decoder": {"net": decoder("cnn-decoder", width=Scale(8, 16, 32, 64), depth=Scale(2, 2, 4, 10))},
            },
            Scale(["mlp"], ["cnn-decoder"], None, None),
        ),
        "code": Arms(
            {f"width {m}": {"world.encoding_options": {"width": float(m)}} for m in WIDTHS},
            Scale(["width 1", "width 11"], ["width 1", "width 5", "width 11"], None, None),
        ),
    },
    claims=[
        Claim(
            "no-width-cures",
            errors_by_width,
            at_least(0.5),
            "Whatever the width, unseen pictures are at least half as wrong as an empty one",
            "indifferent",
            supported="no width of the code cures a decoder",
            refuted="some width of the code helps much",
            transform="log",
        ),
        Claim(
            "wider-helps",
            widest_by_narrowest,
            at_most(0.9),
            "The widest code has at most nine tenths of the error of the narrowest",
            "same-arms",
            supported="wider codes help a little",
            refuted="wider codes do not help",
            transform="log",
            needs={"code": ["width 1", "width 11"]},
        ),
    ],
    measurements=[
        Measurement(
            f"width-{m}",
            lambda t, m=m: t.where(net="cnn-decoder").score("held_out", group="", metric="error", code=f"width {m}"),
            f"Held-out error of the CNN at width {m}",
            "held-out error by that of an empty picture",
        )
        for m in WIDTHS
    ],
    charts=[error_dots("Error by width of the code", "net", "code")],
    images=[image_grids.drawings, image_grids.errors],
    otherwise="Whether wider codes help is not settled at this scale.",
    refuse=require_room,
)
