"""What is read off the trials of factorized-fails, and its chart."""

from __future__ import annotations

from typing import Any

from ...charts import kinds
from ...charts.words import listed
from ...lab.study_table import Missing, StudyTable, mean_of, single_value
from ...lab.verdicts import Reading
from . import drawn

COORDINATES = "coordinate-mlp"
CODE_OF_COORDINATES = "one-hot"  # as published for it


def trials_of(t: StudyTable, *nets: str) -> dict[str, StudyTable]:
    """The readings of each trial of some nets, by name; PreconditionFailed if there is none."""
    parts = t.where(net=list(nets)).by("net", "depth", "encoding")
    found = {f"{net} of depth {depth}, {code}": part for (net, depth, code), part in parts}
    if not found:
        raise Missing(f"{listed(nets)} not run")
    return found


def failures_of(net: str) -> Reading:
    def reading(t: StudyTable) -> dict[str, Any]:
        """Held-out error by error on trained combinations (at least .02), each code and depth."""
        return drawn.each(trials_of(t, net), drawn.failure)

    return reading


def errors_of_plain(t: StudyTable) -> dict[str, Any]:
    """Held-out error, each net, code and depth."""
    return drawn.each(trials_of(t, "mlp", "cnn-decoder"), drawn.error_if_learned)


def coordinates_error(t: StudyTable) -> dict[str, Any]:
    """Held-out error of the coordinate net with a one-hot code, each depth."""
    return drawn.each(trials_of(t.where(encoding=CODE_OF_COORDINATES), COORDINATES), drawn.error_if_learned)


def most_localized(net: str) -> Reading:
    def reading(t: StudyTable) -> float:
        """Share within one pixel, most over codes and depths."""
        found = trials_of(t, net)
        return max(drawn.score(part, "localized", "held_out", name) for name, part in found.items())

    return reading


def unlike(net: str) -> Reading:
    def reading(t: StudyTable) -> float:
        """1 - SSIM of held-out pictures with the truth, mean over codes and depths."""
        found = trials_of(t, net).items()
        return mean_of((single_value(part.probed("similarity", "ssim_error_held_out"), n) for n, part in found), net)

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


how_much_worse = kinds.ratios(
    "How much worse on unseen combinations",
    "Held-out error by the error on trained combinations (which counts as at least .02), by net, depth and "
    "code; one point per seed. At 1 a net draws what it never saw as well as what it saw.",
    failures,
    y="net",
    value="held-out error by trained error",
)
