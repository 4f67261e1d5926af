"""What the study of decodability reads: trials of several studies as points, and correlations over them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...charts.figure import Figure
from ...charts.layer_order import layers_in_order
from ...charts.scatter_chart import scatter
from ...lab.record import Record, tidy
from ...lab.study import studies
from ...lab.study_table import Frame, PreconditionFailed, StudyTable, single_value

#: one number from the decodability of the hidden layers, first to last
RULES: dict[str, Callable[[np.ndarray], float]] = {
    "first layer": lambda d: d[0],
    "last layer but one": lambda d: d[max(len(d) - 2, 0)],  # the third of four, as published
    "last layer": lambda d: d[-1],
    "least of all layers": lambda d: d.min(),
    "mean of all layers": lambda d: d.mean(),
}
PUBLISHED_RULE = "last layer but one"
#: which trials the paper's figures pool, by the study that they are from
PANELS: dict[str, tuple[str, int | None]] = {
    "Fig. 5, data (M=8)": ("scaling-data", 8),
    "Fig. 5, model": ("scaling-model", None),
    "Fig. 9, data": ("scaling-data-preference", None),
    "Fig. 9, model": ("scaling-model-preference", None),
}
FEWEST = 5  # trials a study must have for a correlation to mean anything
#: splits that a net fails on, and one of as many trained combinations
FAILING = {"disconnected": "as-many", "one-apart": "random"}


def points(t: StudyTable) -> Frame:
    """One row per trial of an MLP: study, support, held-out score (below zero counted as zero), layer rules by column.

    `kept` is the score on held-out minus on trained combinations: both fall if training is short, their difference
    need not.
    """
    import pandas

    if not len(t):
        raise PreconditionFailed("nothing was measured")
    rows = [row for name, part in t.by("lender") for row in _points_of(str(name), part)]
    if not rows:
        raise PreconditionFailed("no trial has both a score and a probe")
    return pandas.DataFrame(rows)


def _points_of(name: str, part: StudyTable) -> list[dict[str, Any]]:
    """The points of one study, whose scores are about a metric of its own."""
    frame = part.frame
    if "setting" in frame:  # other nets have layers of another kind, and other teachers other scores
        frame = frame[frame.setting.isna() | (frame.setting == "mlp")]
    own = StudyTable(frame, studies[name].deciding_metric)
    scores, trained = own.scores().set_index("cell"), own.scores("test").set_index("cell").value
    by_layer = own.decoded().pivot_table(index="cell", columns="layer", values="value")
    by_layer = by_layer[layers_in_order(by_layer.columns)]
    rows = []
    for cell, layers in by_layer.iterrows():
        deep = layers.dropna().to_numpy(float)
        if cell not in scores.index or not len(deep) or math.isnan(scores.value[cell]):
            continue
        score, where = float(scores.value[cell]), scores.loc[cell]
        rows.append(
            {
                "study": name,
                "kept": float(score - trained[cell]),
                "modules": where.get("modules"),
                "support": where.support,
                "encoding": where.encoding,
                "seed": int(where.seed),
                "cell": cell,
                "score": max(0.0, score),
                **{rule: float(read(deep)) for rule, read in RULES.items()},
            }
        )
    return rows


def rank_correlation(found: Frame, rule: str, outcome: str = "score") -> float:
    """Spearman correlation of a rule's decodability with the outcome; NaN where one of them does not vary."""
    import scipy.stats

    if len(found) < FEWEST or found[rule].nunique() < 2 or found[outcome].nunique() < 2:
        return float("nan")
    correlation: Any = scipy.stats.spearmanr(found[rule], found[outcome])
    return float(correlation.statistic)


def by_study(found: Frame, rule: str, outcome: str = "score") -> dict[str, float]:
    """The correlation within each study that has one; PreconditionFailed if none has."""
    values = {str(name): rank_correlation(part, rule, outcome) for name, part in found.groupby("study")}
    values = {name: value for name, value in values.items() if value == value}
    if not values:
        raise PreconditionFailed(f"no study has {FEWEST} trials that differ in decodability and score")
    return values


def mean_correlation(t: StudyTable, rule: str, outcome: str = "score") -> float:
    """Spearman correlation, mean over studies."""
    return float(np.mean(list(by_study(points(t), rule, outcome).values())))


def best_rule(found: Frame, outcome: str = "score") -> str:
    """The rule with the highest mean correlation over the studies of a table."""
    means = {rule: np.mean(list(by_study(found, rule, outcome).values())) for rule in RULES}
    return max(means, key=lambda rule: means[rule])


def foreseen(t: StudyTable) -> float:
    """Spearman correlation with what is kept, on each study by the rule best on the others, mean over studies."""
    found = points(t)
    names = sorted(set.intersection(*(set(by_study(found, rule, "kept")) for rule in RULES)))
    if len(names) < 2:
        raise PreconditionFailed("a rule cannot be scored on a study that it was not chosen on: it takes two studies")
    found = found[found.study.isin(names)]
    rules = {name: best_rule(found[found.study != name], "kept") for name in names}
    return float(np.mean([rank_correlation(found[found.study == name], rule, "kept") for name, rule in rules.items()]))


