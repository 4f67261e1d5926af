"""computation: a graph of what is computed from what, each node colored by what became of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from ..errors import UserError
from ..labels import visible
from .chart_parts import by_series, data, layered
from .lazy_altair import alt
from .tidy_rows import Rows, Table, in_order, tidy

APART = 34  # pixels from one node to the next of its layer
MOST = 400  # nodes that can be told apart
LETTERS = 12  # of what stands beside a node


def computation(table: Table, *, order: Sequence[str] | None = None, x_title: str = "layer") -> alt.LayerChart:
    """Nodes by layer, lines from what each was computed from, colored by label; beside each what was written there.

    Args:
        table: rows with node (a name, once), layer (a number), parents (names with ";" between them), series (the
            label), written and truth.
        order: of the labels; each keeps its color in graphs that lack others.
        x_title: the words of the axis along.

    Example:
        >>> rows = [{"node": name, "layer": 1, "parents": "", "series": "input", "written": "2"} for name in "ab"]
        >>> rows += [{"node": "a+b", "layer": 2, "parents": "a;b", "series": "local error", "written": "5"}]
        >>> rc.charts.computation([row | {"truth": "4"} for row in rows]).to_dict()["height"]
        102
    """
    rows = tidy(table)
    if len(rows) > MOST:
        raise UserError(f"{len(rows)} nodes are too many to tell apart; {MOST} would do")
    known = list(order or ([str(name) for name in in_order(rows, "series")] if rows else []))
    places = places_of(rows)
    layers = sorted({int(row["layer"]) for row in rows}) or [1, 2]
    nodes = [
        row | {"x": int(row["layer"]), "y": places[row["node"]], "said": visible(str(row["written"]), LETTERS)}
        for row in rows
    ]
    ends = [
        {"x": int(end["layer"]), "y": places[end["node"]], "line": f"{row['node']}<{parent}"}
        for row in rows
        for parent in _parents(row)
        for end in (row, next(one for one in rows if one["node"] == parent))
    ]
    low, high = min(places.values(), default=0.0), max(places.values(), default=1.0)
    axis = alt.Axis(values=layers, format="d", grid=False)
    at: dict[str, Any] = {
        "x": alt.X(
            field="x",
            type="quantitative",
            title=x_title,
            axis=axis,
            scale=alt.Scale(domain=[layers[0] - 0.4, layers[-1] + 0.6], nice=False),
        ),
        "y": alt.Y(
            field="y",
            type="quantitative",
            axis=None,
            scale=alt.Scale(domain=[low - 0.8, high + 0.8], reverse=True, nice=False),
        ),
    }
    tips = [alt.Tooltip(field=name, type="nominal") for name in ("node", "written", "truth")]
    tips.append(alt.Tooltip(field="series", type="nominal", title="label"))
    line = alt.Chart(data(ends)).mark_line(style=["reference"], strokeDash=[1, 0], opacity=0.45)
    words = alt.Chart().mark_text(style=["words"], align="left", dx=8)
    layers_of_chart = [
        *([line.encode(**at, detail=alt.Detail(field="line", type="nominal"))] if ends else []),
        alt.Chart().mark_point(filled=True, size=90, opacity=1).encode(**at, **by_series(known), tooltip=tips),
        words.encode(**at, text=alt.Text(field="said", type="nominal")),
    ]
    return layered(layers_of_chart, nodes, int(APART * (high - low + 2)))


def places_of(rows: Rows) -> dict[str, float]:
    """How far down each node stands: at the mean of its parents, and one apart from the others of its layer."""
    found: dict[str, float] = {}
    by_layer: dict[int, Rows] = defaultdict(list)
    for row in rows:
        by_layer[int(row["layer"])].append(row)
    for layer in sorted(by_layer):
        wanted = {}
        for number, row in enumerate(by_layer[layer]):
            above = [found[parent] for parent in _parents(row)]
            wanted[row["node"]] = sum(above) / len(above) if above else float(number)
        last = None
        for node in sorted(wanted, key=wanted.__getitem__):
            found[node] = wanted[node] if last is None else max(wanted[node], last + 1)
            last = found[node]
    return found


def _parents(row: dict[str, Any]) -> list[str]:
    return [name for name in str(row["parents"]).split(";") if name]
