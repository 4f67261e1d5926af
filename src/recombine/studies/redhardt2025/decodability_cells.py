"""The cells of decodability: those of other studies, each with the name of its study beside it."""

from __future__ import annotations

from ...context import Context, Measured
from ...errors import UserError, unknown
from ...lab.cells import Cell, Spec
from ...lab.controls import SAME_ARMS
from ...lab.record import Record
from ...lab.study import Settings, Study, studies


def cells_of(study: Study, settings: Settings, seed: int) -> list[Spec]:
    options, scale = study.base(settings)["options"], settings["scale"]
    control = {"control": settings["control"]} if settings.get("control") else {}
    specs = []
    for name in options["studies"]:
        changes = dict(options["changes"].get(name, {}))
        if options["world"]:
            changes["world"] = options["world"]
        if control.get("control") == SAME_ARMS:
            changes |= control
        other = studies[name]
        for spec in other.grid(other.settings(scale, changes), seed):
            specs.append(pooled(other, scale, spec) | control)
    return specs


def pooled(other: Study, scale: str, spec: Spec) -> Spec:
    """A cell of another study as one of this: where it is, by what all of them have beside it, and whose it is."""
    trial = spec["trial"]
    shared = {"support": trial["support"]["name"], "encoding": trial["world"].get("encoding"), "recipe": "default"}
    origin = {"study": other.id, "version": other.version, "scale": scale, "at": spec["at"]}
    return {**spec, "at": {**shared, **spec["at"], "lender": other.id}, "lent": origin}


def own(spec: Spec) -> Spec:
    """The cell as its own study has it."""
    kept = {part: value for part, value in spec.items() if part not in ("lent", "control")}
    return kept | {"at": spec["lent"]["at"]}


def measure(spec: Spec, context: Context) -> Measured:
    other = studies[spec["lent"]["study"]]
    if other.version != spec["lent"]["version"]:
        raise UserError(f"this cell is for another version of the study {other.id!r}")
    return other.measured(own(spec), context)


def same_cell_in(cell: Cell) -> tuple[Cell, str] | None:
    """The cell of the study that it is from; none in a control, whose scores are others."""
    origin = cell.spec["lent"]
    if "control" in cell.spec:
        return None
    return Cell(origin["study"], origin["version"], own(cell.spec)), f"{origin['study']}-{origin['scale']}"


def refuse(settings: Settings) -> None:
    """Only studies whose cells are plain trials can be read."""
    names = settings["options.studies"]
    known = [name for name, one in studies.items() if one.world is not None and one.measure is None]
    for name in names:
        if name not in known:
            raise unknown("study whose trials can be read", name, known)
        if names.count(name) > 1:
            raise UserError(f"studies names {name!r} twice")


def label(spec: Spec) -> str:
    name = spec["lent"]["study"]
    return f"{name}: {studies[name].label(own(spec))}"


def summary(record: Record) -> str:
    return studies[record.cell.spec["lent"]["study"]].summary(record)
