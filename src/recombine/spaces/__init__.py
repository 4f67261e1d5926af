"""Spaces: what can be combined. Count, rank and sample; never enumerate what can be counted."""

from .base import ENUMERATION_LIMIT as ENUMERATION_LIMIT
from .base import LISTED_UP_TO as LISTED_UP_TO
from .base import Space as Space
from .base import kinds as kinds
from .base import require_free as require_free
from .base import space_from_json as space_from_json
from .listed import Listed as Listed
from .lookup import find as find
from .partial import Partial as Partial
from .product import Product as Product
from .subsets import Subsets as Subsets
from .tuples import count_tuples as count_tuples
from .tuples import tuple_places as tuple_places
