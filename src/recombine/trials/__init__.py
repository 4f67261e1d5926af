"""Trials: one net (or a net in stages) on one split of one world, as nested data -> readings and facts."""

from ..context import Context as Context
from ..context import Measured as Measured
from .keepers import keepers as keepers
from .kept import KeptNets as KeptNets
from .measure import measure as measure
from .reload import load_kept as load_kept
from .trial import Trial as Trial
