"""The probe contract: a trained net -> readings, as tidy rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..notebook import table_html
from ..registry import Registry
from ..statistics.intervals import Interval, over_seeds

if TYPE_CHECKING:
    import pandas

#: what a probe reads beside the trained net, so that its numbers mean something; the metric is METRIC_CONTROL
CONTROLS = {
    #: of constituents from a layer: the same fit to shuffled labels, a net before training, the code without a net
    "decoding": ("shuffled", "untrained", "encoding"),
    #: how a layer lies over a grid of combinations: a net before training, the code without a net
    "layers": ("untrained", "encoding"),
    #: what a net draws: a net before training, the true drawing, the mean of trained drawings that share a factor
    "drawings": ("untrained", "truth", "template"),
}


@dataclass(frozen=True)
class Readings:
    """What a probe read, as tidy rows of (seed, layer, factor, metric, value).

    Args:
        probe: the name of the probe.
        rows: one dictionary per reading.
        headline: the metric that is printed first.
        kind: says which controls come along; see `CONTROLS`.

    Example:
        >>> rows = [{"seed": s, "layer": "output", "factor": "mean", "metric": "r2", "value": 0.5 + s} for s in (0, 1)]
        >>> rc.probes.Readings("mine", rows, headline="r2").value().mean
        1.0
    """

    probe: str
    rows: list[dict[str, Any]]
    headline: str
    kind: str = "decoding"

    @property
    def table(self) -> pandas.DataFrame:
        import pandas  # only here: it takes half a second to import

        return pandas.DataFrame(self.rows)

    @property
    def layers(self) -> list[str]:
        """Layers that were read, in the order in which they were asked for."""
        return list(dict.fromkeys(row["layer"] for row in self.rows))

    def value(self, metric: str | None = None, factor: str = "mean", layer: str | None = None) -> Interval:
        """One reading over seeds; of the last layer that was read, if no other is named. Undefined if one seed's is."""
        metric = metric or self.headline
        layer = layer or (self.layers[-1] if self.rows else None)
        chosen = [
            row["value"]
            for row in self.rows
            if row["metric"] == metric and row["factor"] == factor and row["layer"] == layer
        ]
        return over_seeds([] if any(value != value for value in chosen) else chosen)

    def __str__(self) -> str:
        metrics = list(dict.fromkeys(row["metric"] for row in self.rows if row["factor"] == "mean"))
        lines = [
            f"{self.probe} of {layer}: "
            + ", ".join(f"{metric} {self.value(metric, layer=layer)}" for metric in metrics)
            for layer in self.layers
        ]
        return "\n".join(lines) or f"{self.probe}: no readings"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        metrics = list(dict.fromkeys(row["metric"] for row in self.rows if row["factor"] == "mean"))
        rows = [(layer, *(self.value(metric, layer=layer) for metric in metrics)) for layer in self.layers]
        return table_html(f"Readings: {self.probe}", rows, ("layer", *metrics))


probes: Registry[Callable[..., Readings]] = Registry("probe", plugins="recombine.probes")
