"""What cogs varies, and what it reads off its table: exact match by case, by depth and by length, for each net."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...charts.tidy_rows import Rows
from ...lab.record import Record
from ...lab.scales import Scale
from ...lab.study_table import Missing, StudyTable, mean_of
from ...supports.cogs_cases import CASES, STRUCTURAL
from ...supports.cogs_split import IN_DISTRIBUTION
from ...trials.asked_once import BY_SIZE
from .. import sequence_texts
from ..sequence_texts import Published, first_mistakes

LSTM = {"name": "lstm", "width": Scale(16, 200, 200, 512), "depth": Scale(1, 2, 2, 2)}
RELATIVE = "transformer, relative"
NETS: dict[str, dict[str, Any]] = {
    "transformer": {},
    RELATIVE: {"net.positions": "relative"},
    "lstm, attention": {"net": LSTM | {"attention": True}},
}
PLAIN = ["transformer", "lstm, attention"]  # nearest to those of the paper
CASE_ORDER = [IN_DISTRIBUTION, *CASES]
SHORT_CASES = ["subj_to_obj_common", "prim_to_subj_proper", "active_to_passive"]  # for tests: forms of few words
#: where clauses, and prepositions, stand in one another: as in training, and deeper
BY_DEPTH = [
    f"{group}/{size}"
    for case, size in (("cp_recursion", "clauses"), ("pp_recursion", "prepositions"))
    for group in (IN_DISTRIBUTION, case)
]
#: the abstract has the range over nets, .96 to .99 and .16 to .35; figures by net as they are widely quoted
KIM, CSORDAS = "Kim & Linzen 2020", "Csordas et al. 2021"
PUBLISHED = [
    Published(f"{KIM}, Transformer", "transformer", IN_DISTRIBUTION, 0.96),
    Published(f"{KIM}, Transformer", "transformer", "generalization", 0.35),
    Published(f"{KIM}, Transformer", "transformer", "structural", 0.0),
    Published(f"{KIM}, LSTM", "lstm, attention", IN_DISTRIBUTION, 0.99),
    Published(f"{KIM}, LSTM", "lstm, attention", "generalization", 0.32),
    Published(f"{CSORDAS}, Transformer", RELATIVE, "generalization", 0.81),
]


# -- readings: the trials of one seed -> numbers ----------------------------------------------------------------------
def nets_of(t: StudyTable, only: Sequence[str] = ()) -> list[str]:
    """The nets that were run."""
    nets = list(dict.fromkeys(row["net"] for row in t.plain("score").rows if not only or row["net"] in only))
    if not nets:
        raise Missing(f"{' and '.join(only) or 'no net'} was not run" if only else "no net was run")
    return nets


def of_every_net(t: StudyTable, group: str, learned: bool = False, only: Sequence[str] = ()) -> dict[str, float]:
    """Exact match on a group of held-out sentences, for each net; of nets that have learned what was trained."""
    nets = nets_of(t, only)
    if learned:
        for net in nets:
            t.learned(net=net)
    return {net: t.score("held_out", group=group, net=net) for net in nets}


def structural(t: StudyTable) -> dict[str, float]:
    """Exact match on each case with a new structure, for each net."""
    by_case = {case: of_every_net(t, case, learned=True) for case in STRUCTURAL}
    return {f"{net}, {case}": value for case, found in by_case.items() for net, value in found.items()}


def lexical_minus_structural(t: StudyTable) -> dict[str, float]:
    """Exact match on known words in new places minus that on new structures, for each net."""
    lexical, new = (of_every_net(t, group, learned=True) for group in ("lexical", "structural"))
    return {net: lexical[net] - new[net] for net in lexical}


def gain_of_positions(t: StudyTable) -> float:
    """Exact match on the 21 cases with relative positions minus that with sinusoidal ones."""
    found = of_every_net(t, "generalization", learned=True, only=["transformer", RELATIVE])
    if len(found) < 2:
        raise Missing("one of the two transformers was not run")
    return found[RELATIVE] - found["transformer"]


def lexical(t: StudyTable) -> float:
    """Exact match on known words in new places, mean over nets."""
    return mean_of(of_every_net(t, "lexical").values(), "no net was run")


def gap(t: StudyTable) -> float:
    """Exact match on sentences as in training minus that on the cases, mean over nets."""
    inside, outside = (of_every_net(t, group) for group in (IN_DISTRIBUTION, "generalization"))
    return mean_of((inside[net] - outside[net] for net in inside), "no net was run")


# -- rows of charts ---------------------------------------------------------------------------------------------------
def case_rows(t: StudyTable) -> Rows:
    return [
        {"name": case, "value": row.value, "series": row.net, "seed": row.seed}
        for case in CASE_ORDER
        for _, row in t.scores("held_out", group=case).iterrows()
    ]


def _by_size(t: StudyTable) -> Rows:
    """One row per size of a group of items: what was said of "in-distribution/length=12"."""
    frame = t.frame
    if not len(frame) or "reading" not in frame:
        return []
    found = []
    for _, row in frame[frame.reading == BY_SIZE].iterrows():
        what, _, size = row.group.partition("=")
        group, _, kind = what.rpartition("/")
        at = {"group": group, "kind": kind, "size": int(size)}
        found.append(at | {"net": row.net, "value": row.value, "seed": row.seed})
    return found


def depth_rows(t: StudyTable) -> Rows:
    several = len({row["net"] for row in _by_size(t)}) > 1
    return [
        {"depth": row["size"], "series": f"{row['kind']}, {row['net']}" if several else row["kind"]}
        | {name: row[name] for name in ("value", "seed")}
        for row in _by_size(t)
        if row["kind"] != "length"
    ]


def length_rows(t: StudyTable) -> Rows:
    return [
        {"length": row["size"], "series": row["net"], "value": row["value"], "seed": row["seed"]}
        for row in _by_size(t)
        if row["kind"] == "length"
    ]


# -- texts ------------------------------------------------------------------------------------------------------------
def texts(records: Sequence[Record]) -> dict[str, str]:
    """The published accuracies beside ours, and wrong answers of the first seed."""
    return {"Published accuracies, and ours": beside_published(records)} | first_mistakes(records, "Wrong: {net}")


def beside_published(records: Sequence[Record]) -> str:
    """The published accuracies, and the means of ours; then ours case by case."""
    order = [IN_DISTRIBUTION, "generalization", "lexical", "structural", *CASES]
    ours: dict[tuple[str, str], list[float]] = {}
    for record in records:
        for row in record.rows:
            scored = row["reading"] == "score" and row["stream"] == "held_out" and row["metric"] == "exact"
            if scored and row["group"] in order:
                ours.setdefault((str(record.cell.columns()["net"]), row["group"]), []).append(row["value"])
    ours = {key: ours[key] for key in sorted(ours, key=lambda key: (order.index(key[1]), key[0]))}
    finite = {key: values for key, values in ours.items() if np.isfinite(values).all()}
    return sequence_texts.beside_published(PUBLISHED, finite, asked="case")
