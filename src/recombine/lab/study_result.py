"""The result of a study: its records, its verdicts, and every fact that a page, a table or a terminal tells of them.

Whoever shows a result reads it here and nowhere else; nothing that draws or prints is known to this file.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..charts.all_charts import all_charts
from ..charts.figure import Figure
from ..charts.image_grid import ImageGrid
from ..charts.named_charts import Charts
from ..charts.split_map import SupportMap
from ..errors import UserError
from ..labels import spelled
from ..notebook import table_html
from ..statistics.intervals import Interval
from .claim_memory import ChangedClaim
from .claim_rows import claim_figure
from .extent import Extent, Setup, content_of, setups_of
from .record import Failure, Record
from .settings import RESERVED, differing, words_for
from .store import Store
from .study import Study
from .study_table import StudyTable
from .verdicts import Measurement, Verdict, counts, surviving


@dataclass(frozen=True)
class CellFacts:
    """One finished cell, as tables show it; `content` is the hash of its split."""

    id: str
    label: str
    summary: str
    seconds: float | None
    content: str


@dataclass(frozen=True)
class Setting:
    """One setting of a run, what it means, and whether it is another than the scale's own."""

    name: str
    value: Any
    words: str
    changed: bool


@dataclass(frozen=True)
class Result:
    """A study that was run: records, verdicts, and what failed.

    Args:
        study: what was run.
        scale: at which scale.
        settings: everything that could be set, by name.
        records: what its cells measured, in the order of its grid.
        table: one row per reading.
        verdicts: one per claim.
        measurements: readings without a threshold: what was asked, its interval over seeds, its value for each seed.
        failures: cells that gave no record.
        store: where records are; None if they were not kept.
        wanted: ids of all its cells.
        fed: seeds by claim, of those that were given more than all have.
        changed_claims: claims that are asked otherwise than when the store was begun.

    Example:
        >>> result = rc.run(study, "smoke", quiet=True)
        >>> result.extent.done, result.command
        (4, 'recombine run coin --scale smoke --seeds 4')
    """

    study: Study
    scale: str
    settings: dict[str, Any]
    records: list[Record]
    table: StudyTable
    verdicts: list[Verdict]
    measurements: list[tuple[Measurement, Interval, dict[int, float]]]
    failures: list[Failure]
    store: Store | None
    wanted: frozenset[str]
    fed: dict[str, int] = field(default_factory=dict)
    changed_claims: tuple[ChangedClaim, ...] = ()

    # -- what was found -----------------------------------------------------------------------------------------
    @property
    def headline(self) -> str:
        """What came out, in one sentence; nothing where nothing was measured."""
        outcomes = {verdict.claim.id: verdict.outcome for verdict in self.verdicts}
        return self.study.headline_for(self.table, outcomes) if len(self.table) else ""

    @property
    def counts(self) -> list[tuple[str, int]]:
        """How often each outcome came out."""
        return counts([verdict.outcome for verdict in self.verdicts])

    def _repr_html_(self) -> str:
        extent = "" if self.extent.complete else f" (incomplete: {self.extent.done} of {self.extent.total} cells)"
        rows = [
            (one.outcome, one.claim.text, one.interval if one.interval.seeds else "-", one.claim.wanted)
            for one in self.verdicts
        ]
        title = f"Result: {self.study.id}, {self.scale} scale{extent}. {self.headline}"
        return table_html(title, rows, ("verdict", "claim", "value [95 % sequence]", "wanted"))

    # -- what there is to look at -------------------------------------------------------------------------------
    @cached_property
    def figures(self) -> list[Figure]:
        """Charts, the one that shows the result first."""
        return self.study.figures(self.table)

    @cached_property
    def charts(self) -> Charts:
        """All of them by name, as Altair charts to edit, show and save; image grids and splits, too."""
        return Charts(all_charts(self.figures, self.image_grids, self.support_maps))

    @cached_property
    def claim_figures(self) -> dict[str, Figure]:
        """The picture of each claim that has seeds, by its id: dots and the sequence, look by look."""
        found = {verdict.claim.id: claim_figure(verdict) for verdict in self.verdicts}
        return {name: figure for name, figure in found.items() if figure is not None}

    @cached_property
    def survivors(self) -> frozenset[str]:
        """Claims of which at most 5 % are expected to be decided by chance, over all of the study (e-BH)."""
        return frozenset(self.verdicts[i].claim.id for i in surviving(self.verdicts))

    @cached_property
    def image_grids(self) -> list[ImageGrid]:
        """Image grids."""
        return self.study.image_grids(self.records) if self.records else []

    @cached_property
    def support_maps(self) -> list[SupportMap]:
        """Splits, combination by combination."""
        return self.study.support_maps(self.records)

    @cached_property
    def texts(self) -> dict[str, str]:
        """Texts that are shown as they are, such as certificates, by name."""
        return self.study.texts.texts(self.records) if self.study.texts is not None else {}

    # -- how much of it is there --------------------------------------------------------------------------------
    @cached_property
    def extent(self) -> Extent:
        """Cells counted against the grid of the study."""
        done = {record.cell.id for record in self.records}
        failed = {failure.cell.id for failure in self.failures}
        wanted = self.wanted | done | failed
        damaged = self.store.damaged(wanted - done - failed) if self.store is not None else 0
        return Extent(len(done), len(wanted), len(failed), damaged, self.seeds_asked, max(self.fed.values(), default=0))

    @property
    def seeds_asked(self) -> int:
        """How many seeds the study was asked for."""
        asked = self.store.about.get("seeds") if self.store is not None else None
        if isinstance(asked, int) and asked > 0:
            return asked
        cells = [record.cell for record in self.records] + [failure.cell for failure in self.failures]
        seeds = [cell.spec["seed"] for cell in cells if isinstance(cell.spec.get("seed"), int)]
        return max(seeds) + 1 if seeds else 0

    @cached_property
    def seeds(self) -> list[int]:
        """The seeds that have a record."""
        found = (record.cell.spec.get("seed") for record in self.records)
        return sorted({seed for seed in found if isinstance(seed, int)})

    def cells(self, most: int | None = None) -> list[CellFacts]:
        """Finished cells in the order of the grid.

        Args:
            most: how many of them; all, if none is given.
        """
        return [
            CellFacts(
                record.cell.id,
                self.study.label(record.cell.spec),
                self.study.summary(record),
                _seconds(record),
                str(record.facts.get("content") or ""),
            )
            for record in self.records[:most]
        ]

    # -- how it was made ----------------------------------------------------------------------------------------
    @property
    def version(self) -> Any:
        """The version of the study that made the records."""
        return self.store.about.get("version") if self.store is not None else self.study.version

    @cached_property
    def setups(self) -> list[Setup]:
        """Versions and hardware that records were made by, the most used first."""
        return setups_of(self.records)

    @cached_property
    def content(self) -> str:
        """Hash of what was measured: the same readings of the same cells have the same one."""
        return content_of(self.records)

    @property
    def changed(self) -> dict[str, Any]:
        """Settings that differ from the scale's own."""
        try:
            return differing(self.settings, self.study.settings(self.scale))
        except UserError:
            return {}

    def shown_settings(self) -> list[Setting]:
        """Settings in the order of the study, each with what it means."""
        changed = self.changed
        return [
            Setting(name, value, words_for(name), name in changed)
            for name, value in self.settings.items()
            if name not in RESERVED
        ]

    @property
    def seconds(self) -> float | None:
        """How long all cells together took; None where no record says."""
        known = [seconds for record in self.records if (seconds := _seconds(record)) is not None]
        return sum(known) if known else None

    @property
    def command(self) -> str:
        """What to type to make the same result."""
        words = ["recombine", "run", self.study.id, "--scale", self.scale]
        if seeds := self.seeds_asked:
            words += ["--seeds", str(seeds)]
        if self.fed:
            words += ["--until-decided"]
        if changes := self.changed:
            words += ["--set", *(f"{name}={spelled(value)}" for name, value in changes.items())]
        return shlex.join(words)

    def to_json(self) -> dict[str, Any]:
        return {
            "study": self.study.id,
            "scale": self.scale,
            "verdicts": [
                verdict.to_json() | {"survives": verdict.claim.id in self.survivors} for verdict in self.verdicts
            ],
            "changed_claims": [str(one) for one in self.changed_claims],
            "out": self.store.place if self.store else None,
        }


def _seconds(record: Record) -> float | None:
    """How long a cell took; None where its record says nothing, or nonsense."""
    value = record.facts.get("seconds")
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
