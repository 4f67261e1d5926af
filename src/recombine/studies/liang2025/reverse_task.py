"""reverse-task: does an encoder, which reads the coordinates off a picture, compose where decoders do not?

    recombine run reverse-task                  laptop: about 5 minutes on two cores
    expected: open for a convolutional encoder; an MLP fails

The public code of Liang, Qian, Ziyin, Fiete 2025 has the reverse of drawing: a picture is shown to a convolutional
encoder, and a bump code or the two coordinates are asked for; it counts as right where both are within half a level.
Its results are not recorded where we could read them, so what is claimed, and the thresholds, are ours, written before
any run. At paper scale the hole, the pictures (bright) and the epochs (20 for bump codes, 50 for coordinates) are
published. An MLP stands beside the encoder.
"""

from __future__ import annotations

from typing import Any

from ...charts import kinds
from ...charts.words import title
from ...lab.axes import Arms
from ...lab.scales import Scale
from ...lab.study import Study
from ...lab.verdicts import Claim, Measurement, at_least
from . import liang_history as history
from .liang_setting import EVERY, OURS, at_paper, recipe, require_room
from .reverse_task_readings import ASKED, NETS, in_words, read_unseen, share_right, shares

EPOCHS = {"bump": 20, "scalar": 50}  # published, of 2,000 pictures
SIZES: dict[str, dict[str, Any]] = {
    "cnn-encoder": {"width": Scale(8, 16, 32, 32), "depth": Scale(2, 3, 3, 3)},
    "mlp": {"width": Scale(64, 256, 256, 512), "depth": Scale(2, 3, 3, 3)},
}

study = Study(
    id="reverse-task",
    title="Do encoders compose where decoders do not?",
    question="If a net reads the coordinates off a picture, does it read unseen combinations?",
    source=OURS,
    version=2,
    history=history.REVERSE_TASK,
    differs=(
        "The encoder of the public code is trained by Adam; here by AdamW, and below paper scale for other steps. "
        "An MLP stands beside it.",
        history.DRAWN,
    ),
    minutes=Scale(0.3, 5, 60, "about 20 GPU-minutes"),
    metric="right",
    world={"name": "bumps-read-v1", "space": {"size": Scale(8, 16, 20, 28)}},
    support={"name": "donut"},
    net={},
    recipe=recipe(500, 5000, 10_000),
    asks=EVERY,
    vary={
        "net": Arms({name: {"net": {"name": name, **sizes}} for name, sizes in SIZES.items()}),
        "asked_for": Arms(
            {asked: {"world.asked": asked} | at_paper(recipe__steps=2000 * EPOCHS[asked] // 32) for asked in ASKED}
        ),
    },
    claims=[
        Claim(
            f"{net}-composes",
            read_unseen(net),
            at_least(0.9),
            f"{title(words)} reads nine tenths of unseen pictures right, whatever is asked for",
            "lookup",
            supported=f"{words} reads combinations that it never saw",
            refuted=f"{words} fails on unseen combinations, too, with some kind of answer",
            transform="logit",
            needs={"net": [net]},
        )
        for net, words in NETS.items()
    ],
    measurements=[
        Measurement(
            f"{net}-{asked}-{stream.replace('_', '-')}",
            share_right(net, asked, stream),
            f"{title(in_words(net, asked))}: share read right, {side}",
            "share of pictures whose two coordinates are read right",
        )
        for net in NETS
        for asked in ASKED
        for stream, side in (("test", "trained"), ("held_out", "held out"))
    ],
    charts=[
        kinds.dots(
            "How much is read right",
            "Share of pictures whose two coordinates are within half a level; one point per seed.",
            shares,
            y="what",
            value="share read right",
            series=["trained", "held out"],
        )
    ],
    otherwise="Whether encoders compose is not settled at this scale.",
    refuse=require_room,
)
