"""Encodings: how a combination is shown to a net."""

from .base import Encoding as Encoding
from .base import encodings as encodings
from .base import showing as showing
from .constituents import ConstituentEncoding as ConstituentEncoding
from .constituents import Identity as Identity
from .coordinates import CoordinateEncoding as CoordinateEncoding
