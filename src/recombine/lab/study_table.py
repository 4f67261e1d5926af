"""A table of readings that knows its study's metric: what claims read and charts draw.

One row per reading, with the place of its trial on each axis beside it: `table.width`, `table.support`. It behaves as
the pandas table inside it (`frame`), and adds the readings that most claims are made of.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..charts.layer_order import layers_in_order
from .plain_rows import PlainRows

T = TypeVar("T")
Frame = Any  # a pandas.DataFrame, whose own types are too loose to check against
LEARNED = 0.5  # score on trained combinations below which a small gap means nothing: there is nothing to lose
NEARLY_PERFECT = 0.9  # score on trained combinations of a net that has learned, whatever the wrong-code baseline gets
LEAST_ROOM = 0.25  # between the wrong-code baseline and a perfect net: what lies closer together is not stretched
RESOLUTION = 0.01  # two scores on 1,024 tasks each that differ by less are the same


class PreconditionFailed(Exception):
    """The precondition of a claim does not hold for a seed; the text says which. It is counted, as a finding.

    Example:
        >>> from recombine.lab.study_table import PreconditionFailed
        >>> raise PreconditionFailed("the coin was lost")
        Traceback (most recent call last):
        recombine.lab.study_table.PreconditionFailed: the coin was lost
    """


class Missing(PreconditionFailed):
    """What a claim reads is not there: a trial was not run, or gave no record. Seeds from this one on wait."""


@dataclass(frozen=True)
class Censored:
    """A reading of which only an interval is known, such as a size that was never enough.

    Args:
        low: the reading is at least this,
        high: and at most this.
    """

    low: float = -math.inf
    high: float = math.inf


class StudyTable:
    """Readings of some trials, of one seed or of all.

    A part of a table is cut out of the frame when the frame is asked for: cutting takes a millisecond, and claims ask
    for the scores of every seed. These are read from plain rows.

    Args:
        frame: a pandas data frame of readings, with the place of its trial on each axis beside each.
        metric: what scores are about.
        plain: the same as plain rows, where they are there.

    Example:
        >>> import pandas
        >>> from recombine.lab.study_table import StudyTable
        >>> table = StudyTable(pandas.DataFrame({"seed": [0, 1], "value": [0.9, 0.7]}), "r2")
        >>> table.where(seed=1).value.tolist()
        [0.7]
    """

    def __init__(
        self, frame: Frame | Callable[[], Frame], metric: str, plain: Callable[[str], PlainRows] | None = None
    ):
        self.metric = metric
        self._frame = frame
        self._rows: dict[str, PlainRows] = {}
        self._known: dict[tuple[Any, ...], Any] = {}  # what was asked for: claims ask for the same few scores
        self._make_rows = plain or (lambda reading: PlainRows.of(self.frame, reading))

    @functools.cached_property
    def frame(self) -> Frame:
        return self._frame() if callable(self._frame) else self._frame

    def plain(self, reading: str) -> PlainRows:
        """The readings that are called so ("score", "history", ...) as plain rows: the fast way to a few of them."""
        if reading not in self._rows:
            self._rows[reading] = self._make_rows(reading)
        return self._rows[reading]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.frame, name)

    def __getitem__(self, key: Any) -> Any:
        found = self.frame[key]
        return StudyTable(found, self.metric) if type(found) is type(self.frame) else found

    def __len__(self) -> int:
        return len(self.frame)

    def where(self, **at: Any) -> StudyTable:
        """The readings at some places of axes; a list names several."""
        return StudyTable(lambda: self._where(at), self.metric, lambda reading: self.plain(reading).where(at))

    def _where(self, at: dict[str, Any]) -> Frame:
        frame = self.frame
        for axis, value in at.items():
            if axis not in frame:
                return frame.iloc[:0]
            frame = frame[frame[axis].isin(value) if isinstance(value, (list, tuple, set)) else frame[axis] == value]
        return frame

    def by(self, *axes: str) -> Iterator[tuple[Any, StudyTable]]:
        """(value, its readings) for each value on an axis; of several axes a tuple of values."""
        if not len(self.frame):
            return
        for value, part in self.frame.groupby(list(axes)):
            yield value if len(axes) > 1 else value[0], StudyTable(part, self.metric)

    def seeds(self) -> Iterator[tuple[int, StudyTable]]:
        """(seed, its readings), in order."""
        yield from self._by_seed

    @functools.cached_property
    def _by_seed(self) -> list[tuple[int, StudyTable]]:
        """Each seed's part, cut once for all claims."""
        if not len(self.frame):
            return []
        cut: dict[str, Callable[[Any], PlainRows]] = {}

        def rows_of(seed: Any, reading: str) -> PlainRows:
            if reading not in cut:
                cut[reading] = self.plain(reading).by("seed")
            return cut[reading](seed)

        return [
            (
                int(seed),
                StudyTable(functools.partial(self.frame.take, places), self.metric, functools.partial(rows_of, seed)),
            )
            for seed, places in self.frame.groupby("seed").indices.items()
        ]

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
            return part[part.asked.eq(True)]
        return part[part.group == ""]

    def score(
        self, stream: str = "held_out", *, group: str | None = None, metric: str | None = None, **at: Any
    ) -> float:
        """The one final score of a trial; Missing if it is not there, PreconditionFailed if its net diverged."""
        return self._once((stream, group, metric, *at.items()), lambda: self._score(stream, group, metric, at))

    def _once(self, key: tuple[Any, ...], read: Callable[[], T]) -> T:
        """What is read under a key, the first time."""
        try:
            return self._known[key]
        except TypeError:  # several places of an axis: a list is no key
            return read()
        except KeyError:
            found = self._known[key] = read()
            return found

    def _score(self, stream: str, group: str | None, metric: str | None, at: dict[str, Any]) -> float:
        found = self.plain("score").where(at).values(stream, group, metric or self.metric)
        if not found and len(self.plain("history").where(at)):
            raise PreconditionFailed(f"{in_words(at)} has no score: its net diverged")
        return float(found[0]) if len(found) == 1 else only_one(found, in_words(at))

    def trained(self, **at: Any) -> float:
        """The score of a trial on fresh tasks of trained combinations."""
        return self.score("test", **at)

    def held_out(self, **at: Any) -> float:
        """The score of a trial on held-out combinations: those that its split is about."""
        return self.score("held_out", **at)

    def learned(self, least: float = LEARNED, **at: Any) -> float:
        """The score on trained combinations as a share of what there is to learn; PreconditionFailed below `least`."""
        score = self.trained(**at)
        value = self.share_learned(score, **at)
        if (
            value < least and score < NEARLY_PERFECT
        ):  # where the wrong-code baseline is right, too, nothing more can be learned
            raise PreconditionFailed(
                f"{in_words(at)} was not learned: {value:.2f} on trained combinations, below {least:g}"
            )
        return value

    def gap(self, *, group: str | None = None, **at: Any) -> float:
        """Score on trained minus on held-out combinations, of a trial that has learned, as a share of what there is."""
        return self.learned(**at) - self.share_learned(self.score("held_out", group=group, **at), **at)

    def share_learned(self, score: float, **at: Any) -> float:
        """A score of a trial as a share of what there is to learn: 0 for the wrong-code baseline, 1 for a perfect net.

        (score - blind) / (1 - blind); where a world has no wrong-code baseline, the score itself.
        """
        scores = self.plain("score")
        blind = self._once(("blind", *at.items()), lambda: scores.where(at).values("blind", "", self.metric))
        if not blind:
            return score
        floor = float(blind[0]) if len(blind) == 1 else only_one(blind, in_words(at))
        return (score - floor) / max(1 - floor, LEAST_ROOM)

    # -- scores of many trials --------------------------------------------------------------------------------------
    def above_floor(self, stream: str = "held_out") -> Frame:
        """Scores as a share of what there is to learn, see `share_learned`; one row per trial."""
        part, blind = self.scores(stream), self.scores("blind", "")
        if not len(blind):
            return part
        floor = blind.set_index("cell").value.reindex(part.cell).to_numpy()
        return part.assign(value=(part.value.to_numpy() - floor) / np.maximum(1 - floor, LEAST_ROOM))

    def composition(self) -> Frame:
        """Held-out scores as far as they come from composing: above zero, as a share of what there is to learn.

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
    """The single value of a part of a table; Missing if it is not there."""
    return only_one(part.value.tolist() if len(part) else [], what)


def only_one(values: Sequence[Any], what: str) -> float:
    """The single value of some; Missing if there is none, or another one."""
    if len(values) != 1:
        raise Missing(
            f"{what} has no score (not run, failed, diverged or impossible)" if not values else f"{what} twice"
        )
    return float(values[0])


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
