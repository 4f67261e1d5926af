"""What subgraphs draws: curves over sizes and layers, information by place, and graphs with colored nodes."""

from __future__ import annotations

import functools
import math
from typing import Any

from ...charts import kinds
from ...charts.computation_chart import computation
from ...charts.figure import Figure
from ...charts.tidy_rows import Rows
from ...lab.study_table import StudyTable
from .node_rows import INPUT, KINDS, NOT_WRITTEN
from .subgraphs_arms import ALL, PRODUCTS, STEPS, USUAL

DRAWN = (*KINDS, INPUT)
FEWEST = 10  # texts of a size, of which fewer give no point


def _rows(t: StudyTable, reading: str) -> Rows:
    return t.where(data=ALL, net_size=USUAL).plain(reading).rows if len(t) else []


def _there(value: Any) -> bool:
    return value is not None and value == value


def size_rows(t: StudyTable) -> Rows:
    """Exact match by size."""
    rows = [row for row in _rows(t, "score") if row["metric"] == t.metric and row["stream"] == "held_out"]
    return [row | {"series": row["arm"]} for row in rows if _there(row.get("beyond")) and row["texts"] >= FEWEST]


def length_rows(t: StudyTable) -> Rows:
    """Answers that are no longer than the longest trained one, by size."""
    rows = [row for row in _rows(t, "length") if row["metric"] == "no longer than trained"]
    return [row | {"series": row["arm"]} for row in rows]


def label_rows(t: StudyTable) -> Rows:
    """Shares of labels by layer, one size beyond training."""
    rows = [row for row in _rows(t, "labels") if row["beyond"] == 1]
    return [row | {"depth": int(row["layer"]), "series": row["metric"]} for row in rows]


def frequency_rows(t: StudyTable) -> Rows:
    """How often training showed right and wrong nodes, by layer, up to one size beyond training."""
    rows = [row for row in _rows(t, "frequency") if row["metric"] in ("right", "wrong") and row["beyond"] in (0, 1)]
    return [
        row
        | {"depth": int(row["layer"]), "value": math.log10(1 + row["value"])}
        | {"series": f"{row['metric']}, {'trained size' if row['beyond'] == 0 else 'first larger size'}"}
        for row in rows
        if _there(row["value"])
    ]


def gain_rows(t: StudyTable) -> Rows:
    """Accuracy against relative information gain, place by place of products."""
    part = t.where(arm=PRODUCTS)
    gains = {(row["seed"], row["size"], row["place"]): row["value"] for row in _rows(part, "gain")}
    found = []
    for row in _rows(part, "score"):
        at = row["seed"], row.get("size"), row.get("place")
        if at in gains:
            words = {"series": row["size"], "trial": f"place {int(row['place'])} from the end"}
            found.append(row | words | {"x": gains[at]})
    return found


def scale_rows(t: StudyTable) -> Rows:
    """Exact match against the number of trained lists, on trained sizes and on the first larger one, by size of net."""
    if not len(t):
        return []
    rows = t.where(arm=STEPS).plain("score").rows
    if len({(row["data"], row["net_size"]) for row in rows}) < 2:
        return []
    share = {"a hundredth": 0.01, "a tenth": 0.1, ALL: 1.0}
    found = []
    for row in rows:
        if row["metric"] != t.metric or row["stream"] != "held_out":
            continue
        where = "trained sizes" if row["group"] == "in-domain" else "first larger size" if row["beyond"] == 1 else ""
        if where:
            found.append(row | {"share": share[row["data"]], "series": f"{where}, {row['net_size']} net"})
    return found


def graphs(t: StudyTable) -> list[Figure]:
    """The computation of a list as a net wrote it, of the first seed: the first answer with a wrong node."""
    rows = [row for row in _rows(t, "node") if not row["seed"]]
    drawn: dict[tuple, Rows] = {}
    for row in rows:
        drawn.setdefault((row["arm"], row["group"]), []).append(row | {"series": row["metric"]})
    found = []
    for (arm, size), nodes in drawn.items():
        if any(row["value"] != row["value"] for row in nodes):  # of a net that diverged
            continue
        where = "the largest trained size" if not nodes[0]["beyond"] else f"{int(nodes[0]['beyond'])} beyond training"
        wrong = any(row["series"] not in (INPUT, "correct") for row in nodes)
        words = "Colored by label; beside each node what was written there." if wrong else "Every step is right."
        title = f"{nodes[0]['text']} ({arm}; size {size}, {where})"
        found.append(Figure(title, words, functools.partial(computation, nodes, order=DRAWN)))
    return found


CHARTS = [
    kinds.curves(
        "Exact match by size",
        "Each size was asked by itself; 0 is the largest that was trained. With steps, every step has to be right. "
        f"Sizes of which fewer than {FEWEST} texts were held out are not drawn.",
        size_rows,
        x="beyond",
        x_title="sizes beyond training",
        value="exact match",
        claims=("in-domain", "largest-size", "no-net-extends"),
    ),
    kinds.curves(
        "What was written instead: length",
        "Answers with no more words than the longest trained one. At larger sizes such an answer has stopped early, "
        "but where all are padded to one length.",
        length_rows,
        x="beyond",
        x_title="sizes beyond training",
        value="share of answers",
    ),
    kinds.curves(
        "Labels by layer, one size beyond training: {split}",
        f"Shares of the nodes of each layer. What a net did not write is {NOT_WRITTEN!r}.",
        label_rows,
        x="depth",
        x_title="layer",
        value="share of nodes",
        order=KINDS,
        split="arm",
    ),
    kinds.curves(
        "How often training showed right and wrong nodes: {split}",
        "Training lists that hold the full computation of a node, on average, as log10 of one more than that.",
        frequency_rows,
        x="depth",
        x_title="layer",
        value="log10 (1 + times shown)",
        split="arm",
    ),
    kinds.scatter(
        "Accuracy against information, digit by digit of products",
        "Relative information gain of the pair of digits, one of each number, that says most of a place.",
        gain_rows,
        x_title="relative information gain",
        value="accuracy",
    ),
    kinds.curves(
        "Does scale buy coverage?",
        "Every list asked is new. Full computations of larger sizes are never shown, however much data there is.",
        scale_rows,
        x="share",
        x_title="share of all lists of trained sizes",
        value="exact match",
        x_format="~g",
        log=True,
    ),
    graphs,
]
