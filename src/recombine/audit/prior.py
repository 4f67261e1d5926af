"""The prior: what our own lab teaches about failure, for a user who has no outcomes yet.

A lab record takes part if its facts hold a `risk` table (made by `risk_table`): the features of tested combinations and
whether the net failed on each. `recombine risk fit DIR...` fits a model to all of them, judged on families, or else
records, that the fit had not seen. The file `prior.json` beside this one, if there is one, is what the audit uses.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UserError
from ..files.foreign_json import json_object
from ..lab.store import Store
from ..labels import visible
from ..spaces import Space
from .features import FEATURES, Features, describe
from .risk_model import RiskModel, fit_risk
from .seen import Seen

SHIPPED = "prior.json"
_LEAST = 50  # combinations


def risk_table(space: Space, trained: np.ndarray, tested: np.ndarray, failed: Any, family: str) -> dict[str, Any]:
    """What a study puts under `risk` in the facts of a record, so that a prior can be learned from it.

    Args:
        space: of the combinations.
        trained: the training combinations (n, width).
        tested: combinations that were asked about (m, width).
        failed: of each tested one whether the net failed, or how often, from 0 to 1.
        family: of worlds that are judged together.

    Example:
        >>> toys, tested = rc.Product(color=2, shape=2), np.array([[0, 1]])
        >>> kept = rc.audit.risk_table(toys, np.array([[0, 0], [1, 1]]), tested, failed=[1.0], family="toys")
        >>> dict(zip(kept["features"], kept["rows"][0]))["unseen_pairs"]
        1.0
    """
    features = describe(Seen(space, trained), tested)
    failed = np.asarray(failed, dtype=float)
    if failed.shape != (len(tested),) or not ((failed >= 0) & (failed <= 1)).all():
        raise UserError(f"failed must hold a number from 0 to 1 for each of the {len(tested)} tested combinations")
    return {
        "family": family,
        "features": list(features.names),
        "rows": features.values.tolist(),
        "failed": failed.tolist(),
    }


def fit_prior(folders: Sequence[Path]) -> RiskModel:
    """A risk model from lab stores.

    Args:
        folders: stores of studies that keep a risk table, such as audit-transfer.

    Example:
        >>> done = rc.run(study, "smoke", out="coin-smoke", quiet=True)
        >>> rc.audit.fit_prior(["coin-smoke"])  # a coin has no combinations
        Traceback (most recent call last):
            ...
        recombine.errors.UserError: no record in coin-smoke says which combinations failed; ...
    """
    tables, origins = [], []
    for folder in folders:
        store = Store.open(folder)
        found = [_checked(record.facts["risk"], record.cell.id) for record in store.records() if "risk" in record.facts]
        tables += found
        about = {name: store.about.get(name) for name in ("study", "version", "scale")} | {"records": len(found)}
        origins.append(about)
    if not tables:
        raise UserError(
            f"no record in {', '.join(Path(f).name for f in folders) or 'no folder'} says which combinations failed; "
            "a prior needs records of a study that keeps a risk table, such as audit-transfer"
        )
    values = np.concatenate([np.asarray(t["rows"], dtype=float) for t in tables])
    failed = np.concatenate([np.asarray(t["failed"], dtype=float) for t in tables])
    if len(failed) < _LEAST or not 0 < failed.mean() < 1:
        raise UserError(
            f"a prior needs at least {_LEAST} combinations with both failures and successes, got {len(failed)}"
        )
    families = sorted({t["family"] for t in tables})
    by_family = len(families) > 1
    groups = np.concatenate(
        [np.full(len(t["failed"]), families.index(t["family"]) if by_family else i) for i, t in enumerate(tables)]
    )
    from .. import __version__

    provenance = {
        "stores": origins,
        "content": _content(values, failed),
        "families": families,
        "records": len(tables),
        "recombine": __version__,
        "judged_on": "families" if by_family else "records" if len(tables) > 1 else "combinations",
    }
    several = len(np.unique(groups)) > 1
    return fit_risk(
        Features(tuple(FEATURES), values), failed, groups=groups if several else None, provenance=provenance
    )


def _content(values: np.ndarray, failed: np.ndarray) -> str:
    """A hash of what the prior was learned from."""
    return hashlib.sha256(values.tobytes() + failed.tobytes()).hexdigest()[:24]


def _checked(table: Any, record: str) -> dict[str, Any]:
    """A risk table with the features of this version, in their order."""
    try:
        names = list(table["features"])
        if sorted(names) != sorted(FEATURES):
            raise UserError(f"record {record} has other features than this version; run its study again")
        order = [names.index(name) for name in FEATURES]
        return {
            "family": str(table["family"]),
            "rows": [[row[i] for i in order] for row in table["rows"]],
            "failed": table["failed"],
        }
    except (KeyError, TypeError, IndexError):
        raise UserError(f"record {record} holds no risk table that can be read") from None


def shipped_prior() -> RiskModel | None:
    """The prior that came with this version; None if none did.

    Example:
        >>> rc.audit.shipped_prior().base_rate > 0.5  # in the lab, more unseen combinations failed than not
        True
    """
    file = importlib.resources.files("recombine.audit").joinpath(SHIPPED)
    return (
        RiskModel.from_json(json.loads(file.read_text(encoding="utf-8")), SHIPPED, tuple(FEATURES))
        if file.is_file()
        else None
    )


def load_prior(path: str | os.PathLike) -> RiskModel:
    """A prior from a file of the user's own.

    Args:
        path: of a file that `recombine risk fit` made.

    Example:
        >>> from pathlib import Path
        >>> size = Path("own.json").write_bytes(rc.audit.shipped_prior().to_bytes())
        >>> rc.audit.load_prior("own.json").names == rc.audit.shipped_prior().names
        True
    """
    name = visible(Path(path).name, 200)
    try:
        data = json_object(Path(path).read_bytes(), name, "make it again with `recombine risk fit`")
    except OSError as problem:
        raise UserError(f"{name} cannot be read: {problem.strerror}") from None
    return RiskModel.from_json(data, name, tuple(FEATURES))
