"""Worlds in which each claim of embers holds, and in which it fails. Everywhere nets have learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

At = dict[str, Any]
Rows = list[dict[str, Any]]
LAW = np.linspace(0.01, 0.07, 25)  # of either law, rarest shift first
#: by level (high, medium, low), where nothing else is said
FLAT = (0.0, 0.0, 0.0)


def row(reading: str, metric: str, value: float, group: str = "", stream: str = "held_out") -> dict[str, Any]:
    shared = {"reading": reading, "stream": stream, "group": group, "layer": "", "metric": metric, "step": 1}
    return shared | {"value": value, "asked": reading == "score" and stream == "held_out" and not group}


def answers(
    slope: float = 0.0,
    decode: Sequence[float] = FLAT,
    encode: Sequence[float] = FLAT,
    output: tuple[float, float] = (1.0, 0.8),
    question: float = 0.2,
) -> Callable[[At], Rows]:
    """Readings of a net: exact match rises by `slope` from the rarest shift to the commonest, and with the level.

    output: the weight of the answer's log-probability, and the lower end of its interval; question: the other weight.
    """

    def rows(at: At) -> Rows:
        found = [row("score", "exact", 0.8, stream="test"), row("score", "exact", 0.5)]
        for direction, levels in (("decode", decode), ("encode", encode)):
            for shift in range(1, 26):
                # a wave beside the slope, or equal accuracies would have no order
                usual = 0.4 + slope * (shift - 13) / 25 + 0.02 * np.sin(7.0 * shift)
                for level, more in zip(("high", "medium", "low"), levels, strict=True):
                    found.append(row("score", "exact", float(usual + more), f"{direction}-{shift} {level}"))
        for name, value, low in (("output", *output), ("input", question, 0.0), ("frequency", 1.0, 0.9)):
            found += [row("fit", name, v, end) for end, v in (("value", value), ("low", low), ("high", value + 0.2))]
        for law in ("zipf", "web"):
            found += [row("law", law, float(share), str(place + 1), "train") for place, share in enumerate(LAW)]
        return found

    return rows


PLANTED: dict[str, dict[str, tuple]] = {
    "embers": {
        "frequency": (answers(slope=0.6), answers(slope=0.0)),
        "uniform": (answers(slope=0.0), answers(slope=0.6)),
        "decode-gap": (answers(decode=(0.3, 0.1, 0.0)), answers(decode=(0.1, 0.05, 0.0))),
        "encode-gap": (answers(encode=(0.03, 0.0, 0.0)), answers(encode=(0.3, 0.1, 0.0))),
        "output-over-input": (answers(), answers(question=1.6)),
        "output-effect": (answers(), answers(output=(0.1, -0.1))),
    }
}
