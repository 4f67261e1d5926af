"""Trials: one net (or a net in stages) on one split of one world, as nested data -> readings and facts."""

from .kept import KeptNets as KeptNets
from .measure import measure as measure
from .reload import load_trained as load_trained
from .trial import Trial as Trial