def at_published_layer(t: StudyTable) -> dict[str, float | PreconditionFailed]:
    """Correlation of score and decodability at the last layer but one, for each panel; its square is R2 of the line."""
    found, values = points(t), {}
    for panel, (study, modules) in PANELS.items():
        if study not in set(t.lender):
            continue
        part = found[found.study == study]
        part = part if modules is None else part[part.modules == modules]
        value = math.nan
        if len(part) >= FEWEST and part[PUBLISHED_RULE].nunique() > 1 and part.score.nunique() > 1:
            value = float(np.corrcoef(part[PUBLISHED_RULE], part.score)[0, 1])
        lost = PreconditionFailed(f"{panel} has no {FEWEST} trials that differ in decodability and score")
        values[panel] = lost if math.isnan(value) else min(max(value, -1.0), 1.0)
    if not values:
        raise PreconditionFailed("no study of the published figures was run")
    return values


def shallow_on_disconnected(t: StudyTable) -> float:
    """R2 of the first layer's probe across blocks."""
    return _layers_of(t, "disconnected")[0]


def lost_with_depth(t: StudyTable) -> dict[str, float]:
    """How much more decodability falls from the first to the last hidden layer than with as many drawn at random."""

    def fall(support: str) -> float:
        layers = _layers_of(t, support)
        return layers[0] - layers[-1]

    return {failing: fall(failing) - fall(usual) for failing, usual in FAILING.items()}


def _layers_of(t: StudyTable, support: str) -> list[float]:
    """Decodability by hidden layer, first to last, of a support of `supports`."""
    part = t.where(lender="supports", support=support, recipe="default").decoded("r2")
    names = layers_in_order(part.layer)
    return [single_value(part[part.layer == name], f"{support}, {name}") for name in names] or [
        single_value(part, support)
    ]


# -- what the report shows --------------------------------------------------------------------------------------------
def figures(t: StudyTable) -> list[Figure]:
    """Held-out score against decodability: by the best rule, and at the first layer."""
    try:
        found = points(t)
        rule = best_rule(found)
    except PreconditionFailed:
        return []
    return [
        _scatter(found, rule, "study", "The rule is the best one over all of these points."),
        _scatter(
            found,
            "first layer",
            "support",
            "Points at the right that lie low are nets whose first layer knows and whose output does not.",
        ),
    ]


def _scatter(found: Frame, rule: str, series: str, note: str) -> Figure:
    rows = [
        {
            "x": row[rule],
            "value": row["score"],
            "series": row[series],
            "seed": row["seed"],
            "trial": f"{row['study']}, {row['encoding']}, {row['support']}",
        }
        for row in found.to_dict("records")
    ]
    return Figure(
        f"Held-out score against decodability, {rule}",
        "Each point is a trained net: how well its constituents can be read off, and how well it does, both on "
        f"combinations never trained. Colored by {series}. {note}",
        scatter(
            rows,
            x_title=f"R² of the probe, {rule}",
            value="held-out score",
            order=sorted({row["series"] for row in rows}),
        ),
    )


def as_text(records: Sequence[Record]) -> dict[str, str]:
    """Correlations by study and by support, and the rule that each study was scored by."""
    try:
        found = points(StudyTable(tidy(records), ""))
        best_rule(found)
    except PreconditionFailed:
        return {}
    texts = {"by study": _correlations(found, "study"), "by support": _correlations(found, "support")}
    try:
        rules = {name: best_rule(found[found.study != name]) for name in sorted(found.study.unique())}
    except PreconditionFailed:  # the others have too few trials
        return texts
    lines = [f"{name:<24} {rule}" for name, rule in rules.items()]
    return texts | {"rule that is best on the other studies": "\n".join(["scored on                rule", *lines])}


def _correlations(found: Frame, column: str) -> str:
    """A text table: one line per group and rule."""
    import scipy.stats

    lines = [f"{column:<20} {'rule':<22} {'trials':>6} {'Spearman':>9} {'R2':>6} {'p':>9}"]
    for name, part in (*found.groupby(column), ("all", found)):
        for rule in RULES:
            rho = rank_correlation(part, rule)
            if rho != rho:
                lines.append(f"{name!s:<20} {rule:<22} {len(part):>6} {'-':>9} {'-':>6} {'-':>9}")
                continue
            line: Any = scipy.stats.linregress(part[rule], part.score)
            lines.append(
                f"{name!s:<20} {rule:<22} {len(part):>6} {rho:>9.2f} {line.rvalue**2:>6.2f} {line.pvalue:>9.1e}"
            )
    return "\n".join(lines)
