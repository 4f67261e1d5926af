"""Sizes beyond training: texts of some sizes are trained on, larger ones are asked about, each size by itself.

The size of a text is how many words it has, "4", or how many stand on each side of "*", "3x2"; that of a puzzle is how
many houses and attributes it has, "3x2". A share of the trained sizes is held out, too ("in-domain"): a net that fails
there has not learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import UserError, require_int, unknown
from ..spaces import Space
from .designs import supports
from .drawn_sides import seeded
from .support import Support, from_ranks
from .texts import Among, keep_words_trained, require_words_trained

BETWEEN, PUZZLE, COLON = "*", "houses", ":"
IN_DOMAIN = "in-domain"


@supports.register("sizes")
def sizes(space: Space, *, trained: Sequence[str] = (), in_domain: float = 0.1, seed: int = 0) -> Support:
    """Texts of the sizes named are trained on; those of all others are held out, each size as a group.

    Args:
        space: a list of texts of several sizes.
        trained: sizes such as "4" or "3x2"; the smaller half of those that the list has by default.
        in_domain: share of each trained size that is held out.
        seed: of which those are.

    Example:
        >>> split = rc.supports.sizes(rc.tasks.DynamicProgram.default_space(), trained=("1", "2", "3"))
        >>> [(name, split.group(name).size) for name in ("in-domain", "larger", "4", "6")]
        [('in-domain', 146), ('larger', 300), ('4', 100), ('6', 100)]
    """
    size = np.array(text_sizes(space))
    there = sorted(set(size.tolist()), key=size_order)
    if len(there) < 2:
        raise UserError(f"every text of {space} has the size {there[0]}; the design 'sizes' needs texts of several")
    for one in trained:
        if one not in there:
            raise unknown(f"size of the texts of {space}", one, there)
    chosen = list(trained) or there[: (len(there) + 1) // 2]
    if isinstance(in_domain, bool) or not isinstance(in_domain, (int, float)) or not 0 <= in_domain < 1:
        raise UserError(f"in_domain={in_domain!r} is no share of the trained sizes; 0.1 would do")
    inside, moved = np.isin(size, chosen), np.zeros(space.size, bool)
    if inside.all():
        raise UserError(f"trained={chosen} are all sizes of the list and leave none to ask about; {there[:1]} would do")
    rng = seeded("support-sizes", require_int("seed", seed, at_least=0))
    for one in chosen:
        ranks = rng.permutation(np.flatnonzero(size == one))
        moved[ranks[: int(len(ranks) * in_domain)]] = True
    kept = keep_words_trained(space, inside & ~moved, moved)
    moved &= ~kept
    train, held_out = np.flatnonzero(kept), np.flatnonzero(moved | ~inside)
    require_words_trained(space, train, held_out, f"trained={chosen}")
    named = {IN_DOMAIN: Among(inside), "larger": Among(~inside)}
    named |= {one: Among((size == one) & ~inside) for one in there if one not in chosen}
    settings = {"trained": chosen, "in_domain": in_domain, "seed": seed}
    return replace(from_ranks(space, train, held_out, "sizes", settings=settings, named=named), asks="held_out/larger")


def text_sizes(space: Space) -> list[str]:
    """The size of each text of a list, in order of rank."""
    if space.columns or not space.ordered or space.free:
        raise UserError(f"the design 'sizes' needs a list of texts, as dynamic-program-v1 has one; got {space}")
    table, names = space.elements(space.enumerate()), space.element_names
    if PUZZLE in names:
        return _of_puzzles(table, names.index(PUZZLE), names.index(COLON))
    if BETWEEN not in names:
        return [str(number) for number in (table >= 0).sum(1).tolist()]
    sign, found = names.index(BETWEEN), []
    for row in table.tolist():
        parts = [0]
        for word in row:
            if word == sign:
                parts.append(0)
            elif word >= 0:
                parts[-1] += 1
        found.append("x".join(map(str, parts)))
    return found


def _of_puzzles(table: np.ndarray, start: int, colon: int) -> list[str]:
    """ "houses 1 2 : ..." has as many houses as words before the first colon, and an attribute between two."""
    colons = table == colon
    if not ((table[:, 0] == start) & (colons.sum(1) >= 2)).all():
        raise UserError("a text of the list is no puzzle; the design 'sizes' needs puzzles as einstein-v1 has them")
    return [f"{houses}x{parts}" for houses, parts in zip(colons.argmax(1) - 1, colons.sum(1) - 1, strict=True)]


def size_order(size: str) -> tuple:
    """By which sizes are in order, the smallest first."""
    parts = tuple(map(int, size.split("x")))
    return sum(parts), parts[::-1]  # 3x1 before 2x2
