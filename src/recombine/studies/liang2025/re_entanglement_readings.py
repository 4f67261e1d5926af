"""Readings of `re-entanglement`: factorization F layer by layer, against held-out error, with and without a penalty."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...charts import kinds, vega_pictures
from ...lab.study_table import PreconditionFailed, StudyTable, mean_of
from . import drawn

FEWEST = 4  # nets that a correlation takes
LAST = "1 - F at the last hidden layer"


def nets_without_penalty(t: StudyTable) -> list[StudyTable]:
    return [part for _, part in t.where(penalty=0.0).by("cell")]


def name_of(part: StudyTable) -> str:
    return str(part.decoder.iloc[0])


def fall(part: StudyTable, metric: str = "factorization") -> float:
    """How much F falls from the first hidden layer to the last."""
    values = part.hidden_layers("geometry", metric)
    if len(values) < 2:
        raise PreconditionFailed("a fall takes two hidden layers")
    return values[0][1] - values[-1][1]


def mean_fall(t: StudyTable, metric: str = "factorization") -> float:
    """The fall of F over the layers, mean over nets, codes and depths."""
    falls = [fall(part, metric) for part in nets_without_penalty(t)]
    return mean_of(falls, "no net was trained without a penalty")


def mean_fall_untrained(t: StudyTable) -> float:
    """The same of the nets before training."""
    return mean_fall(t, "factorization_untrained")


def fall_by_training(t: StudyTable) -> float:
    """The fall of F over the layers, less that of the same nets before training."""
    return mean_fall(t) - mean_fall_untrained(t)


def last_factorization(part: StudyTable) -> float:
    return part.hidden_layers("geometry", "factorization")[-1][1]


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


def straightened(t: StudyTable, everywhere: bool) -> list[tuple[StudyTable, StudyTable]]:
    """Pairs of the same net without a penalty and with the largest one."""
    pairs = []
    penalized = t[t.penalty > 0].where(everywhere=everywhere)
    for keys, bent in penalized.where(penalty=penalized.penalty.max()).by("decoder", "layers", "encoding"):
        other = t.where(penalty=0.0, **dict(zip(("decoder", "layers", "encoding"), keys, strict=True)))
        if len(other):
            pairs.append((other, bent))
    if not pairs:
        raise PreconditionFailed("no net was trained both with and without a penalty")
    return pairs


def cure(t: StudyTable, everywhere: bool = False) -> float:
    """Held-out error with the largest penalty by that without, mean over nets.

    The mean is geometric. PreconditionFailed if F did not rise, or if what was trained was not learned.
    """
    ratios = []
    for without, bent in straightened(t, everywhere):
        name = name_of(bent)
        drawn.learned(bent, f"{name} with a penalty")
        if last_factorization(bent) <= last_factorization(without):
            raise PreconditionFailed(f"the penalty did not raise F of the {name}: it takes a larger one")
        with_it = drawn.score(bent, "error", "held_out", f"{name} with a penalty")
        ratios.append(with_it / drawn.score(without, "error", "held_out", name))
    return float(np.exp(np.mean(np.log(ratios))))


def cure_everywhere(t: StudyTable) -> float:
    """Held-out error with the largest penalty by that without, mean over nets."""
    return cure(t, everywhere=True)


def raised(t: StudyTable, everywhere: bool) -> float:
    """How much the penalty raises F at the last hidden layer, mean over nets."""
    return float(np.mean([last_factorization(b) - last_factorization(a) for a, b in straightened(t, everywhere)]))


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
    for part in nets_without_penalty(t):
        first = part.iloc[0]
        try:
            point = {"x": 1 - last_factorization(part), "value": drawn.score(part, "error", "held_out", "")}
        except PreconditionFailed:
            continue
        net = {"series": f"{first.decoder}, {first.encoding}", "trial": f"{first.layers} layers"}
        rows.append(net | point | {"seed": int(first.seed)})
    return rows


by_layer = kinds.Chart(
    "Factorization by layer, {split} code",
    "F of each hidden layer over the whole frame, by depth of the net; one point per seed. The input is 1.",
    layer_rows,
    lambda rows: vega_pictures.by_layer(rows, "F"),
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
