"""What the studies of encodings read: scores and probes by encoding, here and as published (Tables 1 and 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...charts import kinds
from ...charts.layer_order import layers_in_order
from ...charts.tidy_rows import defined
from ...charts.words import SCORES, title
from ...encodings import encodings
from ...lab.record import Record, tidy
from ...lab.study_table import PreconditionFailed, StudyTable, single_value
from ...statistics.intervals import over_seeds
from .encodings_arms import BENT_INVERTIBLE, is_linear
from .redhardt_setting import source

DECODABLE = 0.9  # an encoding that a linear probe reads as well as this has nothing to undo
MEASURES = ("task decoder", "input decoder", "held-out score")
ORDER = list(encodings)
ORDER.insert(ORDER.index("invertible") + 1, BENT_INVERTIBLE)


@dataclass(frozen=True)
class Published:
    """A table of the paper: of each encoding what each of MEASURES is, mean over three seeds.

    Args:
        name: what the paper calls it.
        metric: what its held-out score is.
        by_kind: which layer its task decoder reads: the last but one (of four, the third), or by the kind of encoding
            the first for linear ones and the second for nonlinear ones.
        numbers: by encoding.
    """

    name: str
    metric: str
    by_kind: bool
    numbers: Mapping[str, tuple[float, float, float]]

    @property
    def source(self) -> str:
        return source(self.name)

    def of(self, encoding: str) -> tuple[float, float, float] | None:
        """What the table has for an encoding; of both kinds of `invertible` the same row."""
        return self.numbers.get("invertible" if encoding == BENT_INVERTIBLE else encoding)


TABLE_1 = Published(
    "Table 1",
    "r2",
    False,
    {
        "identity": (0.95, 1.00, 1.00),
        "orthogonal": (0.96, 1.00, 1.00),
        "language": (0.99, 1.00, 1.00),
        "invertible": (0.94, 0.56, 0.95),
        "interval-shuffle": (0.96, 0.73, 0.98),
        "few-shot": (0.90, -0.23, 0.97),
    },
)
TABLE_2 = Published(
    "Table 2",
    "episode_accuracy",
    True,
    {
        "identity": (0.95, 1.00, 0.92),
        "orthogonal": (0.96, 1.00, 0.92),
        "language": (0.98, 1.00, 0.92),
        "invertible": (0.93, 0.74, 0.82),
        "interval-shuffle": (0.90, 0.72, 0.84),
    },
)


# -- readings: the trials of one seed -> a number ---------------------------------------------------------------------
def task_decoder(t: StudyTable, encoding: str, metric: str = "r2", *, by_kind: bool = False) -> float:
    """R^2 of a probe at the layer that the paper reads; see `Published.by_kind`."""
    part = t.where(encoding=encoding).decoded(metric)
    if not len(part):
        raise PreconditionFailed(f"{encoding} has no probe")
    layers = layers_in_order(part.layer)
    at = (0 if is_linear(encoding) else 1) if by_kind else len(layers) - 2
    return single_value(part[part.layer == layers[min(max(at, 0), len(layers) - 1)]], encoding)


def of_kind(t: StudyTable, linear: bool) -> list[str]:
    """The linear encodings of a table, or the nonlinear ones.

    `tokens` is ours, and `invertible` with the weights of the public code is nonlinear by name only: not compared.
    """
    compared = [name for name in dict.fromkeys(t.encoding) if name not in ("tokens", "invertible")]
    names = [name for name in compared if is_linear(name) == linear]
    if not names:
        raise PreconditionFailed(f"it takes {'linear' if linear else 'nonlinear'} encodings")
    return names


def composes(t: StudyTable, linear: bool, success: float) -> dict[str, float]:
    """Held-out score of each encoding of a kind, where each got there on what it was trained on."""
    names = of_kind(t, linear)
    for name in names:
        value = t.trained(encoding=name)
        if value < success:
            raise PreconditionFailed(
                f"{name} reached {value:.2f} on trained combinations, not {success:g}: it takes more training"
            )
    return {name: t.held_out(encoding=name) for name in names}


def linear_above_nonlinear(t: StudyTable) -> dict[str, float]:
    """Mean held-out score of linear encodings minus that of each nonlinear one."""
    linear, nonlinear = (of_kind(t, kind) for kind in (True, False))
    for name in (*linear, *nonlinear):
        t.learned(encoding=name)
    best = sum(t.held_out(encoding=name) for name in linear) / len(linear)
    return {name: best - t.held_out(encoding=name) for name in nonlinear}


def nonlinear_lose_more(t: StudyTable) -> dict[str, float]:
    """Gap between trained and held-out combinations of each nonlinear encoding minus the mean gap of linear ones."""
    linear, nonlinear = (of_kind(t, kind) for kind in (True, False))
    usual = sum(t.gap(encoding=name) for name in linear) / len(linear)
    return {name: t.gap(encoding=name) - usual for name in nonlinear}


def undone(t: StudyTable, by_kind: bool) -> dict[str, float | PreconditionFailed]:
    """Task decoder minus the better of input decoder and untrained net, for each nonlinear encoding.

    Encodings that a linear probe reads already have nothing to undo.
    """
    gains: dict[str, float | PreconditionFailed] = {}
    for name in of_kind(t, linear=False):
        before = [task_decoder(t, name, probe, by_kind=by_kind) for probe in ("r2_encoding", "r2_untrained")]
        if before[0] > DECODABLE:
            gains[name] = PreconditionFailed(
                f"a linear probe of {name} gives {before[0]:.2f}: there is nothing to undo"
            )
        else:
            t.learned(encoding=name)
            gains[name] = task_decoder(t, name, by_kind=by_kind) - max(before)
    return gains


def decoded_above_input(t: StudyTable, by_kind: bool) -> dict[str, float]:
    """Task decoder minus input decoder, for each nonlinear encoding."""
    names = of_kind(t, linear=False)
    for name in names:
        t.learned(encoding=name)
    return {
        name: task_decoder(t, name, by_kind=by_kind) - task_decoder(t, name, "r2_encoding", by_kind=by_kind)
        for name in names
    }


# -- here and as published --------------------------------------------------------------------------------------------
def named(t: StudyTable) -> list[str]:
    """The encodings of a table, in the order of the paper."""
    return [name for name in ORDER if len(t) and name in set(t.encoding)]


def measured(t: StudyTable, encoding: str, measure: str, published: Published) -> float:
    """One of MEASURES, of one encoding and seed."""
    if measure == "held-out score":
        return t.held_out(encoding=encoding)
    if measure == "task decoder":
        return task_decoder(t, encoding, by_kind=published.by_kind)
    return task_decoder(t, encoding, "r2_encoding")


def rows_of(t: StudyTable, names: Sequence[str], measure: str, published: Published) -> kinds.Rows:
    """One of MEASURES by encoding: of each seed, and as published."""
    rows: kinds.Rows = []
    for name in names:
        for seed, part in t.seeds():
            try:
                value = measured(part, name, measure, published)
            except PreconditionFailed:
                continue
            rows.append({"encoding": name, "series": "here", "seed": seed, "value": value})
        if (there := published.of(name)) is not None:
            value = there[MEASURES.index(measure)]
            rows.append({"encoding": name, "series": "published", "seed": "mean", "value": value})
    return rows


def chart(measure: str, published: Published) -> kinds.Chart:
    """One of MEASURES by encoding, here and as published."""
    score = SCORES[published.metric]
    what = {
        "held-out score": f"{title(score)} on combinations never trained",
        "task decoder": "R² of a linear probe of the hidden layer that the paper reads, on held-out combinations",
        "input decoder": "R² of a linear probe of the encoding itself, on held-out combinations",
    }[measure]
    return kinds.dots(
        f"{title(measure)} by encoding, here and as published",
        f"{what}: one point per seed here, beside the mean of three seeds that {published.source} gives for paper "
        "scale, with a larger net and more modules than laptop.",
        lambda t: rows_of(t, named(t), measure, published),
        y="encoding",
        value=score if measure == "held-out score" else "R² of a probe",
        order=ORDER,
        series=["here", "published"],
    )


def as_text(records: Sequence[Record], published: Published) -> dict[str, str]:
    """The table of the paper with ours beside it."""
    t = StudyTable(tidy(records), published.metric)
    lines = [
        f"{'':<18}" + "".join(f"{measure:^22}" for measure in MEASURES),
        f"{'encoding':<18}" + f"{'here':>13}{'paper':>8} " * len(MEASURES),
    ]
    for name in named(t):
        line = f"{name:<18}"
        for index, measure in enumerate(MEASURES):
            rows = [row for row in rows_of(t, [name], measure, published) if row["series"] == "here"]
            here = over_seeds([row["value"] for row in defined(rows)[0]])
            spread = f"±{(here.high - here.low) / 2:.2f}" if here.seeds > 1 else ""
            there = published.of(name)
            paper = "-" if there is None else f"{there[index]:.2f}"
            line += f"{here.mean:>7.2f} {spread:<5}{paper:>8} " if here.seeds else f"{'-':>13}{paper:>8} "
        lines.append(line)
    return {published.name: "\n".join(lines)} if len(lines) > 2 else {}
