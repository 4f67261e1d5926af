"""Audit: bring your own data and model. What do the data cover, and which unseen combinations will fail?

The package is also the function: `rc.audit(table, factors=...)` runs an audit, `recombine.audit.risk` is a module of
it. A package can be called if the class of its module can (docs/decisions.md says why this and not another name).
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any

from .auditing import STEPS as STEPS
from .auditing import audit as run
from .features import FEATURES as FEATURES
from .prior import fit_prior as fit_prior
from .prior import load_prior as load_prior
from .prior import risk_table as risk_table
from .prior import shipped_prior as shipped_prior
from .result import Audit as Audit
from .risk_model import RiskModel as RiskModel


class _Callable(ModuleType):
    """A module that is called as the audit."""

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(run)

    def __call__(self, *arguments: Any, **options: Any) -> Audit:
        return run(*arguments, **options)


def _help(package: str | None) -> str:
    """What `help(rc.audit)` shows: how the audit is called, what its parameters are, and what the package is."""
    shown = inspect.signature(run)
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in shown.parameters.values()]
    call = f"rc.audit{shown.replace(parameters=plain, return_annotation='Audit')}".replace("'", "")
    first, _, rest = inspect.cleandoc(run.__doc__ or "").partition("\n")
    return f"{first}\n\n{call}\n{rest}\n\n{package or ''}"


__doc__ = _help(__doc__)
sys.modules[__name__].__class__ = _Callable
