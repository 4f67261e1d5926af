"""Names of layers in the order in which a net computes them."""

from __future__ import annotations

from collections.abc import Iterable


def layers_in_order(names: Iterable[str]) -> list[str]:
    """Names of layers, first to last: the input, then by number and not by text, pre before post; the output."""

    def place(name: str) -> tuple[int, int, bool, str]:
        number = "".join(filter(str.isdigit, name))
        part = 0 if name == "input" else 3 if name == "output" else 1 if number else 2
        return part, int(number or 0), not name.endswith("/pre"), name

    return sorted(set(names), key=place)
