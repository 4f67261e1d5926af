"""The study contract: a claim that can be run and can be wrong, as data.

A study says what is trained on what (`world`, `support`, `net`, `recipe`), what varies, what is claimed and what is
drawn. Its settings, its grid, the names of its cells and its control worlds follow. One that searches, or that judges
the audit, has a `measure` of its own.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..charts.figure import Figure
from ..charts.image_grid import ImageGrid
from ..charts.kinds import Chart, figures_of
from ..charts.split_map import SupportMap
from ..errors import UserError, unknown
from ..registry import Registry
from . import settings as names
from .axes import Block, arm_leaves, blocks_of, points, values_of
from .cells import Cell, Spec, canonical
from .controls import SAME_ARMS, UNRELATED, marks_of, require_control, scores_by_chance
from .headlines import headline_of
from .paths import Tree, changed, leaves, resolved
from .record import Record
from .scales import SCALES as SCALES
from .scales import Scale, at_scale
from .study_grid import grid_cells
from .study_table import StudyTable
from .verdicts import Claim, Measurement

if TYPE_CHECKING:
    from ..context import Context, Measured

DEFAULT_SEEDS = 4
RECORD_BYTES = 100_000  # of a record with its panel, about
SETTABLE = ("world", "support", "net", "recipe", "options")
PARTS = (*SETTABLE, "asks", "probes", "keep")
Part = Mapping[str, Any] | Scale
Settings = dict[str, Any]


@dataclass(frozen=True)
class Texts:
    """Texts that the report shows as they are, such as certificates."""

    title: str
    note: str
    texts: Callable[[Sequence[Record]], dict[str, str]]


@dataclass(frozen=True, kw_only=True)
class Study:
    """A claim that can be run and can be wrong, as data.

    Every value may be a `Scale` (a value at each scale), or `Same` (what stands at another path).

    Args:
        id: its name on the command line.
        title: a short question.
        question: what is asked, in one sentence.
        source: whose claims these are.
        claims: what can be wrong; each with a threshold and a control in which it is false.
        version: raise it when the same settings give other numbers.
        minutes: how long it takes on two cores at each scale; words where it needs another machine.
        world: the task by name, its space and its options; None where nothing is trained.
        support: the design by name, and its options.
        net: the net by name, and its options.
        recipe: fields of a Recipe.
        asks: what is scored (`Trial.asks`).
        probes: what is read off the trained net.
        keep: what records keep beside readings.
        first_seed: changes by path for cells of the first seed only: what is costly and enough once.
        options: settings of the study's own `measure`.
        vary: what differs between cells: {path: values}, {name: Arms(...)}, or a list of these (see `axes`).
        controls: changes by name of a control, on top of the world's own control of that name.
        measurements: readings without a threshold.
        charts: what the report draws, the one that shows the result first.
        images: records -> an image grid, or None.
        texts: texts of the report.
        maps: the axis whose splits the report draws, combination by combination.
        metric: what scores are about; the world's first metric, if none is named.
        headline: (table, outcomes) -> the result in one sentence, where the words of the claims are not enough.
        otherwise: the headline where no claim is settled.
        history: what was changed after a run had been seen, and what that run gave.
        differs: what is otherwise than in the source, one sentence each.
        depends_on: studies whose cells this one reads too: `run all` takes it after them.
        measure: computes a cell, instead of `trials.measure`.
        cells_of: (study, settings, seed) -> specs, where the grid is no product.
        refuse: raises a UserError for settings that cannot be.
        splits_must_exist: a split that cannot be made is refused at once; else it is a finding of its cell.
        label_of: a cell in a few words, where its place on the axes is not enough.
        summary_of: a finished record in a few words.
        program_of: cells that give the same text share compiled programs.
        same_cell_in: a cell of another study that measures the same, and the folder beside this one where it lies.
        worker: the module that is run as a worker process for its cells.
        worker_arguments: what that module is told on its command line, too.

    Example:
        >>> study.title, len(study.cells(study.settings("smoke"), seeds=3))
        ('Is the coin biased?', 3)
    """

    id: str
    title: str
    question: str
    source: str
    claims: Sequence[Claim]
    version: int = 1
    minutes: Scale = Scale(1, 10, 300, "not timed")
    world: Part | None = None
    support: Part | None = None
    net: Part | None = None
    recipe: Part | None = None
    asks: Sequence[Mapping[str, Any]] = ({"streams": ["test", "held_out"]},)
    probes: Sequence[Mapping[str, Any]] | Scale = ()
    keep: Sequence[str] | Scale = ("panel",)
    first_seed: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    vary: Mapping[str, Any] | Sequence[Mapping[str, Any]] = field(default_factory=dict)
    controls: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    measurements: Sequence[Measurement] = ()
    charts: Sequence[Chart | Callable[[StudyTable], list[Figure]]] = ()
    images: Sequence[Callable[[Sequence[Record]], ImageGrid | None]] = ()
    texts: Texts | None = None
    maps: str = ""
    metric: str = ""
    headline: Callable[[StudyTable, dict[str, str]], str] | None = None
    otherwise: str = "No claim is settled at this scale."
    history: str = ""
    differs: Sequence[str] = ()
    depends_on: Sequence[str] = ()
    measure: Callable[[Spec, Context], Measured] | None = None
    cells_of: Callable[[Study, Settings, int], list[Spec]] | None = None
    refuse: Callable[[Settings], None] | None = None
    splits_must_exist: bool = False
    label_of: Callable[[Spec], str] | None = None
    summary_of: Callable[[Record], str] | None = None
    same_cell_in: Callable[[Cell], tuple[Cell, str] | None] | None = None
    program_of: Callable[[Spec], str] | None = None
    worker: str = "recombine.studies.study_worker"
    worker_arguments: tuple[str, ...] = ()

    def __post_init__(self):
        if not self.claims:
            raise UserError(
                f"the study {self.id!r} has no claims; it needs at least one, with a threshold and a control"
            )
        ids = [claim.id for claim in self.claims]
        for claim in self.claims:
            if ids.count(claim.id) > 1:
                raise UserError(f"two claims of {self.id!r} are called {claim.id!r}; give each a name of its own")
            if not claim.false_in and not claim.by_construction:
                raise UserError(
                    f"claim {claim.id!r} of {self.id!r} names no control; false_in='same-arms' is one that every "
                    "comparison can have"
                )
        claims = tuple(dataclasses.replace(claim, source=claim.source or self.source) for claim in self.claims)
        object.__setattr__(self, "claims", claims)

    # -- settings -----------------------------------------------------------------------------------------------
    def template(self, scale: str) -> Tree:
        """All that a trial is made of, at a scale, before anything varies."""
        return {part: at_scale(getattr(self, part), scale) for part in PARTS if getattr(self, part) is not None}

    def blocks(self, scale: str) -> list[Block]:
        return blocks_of(self.vary, scale)

    def settings(self, scale: str, changes: Mapping[str, Any] | None = None) -> Settings:
        """Everything that can be set at a scale, by name, with changes.

        changes: by name, as text or as values; see `settings.key_of` for what a name can be.
        """
        blocks = self.blocks(scale)
        axes = values_of(blocks)
        varied = {axis.path for block in blocks for axis in block if axis.path}
        parts = {part: value for part, value in self.template(scale).items() if part in SETTABLE}
        fixed = {path: value for path, value in leaves(parts).items() if path not in varied}
        usual = {**axes, **fixed, **arm_leaves(blocks)}
        found: Settings = {"scale": scale, **usual}
        for name, value in (changes or {}).items():
            if name in names.RESERVED:
                found[name] = value
                continue
            key = names.key_of(name, usual)
            found[key] = names.parsed(name, value, usual[key] if key in usual else names.default_of(key))
        if found["scale"] != scale:
            raise UserError(f"these settings are of {found['scale']!r} scale, not of {scale!r}")
        return found

    def base(self, settings: Settings) -> Tree:
        """The template with everything that was set."""
        tree = self.template(settings["scale"])
        axes = values_of(self.blocks(settings["scale"]))
        for path, value in settings.items():
            if path not in axes and path not in names.RESERVED and ":" not in path:
                names.require_option(path, tree)
                tree = changed(tree, path, value)
        return tree

    # -- the grid -----------------------------------------------------------------------------------------------
    def grid(self, settings: Settings, seed: int, checked: bool = True) -> list[Spec]:
        """Specs of the cells of one seed. What cannot be is refused here, before anything is compiled."""
        if self.refuse is not None and checked:
            self.refuse(settings)
        if self.cells_of is not None:
            return self.cells_of(self, settings, seed)
        specs = list(self.specs(settings, seed))
        if self.world is not None and checked:
            self.require_possible(specs)
        return specs

    def specs(self, settings: Settings, seed: int) -> list[Spec]:
        """One spec for each point of what varies, unchecked."""
        base, found = self.base(settings), []
        control, blocks = settings.get("control", ""), self.blocks(settings["scale"])
        values = {name: settings.get(name, usual) for name, usual in values_of(blocks).items()}
        require_control(control, values)
        places = list(points(blocks, base, settings))
        for number, (at, tree) in enumerate(places):
            own = seed
            if control == SAME_ARMS:  # what varies is recorded and not applied; each arm has nets of its own
                tree, own = places[0][1], seed + 1000 * (number + 1)
            found.append(self.spec(at, tree, seed, own) | marks_of(control, at, values))
        return found

    def spec(self, at: Tree, tree: Tree, seed: int, own: int | None = None) -> Spec:
        """A cell as data: where it is on each axis, its trial, and the settings of the study's own."""
        if seed == 0:
            for path, value in self.first_seed.items():
                tree = changed(tree, path, resolved(value, tree))
        spec: Spec = {"seed": seed, "at": at}
        if "world" in tree:
            stages = tree.get("stages") or [{"net": tree["net"], "recipe": tree.get("recipe", {})}]
            parts = {part: tree[part] for part in ("world", "support", "asks", "probes", "keep") if part in tree}
            spec["trial"] = {**parts, "stages": stages, "seed": seed if own is None else own}
        return spec | ({"options": tree["options"]} if tree.get("options") else {})

    def require_possible(self, specs: Sequence[Spec]) -> None:
        """Refuses trials that cannot be; shapes only, so it takes no time."""
        from ..trials import Trial
        from ..trials.possible import require_possible

        for spec in specs:
            trial = Trial.from_json(spec["trial"])
            require_possible(trial)
            if self.splits_must_exist and not spec["seed"]:
                trial.build_support()

    def cells(self, settings: Settings, seeds: int, checked: bool = True) -> list[Cell]:
        """The whole grid. Seeds come first, so that the first verdicts stand early."""
        return grid_cells(self, settings, seeds, checked)

    # -- controls -----------------------------------------------------------------------------------------------
    def control(self, name: str, scale: str = "smoke") -> dict[str, Any]:
        """The changes that make a control at a scale: settings by name."""
        own = at_scale(self.controls.get(name, {}), scale)
        if name in (SAME_ARMS, UNRELATED):
            return {"control": name, **own}
        if name in (worlds := self.control_worlds()):
            return {"world.name": worlds[name], **own}
        if name in self.controls:
            return own
        raise unknown(f"control of {self.id}", name, [*worlds, *self.controls, SAME_ARMS, UNRELATED])

    def control_worlds(self) -> dict[str, str]:
        """The controls that the world brings, by name."""
        if self.world is None:
            return {}
        from ..tasks import registry as tasks

        return dict(tasks[at_scale(self.world, "laptop")["name"]].controls)

    def control_names(self) -> list[str]:
        """The controls that the claims name, each once."""
        return list(dict.fromkeys(claim.false_in for claim in self.claims if claim.false_in))

    # -- measuring ----------------------------------------------------------------------------------------------
    def compute(self, cell: Cell, context: Context) -> Record:
        """Runs one cell and writes down what it found."""
        from ..machine.compilation import enable_cache, let_go_of_programs
        from ..machine.devices import one_device
        from .provenance import provenance

        enable_cache()  # before the world is built, which compiles too
        if cell.version != self.version:
            raise UserError(
                f"cell {cell.id} is for version {cell.version} of {self.id}; this is version {self.version}"
            )
        with one_device():
            measured = self.measured(cell.spec, context)
        let_go_of_programs()
        return Record(cell, scores_by_chance(measured.rows, cell), measured.facts, provenance())

    def measured(self, spec: Spec, context: Context) -> Measured:
        """What a cell finds: by the study's own `measure`, or by that of trials."""
        if self.measure is not None:
            return self.measure(spec, context)
        from ..trials import Trial, measure

        return measure(Trial.from_json(spec["trial"]), context)

    # -- what the result is read with -------------------------------------------------------------------------------
    @functools.cached_property
    def deciding_metric(self) -> str:
        """What scores are about."""
        if self.metric or self.world is None:
            return self.metric
        from ..tasks import registry as tasks

        return tasks[at_scale(self.world, "laptop")["name"]].metrics[0].name

    def table(self, frame: Any) -> StudyTable:
        return StudyTable(frame, self.deciding_metric)

    def headline_for(self, table: StudyTable, outcomes: dict[str, str]) -> str:
        """The result in one sentence, from the outcomes of the claims."""
        if self.headline is not None:
            return self.headline(table, outcomes)
        return headline_of(self.claims, outcomes, self.otherwise)

    def figures(self, table: StudyTable) -> list[Figure]:
        """Charts that there is something to draw for, the one that shows the result first."""
        return figures_of(self.charts, table, {claim.id: claim.threshold for claim in self.claims})

    def image_grids(self, records: Sequence[Record]) -> list[ImageGrid]:
        """Image grids that there is something to show in."""
        return [grid for image in self.images if (grid := image(records)) is not None]

    def support_maps(self, records: Sequence[Record]) -> list[SupportMap]:
        """Splits, which the report shows combination by combination."""
        if not self.maps:
            return []
        from .support_maps import support_maps

        return support_maps(records, self.maps)

    def label(self, spec: Spec) -> str:
        """One cell in a few words."""
        if self.label_of is not None:
            return self.label_of(spec)
        words = [
            str(v) if isinstance(v, str) else f"{axis}={v:g}" if isinstance(v, float) else f"{axis}={v}"
            for axis, v in spec.get("at", {}).items()
        ]
        return ", ".join([*words, f"seed {spec.get('seed')}"])

    def summary(self, record: Record) -> str:
        """One finished cell in a few words."""
        if self.summary_of is not None:
            return self.summary_of(record)
        from .summaries import summary_of_trial

        return summary_of_trial(record, self.deciding_metric)

    # -- what a run needs to plan -----------------------------------------------------------------------------------
    def running_time(self, scale: str) -> str:
        """How long it takes at a scale, in words."""
        minutes = getattr(self.minutes, scale)
        if not isinstance(minutes, (int, float)):
            return str(minutes)
        if minutes < 1:
            return f"{60 * minutes:.0f} seconds on two cores"
        return f"{minutes:.0f} minutes on two cores" if minutes < 120 else f"{minutes / 60:.0f} hours on two cores"

    def program(self, spec: Spec) -> str:
        """Cells that give the same text share compiled programs; one worker computes them, one after the other."""
        if self.program_of is not None:
            return self.program_of(spec)
        if "trial" not in spec:
            return canonical({name: value for name, value in spec.items() if name != "seed"})
        from ..trials.possible import program

        return program(spec["trial"])

    def cost(self, spec: Spec) -> float:
        """How long a cell takes, in a unit of the study's own; long ones are begun first. A guess is enough."""
        return sum(_work(stage) for stage in spec["trial"]["stages"]) if "trial" in spec else 1.0

    def disk(self, spec: Spec) -> int:
        """Bytes that a cell keeps, about."""
        if "trial" not in spec:
            return RECORD_BYTES
        from ..trials.possible import net_bytes

        return RECORD_BYTES + net_bytes(spec["trial"])


def _work(stage: Mapping[str, Any]) -> float:
    """What the time of a stage rises with; a layer of a net has width x width weights."""
    net, recipe = stage["net"], stage["recipe"]
    numbers = [*(recipe.get(name) for name in ("steps", "tasks", "samples")), *[net.get("width")] * 2, net.get("depth")]
    return float(math.prod(n for n in numbers if isinstance(n, (int, float)) and not isinstance(n, bool) and n > 0))


studies: Registry[Study] = Registry("study", plugins="recombine.studies")
