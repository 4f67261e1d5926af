"""Studies: one file a claim of the field. Importing this registers them."""

from ..lab.study import studies as registry
from . import supports as supports

__all__ = ["registry", "supports"]
