"""Planning: which combinations to add next, and what each buys."""

from .costs import Costs as Costs
from .costs import additive as additive
from .forbidden import Forbidden as Forbidden
from .plan import fewest_to_connect as fewest_to_connect
from .plan import plan_space as plan_space
from .table import Plan as Plan
from .table import Step as Step
