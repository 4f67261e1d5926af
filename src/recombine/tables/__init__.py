"""Tables: the user's examples. Readers, factors, levels, the roles of columns; rows become combinations with counts."""

from .base import Column as Column
from .base import Origin as Origin
from .base import Source as Source
from .copies import copy_rows as copy_rows
from .copies import ending_of as ending_of
from .copies import taken as taken
from .factors import Choice as Choice
from .observed import Observed as Observed
from .observed import Part as Part
from .observed import count_levels as count_levels
from .observed import row_codes as row_codes
from .outcome_forms import Outcome as Outcome
from .outcome_forms import Roles as Roles
from .outcome_forms import find_roles as find_roles
from .reading import read_combinations as read_combinations
from .reading_options import Reading as Reading
from .reading_options import reading_of as reading_of
from .sources import open_source as open_source
