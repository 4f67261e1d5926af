"""A table of readings that knows its study's metric: what claims read and charts draw.

One row per reading, with the place of its trial on each axis beside it: `table.width`, `table.support`. It behaves as
the pandas table inside it (`frame`), and adds the readings that most claims are made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..charts.layer_order import layers_in_order

Frame = Any  # a pandas.DataFrame, whose own types are too loose to check against
LEARNED = 0.5  # score on trained combinations below which a small gap means nothing: there is nothing to lose
RESOLUTION = 0.01  # two scores on 1,024 tasks each that differ by less are the same


class PreconditionFailed(Exception):
    """The precondition of a claim does not hold for a seed; the text says which."""


class StudyTable:
    """Readings of some trials, of one seed or of all."""

    def __init__(self, frame: Frame, metric: str):
        self.frame, self.metric = frame, metric

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.frame, name)

    def __getitem__(self, key: Any) -> Any:
        found = self.frame[key]
        return StudyTable(found, self.metric) if type(found) is type(self.frame) else found

    def __len__(self) -> int:
        return len(self.frame)

    def where(self, **at: Any) -> StudyTable:
        """The readings at some places of axes; a list names several."""
        frame = self.frame
        for axis, value in at.items():
            if axis not in frame:
                return StudyTable(frame.iloc[:0], self.metric)
            frame = frame[frame[axis].isin(value) if isinstance(value, (list, tuple, set)) else frame[axis] == value]
        return StudyTable(frame, self.metric)

    def by(self, *axes: str) -> Iterator[tuple[Any, StudyTable]]:
        """(value, its readings) for each value on an axis; of several axes a tuple of values."""
        if not len(self.frame):
            return
        for value, part in self.frame.groupby(list(axes)):
            yield value if len(axes) > 1 else value[0], StudyTable(part, self.metric)

    def seeds(self) -> Iterator[tuple[int, StudyTable]]:
        for seed, part in self.by("seed"):
            yield int(seed), part

    # -- final scores -----------------------------------------------------------------------------------------------
    def scores(self, stream: str = "held_out", group: str | None = None, metric: str | None = None) -> Frame:
        """Final scores, one row per trial. group=None: what the score of a stream is about."""
        frame = self.frame
        if not len(frame) or "reading" not in frame:
            return frame
        scored = (frame.reading == "score") & (frame.metric == (metric or self.metric)) & (frame.stream == stream)
        part = frame[scored]
        if group is not None:
            return part[part.group == group]
        if stream == "held_out" and "asked" in part:
            return part[part.asked.fillna(False).astype(bool)]
        return part[part.group == ""]

    def score(
        self, stream: str = "held_out", *, group: str | None = None, metric: str | None = None, **at: Any
    ) -> float:
        """The one final score of a trial; PreconditionFailed if it is not there."""
        return single_value(self.where(**at).scores(stream, group, metric), in_words(at))

    def trained(self, **at: Any) -> float:
        """The score of a trial on fresh tasks of trained combinations."""
        return self.score("test", **at)

    def held_out(self, **at: Any) -> float:
        """The score of a trial on held-out combinations: those that its split is about."""
        return self.score("held_out", **at)

    def learned(self, least: float = LEARNED, **at: Any) -> float:
        """The score on trained combinations; PreconditionFailed below `least`."""
        value = self.trained(**at)
        if value < least:
            raise PreconditionFailed(
                f"{in_words(at)} was not learned: {value:.2f} on trained combinations, below {least:g}"
            )
        return value

    def gap(self, *, group: str | None = None, **at: Any) -> float:
        """Score on trained minus on held-out combinations, of a trial that has learned."""
        return self.learned(**at) - self.score("held_out", group=group, **at)

    # -- scores of many trials --------------------------------------------------------------------------------------
    def above_floor(self) -> Frame:
        """Held-out scores, less the wrong-code baseline where there is one; one row per trial."""
        part, blind = self.scores(), self.scores("blind", "")
        if not len(blind):
            return part
        return part.assign(value=part.value.to_numpy() - blind.set_index("cell").value.reindex(part.cell).to_numpy())

    def composition(self) -> Frame:
        """Held-out scores as far as they come from composing: above zero, and above the wrong-code baseline.

        One row per trial; PreconditionFailed if a trial has no score because its net diverged.
        """
        part = self.scores()
        if "cell" in self.frame and (lost := self.frame.cell.nunique() - part.cell.nunique()):
            raise PreconditionFailed(f"{lost} of {self.frame.cell.nunique()} nets have no score: they diverged")
        return self.above_floor().assign(value=lambda scores: np.maximum(scores.value, 0.0))

    # -- probes -----------------------------------------------------------------------------------------------------
    def decoded(self, metric: str = "r2") -> Frame:
        """Decodability by layer, mean over constituents."""
        return self.frame[(self.frame.reading == "decodability") & (self.frame.metric == metric)]

    def probed(self, probe: str, metric: str, layer: str | None = None, group: str = "") -> Frame:
        """Rows of a probe."""
        frame = self.frame
        found = frame[(frame.reading == probe) & (frame.metric == metric) & (frame.group == group)]
        return found if layer is None else found[found.layer == layer]

    def hidden_layers(self, probe: str, metric: str) -> list[tuple[str, float]]:
        """(layer, value) of the hidden layers, first to last; PreconditionFailed if the probe found none."""
        found = self.probed(probe, metric)
        values = dict(zip(found.layer, found.value, strict=True))
        names = [name for name in layers_in_order(values) if name.endswith("/post")]
        if not names:
            raise PreconditionFailed(f"{probe} has no readings of hidden layers")
        return [(name, float(values[name])) for name in names]


def single_value(part: Frame, what: str) -> float:
    """The single value of a part of a table; PreconditionFailed if it is not there."""
    if len(part) != 1:
        raise PreconditionFailed(
            f"{what} has no score (not run, failed, diverged or impossible)" if not len(part) else f"{what} twice"
        )
    return float(part.value.iloc[0])


def mean_of(values: Iterable[float], otherwise: str) -> float:
    """The mean of some values; PreconditionFailed with these words if there are none."""
    known = list(values)
    if not known:
        raise PreconditionFailed(otherwise)
    return float(np.mean(known))


def in_words(at: dict[str, Any]) -> str:
    """A place on axes in a few words: names as they are, numbers with their axis."""
    words = [value if isinstance(value, str) else f"{axis}={value}" for axis, value in at.items()]
    return ", ".join(map(str, words)) or "the trial"
