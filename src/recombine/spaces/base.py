"""Spaces: what can be combined. Count, rank and sample; never enumerate what can be counted.

A *combination* is a row of small integers. In `Subsets` it lists the active modules in rising order, padded with
-1; in `Product` it gives one level per factor; in `Listed` it is the number of a row of a list. All are views of one
idea, the *elements* (modules, factor-level pairs, words): `elements(rows)` says which elements a combination is made
of, and everything that needs no more than that (co-occurrence, usage, coverage) is written once.

Code outside this package asks a space for its *abilities* (`columns`, `sizes`, `ordered`, `free`, ...), never for its
class, so that a space of another kind can be used wherever it has what is needed.

Ranks are exact. They are int64 arrays while the size fits and arrays of Python ints beyond.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError, require_int, unknown
from ..registry import Registry

ENUMERATION_LIMIT = 10_000_000
LISTED_UP_TO = 5_000_000  # larger spaces are split by a rule and never listed as a whole
FITS_INT64 = 2**62  # sizes below have ranks of 64 bits
MOST_ELEMENTS = 100_000  # modules, or levels of one factor: each has a name

_USE = "use Subsets, Product or Listed"


class Space:
    """A finite set of combinations. Use `Subsets`, `Product` or `Listed`.

    Example:
        >>> isinstance(rc.Product(color=2, shape=3), rc.Space)
        True
    """

    size: int  # exact
    width: int  # columns of a combination
    element_names: tuple[str, ...]
    #: elements of one kind: modules are one class, each factor's levels are another
    classes: tuple[tuple[int, ...], ...]

    # -- abilities: what code asks for instead of a class ---------------------------------------------------------
    #: possible numbers of elements of a combination, rising; an element that stands in it twice counts twice
    sizes: Sequence[int]
    #: elements stand in places of their own, as in columns or sequences; otherwise a combination is a set
    ordered: bool = False
    #: every choice of elements of a possible size is a combination, one of each factor where there are columns; what
    #: exchanges elements, or makes combinations from them, needs this (`require_free`)
    free: bool = False

    @property
    def columns(self) -> dict[str, tuple[Any, ...]]:
        """Factor -> its levels, one column of a row each; empty where a combination is not one level per factor."""
        return {}

    @property
    def levels(self) -> tuple[int, ...]:
        """The number of levels of each column."""
        return tuple(len(levels) for levels in self.columns.values())

    @property
    def fixed_size(self) -> bool:
        """Whether all combinations have the same number of elements."""
        return len(self.sizes) == 1

    @property
    def occurs(self) -> np.ndarray:
        """(elements,) whether some combination has the element. Only a list may name more than it uses."""
        return np.ones(len(self.element_names), bool)

    @property
    def dimensions(self) -> dict[str, int]:
        """Numbers that make a space of this class, by the name of its argument; empty where numbers cannot."""
        return {}

    def element_sets(self, rows: np.ndarray) -> np.ndarray:
        """Element ids of each combination as a set: rising, each once, -1 at the end. On the host."""
        return self.elements(rows)

    # -- what a space must define ---------------------------------------------------------------------------
    def rank(self, rows: Any) -> np.ndarray:
        """Position of each combination in the order of `enumerate`."""
        raise TypeError(_USE)

    def unrank(self, ranks: Any) -> np.ndarray:
        """The combinations at these positions."""
        raise TypeError(_USE)

    def elements(self, rows: Any) -> Any:
        """Element ids of each combination, -1 where there is none. numpy in, numpy out; jax in, jax out."""
        raise TypeError(_USE)

    def contains(self, rows: Any) -> np.ndarray:
        """Whether each row is a combination of this space."""
        raise TypeError(_USE)

    def sample(self, key: Any, n: int) -> np.ndarray:
        """`n` combinations, uniform and with replacement, made on the host."""
        raise TypeError(_USE)

    def draw(self, key: jax.Array, n: int) -> jax.Array:
        """`n` combinations, uniform and with replacement, made on the device (inside a compiled step)."""
        raise TypeError(_USE)

    def replace(self, rows: np.ndarray, old: int, new: int) -> np.ndarray:
        """The same combinations with element `old` exchanged for `new` (of the same class)."""
        raise TypeError(_USE)

    def to_json(self) -> dict:
        """What makes this space, as data."""
        raise TypeError(_USE)

    @classmethod
    def from_json(cls, spec: dict) -> Space:
        """The space that `to_json` described."""
        raise TypeError(_USE)

    def possible_tuples(self, strength: int) -> int:
        """How many sets of `strength` elements some combination contains."""
        raise TypeError(_USE)

    # -- what follows from it ---------------------------------------------------------------------------------
    @property
    def dtype(self) -> type:
        """The smallest integer type that holds what stands in a row."""
        return np.int16 if len(self.element_names) < 2**15 else np.int32

    @cached_property
    def identity(self) -> Hashable:
        """What is compared and hashed, at every call of a compiled function that a space is a static part of."""
        return repr(self.to_json())

    def enumerate(self, limit: int = ENUMERATION_LIMIT) -> np.ndarray:
        """All combinations in order of rank; refused, saying the size, above `limit`."""
        if self.size > limit:
            raise UserError(
                f"{self} has {self.size:,} combinations, more than the limit of {limit:,} for listing them; "
                "use sample() or unrank(), or pass a higher limit"
            )
        return self.unrank(np.arange(self.size, dtype=np.int64))

    def check(self, rows: Any) -> np.ndarray:
        """`rows` as an array of combinations, or an error that names the first row that is none."""
        wanted = f"combinations of {self} are integer rows of {self.width} columns"
        try:
            rows = np.asarray(rows)
        except ValueError:
            raise UserError(f"{wanted}, got rows of unlike length") from None
        if not are_rows(rows, self.width):
            raise UserError(f"{wanted}, got {rows.dtype} of {rows.shape}")
        inside = self.contains(rows)
        if not inside.all():
            raise UserError(f"{rows[~inside][0].tolist()} is not a combination of {self}")
        return rows

    def multihot(self, rows: Any) -> Any:
        """(n, elements) array of zeros and ones. numpy in, numpy out; jax in, jax out."""
        xp = jnp if isinstance(rows, jax.Array) else np
        ids = self.elements(rows)
        # (n, width, 1) == (elements,) -> any over width; -1 matches nothing
        return (ids[..., None] == xp.arange(len(self.element_names))).any(-2)

    def element_id(self, element: Any) -> int:
        """The id of an element given by id, by name ("m3", "color=red") or, in a Product, as (factor, level)."""
        if isinstance(element, tuple) and len(element) == 2:
            element = f"{element[0]}={element[1]}"
        if isinstance(element, str):
            if element not in self.element_names:
                raise unknown("element", element, self.element_names)
            return self.element_names.index(element)
        return require_int("element", element, at_least=0, at_most=len(self.element_names) - 1)

    def describe(self, row: Any) -> str:
        """A combination in words."""
        ids = self.elements(np.asarray(row)[None])[0]
        return "{" + ", ".join(self.element_names[i] for i in ids if i >= 0) + "}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)


#: kinds of spaces by the name that `to_json` gives them
kinds: Registry[type[Space]] = Registry("kind of space")


def space_from_json(spec: dict) -> Space:
    """The space that `to_json` described."""
    return kinds[spec.get("kind")].from_json(spec)  # type: ignore[index]


def require_free(space: Space, what: str) -> None:
    """Refuses a space whose combinations are given one by one, for what has to make combinations from elements."""
    if not space.free:
        raise UserError(
            f"{what} needs a space in which elements combine freely, such as a Product or Subsets; {space} is a list, "
            "which the designs random, implicit and from_combinations can split"
        )


def are_rows(rows: np.ndarray, width: int) -> bool:
    """Whether this is an array of integer rows of that many columns."""
    return rows.ndim == 2 and rows.shape[1] == width and np.issubdtype(rows.dtype, np.integer)


def as_ranks(ranks: Any, space: Space) -> np.ndarray:
    """Exact ranks inside the space: int64 where they fit, else Python ints."""
    found = np.asarray(ranks)
    if not np.issubdtype(found.dtype, np.integer):  # Python ints beyond 64 bits, an empty list, or no whole numbers
        found = np.array(
            [require_int("rank", rank) for rank in np.ravel(np.asarray(ranks, dtype=object))], dtype=object
        )
    outside = (found < 0) | (found >= space.size)
    if outside.any():
        raise UserError(f"rank {found[outside][0]} is outside {space}, whose ranks are 0 to {space.size - 1:,}")
    return found.astype(np.int64 if space.size < FITS_INT64 else object)
