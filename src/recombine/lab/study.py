"""The study contract: a claim that can be run and can be wrong."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..errors import UserError, require_int, unknown
from ..registry import Registry
from ..supports import Support
from ..tasks import Episode
from .cells import Cell, canonical
from .store import Record, Table
from .verdicts import Claim, Question

SCALES = ("smoke", "laptop", "paper")
COLORS = ("ink", "heat", "signed")  # of small pictures
Rectangle = tuple[int | float, int | float, int | float, int | float]
DEFAULT_SEEDS = 3
#: settings that are data to a compiled program, whatever the study
RATES = frozenset({"seed", "steps", "learning_rate", "warmup", "weight_decay", "b1", "b2", "evaluations"})
RECORD_BYTES = 60_000  # of a record with its panel, about
#: settings that a cell's time rises with; a layer of a net has width x width weights
WORK = ("steps", "tasks", "samples", "width", "width", "depth")


@dataclass(frozen=True)
class Knob:
    """A setting of a study, with its value at each scale."""

    name: str
    help: str
    smoke: Any
    laptop: Any
    paper: Any

    def parse(self, text: Any) -> Any:
        """A value given on the command line, in the type of the default."""
        default = self.laptop
        if not isinstance(text, str):
            return text
        try:
            if isinstance(default, bool):
                return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]
            if isinstance(default, int):
                return int(text)
            if isinstance(default, float):
                return float(text)
            if isinstance(default, (list, tuple)):
                kind = type(default[0]) if default else str
                return [kind(part.strip()) for part in text.split(",") if part.strip()]
        except (ValueError, KeyError):
            example = ",".join(map(str, default)) if isinstance(default, (list, tuple)) else default
            raise UserError(
                f"{self.name}={text!r} is not {_kind(default)}; an example is {self.name}={example}"
            ) from None
        return text


def _kind(value: Any) -> str:
    if isinstance(value, (list, tuple)) and value:
        return f"a list of {_kind(value[0]).removeprefix('a ')}s"
    return {bool: "true or false", int: "a whole number", float: "a number"}.get(type(value), "a word")


@dataclass(frozen=True)
class Measured:
    """What a cell found: tidy readings, and facts worth keeping."""

    rows: list[dict[str, Any]]
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Context:
    """What a cell is given besides its settings."""

    progress: Callable[[float, str], None] = lambda share, note: None
    checkpoint: Path | None = None  # a folder of its own, DIR/checkpoints/ID

    @property
    def nets(self) -> Path | None:
        """Where trained nets are kept and found, for all cells of a store: DIR/nets; None for nowhere."""
        return self.checkpoint.parent.with_name("nets") if self.checkpoint is not None else None


@dataclass(frozen=True)
class Figure:
    """A chart of the report: a Vega-Lite specification and what to see in it."""

    title: str
    caption: str
    spec: dict[str, Any]

    @property
    def told(self) -> str:
        """The caption, and how many undefined values the chart leaves out (`charts.sized` counts them)."""
        lost = self.spec.get("usermeta", {}).get("undefined", 0)
        words = f" {lost} undefined value{' is' if lost == 1 else 's are'} not drawn."
        return self.caption + (words if lost else "")


@dataclass(frozen=True)
class Tile:
    """A small picture: what `shades.pack` made, row 0 on top, and a few words on it for the pointer and the ear.

    They are shown below it where its column has no name.

    colors: ink (how much: white at the low end, black at the high one), heat (a map of values), signed (orange above
    zero, blue below).
    outlines: rectangles (x, y, width, height) in pixels, cell i from i to i + 1: a hole over 6 to 22 is (6, 6, 17, 17).
    """

    shades: dict[str, Any]
    note: str = ""
    colors: str = "ink"
    outlines: tuple[Rectangle, ...] = ()

    def __post_init__(self):
        if self.colors not in COLORS:
            raise unknown("colors of a tile", self.colors, COLORS)
        for outline in self.outlines:
            if len(outline) != 4 or not all(map(math.isfinite, outline)):
                raise UserError(f"an outline is (x, y, width, height) in pixels, got {outline!r}")


@dataclass(frozen=True)
class Plate:
    """Small pictures of the report in rows and columns, and what to see in them; None leaves a place empty.

    One row without a name is a list: it continues on the next line. Pictures of the same ends share a color bar.

    slider: its label; then each row is a frame, of which the reader sees one at a time.
    legend: what the colors of the pictures mean.
    """

    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Tile | None, ...]], ...]
    slider: str | None = None
    legend: str = ""

    def __post_init__(self):
        if not self.columns or not self.rows:
            raise UserError(f"plate {self.title!r} has no pictures; it takes at least one row and one column")
        for name, tiles in self.rows:
            if len(tiles) != len(self.columns):
                raise UserError(
                    f"row {name!r} of plate {self.title!r} has {len(tiles)} tiles for {len(self.columns)} columns; "
                    "put None where there is none"
                )


@dataclass(frozen=True)
class SupportMap:
    """A split to look at: every combination of its space as a cell, trained or held out, and how its parts met.

    scores: of all combinations in order of rank, NaN where there is none; None if they were not kept.
    missing: why there is no split to show, if there is none.
    """

    name: str
    support: Support | None
    scores: np.ndarray | None = None
    score_name: str = "score"
    missing: str = ""

    def __post_init__(self):
        if self.support is None and not self.missing:
            raise UserError(f"map {self.name!r} has no split; say why in missing")
        if self.support is not None and self.scores is not None:
            size = self.support.space.size
            if np.shape(self.scores) != (size,):
                shape = np.shape(self.scores)
                raise UserError(f"scores of map {self.name!r} have shape {shape}, not one for each of {size:,}")


class Study:
    """Subclass it, fill in the class attributes, write `grid` and `measure`, and register an instance."""

    id: ClassVar[str]
    version: ClassVar[int]  # raise it when `measure` gives other numbers for the same settings
    title: ClassVar[str]
    question: ClassVar[str]
    source: ClassVar[str]
    knobs: ClassVar[tuple[Knob, ...]]
    claims: ClassVar[tuple[Claim, ...]]
    questions: ClassVar[tuple[Question, ...]] = ()
    #: what was changed after a run had been seen, and what that run gave; said wherever the claims are
    history: ClassVar[str] = ""
    #: settings of worlds in which claims are false by construction, by the name that claims refer to
    controls: ClassVar[dict[str, dict[str, Any]]]
    running_time: ClassVar[dict[str, str]]
    #: studies whose cells this one reads too: `run all` takes it after them
    reads: ClassVar[tuple[str, ...]] = ()
    #: the module that is run as a worker process for its cells; it must know this study
    worker: ClassVar[str] = "recombine.lab.worker"
    #: what else the worker is told on its command line: where a study of the user's own is found
    worker_arguments: tuple[str, ...] = ()
    #: what the texts of `exhibits` are, for the report
    exhibits_title: ClassVar[str] = "Certificates"
    exhibits_note: ClassVar[str] = "What each net was trained on, checked and not assumed."

    def grid(self, settings: dict[str, Any], seed: int) -> list[dict[str, Any]]:
        """Specs of the cells of one seed. Refuse impossible settings here, before anything is compiled."""
        raise TypeError(f"study {self.id} must define grid")

    def measure(self, spec: dict[str, Any], context: Context) -> Measured:
        """Computes one cell. A function of the spec alone."""
        raise TypeError(f"study {self.id} must define measure")

    def summary(self, record: Record) -> str:
        """One finished cell in a few words."""
        return ""

    def label(self, spec: dict[str, Any]) -> str:
        """One cell in a few words."""
        return f"seed={spec.get('seed')}"

    def answer(self, table: Table, outcomes: dict[str, str]) -> str:
        """The result in one sentence, from the outcomes of the claims."""
        counts = {name: list(outcomes.values()).count(name) for name in ("supported", "refuted", "undecided")}
        return ", ".join(f"{n} {name}" for name, n in counts.items() if n)

    def figures(self, table: Table, records: Sequence[Record]) -> list[Figure]:
        """Charts, the one that shows the result first."""
        return []

    def plates(self, records: Sequence[Record]) -> list[Plate]:
        """Small pictures, such as targets beside outputs."""
        return []

    def maps(self, records: Sequence[Record]) -> list[SupportMap]:
        """Splits, which the report shows combination by combination."""
        return []

    def episodes(self, records: Sequence[Record]) -> dict[str, Episode]:
        """Named episodes of grid worlds, which the report draws."""
        return {}

    def exhibits(self, records: Sequence[Record]) -> dict[str, str]:
        """Named texts that the report shows as they are, such as certificates."""
        return {}

    def lender(self, cell: Cell) -> tuple[Cell, str] | None:
        """A cell of another study that measures the same, and the folder beside this one where it is kept."""
        return None

    def program(self, spec: dict[str, Any]) -> str:
        """Cells that give the same text share compiled programs; one worker computes them, one after the other."""
        return canonical({name: value for name, value in spec.items() if name not in RATES})

    def cost(self, spec: dict[str, Any]) -> float:
        """How long a cell takes, in a unit of the study's own; long ones are begun first. A guess is enough."""
        numbers = [spec.get(name) for name in WORK]
        return float(math.prod(n for n in numbers if isinstance(n, (int, float)) and not isinstance(n, bool) and n > 0))

    def disk(self, spec: dict[str, Any]) -> int:
        """Bytes that a cell keeps, about."""
        return RECORD_BYTES

    # -- what follows -------------------------------------------------------------------------------------------
    def settings(self, scale: str, changes: dict[str, Any] | None = None) -> dict[str, Any]:
        """All knobs at a scale, with changes by name."""
        if scale not in SCALES:
            raise unknown("scale", scale, SCALES)
        by_name = {knob.name: knob for knob in self.knobs}
        settings = {name: getattr(knob, scale) for name, knob in by_name.items()}
        for name, value in (changes or {}).items():
            if name not in by_name:
                raise unknown(f"knob of {self.id}", name, by_name)
            settings[name] = by_name[name].parse(value)
        return settings

    def cells(self, settings: dict[str, Any], seeds: int) -> list[Cell]:
        """The whole grid. Seeds come first, so that the first verdicts stand early."""
        require_int("seeds", seeds, at_least=1)
        return [Cell(self.id, self.version, spec) for seed in range(seeds) for spec in self.grid(settings, seed)]

    def compute(self, cell: Cell, context: Context) -> Record:
        """Runs one cell and writes down what it found."""
        from ..compilation import let_go_of_programs
        from ..devices import one_device
        from .provenance import provenance

        if cell.version != self.version:
            raise UserError(
                f"cell {cell.id} is for version {cell.version} of {self.id}; this is version {self.version}"
            )
        with one_device():
            measured = self.measure(cell.spec, context)
        let_go_of_programs()
        return Record(cell, measured.rows, measured.facts, provenance())


