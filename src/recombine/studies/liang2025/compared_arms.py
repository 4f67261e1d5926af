"""Errors of arms compared: of the same net, under two circumstances, both of which it has learned."""

from __future__ import annotations

from typing import Any

from ...charts import kinds
from ...lab.study_table import Missing, StudyTable
from . import drawn


def error_at(t: StudyTable, **at: Any) -> float:
    """The held-out error of the one trial at a place; PreconditionFailed if its net did not learn."""
    part = t.where(**at)
    what = ", ".join(str(value) for value in at.values())
    if not len(part):
        raise Missing(f"{what} was not run")
    return drawn.error_if_learned(part, what)


def ratio(t: StudyTable, axis: str, these: Any, those: Any, **at: Any) -> float:
    """The held-out error at one value of an axis by that at another, each at least .02."""
    return max(error_at(t, **{axis: these}, **at), drawn.FLOOR) / max(error_at(t, **{axis: those}, **at), drawn.FLOOR)


def ratios(t: StudyTable, axis: str, these: Any, those: Any, of: str) -> dict[str, Any]:
    """That ratio for each value of another axis, by its name."""
    values = sorted(set(t[of]), key=str)
    return drawn.each(
        {name_of(of, value): t.where(**{of: value}) for value in values},
        lambda part, _: ratio(part, axis, these, those),
    )


def name_of(axis: str, value: Any) -> str:
    return value if isinstance(value, str) else f"{axis} {value:g}"


def errors_by(*axes: str) -> Any:
    """Rows of held-out and trained errors by the place of a trial, for charts."""

    def rows(t: StudyTable) -> kinds.Rows:
        return [
            {"what": ", ".join(name_of(axis, getattr(row, axis)) for axis in axes), "series": series}
            | {"seed": int(row.seed), "value": row.value}
            for stream, series in (("test", "trained"), ("held_out", "held out"))
            for row in t.scores(stream, "").itertuples()
        ]

    return rows


def error_dots(title: str, *axes: str) -> kinds.Chart:
    """Errors on trained and on held-out combinations by the place of a trial."""
    return kinds.dots(
        title,
        "Error on trained and on held-out combinations by that of an empty picture; one point per seed.",
        errors_by(*axes),
        y="what",
        value="error",
        series=["trained", "held out"],
    )
