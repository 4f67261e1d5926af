"""What is read off the trials of factorized-fails, and its chart."""

from __future__ import annotations

from ...charts import kinds, vega_pictures
from ...charts.vega import Spec, listed
from ...lab.study_table import PreconditionFailed, StudyTable
from ...lab.verdicts import Reading
from . import drawn

COORDINATES = "coordinate-mlp"


def trials_of(t: StudyTable, *nets: str) -> dict[str, StudyTable]:
    """The readings of each trial of some nets, by name; PreconditionFailed if there is none."""
    parts = t.where(net=list(nets)).by("net", "depth", "encoding")
    found = {f"{net} of depth {depth}, {code}": part for (net, depth, code), part in parts}
    if not found:
        raise PreconditionFailed(f"{listed(nets)} not run")
    return found


def least_failure(net: str) -> Reading:
    def reading(t: StudyTable) -> float:
        """Held-out error by error on trained combinations (at least .02), least over codes and depths."""
        return min(drawn.failure(part, name) for name, part in trials_of(t, net).items())

    return reading


def least_error(t: StudyTable) -> float:
    """Held-out error, least over nets, codes and depths."""
    found = trials_of(t, "mlp", "cnn-decoder")
    for name, part in found.items():
        drawn.learned(part, name)
    return min(drawn.score(part, "error", "held_out", name) for name, part in found.items())


def coordinates_error(t: StudyTable) -> float:
    """Held-out error of the coordinate net, worst over codes and depths."""
    found = trials_of(t, COORDINATES)
    return max(drawn.score(part, "error", "held_out", name) for name, part in found.items())


def most_localized(net: str) -> Reading:
    def reading(t: StudyTable) -> float:
        """Share within one pixel, most over codes and depths."""
        found = trials_of(t, net)
        return max(drawn.score(part, "localized", "held_out", name) for name, part in found.items())

    return reading


# -- what is drawn ----------------------------------------------------------------------------------------------------
def failures(t: StudyTable) -> kinds.Rows:
    trained = t.scores("test", "").set_index("cell").value
    return [
        {
            "net": f"{row.net}, {row.depth}",
            "series": row.encoding,
            "seed": int(row.seed),
            "value": row.value / max(float(trained[row.cell]), drawn.FLOOR),
        }
        for row in t.scores("held_out", "").itertuples()
    ]


def ratios(rows: kinds.Rows) -> Spec:
    nets, codes = kinds.in_order(rows, "net"), kinds.in_order(rows, "series")
    return vega_pictures.ratio_dots(rows, "net", nets, codes, value_title="held-out error by trained error")


how_much_worse = kinds.Chart(
    "How much worse on unseen combinations",
    "Held-out error by the error on trained combinations (which counts as at least .02), by net, depth and "
    "code; one point per seed. At 1 a net draws what it never saw as well as what it saw.",
    failures,
    ratios,
)
