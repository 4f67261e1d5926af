"""What the bench compares with, where it is installed: torch, scikit-learn, allpairspy, covertable.

None of them is needed to run recombine. A side that is missing is named, and its rows say that they were not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

#: name -> the package that is imported
PACKAGES = {"torch": "torch", "scikit-learn": "sklearn", "allpairspy": "allpairspy", "covertable": "covertable"}


def installed() -> list[str]:
    """The other sides that this environment has."""
    return [name for name, package in PACKAGES.items() if find_spec(package) is not None]


def torch_package() -> Any:
    """torch, with one thread, as the other side has."""
    import torch  # pyright: ignore[reportMissingImports]

    torch.set_num_threads(1)
    return torch


def ridge_of_scikit_learn(features: Any, targets: Any) -> Callable[[], Any]:
    """Its fit of the same regression, by the same factorization."""
    from sklearn.linear_model import Ridge  # pyright: ignore[reportMissingImports]

    return lambda: Ridge(alpha=1.0, solver="cholesky").fit(features, targets)


def pairs_by(name: str, levels: Sequence[int]) -> Callable[[], int]:
    """Makes a table of all pairs of levels and says how many rows it has."""
    options = [list(range(count)) for count in levels]
    if name == "allpairspy":
        from allpairspy import AllPairs  # pyright: ignore[reportMissingImports]

        return lambda: len(list(AllPairs(options)))
    from covertable import make  # pyright: ignore[reportMissingImports]

    return lambda: len(list(make(options)))
