"""data-efficiency: how many pictures does a decoder need, with and without stripes, as pictures grow?

    recombine run data-efficiency               laptop: about 7 minutes on two cores
    expected: with stripes the number grows as N; without them an MLP never gets there, a coordinate net with N^1.3

The poster of Liang, Qian, Ziyin, Fiete 2025 shows data needed against N, with reference lines N^3 for bumps alone and N
for stripes and bumps. Its threshold, list of N and net are not known, so the definitions are ours: success is a
held-out error of at most .1 of an empty picture's, or 60 % of held-out bumps in place; the hole is the middle three
fifths of each side; the smallest number of pictures is found by bisection at equal gradient steps, and stripes count.
With whole centers there are at most N^2 different bumps, and what all of them do not reach is reported as never
reached. Thresholds were written before any run.
"""

from __future__ import annotations

import functools

from ...errors import require_int
from ...lab.axes import Arms
from ...lab.cells import Spec
from ...lab.scales import Scale
from ...lab.store import Record
from ...lab.study import Settings, Study
from ...lab.verdicts import Measurement
from .data_efficiency_claims import CLAIMS
from .data_efficiency_readings import CRITERIA, exponent, headline, needed_chart
from .data_efficiency_search import measure
from .image_grids import drawings, errors
from .paper import EVERY, FIRST_SEED, POSTER, PUBLISHED, SMALLEST, decoder, ours, pictures


def refuse(settings: Settings) -> None:
    for size in settings["size"]:
        require_int("size", size, at_least=SMALLEST)


def name_of(spec: Spec) -> str:
    at = spec["at"]
    return f"{at['net']}, N={at['size']}, {'stripes and bumps' if at['with_stripes'] else 'bumps alone'}"


def name_of_record(record: Record) -> str:
    return name_of(record.cell.spec)


def summary(record: Record) -> str:
    told = ", ".join(f"{words}: {record.facts[name] or 'never'}" for name, words in CRITERIA.items())
    return f"pictures needed for {told} ({record.facts['seconds']:.0f} s)"


depth = Scale(2, 2, 3, 8)
study = Study(
    id="data-efficiency",
    title="How many pictures does a decoder need?",
    question="How does the number of pictures that must be trained grow with their size, with stripes and without?",
    source=POSTER,
    minutes=Scale(0.3, 7, 180, "about 2 GPU-days"),
    world=pictures("bumps-and-stripes-v1", 8),
    support={"name": "bumps-and-stripes"},
    recipe=Scale(ours(150, 5e-3, tasks=16), ours(2000, tasks=16), ours(3000, tasks=16), PUBLISHED),
    asks=EVERY,
    keep=["panel"],
    first_seed=FIRST_SEED,
    metric="error",
    vary={
        # the largest first: it takes longest
        "world.space.size": Scale([8, 6], [16, 12, 8], [32, 28, 24, 20, 16, 12], [56, 48, 40, 36, 32, 28, 24]),
        "net": Arms(
            {
                "mlp": {"net": decoder("mlp", width=Scale(32, 128, 128, 256), depth=depth)},
                "cnn-decoder": {"net": decoder("cnn-decoder", width=Scale(8, 16, 32, 128), depth=depth)},
                "coordinate-mlp": {"net": decoder("coordinate-mlp", width=Scale(16, 48, 48, 256), depth=depth)},
            },
            chosen=Scale(["mlp"], ["mlp", "coordinate-mlp"], None, None),
        ),
        "options.with_stripes": [True, False],
    },
    refuse=refuse,
    measure=measure,
    claims=CLAIMS,
    measurements=[
        Measurement(
            f"{net}-{criterion}-{'stripes' if stripes else 'bumps'}",
            lambda t, net=net, stripes=stripes, criterion=criterion: exponent(t, net, stripes, criterion),
            f"Exponent for the {net}, {words}, {'with stripes' if stripes else 'bumps alone'}",
            "exponent of pictures needed against N",
        )
        for net in ("mlp", "coordinate-mlp")
        for criterion, words in CRITERIA.items()
        for stripes in (True, False)
    ],
    charts=[needed_chart(criterion) for criterion in CRITERIA],
    images=[functools.partial(drawings, name=name_of_record), functools.partial(errors, name=name_of_record)],
    headline=headline,
    label_of=lambda spec: f"{name_of(spec)}, seed {spec['seed']}",
    summary_of=summary,
)
