"""Recombine: will a net handle combinations it has never seen, where will it fail, and which data would fix it?

A name is loaded when it is first used: `recombine status` should not wait for jax.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import adapters as adapters
    from . import audit as audit
    from . import charts as charts
    from . import encodings as encodings
    from . import nets as nets
    from . import probes as probes
    from . import report as report
    from . import studies as studies
    from . import supports as supports
    from . import tasks as tasks
    from . import testing as testing
    from . import theory as theory
    from .audit import Audit as Audit
    from .audit.plan_from_table import plan as plan
    from .errors import UserError as UserError
    from .examples import example as example
    from .exporting import Export as Export
    from .exporting import ScoredPredictions as ScoredPredictions
    from .exporting import export as export
    from .exporting import open_export as open_export
    from .exporting import score as score
    from .lab.driver.run import run as run
    from .lab.loaded import load as load
    from .lab.scales import Scale as Scale
    from .lab.sequential import verdict as verdict
    from .lab.study import Study as Study
    from .lab.verdicts import Claim as Claim
    from .lab.verdicts import Measurement as Measurement
    from .lab.verdicts import at_least as at_least
    from .lab.verdicts import at_most as at_most
    from .spaces import Listed as Listed
    from .spaces import Product as Product
    from .spaces import Space as Space
    from .spaces import Subsets as Subsets
    from .splitting import Split as Split
    from .splitting import split as split
    from .statistics.intervals import Interval as Interval
    from .statistics.intervals import over_seeds as over_seeds
    from .supports import Certificate as Certificate
    from .supports import Support as Support
    from .training import Recipe as Recipe
    from .training import Stage as Stage
    from .training import Trained as Trained
    from .training import evaluate as evaluate
    from .training import train as train

__version__ = "0.1.0"

#: where each public name is; the imports above say the same to type checkers, and a test holds the two together
_ROOMS = (
    "adapters",
    "audit",
    "charts",
    "encodings",
    "nets",
    "probes",
    "report",
    "studies",
    "supports",
    "tasks",
    "testing",
    "theory",
)
_NAMES = {
    ".audit": ("Audit",),
    ".supports": ("Certificate", "Support"),
    ".audit.plan_from_table": ("plan",),
    ".errors": ("UserError",),
    ".examples": ("example",),
    ".exporting": ("Export", "ScoredPredictions", "export", "open_export", "score"),
    ".splitting": ("Split", "split"),
    ".statistics.intervals": ("Interval", "over_seeds"),
    ".lab.loaded": ("load",),
    ".lab.driver.run": ("run",),
    ".lab.scales": ("Scale",),
    ".lab.sequential": ("verdict",),
    ".lab.study": ("Study",),
    ".lab.verdicts": ("Claim", "Measurement", "at_least", "at_most"),
    ".spaces": ("Listed", "Product", "Space", "Subsets"),
    ".training": ("Recipe", "Stage", "Trained", "evaluate", "train"),
}
_WHERE = {room: f".{room}" for room in _ROOMS}
_WHERE |= {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_WHERE)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _import_module(_WHERE[name], __name__)
    found = module if _WHERE[name] == f".{name}" else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
