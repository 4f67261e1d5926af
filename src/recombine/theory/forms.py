"""Affine functions of the units of a layer, and layers under construction: what explicit networks are written with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Forms:
    """Affine functions of the units of one layer, a row each."""

    weights: sparse.csr_array  # (forms, units of the layer so far)
    constants: np.ndarray  # (forms,)

    def __len__(self) -> int:
        return len(self.constants)

    def mixed(self, matrix: Any) -> Forms:
        """Linear combinations of the forms, a row of the matrix each."""
        return Forms(sparse.csr_array(matrix @ self.weights), matrix @ self.constants)

    def shifted(self, by: Any) -> Forms:
        return Forms(self.weights, self.constants + by)

    def over(self, units: int) -> sparse.csr_array:
        """The weights with a zero for every unit that was added to the layer later."""
        missing = units - cast(tuple[int, int], self.weights.shape)[1]
        return sparse.csr_array(sparse.hstack([self.weights, sparse.csr_array((len(self), missing))]))

    def __add__(self, other: Forms) -> Forms:
        units = max(cast(tuple[int, int], forms.weights.shape)[1] for forms in (self, other))
        return Forms(self.over(units) + other.over(units), self.constants + other.constants)

    def __rmul__(self, factor: float) -> Forms:
        return Forms(self.weights * factor, self.constants * factor)


class Layer:
    """A hidden layer under construction, on top of `below` units."""

    def __init__(self, below: int):
        self.below, self.units, self.parts = below, 0, []

    def relu(self, forms: Forms) -> Forms:
        """Adds a unit for each form; its value as a form over this layer."""
        self.parts.append(forms)
        self.units += len(forms)
        return last_units(len(forms), self.units)

    def kernel(self) -> tuple[np.ndarray, np.ndarray]:
        weights = sparse.vstack([part.over(self.below) for part in self.parts])
        return weights.T.toarray(), np.concatenate([part.constants for part in self.parts])


def last_units(forms: int, units: int) -> Forms:
    """The last `forms` of `units` units."""
    return Forms(sparse.csr_array(sparse.eye_array(forms, units, k=units - forms)), np.zeros(forms))
