"""What the report of supports draws, and how it names a trial."""

from __future__ import annotations

from ...charts import supports_figures
from ...charts.figure import Figure
from ...lab.cells import Spec
from ...lab.study_table import StudyTable
from .supports_readings import SUPPORTS


def charts(t: StudyTable) -> list[Figure]:
    return supports_figures.figures(t, SUPPORTS)


def label(spec: Spec) -> str:
    at = spec["at"]
    recipe = "" if at["recipe"] == "default" else f" ({at['recipe']} recipe)"
    return f"{at['support']}{recipe}, seed {spec['seed']}"
