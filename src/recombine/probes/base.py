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

    def value(self, metric: str | None = None, factor: str = "mean", layer: str | None = None) -> Interval:
        """One reading over seeds."""
        metric = metric or self.headline
        chosen = [
            row["value"]
            for row in self.rows
            if row["metric"] == metric and row["factor"] == factor and layer in (None, row["layer"])
        ]
        return over_seeds(chosen)

    def __str__(self) -> str:
        layer = self.rows[0]["layer"] if self.rows else "?"
        metrics = dict.fromkeys(row["metric"] for row in self.rows if row["factor"] == "mean")
        return f"{self.probe} of {layer}: " + ", ".join(f"{metric} {self.value(metric)}" for metric in metrics)

    __repr__ = __str__


probes: Registry[Callable[..., Readings]] = Registry("probe")
