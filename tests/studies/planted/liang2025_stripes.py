"""Worlds in which each claim of `stripes` holds, and in which it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

At = dict[str, Any]
Number = Callable[[At], float]


def drawn(error: Number = lambda at: 1.0, localized: Number = lambda at: 0.5) -> Callable[[At], list[dict[str, Any]]]:
    """Held-out error and share in place by cell."""

    def rows(at: At) -> list[dict[str, Any]]:
        shared = {"reading": "score", "group": "", "layer": "", "step": 1}
        values = {"error": error(at), "localized": localized(at)}
        unseen = [shared | {"stream": "held_out", "asked": True, "metric": m, "value": v} for m, v in values.items()]
        return [shared | {"stream": "test", "asked": False, "metric": "error", "value": 0.01}, *unseen]

    return rows


def with_stripes(all_of_them: float, fewer: float) -> Number:
    return lambda at: all_of_them if at["stripes"] == 24 else fewer


def masked(yes: float, no: float) -> Number:
    return lambda at: yes if at["variant"] == "masked" else no


def with_bumps(ten: float, others: float) -> Number:
    return lambda at: ten if at["bumps"] == 10 else others


def of_net(name: str, those: float, others: float) -> Number:
    return lambda at: those if at["net"] == name else others


def one_net_only(net: str, number: Number, otherwise: Number) -> Number:
    return lambda at: number(at) if at["net"] == net else otherwise(at)


PLANTED = {
    "stripes": {
        **{
            f"stripes-cure-{net}": (drawn(error=of_net(net, 0.05, 1.0)), drawn(error=of_net(net, 0.3, 0.01)))
            for net in ("mlp", "cnn-decoder")
        },
        **{
            f"stripes-lower-the-error-of-{net}": (
                drawn(error=one_net_only(net, with_stripes(0.2, 1.0), with_stripes(3.0, 1.0))),
                drawn(error=one_net_only(net, with_stripes(0.8, 1.0), with_stripes(0.01, 1.0))),
            )
            for net in ("mlp", "cnn-decoder")
        },
        # one net of two is not enough
        "stripes-teach-where": (
            drawn(localized=with_stripes(0.9, 0.1)),
            drawn(localized=one_net_only("mlp", with_stripes(0.3, 0.1), with_stripes(0.9, 0.1))),
        ),
        "ink-is-needed": (
            drawn(localized=masked(0.2, 0.9)),
            drawn(localized=one_net_only("mlp", masked(0.8, 0.9), masked(0.2, 0.9))),
        ),
        "few-bumps-suffice": (drawn(error=with_bumps(0.05, 0.5)), drawn(error=with_bumps(0.3, 0.01))),
        "few-bumps-place": (drawn(localized=with_bumps(0.8, 0.2)), drawn(localized=with_bumps(0.3, 0.9))),
    }
}
