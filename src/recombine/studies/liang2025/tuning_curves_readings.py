"""What is read off the trials of tuning-curves, and the rows of its first chart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...charts import kinds
from ...lab.cells import Spec
from ...lab.record import Record
from ...lab.study_table import Missing, StudyTable
from ...lab.verdicts import Reading
from . import drawn

WORDS = {
    "mlp": "MLP",
    "mlp-with-stripes": "MLP, with stripes",
    "cnn": "CNN",
    "cnn-with-stripes": "CNN, with stripes",
    "coordinate-mlp": "coordinate net",
}
STRIPES = (("mlp-with-stripes", "mlp"), ("cnn-with-stripes", "cnn"))
COORDINATES = (("coordinate-mlp", "mlp"), ("coordinate-mlp", "cnn"))


def at_last_layer(t: StudyTable, who: str, metric: str = "index") -> float:
    """A reading of the units of the last hidden layer, such as their median index."""
    part = t.where(who=who)
    if not len(part):
        raise Missing(f"{who} was not run")
    return part.hidden_layers("tuning", metric)[-1][1]


def risen(t: StudyTable, who: str) -> float:
    """How much training raised the index: architectures differ in it before they are trained.

    PreconditionFailed if the net did not learn what it was trained on.
    """
    now, before = at_last_layer(t, who), at_last_layer(t, who, "index_untrained")
    drawn.learned(t.where(who=who), WORDS[who])
    return now - before


def tuned_by(t: StudyTable, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """By how much more the index of the first of each pair rose than that of the second."""
    known = set(t.who)
    found = {f"{WORDS[more]} against {WORDS[less]}": (more, less) for more, less in pairs if {more, less} <= known}
    if not found:
        raise Missing("it takes nets with and without")
    return drawn.each(
        {name: t.where(who=pair) for name, pair in found.items()},
        lambda part, name: risen(part, found[name][0]) - risen(part, found[name][1]),
    )


def tuned_by_stripes(t: StudyTable) -> dict[str, Any]:
    """Rise of the median index by training, last hidden layer, with stripes minus without, each net."""
    return tuned_by(t, STRIPES)


def tuned_by_coordinates(t: StudyTable) -> dict[str, Any]:
    """Rise of the median index by training, last hidden layer, coordinate net minus plain, each plain net."""
    return tuned_by(t, COORDINATES)


def of_last_layer(who: str, metric: str) -> Reading:
    return lambda t: at_last_layer(t, who, metric)


# -- what is drawn ----------------------------------------------------------------------------------------------------
def index_by_layer(t: StudyTable) -> kinds.Rows:
    return [
        {
            "layer": row.layer.removesuffix("/post"),
            "series": WORDS[row.who],
            "seed": int(row.seed),
            "value": row.value,
        }
        for row in t.probed("tuning", "index").itertuples()
        if row.layer.endswith("/post")
    ]


def name_of(record: Record) -> str:
    return WORDS[record.cell.spec["at"]["who"]]


def label(spec: Spec) -> str:
    return f"{WORDS[spec['at']['who']]}, seed {spec['seed']}"
