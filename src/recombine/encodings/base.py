"""The encoding contract: how what makes up a combination is shown to a net.

An encoding is a pytree with `size` (numbers in the code) and a call that gives the code (..., size). Chance (a matrix,
a permutation) is drawn once, when the encoding is made. There are two kinds, by what they show:

    constituents   (..., M): a weight for each module or level, zero where it is not active
    coordinates    (..., F): a place along each factor of a product, whose levels are ordered
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx

from ..registry import Registry


class Encoding(eqx.Module):
    """The base of all encodings: how what makes up a combination is shown to a net.

    Args:
        size: numbers in the code.
        vocabulary: if the code is a sequence of word numbers (int32), how many words there are; a net embeds them.

    Example:
        >>> task.encoding.size, task.encoding.shows, task.encoding.linear
        (4, 'constituents', True)
    """

    shows: ClassVar[str]  # "constituents" or "coordinates"
    linear: ClassVar[bool]  # affine in what it shows
    injective: ClassVar[bool]
    size: int = eqx.field(static=True)
    #: if the code is a sequence of word numbers (int32), how many words there are; a net embeds them
    vocabulary: int | None = eqx.field(static=True, default=None, kw_only=True)

    @property
    def words(self) -> dict[str, int]:
        """What a task with this code says of its words."""
        return {} if self.vocabulary is None else {"code": self.vocabulary}


#: made as `cls(constituents, key, example_size=)` or as `cls(levels)`, by what they show
encodings: Registry[Callable[..., Any]] = Registry("encoding")


def showing(what: str) -> list[str]:
    """Names of the encodings that show constituents, or coordinates.

    Args:
        what: "constituents" (weights of modules) or "coordinates" (places along factors).

    Example:
        >>> "orthogonal" in rc.encodings.showing("constituents"), "bump" in rc.encodings.showing("coordinates")
        (True, True)
    """
    return [name for name, made in encodings.items() if made.shows == what]  # type: ignore[attr-defined]
