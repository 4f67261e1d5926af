"""A certified split of the user's own table: `recombine split`."""

from __future__ import annotations

from pathlib import Path

from tyro.conf import Positional

from ..labels import folder_name
from .printing import print_json, print_text
from .reading_as import AS_IS, ReadAs, one_name


def split(
    data: Positional[tuple[str, ...]],
    factors: str | None = None,
    design: str = "random",
    held_out: float | None = None,
    validation: float = 0.1,
    test: float = 0.1,
    group: str | None = None,
    elements: tuple[str, ...] = (),
    pairs: tuple[str, ...] = (),
    atoms: float | None = None,
    extreme: float | None = None,
    at_most: int | None = None,
    within: float | None = None,
    low: int | None = None,
    high: int | None = None,
    width: int | None = None,
    factor: str | None = None,
    seed: int = 0,
    out: Path | None = None,
    force: bool = False,
    dry_run: bool = False,
    json: bool = False,
    reading: ReadAs = AS_IS,
) -> None:
    """Splits your table so that the held-out rows are of combinations that training never has, and certifies it.

    Args:
        data: a table, as a file, several files of the same columns, or a quoted glob: .csv, .tsv, .jsonl or .parquet
            (larger than memory is fine)
        factors: columns that are combined, as a,b,c (default: proposed, and said which)
        design: random, pairs, missing, disconnected, orthotope, divergence, popular, unpopular, donut, corner, cross,
            band, gap, stair, l-shape, cross-arms or diagonal
        held_out: share of the combinations that is held out (default: .2, or what the design holds out)
        validation: share of the rows of trained combinations that is set apart for validation
        test: share of the rows of trained combinations that is set apart for a test on known combinations
        group: column whose rows of the same value stay in one set, such as the drive or the patient
        elements: for missing: levels that are never trained, as color=red
        pairs: for pairs: pairs of levels that are never trained together, as "color=red & shape=box"
        atoms: for divergence: the largest atom divergence (default: .02)
        extreme: for orthotope: share of the levels of a factor, its last ones, that are extreme
        at_most: for orthotope: most factors that are extreme at once in training
        within: for disconnected: share held out inside the blocks
        low: for donut, corner, cross and gap: first level inside (of 0, 1, ...)
        high: for donut, cross and gap: last level inside
        width: for band: levels by which two factors may differ inside
        factor: for gap: name of the factor
        seed: of what is drawn
        out: folder for the files, the certificate and the map (default: runs/split-DATA)
        force: replace what an earlier split wrote there; other files are never replaced
        dry_run: say what the split would be, and write nothing
        json: print one JSON object on stdout and nothing else there
        reading: how columns become factors
    """
    from ..files.owned_folder import refuse_occupied
    from ..report import write_split
    from ..splitting import MANIFEST_NAME, SPLIT_KIND
    from ..splitting import split as make_split

    folder = out or Path("runs") / f"split-{folder_name(one_name(data))}"
    if not dry_run:
        refuse_occupied(folder, MANIFEST_NAME, SPLIT_KIND, force)  # before it takes long
    options = {
        "elements": list(elements) or None,
        "pairs": list(pairs) or None,
        "atoms": atoms,
        "extreme": extreme,
        "at_most": at_most,
        "within": within,
        "low": low,
        "high": high,
        "width": width,
        "factor": factor,
    }
    shares = {"held_out": held_out, "validation": validation, "test": test}
    given = {name: value for name, value in options.items() if value is not None}
    given |= reading.options()
    found = make_split(list(data), factors, design=design, group=group, seed=seed, **shares, **given)
    paths = {} if dry_run else write_split(found, folder, force=force)
    if json:
        print_json(found.to_json() | {"files": {name: str(path) for name, path in paths.items()}})
        return
    print_text(f"{found}\n")
    for name, path in paths.items():
        print_text(f"{name}: {path}")
    if dry_run:
        print("nothing was written: --dry-run")
