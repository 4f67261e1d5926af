"""Tasks: combinations -> data. One file a task."""

from .base import Batch as Batch
from .base import Task as Task
from .base import draw_batch as draw_batch
from .base import draw_stream as draw_stream
from .base import r2_scores as r2_scores
from .base import tasks as registry  # noqa: F401
from .bumps import Bumps as Bumps
from .bumps import BumpsIndifferent as BumpsIndifferent
from .bumps import BumpsLookup as BumpsLookup
from .episodes import Episode as Episode
from .episodes import Episodes as Episodes
from .episodes import Frame as Frame
from .goal import Goal as Goal
from .goal import GoalIndifferent as GoalIndifferent
from .goal import GoalLookup as GoalLookup
from .hyperteacher import Hyperteacher as Hyperteacher
from .hyperteacher import Indifferent as Indifferent
from .hyperteacher import Lookup as Lookup
from .more_factors import SizedBumps as SizedBumps
from .more_factors import TwoBumps as TwoBumps
from .pictures import Pictures as Pictures
from .preference import Preference as Preference
from .preference import PreferenceIndifferent as PreferenceIndifferent
from .preference import PreferenceLookup as PreferenceLookup
from .product import ProductTeacher as ProductTeacher
from .rotation import Rotation as Rotation
from .shapes import Ellipse as Ellipse
from .shapes import Ring as Ring
from .shapes import StripeSum as StripeSum
from .stripes import BumpsAndStripes as BumpsAndStripes
from .stripes import BumpsAndStripesLookup as BumpsAndStripesLookup
from .stripes import space_with_stripes as space_with_stripes
