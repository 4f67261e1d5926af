"""The user's own data and model: `recombine audit`, and `recombine risk` for its prior."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

from tyro.conf import Positional

from ..errors import UserError
from .printing import print_json


def audit(
    data: Positional[str],
    factors: str | None = None,
    split: str | None = None,
    outcome: str | None = None,
    activations: tuple[Path, ...] = (),
    id: str | None = None,
    prior: Path | None = None,
    out: Path | None = None,
    json: bool = False,
) -> None:
    """Says what your data cover, whether your model holds the factors apart, and which unseen combinations will fail.

    Args:
        data: a table, as a file or a quoted glob: .csv, .tsv, .jsonl or .parquet (larger than memory is fine)
        factors: columns that are combined, as a,b,c (default: proposed, and said which)
        split: column whose value train marks the rows the model was trained on (default: all of them)
        outcome: column that says whether the model was right, as 1 or 0, true or false, or a score between them
        activations: .npy, .npz or .safetensors files with a layer's vector for each row
        id: column with the ids that activation files carry as "ids" (default: rows in the same order)
        prior: a file made by `recombine risk fit`, for when there are too few outcomes (default: the one that ships)
        out: folder for the page, the JSON and the table of combinations (default: runs/audit-DATA)
        json: print one JSON object on stdout and nothing else there
    """
    from ..audit import STEPS
    from ..audit.run import audit as run_audit
    from ..progress import steps
    from ..report import write_audit

    with steps((*STEPS, "writing"), False if json else None) as tell:
        found = run_audit(
            data,
            factors,
            outcome=outcome,
            split=split,
            activations=activations or None,
            id=id,
            prior=prior,
            progress=tell,
        )
        tell("writing")
        paths = write_audit(found, out or _audit_folder(data))
    if json:
        print_json(found.to_json() | {"files": {kind: str(path) for kind, path in paths.items()}})
        return
    code = sys.stdout.encoding or "utf-8"
    print(f"{found}\n".encode(code, "replace").decode(code))
    for kind, path in paths.items():
        print(f"{kind}: {path}".encode(code, "replace").decode(code))


def _audit_folder(data: str) -> Path:
    """runs/audit-NAME, NAME being what of the data's name can safely be a folder."""
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in Path(data).name.split(".")[0]).strip("-")
    return Path("runs") / f"audit-{name[:80] or 'data'}"


def risk(
    what: Positional[Literal["fit"]],
    folders: Positional[tuple[Path, ...]],
    out: Path = Path("prior.json"),
    json: bool = False,
) -> None:
    """Learns a prior of failure from lab records that keep which combinations failed: `recombine risk fit DIR...`.

    Args:
        what: fit
        folders: where `recombine run` put its records
        out: the file to write; `recombine audit --prior FILE` uses it
        json: print the prior as one JSON object
    """
    from ..audit import fit_prior
    from ..files import write_or_refuse

    if not folders:
        raise UserError("risk fit needs at least one folder of records")
    model = fit_prior(folders)
    write_or_refuse(out, model.to_bytes())
    if json:
        print_json(model.to_json())
        return
    quality = model.quality
    print(
        f"learned from {model.combinations:,} combinations of {', '.join(model.provenance['families'])}; on other "
        f"{model.provenance['judged_on']}: AUROC {quality.auroc:.3f}, Brier {quality.brier:.3f} (the base rate: "
        f"{quality.brier_of_the_rate:.3f}), calibration error {quality.calibration_error:.3f}\n{out}"
    )
