"""reverse-task: does an encoder, which reads the coordinates off a picture, compose where decoders do not?

    recombine run reverse-task                  laptop: about 2 minutes on two cores
    expected: open

The public code of Liang, Qian, Ziyin, Fiete 2025 has the reverse of drawing: a picture is shown, and a bump code or the
two coordinates are asked for; it counts as right where both are within half a level. Its results are not recorded where
we could read them, so what is claimed, and the thresholds, are ours, written before any run. At paper scale the hole,
the pictures (bright) and the epochs (20 for bump codes, 50 for coordinates) are published.
"""

from __future__ import annotations

from typing import Any

from ...charts import kinds
from ...lab.axes import Arms
from ...lab.scales import Scale
from ...lab.study import Study
from ...lab.study_table import PreconditionFailed, StudyTable
from ...lab.verdicts import Claim, Measurement, at_least
from . import drawn
from . import liang_history as history
from .liang_setting import EVERY, OURS, at_paper, recipe, require_room

ASKED = {"bump": "a bump code", "scalar": "two numbers"}
EPOCHS = {"bump": 20, "scalar": 50}  # published, of 2,000 pictures
LEARNED = 0.5  # share of trained pictures that must be read right


def right(t: StudyTable, asked: str, stream: str = "held_out") -> float:
    return t.where(asked_for=asked).score(stream, group="", metric="right")


def read_unseen(t: StudyTable) -> dict[str, Any]:
    """Share of held-out pictures whose two coordinates are read right, each kind of answer."""

    def of(part: StudyTable, name: str) -> float:
        if (known := part.score("test", group="", metric="right")) < LEARNED:
            raise PreconditionFailed(f"{name} was not learned: {known:.2f} of trained pictures, below {LEARNED:g}")
        return part.score("held_out", group="", metric="right")

    return drawn.each({ASKED[asked]: part for asked, part in t.by("asked_for")}, of)


def shares(t: StudyTable) -> kinds.Rows:
    return [
        {"what": ASKED[row.asked_for], "series": series, "seed": int(row.seed), "value": row.value}
        for stream, series in (("test", "trained"), ("held_out", "held out"))
        for row in t.scores(stream, "", "right").itertuples()
    ]


study = Study(
    id="reverse-task",
    title="Do encoders compose where decoders do not?",
    question="If a net reads the coordinates off a picture, does it read unseen combinations?",
    source=OURS,
    differs=(
        "The encoder of the public code is convolutional and trained by Adam; here it is an MLP, trained by AdamW.",
        history.DRAWN,
    ),
    minutes=Scale(0.3, 2, 20, "about 10 GPU-minutes"),
    metric="right",
    world={"name": "bumps-read-v1", "space": {"size": Scale(8, 16, 20, 28)}},
    support={"name": "donut"},
    net={"name": "mlp", "width": Scale(64, 256, 256, 512), "depth": Scale(2, 3, 3, 3)},
    recipe=recipe(500, 5000, 10_000),
    asks=EVERY,
    vary={
        "asked_for": Arms(
            {asked: {"world.asked": asked} | at_paper(recipe__steps=2000 * EPOCHS[asked] // 32) for asked in ASKED}
        )
    },
    claims=[
        Claim(
            "encoders-compose",
            read_unseen,
            at_least(0.9),
            "Nine tenths of unseen pictures are read right, whatever is asked for",
            "lookup",
            supported="encoders read combinations that they never saw",
            refuted="encoders fail on unseen combinations, too, with some kind of answer",
            transform="logit",
        ),
    ],
    measurements=[
        Measurement(
            f"{asked}-{stream.replace('_', '-')}",
            lambda t, asked=asked, stream=stream: right(t, asked, stream),
            f"{words[0].upper()}{words[1:]}: share read right, {side}",
            "share of pictures whose two coordinates are read right",
        )
        for asked, words in ASKED.items()
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
