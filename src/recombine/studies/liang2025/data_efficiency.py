"""data-efficiency: how many pictures does a decoder need, with and without stripes, as pictures grow?

    recombine run data-efficiency               laptop: about 7 minutes on two cores
    expected: with stripes a CNN needs about as many as N; without them plain nets never get there

The poster of Liang, Qian, Ziyin, Fiete 2025 shows data needed against N, with reference lines N^3 for bumps alone and N
for stripes and bumps. Its threshold, list of N and net are not known, so the definitions are ours: success is a
held-out error of at most .1 of an empty picture's, or 60 % of held-out bumps in place; the hole is the middle three
fifths of each side; the smallest number of pictures is found by bisection at equal gradient steps, and stripes count.
With whole centers there are at most N^2 different bumps, and what all of them do not reach is reported as never
reached. With real-valued centers there is no end to them, and samples are counted. Thresholds were written before any
run.
"""

from __future__ import annotations

import functools

from ...errors import require_int
from ...lab.axes import Arms
from ...lab.cells import Spec
from ...lab.paths import Same
from ...lab.record import Record
from ...lab.scales import Scale
from ...lab.study import Settings, Study
from . import liang_history as history
from .data_efficiency_claims import CLAIMS, MEASUREMENTS
from .data_efficiency_readings import CRITERIA, data_of, headline, needed_chart
from .data_efficiency_search import measure
from .image_grids import drawings, errors
from .liang_setting import EVERY, FIRST_SEED, POSTER, PUBLISHED, SMALLEST, decoder, ours, pictures


def refuse(settings: Settings) -> None:
    for size in settings["size"]:
        require_int("size", size, at_least=SMALLEST)


def name_of(spec: Spec) -> str:
    at = spec["at"]
    return f"{at['net']}, N={at['size']}, {data_of(at['with_stripes'], at['centers'])}"


def name_of_record(record: Record) -> str:
    return name_of(record.cell.spec)


def summary(record: Record) -> str:
    needed = ", ".join(f"{words}: {record.facts[name] or 'never'}" for name, words in CRITERIA.items())
    return f"pictures needed for {needed} ({record.facts['seconds']:.0f} s)"


depth = Scale(2, 2, 3, 8)
CODES = {"whole": "one-hot", "real": "bump"}  # a one-hot code shows no place between levels
SIZES_AND_NETS = {
    # the largest first: it takes longest
    "world.space.size": Scale([8, 6], [16, 12, 8], [32, 28, 24, 20, 16, 12], [56, 48, 40, 36, 32, 28, 24]),
    "net": Arms(
        {
            "mlp": {"net": decoder("mlp", width=Scale(32, 128, 128, 256), depth=depth)},
            "cnn-decoder": {"net": decoder("cnn-decoder", width=Scale(8, 16, 32, 128), depth=depth)},
            "coordinate-mlp": {"net": decoder("coordinate-mlp", width=Scale(16, 48, 48, 256), depth=depth)},
        },
        chosen=Scale(["mlp"], ["mlp", "cnn-decoder"], None, None),
    ),
}
study = Study(
    id="data-efficiency",
    title="How many pictures does a decoder need?",
    question="How does the number of pictures that must be trained grow with their size, with stripes and without?",
    source=POSTER,
    minutes=Scale(0.3, 7, 180, "about 2 GPU-days"),
    version=2,
    history=history.DATA_EFFICIENCY,
    differs=history.DATA_EFFICIENCY_DIFFER,
    world=pictures("bumps-and-stripes-v1", 8, encoding=Same("world.centers", then=CODES.get)),
    support={"name": "bumps-and-stripes"},
    recipe=Scale(ours(150, 5e-3, tasks=16), ours(2000, tasks=16), ours(3000, tasks=16), PUBLISHED),
    asks=EVERY,
    keep=["panel"],
    first_seed=FIRST_SEED,
    metric="error",
    vary=[
        {**SIZES_AND_NETS, "world.centers": ["whole"], "options.with_stripes": [True, False]},
        # real-valued centers, of which there are more than places: samples are counted
        {**SIZES_AND_NETS, "world.centers": ["real"], "options.with_stripes": [False]},
    ],
    # where one picture is all there is to learn, stripes save none
    controls={"indifferent": {"size": [6], "centers": ["whole"]}},
    refuse=refuse,
    measure=measure,
    claims=CLAIMS,
    measurements=MEASUREMENTS,
    charts=[needed_chart(criterion) for criterion in CRITERIA],
    images=[functools.partial(drawings, name=name_of_record), functools.partial(errors, name=name_of_record)],
    headline=headline,
    label_of=lambda spec: f"{name_of(spec)}, seed {spec['seed']}",
    summary_of=summary,
)
