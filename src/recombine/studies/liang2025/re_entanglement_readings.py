"""Readings of `re-entanglement`: factorization F layer by layer, against held-out error, with and without a penalty."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...charts import kinds
from ...lab.study_table import PreconditionFailed, StudyTable, mean_of
from . import drawn

FEWEST = 4  # nets that a correlation takes
INPUT = 1.0  # F of the input, set by hand as published: the code is factorized by construction
RAISED = 0.01  # F has to rise by so much for a penalty to count as one (ours)
LAST = "1 - F at the last hidden layer"


def nets_without_penalty(t: StudyTable) -> list[StudyTable]:
    """Nets with no penalty, or, in a control in which all have one, with the least."""
    found = [part for _, part in t.where(penalty=t.penalty.min()).by("cell")]
    if not found:
        raise PreconditionFailed("no such net was trained without a penalty")
    return found


def name_of(part: StudyTable) -> str:
    first = part.iloc[0]
    return f"{first.decoder} of {first.layers} layers, {first.encoding}"


def last_factorization(part: StudyTable, metric: str = "factorization") -> float:
    return part.hidden_layers("geometry", metric)[-1][1]


def fall(part: StudyTable, metric: str = "factorization") -> float:
    """How much F falls from the input to the last hidden layer."""
    return INPUT - last_factorization(part, metric)


def learned_fall(part: StudyTable, name: str) -> float:
    """The fall of a net; PreconditionFailed if it did not learn what it was trained on."""
    drawn.learned(part, name)
    return fall(part)


def published_fall(t: StudyTable) -> dict[str, Any]:
    """F of the input (1) minus F of the last hidden layer, each net, depth and code."""
    return drawn.each({name_of(part): part for part in nets_without_penalty(t)}, learned_fall)


def fall_by_training(t: StudyTable) -> dict[str, Any]:
    """F of the last hidden layer before training less that after it, each net and code, mean over depths."""
    plain = t.where(penalty=t.penalty.min())
    groups = {f"{decoder}, {code}": part for (decoder, code), part in plain.by("decoder", "encoding")}

    def of(part: StudyTable, name: str) -> float:
        nets = [net for _, net in part.by("cell")]
        falls = [learned_fall(net, name_of(net)) - fall(net, "factorization_untrained") for net in nets]
        return float(np.mean(falls))

    return drawn.each(groups, of)


def mean_fall(t: StudyTable, metric: str = "factorization") -> float:
    """The fall of F from the input to the last hidden layer, mean over nets, codes and depths."""
    return float(np.mean([fall(part, metric) for part in nets_without_penalty(t)]))


def mean_fall_untrained(t: StudyTable) -> float:
    """The same of the nets before training."""
    return mean_fall(t, "factorization_untrained")


def prediction(t: StudyTable) -> float:
    """Correlation by rank, over nets, of 1 - F at the last hidden layer with the held-out error."""
    import scipy.stats

    pairs = [
        (1 - last_factorization(part), drawn.score(part, "error", "held_out", name_of(part)))
        for part in nets_without_penalty(t)
    ]
    if len(pairs) < FEWEST:
        raise PreconditionFailed(f"a correlation takes {FEWEST} nets, and {len(pairs)} were run")
    losses, errors = zip(*pairs, strict=True)
    found: Any = scipy.stats.spearmanr(losses, errors)
    return float(found.statistic)


def penalized_factorization(part: StudyTable, everywhere: bool) -> float:
    """F where the penalty is taken: at trained points or all, mean over hidden layers, by derivative where it is."""
    where = "" if everywhere else "_trained"
    exact = len(part.probed("geometry", f"factorization_derivative{where}"))
    metric = f"factorization{'_derivative' if exact else ''}{where}"
    return mean_of((value for _, value in part.hidden_layers("geometry", metric)), "no hidden layers")


def straightened(t: StudyTable, everywhere: bool) -> dict[str, StudyTable]:
    """By net and code: the net without a penalty and those with one, at trained points or everywhere."""
    groups = {}
    for (decoder, layers, code), bent in (
        t[t.penalty > 0].where(everywhere=everywhere).by("decoder", "layers", "encoding")
    ):
        at = {"decoder": decoder, "layers": layers, "encoding": code}
        if len(t.where(penalty=0.0, **at)):
            cells = [*t.where(penalty=0.0, **at).cell.unique(), *bent.cell.unique()]
            groups[f"{decoder}, {code}"] = t.where(cell=cells)
    if not groups:
        raise PreconditionFailed("no net was trained both with and without a penalty")
    return groups


def plain_and_best(group: StudyTable, name: str, everywhere: bool) -> tuple[StudyTable, StudyTable]:
    """The net without a penalty, and that whose penalty keeps F highest where it is taken.

    Of nets that learned what they were trained on: the choice does not look at what was held out.
    """
    plain = group.where(penalty=0.0)
    drawn.learned(plain, f"{name} without a penalty")
    learned = [part for _, part in group[group.penalty > 0].by("penalty") if has_learned(part)]
    if not learned:
        raise PreconditionFailed(f"{name} did not learn what it was trained on with any penalty")
    return plain, max(learned, key=lambda part: penalized_factorization(part, everywhere))


def has_learned(part: StudyTable) -> bool:
    return drawn.score(part, "error", "test", name_of(part)) <= drawn.LEARNED


def risen(pair: tuple[StudyTable, StudyTable], everywhere: bool) -> float:
    """How much a penalty raised F where it is taken."""
    without, bent = pair
    return penalized_factorization(bent, everywhere) - penalized_factorization(without, everywhere)


def cure(t: StudyTable, everywhere: bool = False) -> dict[str, Any]:
    """Held-out error by that without a penalty, each net, with the penalty that keeps F highest where it is taken.

    None of a net whose F did not rise there, or that did not learn.
    """

    def of(group: StudyTable, name: str) -> float:
        pair = plain_and_best(group, name, everywhere)
        if (by := risen(pair, everywhere)) < RAISED:
            raise PreconditionFailed(f"no penalty raised F of the {name} by {RAISED} where it is taken ({by:.3f})")
        without, bent = (drawn.score(part, "error", "held_out", name) for part in pair)
        return bent / without

    return drawn.each(straightened(t, everywhere), of)


def cure_everywhere(t: StudyTable) -> dict[str, Any]:
    """Held-out error by that without a penalty, each net, with the penalty that keeps F highest on the frame."""
    return cure(t, everywhere=True)


def raised(t: StudyTable, everywhere: bool) -> float:
    """How much the penalty raises F where it is taken, mean over nets."""
    groups = straightened(t, everywhere).items()
    return float(np.mean([risen(plain_and_best(group, name, everywhere), everywhere) for name, group in groups]))


# -- what is drawn ----------------------------------------------------------------------------------------------------
def layer_rows(t: StudyTable) -> kinds.Rows:
    part = t.where(penalty=0.0).probed("geometry", "factorization")
    part = part[part.layer.str.endswith("/post")]
    rows = []
    for (decoder, code), some in part.groupby(["decoder", "encoding"]):
        of_net = {"net": f"{decoder}, {code}"}
        found = [
            of_net
            | {"layer": row.layer.removesuffix("/post"), "series": f"{row.layers} layers"}
            | {"seed": int(row.seed), "value": row.value}
            for row in some.itertuples()
        ]
        drawn_at = dict.fromkeys((row["series"], row["seed"]) for row in found)
        inputs = [of_net | {"layer": "input", "series": name, "seed": seed, "value": 1.0} for name, seed in drawn_at]
        rows += found + inputs
    return rows


def error_rows(t: StudyTable) -> kinds.Rows:
    rows = []
    for _, part in t.where(penalty=0.0).by("cell"):
        first = part.iloc[0]
        try:
            point = {"x": 1 - last_factorization(part), "value": drawn.score(part, "error", "held_out", "")}
        except PreconditionFailed:
            continue
        net = {"series": f"{first.decoder}, {first.encoding}", "trial": f"{first.layers} layers"}
        rows.append(net | point | {"seed": int(first.seed)})
    return rows


by_layer = kinds.by_layer(
    "Factorization by layer, {split} code",
    "F of each hidden layer over the whole frame, by depth of the net; one point per seed. The input is 1.",
    layer_rows,
    value="F",
    split="net",
)
against_error = kinds.scatter(
    "Loss of factorization against held-out error",
    "One point per net and seed, without a penalty.",
    error_rows,
    x_title=LAST,
    value="held-out error",
    high=2.0,
)
