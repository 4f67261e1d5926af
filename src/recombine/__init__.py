"""Recombine: will a net handle combinations it has never seen, where will it fail, and which data would fix it?"""

from . import adapters as adapters
from . import audit as audit
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
from .audit.plan import plan as plan
from .errors import UserError as UserError
from .intervals import Interval as Interval
from .intervals import over_seeds as over_seeds
from .lab.store import load as load
from .lab.store import query as query
from .recipe import Recipe as Recipe
from .report import figures as figures
from .spaces import Product as Product
from .spaces import Space as Space
from .spaces import Subsets as Subsets
from .supports import Certificate as Certificate
from .supports import Support as Support
from .trained import Trained as Trained
from .training import train as train

__version__ = "0.1.0"
