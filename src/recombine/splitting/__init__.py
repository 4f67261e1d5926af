"""Splitting: a certified compositional split of the user's own table."""

from .split_result import KIND as SPLIT_KIND  # noqa: F401
from .split_result import MANIFEST as MANIFEST_NAME  # noqa: F401
from .split_result import SETS as SETS
from .split_result import Split as Split
from .split_table import split as split
from .table_designs import DESIGNS as DESIGNS
