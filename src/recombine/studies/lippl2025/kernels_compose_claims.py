"""What is claimed of kernels, which is exact, and of nets, which is not."""

from __future__ import annotations

from ...lab.verdicts import Claim, Measurement, at_least, at_most
from .kernels_compose_readings import (
    kernel_additivity,
    kernel_equivalence,
    kernel_off_formula,
    kernel_shortcut,
    net_additivity,
    net_equivalence,
    net_leak,
    net_off_formula,
    net_shortcut,
    rich_gain,
)

EXACT = "an exact fit, in which nothing is left to chance: seeds repeat it"
OURS = "ours, after Lippl, Stachenfeld 2025"

KERNELS = [
    Claim(
        "kernels-add-conjunctions",
        kernel_additivity,
        at_least(0.999),
        "A kernel says a sum over conjunctions seen in training (conjunction-wise additivity), for every problem",
        "distance",
        by_construction=f"Theorem 4.2; {EXACT}",
        needs={"model": "kernel"},
    ),
    Claim(
        "memorization-leaks-as-computed",
        kernel_off_formula,
        at_most(0.01),
        "Sums of unseen pairs are too small by the factor p S / (1 + (p - 2) S), for every p and every kernel",
        "distance",
        by_construction=f"Proposition 5.1; {EXACT}",
        needs={"model": "kernel", "problem": "addition"},
    ),
    Claim(
        "kernels-miss-equivalence",
        kernel_equivalence,
        at_most(0.75),
        "No kernel of this kind generalizes an equivalence by transitivity",
        "classes-shown",
        by_construction=f"Theorem 4.2: a sum over two symbols gets at most three of four kinds of pairs; {EXACT}",
        needs={"model": "kernel", "problem": "equivalence"},
    ),
    Claim(
        "kernels-take-the-shortcut",
        kernel_shortcut,
        at_most(0.25),
        "Kernels of random ReLU nets, one to four layers deep, take the context for the answer (shortcut bias, CD-3)",
        "few-left-out",
        by_construction=EXACT,
        needs={"model": "kernel", "problem": "context"},
    ),
]
NETS = [
    Claim(
        "nets-add-conjunctions",
        net_additivity,
        at_least(0.9),
        "What nets say of unseen sums is a sum over conjunctions seen in training, too, for every net",
        "unrelated",
        supported="nets add up conjunctions that they have seen, as kernels must",
        refuted="not every net adds up conjunctions that it has seen",
        needs={"model": "net", "problem": "addition"},
    ),
    Claim(
        "nets-leak-less-with-more-known",
        net_leak,
        at_least(0.1),
        "The more symbols are known, the less sums of unseen pairs are too small: by .1 of the slope, for every net",
        "same-arms",
        supported="memorization leaks less where more symbols are known, in nets, too",
        refuted="nets do not leak less where more symbols are known",
        needs={"model": "net", "problem": "addition"},
    ),
    Claim(
        "own-kernel-foretells-the-leak",
        net_off_formula,
        at_most(0.1),
        "The formula, with the salience of a net's own tangent kernel, foretells the slope of lazy nets within .1",
        "unrelated",
        source=OURS,
        transform="log",
        floor=0.1,
        supported="how much a lazy net leaks follows from its kernel at the beginning",
        refuted="the kernel at the beginning does not foretell how much a net leaks",
        needs={"model": "net", "problem": "addition", "begins": "lazy"},
    ),
    Claim(
        "nets-take-the-shortcut",
        net_shortcut,
        at_most(0.25),
        "Nets take the context for the answer where most conflicts were left out, for every net",
        "few-left-out",
        supported="nets take the shortcut that the data offer",
        refuted="not every net takes the shortcut that the data offer",
        needs={"model": "net", "problem": "context"},
    ),
    Claim(
        "rich-nets-learn-equivalence",
        rich_gain,
        at_least(0.2),
        "Nets that begin with small weights generalize an equivalence, and lazy ones less, by .2, for every depth",
        "both-lazy",
        source="Lippl, Stachenfeld, version 1 of arXiv 2405.16391 (abstract)",
        supported="nets that learn features generalize what no kernel can",
        refuted="learning features adds little where kernels fail",
        needs={"model": "net", "problem": "equivalence"},
    ),
]
CLAIMS = [*KERNELS, *NETS]

MEASUREMENTS = [Measurement("lazy-equivalence", net_equivalence, "How well lazy nets generalize an equivalence")]