def check_choices(knob: str, chosen: Sequence[str], known: Sequence[str] | dict[str, Any]) -> None:
    """Refuses a list knob that is empty, repeats itself, or names what is not there."""
    if not chosen:
        raise UserError(f"{knob} is empty; choose from {', '.join(known)}")
    for name in chosen:
        if name not in known:
            raise unknown(f"name in {knob}", name, known)
    if len(set(chosen)) != len(chosen):
        raise UserError(f"{knob}={','.join(chosen)} names something twice")


def check_numbers(knob: str, chosen: Sequence[int | float]) -> None:
    """Refuses a list of numbers that is empty or repeats itself."""
    if not chosen:
        raise UserError(f"{knob} is empty; give at least one number")
    if len(set(chosen)) != len(chosen):
        raise UserError(f"{knob}={','.join(map(str, chosen))} names a number twice")


def recipe_knobs(smoke: Any, laptop: Any, paper: Any, names: Sequence[str]) -> tuple[Knob, ...]:
    """Knobs for fields of a Recipe, one value a scale from three recipes."""
    words = {
        "steps": "training steps", "tasks": "combinations a step", "samples": "inputs a combination",
        "learning_rate": "peak learning rate", "schedule": "constant, cosine or linear",
        "warmup": "share of steps with a rising rate", "weight_decay": "on matrices only",
        "clip": "gradient norm, 0 is off", "b1": "momentum of Adam", "b2": "second-moment decay of Adam",
        "nesterov": "look-ahead momentum", "precision": "auto, float32 or bfloat16",
        "evaluations": "times the scores are taken on the way",
    }  # fmt: skip
    recipes = [dataclasses.asdict(r) for r in (smoke, laptop, paper)]
    return tuple(Knob(name, words[name], *(r[name] for r in recipes)) for name in names)


studies: Registry[Study] = Registry("study", plugins="recombine.studies")
