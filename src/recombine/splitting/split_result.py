"""A split of a table: which row goes where, what the split is, and the files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UserError, unknown
from ..files.owned_folder import write_manifest, written_folder
from ..labels import listed, quoted, visible
from ..notebook import table_html
from ..supports import Certificate, Support
from ..tables import Choice, Origin, Reading, copy_rows, count_levels, ending_of, open_source, taken

SETS = ("train", "validation", "test", "held_out")
LEFT_OUT = len(SETS)  # the number of rows that lack a factor
FORMAT, KIND = 1, "recombine-split"
MANIFEST, WORDS = "certificate.json", "certificate.txt"


@dataclass(frozen=True)
class Split:
    """A split of a table: which rows train, validate and test, and which are held out.

    Args:
        data: the name of the source, without its folder.
        choice: columns that are combined, and how they were chosen.
        support: what is trained and held out, of the combinations that have rows, each as often as it has.
        sets: (rows,) the number of the set of each row; rows without a combination come last.
        combinations: (rows,) rank of each row's combination; negative where it has none.
        group: column whose rows of the same value stay in one set.
        seed: of what was drawn.
        shares: of validation and test, as asked.
        missing: rows that lack a value, by factor.
        notes: what was noticed while the table was read.
        origin: where rows are copied from.
        reading: how columns became factors: the edges of bins, units of dates, what missing values are.

    Example:
        >>> split = rc.split(rc.example("drives"), "weather,light,road,vehicle", held_out=0.2)
        >>> list(split.rows), int(split.where("train").sum()) == split.rows["train"]
        (['train', 'validation', 'test', 'held_out', 'left_out'], True)
    """

    data: str
    choice: Choice
    support: Support
    sets: np.ndarray
    combinations: np.ndarray
    group: str | None
    seed: int
    shares: tuple[float, float]
    missing: dict[str, int]
    notes: list[str] = field(default_factory=list)
    origin: Origin = field(default_factory=lambda: Origin("memory"), repr=False)
    reading: Reading = field(default_factory=Reading)

    @property
    def factors(self) -> tuple[str, ...]:
        return self.choice.factors

    @cached_property
    def certificate(self) -> Certificate:
        """What the split is, checked."""
        return self.support.certificate()

    @property
    def rows(self) -> dict[str, int]:
        """Rows in each set, and those left out."""
        counts = np.bincount(self.sets, minlength=LEFT_OUT + 1).tolist()
        return dict(zip((*SETS, "left_out"), counts, strict=True))

    def where(self, name: str) -> np.ndarray:
        """(rows,): which rows of the table are in a set, as booleans in the table's order."""
        names = (*SETS, "left_out")
        if name not in names:
            raise unknown("set", name, names)
        return self.sets == names.index(name)

    def __getitem__(self, name: str) -> Any:
        """The rows of a set, as a table of the kind that was given: pandas, polars, arrow, or a mapping."""
        wanted = self.where(name)
        if self.origin.frame is None:
            raise UserError(
                f"{self.data} is a file; split.write(folder) copies its rows, split.where({name!r}) says which"
            )
        return taken(self.origin.frame, wanted)

    def to_json(self) -> dict[str, Any]:
        """The split as plain data; not the rows."""
        from .. import __version__

        space, certificate = self.support.space, self.certificate
        return {
            "kind": KIND,
            "format": FORMAT,
            "recombine": __version__,
            "data": self.data,
            "factors": {name: [str(level) for level in levels] for name, levels in space.columns.items()},
            "factors_proposed": self.choice.proposed,
            "design": self.support.design,
            "settings": self.support.settings,
            "asks": self.support.asks,
            "validation": self.shares[0],
            "test": self.shares[1],
            "group": self.group,
            "seed": self.seed,
            "rows": self.rows,
            "missing": self.missing,
            "reading": self.reading.to_json(),
            "combinations": {"train": certificate.train, "held_out": certificate.held_out},
            "certificate": certificate.to_json(),
            "notes": self.notes,
            "summary": self.sentences(),
        }

    def sentences(self) -> list[str]:
        """What was done, in words."""
        rows, certificate = self.rows, self.certificate
        apart = [f"{rows[name]:,} for {name}" for name in SETS[1:3] if rows[name]]
        said = [
            f"{self.choice.sentence()[:1].upper()}{self.choice.sentence()[1:]}.",
            f"{rows['train']:,} rows to train on" + (f", {listed(apart)}" if apart else "") + ": of "
            f"{certificate.train:,} combinations.",
            f"{rows['held_out']:,} rows are held out: of {certificate.held_out:,} combinations that no other set has.",
        ]
        if rows["left_out"]:
            said.append(f"{rows['left_out']:,} rows lack a factor and are in none of these sets.")
        if self.group is not None:
            said.append(f"No group of {quoted(self.group)} is in two sets.")
        return said

    def __str__(self) -> str:
        total = len(self.sets)
        lines = [f"{self.data}: {total:,} rows, split by the design {self.support.design!r}"]
        lines += [f"  {sentence}" for sentence in self.sentences()]
        lines += ["", "Certificate", *(f"  {visible(line)}" for line in str(self.certificate).splitlines())]
        if self.notes:
            lines += ["", "Notes", *(f"  {note}" for note in self.notes)]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [(name, f"{count:,}") for name, count in self.rows.items() if count]
        return table_html(f"Split of {self.data}: {self.support.design}", rows, ("set", "rows")) + (
            self.certificate._repr_html_()
        )

    # -- files --------------------------------------------------------------------------------------------------
    def write(
        self, folder: str | os.PathLike, *, force: bool = False, more: Mapping[str, bytes] | None = None
    ) -> dict[str, Path]:
        """Writes one file per set, as the table came (CSV, JSON lines or Parquet), and the certificate.

        The files are read again and compared with what they should hold before they take their place.

        Args:
            folder: a new one, or an empty one.
            force: replace what an earlier split wrote there, if it is unchanged.
            more: further files of the folder, by name.
        """
        ending = ending_of(self.origin)
        names = [name for name in (*SETS, "left_out") if self.rows[name] or name in ("train", "held_out")]
        chosen = np.full(LEFT_OUT + 1, -1)
        chosen[[(*SETS, "left_out").index(name) for name in names]] = np.arange(len(names))
        with written_folder(folder, MANIFEST, KIND, force) as aside:
            paths = {name: aside / f"{name}{ending}" for name in names}
            with open_source(self.origin) as source:
                copy_rows(source, chosen[self.sets], list(paths.values()))
            self._check_written(paths)
            (aside / WORDS).write_text(f"{self}\n", encoding="utf-8")
            for name, content in (more or {}).items():
                (aside / name).write_bytes(content)
            write_manifest(aside, MANIFEST, self.to_json())
        place = Path(folder)
        found = {name: place / path.name for name, path in paths.items()}
        return (
            found
            | {"certificate": place / MANIFEST, "words": place / WORDS}
            | {Path(n).stem: place / n for n in more or {}}
        )

    def _check_written(self, paths: Mapping[str, Path]) -> None:
        """Reads the files again: each must have as many rows of each combination as its set."""
        space = self.support.space
        for name in SETS:
            if name not in paths:
                continue
            wanted = np.bincount(self.combinations[self.where(name)], minlength=space.size)
            with open_source(paths[name]) as source:
                self.reading.apply(source, [name for name in source.columns if name not in space.columns])
                rows, counts = count_levels(source, space.columns)
            known = space.contains(rows)
            found = np.zeros(space.size, np.int64)
            np.add.at(found, space.rank(rows[known]), counts[known])
            if not known.all() or (found != wanted).any():
                raise UserError(
                    f"{self.data} cannot be copied row by row: {paths[name].name} came out with other rows than it "
                    "should have; save the table as Parquet and split that"
                )
