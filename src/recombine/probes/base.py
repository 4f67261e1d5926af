"""The probe contract: a trained net -> readings, as tidy rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..intervals import Interval, over_seeds
from ..registry import Registry

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Readings:
    """Rows of (seed, layer, factor, metric, value); `headline` is the metric that is printed first."""

    probe: str
    rows: list[dict[str, Any]]
    headline: str

    @property
    def table(self) -> pandas.DataFrame:
        import pandas  # only here: it takes half a second to import

        return pandas.DataFrame(self.rows)

    @property
    def layers(self) -> list[str]:
        """Layers that were read, in the order in which they were asked for."""
        return list(dict.fromkeys(row["layer"] for row in self.rows))

    def value(self, metric: str | None = None, factor: str = "mean", layer: str | None = None) -> Interval:
        """One reading over seeds; of the last layer that was read, if no other is named."""
        metric = metric or self.headline
        layer = layer or (self.layers[-1] if self.rows else None)
        chosen = [
            row["value"]
            for row in self.rows
            if row["metric"] == metric and row["factor"] == factor and row["layer"] == layer
        ]
        return over_seeds(chosen)

    def __str__(self) -> str:
        metrics = list(dict.fromkeys(row["metric"] for row in self.rows if row["factor"] == "mean"))
        lines = [
            f"{self.probe} of {layer}: "
            + ", ".join(f"{metric} {self.value(metric, layer=layer)}" for metric in metrics)
            for layer in self.layers
        ]
        return "\n".join(lines) or f"{self.probe}: no readings"

    __repr__ = __str__


probes: Registry[Callable[..., Readings]] = Registry("probe")
