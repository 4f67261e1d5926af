"""One cell of kernels-compose: a kernel fitted exactly, or a net trained, on one problem; and what it says."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...context import Context, Measured
from ...errors import UserError, unknown
from ...lab.cells import Spec
from ...lab.study import Settings
from ...training import Recipe
from . import overlap_kernels as kernels
from .symbol_nets import ScaledMLP, learn
from .symbolic_problems import ADDITION_KNOWN, Problem, problem_of

FITTED = 0.05  # squared error of a sum, or share of wrong answers, on trained combinations: above, it was not learned


def measure(spec: Spec, context: Context) -> Measured:
    """What a model says of held-out combinations, read in the ways of its problem."""
    at, options = spec["at"], spec["options"]
    problem = problem_of(options["problem"], options["known"], options["left_out"], options["shown"])
    if options["model"] == "kernel":
        said, salience, seconds = (*exact(problem, options), 0.0)
    else:
        net = ScaledMLP(width=options["width"], depth=options["depth"], scale=options["scale"])
        recipe = Recipe(
            steps=options["steps"],
            tasks=64,
            samples=1,
            learning_rate=options["rate"],
            weight_decay=0.0,
            precision="float32",
            evaluations=0,
        )
        found = learn(problem, net, recipe, spec["seed"], kernel=at["problem"] == "addition")
        said, salience, seconds = found.said, found.salience, found.seconds
    return Measured(rows_of(problem, said, salience, options["known"]), {"seconds": seconds})


def exact(problem: Problem, options: dict[str, Any]) -> tuple[np.ndarray, float]:
    """What an exact kernel model says: of least squares for sums, of the largest margin for yes and no."""
    kappa = kernels.random_relu_kernel(problem.rows.shape[1], options["depth"])
    gram = kernels.by_overlap(problem, kappa) if options["kernel"] == "overlap" else kernels.by_distance(problem)
    fit = kernels.largest_margin if problem.whether and options["fit"] == "margin" else kernels.least_squares
    return fit(problem, gram), float(kernels.saliences(kappa)[0])


def rows_of(problem: Problem, said: np.ndarray, salience: float, known: int) -> list[dict[str, Any]]:
    """Readings by metric; nothing of a net that diverged."""
    if not np.isfinite(said).all():
        return []
    inside = problem.trained
    if problem.whether:
        values = {
            "unfitted": float((np.sign(said) != problem.target)[inside].mean()),
            "accuracy": kernels.accuracy(problem, said),
        }
    else:
        slope, formula = kernels.slope(problem, said), kernels.leak_slope(salience, known)
        values = {
            "unfitted": float(((said - problem.target)[inside] ** 2).mean()),
            "slope": slope,
            "formula": formula,
            "off_formula": abs(slope - formula),
        }
    values["additivity"] = kernels.additivity(problem, said)
    shared = {"stream": "held_out", "group": "", "asked": True}
    return [
        # what was learned is no score: in a control where scores are by chance it stays as it is
        shared | {"reading": "fit" if metric == "unfitted" else "score", "metric": metric, "value": value}
        for metric, value in values.items()
    ]


def refuse(settings: Settings) -> None:
    """Settings that cannot be, before anything is computed."""
    choices = {
        "options.known": tuple(ADDITION_KNOWN),
        "options.left_out": (1, 2, 3),
        "options.shown": ("symbols", "classes"),
        "options.kernel": ("overlap", "distance"),
        "options.fit": ("margin", "squares"),
    }
    for path, known in choices.items():
        for key in (path, path.rpartition(".")[2]):
            given = settings.get(key, [])
            for value in given if isinstance(given, list) else [given]:
                if value not in known:
                    raise unknown(key, str(value), [str(one) for one in known])
    for key in ("depth", "options.depth"):
        for value in settings.get(key, []) if isinstance(settings.get(key), list) else []:
            if not isinstance(value, int) or value < 1:
                raise UserError(f"depth={value!r} must be a whole number of hidden layers, such as 1")
