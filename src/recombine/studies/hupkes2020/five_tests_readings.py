"""What pcfg reads off its table: right answers, consistency and answers by the rule, for each net."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...charts.tidy_rows import Rows
from ...lab.record import Record
from ...lab.study_table import Missing, StudyTable, mean_of
from ...trials.asked_once import BY_SIZE
from .. import sequence_texts
from ..sequence_texts import Published, first_mistakes
from .five_tests_arms import EQUAL, NO_RULE, OVER, TESTS

PRIMITIVE = "substitutivity, primitive"
SCORED = ("task", "systematicity", "productivity")  # tests that are shares of right answers
SHOWN = [name for name in TESTS if name != NO_RULE]
#: what is said of each test: its name in the table, in the order of the paper
NAMES = ["task", "systematicity", "productivity", EQUAL, PRIMITIVE, "localism", OVER]
#: the net of ours that is nearest; none is convolutional
COLUMNS = {"LSTM": "lstm, attention", "ConvS2S": "convolutional", "Transformer": "transformer"}
TABLE = {
    "task": (0.79, 0.85, 0.92),
    "systematicity": (0.53, 0.56, 0.72),
    "productivity": (0.30, 0.31, 0.50),
    EQUAL: (0.80, 0.95, 0.98),
    PRIMITIVE: (0.60, 0.58, 0.90),
    "localism": (0.46, 0.59, 0.54),
    OVER: (0.68, 0.79, 0.88),
}
PUBLISHED = [
    Published(f"Hupkes et al. 2020, {theirs}", ours, name, TABLE[name][place])
    for place, (theirs, ours) in enumerate(COLUMNS.items())
    for name in NAMES
]


# -- readings: the trials of one seed -> numbers ----------------------------------------------------------------------
def nets_of(t: StudyTable, test: str) -> list[str]:
    """The nets that were run on a test."""
    nets = list(dict.fromkeys(row["net"] for row in t.where(test=test).plain("score").rows))
    if not nets:
        raise Missing(f"{test} was not run")
    return nets


def of_every_net(t: StudyTable, test: str, learned: bool = False) -> dict[str, float]:
    """Exact match on what a test holds out, for each net; of nets that have learned what was trained."""
    nets = nets_of(t, test)
    if learned:
        for net in nets:
            t.learned(test=test, net=net)
    return {net: t.held_out(test=test, net=net) for net in nets}


def cost(t: StudyTable, test: str) -> dict[str, float]:
    """Exact match on new expressions minus that on what a test holds out, for each net."""
    task, other = (of_every_net(t, name, learned=True) for name in ("task", test))
    return {net: task[net] - other[net] for net in other if net in task}


def consistency(t: StudyTable, test: str, kind: str) -> dict[str, float]:
    """Share of expressions of which a net gives the same answer twice, for each net that has learned."""
    found = {}
    for net in nets_of(t, test):
        t.learned(test=test, net=net)
        rows = t.where(test=test, net=net).plain("consistency").rows
        values = [row["value"] for row in rows if row["group"] == kind]
        if len(values) != 1:
            raise Missing(f"{test}, {net} has no {kind}")
        found[net] = float(values[0])
    return found


def gain_of_use(t: StudyTable) -> dict[str, float]:
    """Consistency with synonyms that are used like the word, minus with those that are trained alone."""
    used, alone = (consistency(t, test, "substitutivity") for test in (EQUAL, "task"))
    return {net: used[net] - alone[net] for net in used if net in alone}


def _on_exceptions(t: StudyTable, metric: str) -> dict[str, list[float]]:
    """Shares of the trained exceptions on the way, for each net."""
    rows = t.where(test=[OVER, NO_RULE]).plain("exceptions").rows
    found: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        if row["metric"] == metric and np.isfinite(row["value"]):
            found.setdefault(row["net"], []).append((row["step"], row["value"]))
    if not found:
        raise Missing(f"{OVER} was not run")
    return {net: [value for _, value in sorted(points)] for net, points in found.items()}


def peak(t: StudyTable) -> dict[str, float]:
    """Share of exceptions that are answered by the rule, at its peak during training, for each net."""
    return {net: max(values) for net, values in _on_exceptions(t, "by_rule").items()}


def memorized(t: StudyTable) -> float:
    """Share of exceptions that are answered as trained in the end, mean over nets."""
    return mean_of((values[-1] for values in _on_exceptions(t, "as_exception").values()), "no net was run")


# -- rows of charts ---------------------------------------------------------------------------------------------------
def test_rows(t: StudyTable) -> Rows:
    """A number for each line of the published table, by net and seed."""
    if not len(t):
        return []
    return [
        {"name": name, "value": value, "series": net, "seed": seed}
        for (test, net, seed), part in t.by("test", "net", "seed")
        for name, value in lines_of(part.frame.to_dict("records"), test)
    ]


def lines_of(rows: Sequence[dict[str, Any]], test: str) -> Iterator[tuple[str, float]]:
    """(line of the published table, number) of the readings of one trial."""
    by_rule = []
    for row in rows:
        what, value = row["reading"], row["value"]
        if what == "score" and row.get("asked") in (True,) and row["metric"] == "exact" and test in SCORED:
            yield test, value
        elif what == "consistency":
            yield row["group"] if row["group"] == "localism" else EQUAL if test == EQUAL else PRIMITIVE, value
        elif what == "exceptions" and row["metric"] == "by_rule" and test == OVER and np.isfinite(value):
            by_rule.append(value)
    if by_rule:
        yield OVER, max(by_rule)


def size_rows(t: StudyTable, kind: str) -> Rows:
    """Held-out exact match by size: one line per net, and per test where there is one net."""
    frame = t.frame
    if not len(frame) or "reading" not in frame:
        return []
    chosen = frame[(frame.reading == BY_SIZE) & (frame.stream == "held_out") & frame.group.str.startswith(f"{kind}=")]
    several = chosen.net.nunique() > 1
    return [
        {"size": int(row.group.partition("=")[2]), "series": f"{row.test}, {row.net}" if several else row.test}
        | {"value": row.value, "seed": row.seed}
        for row in chosen.itertuples()
        if row.test in SCORED
    ]


def exception_rows(t: StudyTable) -> Rows:
    """Answers to trained exceptions on the way."""
    words = {"by_rule": "by the rule", "as_exception": "as trained"}
    return [
        {"step": row["step"], "series": f"{words[row['metric']]}, {row['net']}", "value": row["value"]}
        | {"seed": row["seed"]}
        for row in t.plain("exceptions").rows
        if row["test"] == OVER
    ]


# -- texts ------------------------------------------------------------------------------------------------------------
def texts(records: Sequence[Record]) -> dict[str, str]:
    """The published table beside ours, and wrong answers of the first seed."""
    found = {"The published table, and ours": beside_published(records)}
    return found | first_mistakes(records, "Wrong on {test}: {net}")


def beside_published(records: Sequence[Record]) -> str:
    """The published table, and the means of ours."""
    ours: dict[tuple[str, str], list[float]] = {}
    for record in records:
        at = record.cell.columns()
        for name, value in lines_of(record.rows, str(at["test"])):
            ours.setdefault((str(at["net"]), name), []).append(value)
    return sequence_texts.beside_published(PUBLISHED, ours, asked="test")
