"""Audit: bring your own data and model. What do the data cover, and which unseen combinations will fail?

The package is also the function: `rc.audit(table, factors=...)` runs an audit, `recombine.audit.data` is a module of
it. A package can be called if the class of its module can (docs/architecture.md says why this and not another name).
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from .features import FEATURES as FEATURES
from .prior import fit_prior as fit_prior
from .prior import load_prior as load_prior
from .prior import risk_table as risk_table
from .prior import shipped_prior as shipped_prior
from .result import Audit as Audit
from .risk_model import RiskModel as RiskModel
from .run import STEPS as STEPS
from .run import audit as run


class _Callable(ModuleType):
    """A module that is called as the audit."""

    @property
    def __signature__(self) -> Any:
        import inspect

        return inspect.signature(run)

    def __call__(self, *arguments: Any, **options: Any) -> Audit:
        return run(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
