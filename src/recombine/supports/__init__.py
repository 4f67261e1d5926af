"""Supports: what was trained on. Designs make a split; its certificate proves what it is."""

from .certificate import Certificate as Certificate
from .certificate import Coverage as Coverage
from .certificate import cooccurrence as cooccurrence
from .designs import balanced as balanced
from .designs import disconnected as disconnected
from .designs import from_combinations as from_combinations
from .designs import implicit as implicit
from .designs import missing as missing
from .designs import popular as popular
from .designs import random as random
from .designs import supports as registry  # noqa: F401
from .designs import unpopular as unpopular
from .grids import cross_arms as cross_arms
from .grids import diagonal as diagonal
from .grids import l_shape as l_shape
from .grids import orthotope as orthotope
from .grids import stair as stair
from .groups import ActiveCount as ActiveCount
from .groups import Blocks as Blocks
from .groups import Has as Has
from .groups import Lacks as Lacks
from .regions import band as band
from .regions import corner as corner
from .regions import cross as cross
from .regions import donut as donut
from .regions import gap as gap
from .regions import where as where
from .sides import Side as Side
from .stripes import bumps_and_stripes as bumps_and_stripes
from .support import Support as Support
