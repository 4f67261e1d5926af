"""What the page of pcfg draws."""

from __future__ import annotations

from ...charts import kinds
from . import five_tests_readings as read

CHARTS = [
    kinds.dots(
        "The five tests",
        "Exact match where answers are right or wrong, else consistency; of exceptions the peak.",
        read.test_rows,
        y="name",
        value="share",
        order=read.NAMES,
    ),
    kinds.curves(
        "Larger expressions",
        "Exact match on held-out expressions by the number of functions.",
        lambda t: read.size_rows(t, "functions"),
        x="size",
        x_title="functions",
        value="exact match",
    ),
    kinds.curves(
        "Deeper expressions",
        "Exact match on held-out expressions by how deep functions stand in one another.",
        lambda t: read.size_rows(t, "depth"),
        x="size",
        x_title="depth",
        value="exact match",
    ),
    kinds.curves(
        "Longer strings",
        "Exact match on held-out expressions by the letters of the right string.",
        lambda t: read.size_rows(t, "length"),
        x="size",
        x_title="letters",
        value="exact match",
    ),
    kinds.curves(
        "Exceptions during training",
        "Share of the trained exceptions that are answered by the rule, and as they were trained.",
        read.exception_rows,
        x="step",
        x_title="step of training",
        value="share of exceptions",
    ),
]
