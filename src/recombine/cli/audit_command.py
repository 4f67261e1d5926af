"""The user's own data and model: `recombine audit`, and `recombine risk` for its prior."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

from tyro.conf import Positional

from ..errors import UserError
from ..labels import folder_name
from .audit_options import NO_ANSWERS, PAGE_ONLY, PLAIN_RISK, Answers, Output, OutputOptions, Risk, RiskOptions
from .printing import print_json, print_text
from .reading_as import AS_IS, ReadAs, one_name


def audit(
    data: Positional[tuple[str, ...]],
    factors: str | None = None,
    split: str | None = None,
    answers: Answers = NO_ANSWERS,
    risk: Risk = PLAIN_RISK,
    output: Output = PAGE_ONLY,
    json: bool = False,
    reading: ReadAs = AS_IS,
) -> int:
    """Says what your data cover, which combinations your model fails on, why, and how likely it fails on any other.

    Args:
        data: a table, as a file, several files of the same columns, or a quoted glob: .csv, .tsv, .jsonl or .parquet
            (larger than memory is fine)
        factors: columns that are combined, as a,b,c (default: proposed, and said which)
        split: column whose value train marks the rows the model was trained on (default: all of them)
        answers: what was right
        risk: how risk is said, and what is compared
        output: what is written
        json: print one JSON object on stdout and nothing else there
        reading: how columns become factors
    """
    from ..audit import STEPS
    from ..audit.auditing import audit as run_audit
    from ..machine.progress import steps
    from ..report.audit import write_audit
    from .audit_printing import audit_text

    folder = output.out or Path("runs") / f"audit-{folder_name(one_name(data))}"
    _refuse_early(folder, risk, output)
    with steps((*STEPS, "writing"), False if json else None) as tell:
        options = answers.options() | risk.options() | reading.options()
        found = run_audit(list(data), factors, split=split, progress=tell, **options)
        tell("writing")
        paths = write_audit(found, folder, formats=output.formats, force=output.force)
    if json:
        print_json(found.to_json() | {"files": {kind: str(path) for kind, path in paths.items()}})
    else:
        print_text(f"{audit_text(found)}\n")
        for kind, path in paths.items():
            print_text(f"{kind}: {path}")
    if output.open:
        _show(paths["page"])
    failed = [one for one in found.gates if one.failed]
    for one in failed:
        print_text(one, sys.stderr)
    return 1 if failed else 0


def _refuse_early(folder: Path, risk: RiskOptions, output: OutputOptions) -> None:
    """Raises for what cannot be done, before anything takes long."""
    from ..audit.gates import gates_of
    from ..audit.result import refuse_foreign_audit
    from ..files import refuse_foreign
    from ..report.audit import page_files
    from ..report.printed_page import browser

    gates_of(risk.fail_if)
    refuse_foreign_audit(folder, output.force)
    for path in page_files(folder, output.formats).values():
        refuse_foreign(path, output.force)
    if "pdf" in output.formats:
        browser()


def _show(page: Path) -> None:
    from .following_page import open_browser

    if not open_browser(page.absolute().as_uri()):
        print_text(f"no browser could be opened; the page is {page}", sys.stderr)


def risk(
    what: Positional[Literal["fit"]],
    folders: Positional[tuple[Path, ...]],
    out: Path = Path("prior.json"),
    force: bool = False,
    json: bool = False,
) -> None:
    """Learns a prior of failure from lab records that keep which combinations failed: `recombine risk fit DIR...`.

    Args:
        what: fit
        folders: where `recombine run` put its records
        out: the file to write; `recombine audit --prior FILE` uses it
        force: replace a file there that is no such prior, or that was changed since
        json: print the prior as one JSON object
    """
    from ..audit import fit_prior
    from ..files import refuse_foreign, write_or_refuse

    if not folders:
        raise UserError("risk fit needs at least one folder of records")
    refuse_foreign(out, force)
    model = fit_prior(folders)
    write_or_refuse(out, model.to_bytes(), force)
    if json:
        print_json(model.to_json())
        return
    quality = model.quality
    print_text(
        f"learned from {model.combinations:,} combinations of {', '.join(model.provenance['families'])}; on other "
        f"{model.provenance['judged_on']}: AUROC {quality.auroc:.3f}, Brier {quality.brier:.3f} (the base rate: "
        f"{quality.brier_of_the_rate:.3f}), calibration error {quality.calibration_error:.3f}\n{out}"
    )
