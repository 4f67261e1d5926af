"""The computation graphs of two algorithms: multiplication by hand, and a dynamic program (Dziri et al. 2023).

In scratchpads every step is written, whether there is a carry or not, so that a size has one graph. `by_hand` is the
graph as a person would draw it, with a carry only where there is one; depth, width and parallelism are those of it.
"""

from __future__ import annotations

import functools

from .computation_graph import Builder, Graph


@functools.cache
def multiplication_graph(first: int, second: int) -> Graph:
    """Digits from the last one on; for each digit of the second number there is a row of products, then columns.

        row       product x_i y_j, with what is carried, its last digit, what it carries
        column    the sum of what stands in it and is carried, its last digit, what it carries

    Args:
        first: digits of the first number.
        second: digits of the second.
    """
    build = Builder([*(f"x{i}" for i in range(first)), *(f"y{j}" for j in range(second))])
    columns: list[list[int]] = [[] for _ in range(first + second)]
    for j in range(second):
        carried: int | None = None
        for i in range(first):
            total = build.add(f"x{i}*y{j}", "product", i, first + j)
            if carried is not None:
                total = build.add(f"x{i}*y{j}+", "sum", total, carried)
            columns[i + j].append(build.add(f"x{i}*y{j} digit", "residue", total))
            carried = build.add(f"x{i}*y{j} carry", "carry", total)
        columns[first + j].append(carried if carried is not None else 0)
    carried = None
    for place, column in enumerate(columns):
        total = build.add(f"column {place}", "sum", *column, *(() if carried is None else (carried,)))
        build.add(f"digit {place}", "residue", total)
        carried = build.add(f"column {place} carry", "carry", total)
    return build.graph()


@functools.cache
def program_graph(numbers: int) -> Graph:
    """No two neighbours of a list are taken, and the sum is as large as can be.

        from the right    with_i = a_i + best_{i+2};  best_i = max(best_{i+1}, with_i, 0)
        from the left     same_i = (best_i = with_i);  take_i = same_i and not take_{i-1};  out_i = 1 if taken, else 2

    Args:
        numbers: of the list.
    """
    build = Builder([f"a{i}" for i in range(numbers)])
    best: dict[int, int] = {}
    with_it: dict[int, int] = {}
    for i in reversed(range(numbers)):
        later = (best[i + 2],) if i + 2 in best else ()
        with_it[i] = build.add(f"with {i}", "sum", i, *later)
        best[i] = build.add(f"best {i}", "largest", with_it[i], *((best[i + 1],) if i + 1 in best else ()))
    taken: tuple[int, ...] = ()
    for i in range(numbers):
        same = build.add(f"same {i}", "equal", best[i], with_it[i])
        taken = (build.add(f"take {i}", "if not before", same, *taken),)
    for i in range(numbers):
        build.add(f"out {i}", "name", build_place(numbers, i))
    return build.graph()


def build_place(numbers: int, place: int) -> int:
    """The node that says whether number `place` of a list is taken: inputs and four nodes each come before."""
    return numbers + 2 * numbers + 2 * place + 1


def by_hand(first: int, second: int) -> Graph:
    """The multiplication of two numbers as it would be drawn: a carry only where there is one.

    Nodes: digits; products; with what is carried; last digit and carry of what has two; the row so far, digit by digit;
    the row shifted; the sum of the rows.

    Args:
        first: a number.
        second: likewise.

    Example:
        >>> from recombine.tasks.sequences.algorithms import by_hand
        >>> graph = by_hand(12, 34)
        >>> len(graph.names), graph.depth
        (15, 6)
    """
    upper, lower = ([int(digit) for digit in reversed(str(number))] for number in (first, second))
    build = Builder([*(f"x{i}" for i in range(len(upper))), *(f"y{j}" for j in range(len(lower)))])
    rows = []
    for j, below in enumerate(lower):
        carried, carry, row = None, 0, None
        for i, above in enumerate(upper):
            value, node = above * below + carry, build.add(f"x{i}*y{j}", "product", i, len(upper) + j)
            if carried is not None:
                node = build.add(f"x{i}*y{j}+", "sum", node, carried)
            carried, carry = None, 0
            if value >= 10 and i < len(upper) - 1:
                carried, carry = build.add(f"x{i}*y{j} carry", "carry", node), value // 10
                node = build.add(f"x{i}*y{j} digit", "residue", node)
            row = build.add(f"row {j} to {i}", "sum", node, *(() if row is None else (row,)))
        rows.append(build.add(f"row {j} shifted", "sum", row if row is not None else 0))
    build.add("result", "sum", *rows)
    return build.graph()
