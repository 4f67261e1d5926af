"""Engines: where cells are computed. Importing this registers them."""

from . import inprocess as inprocess
from . import local as local
from . import ray as ray
from .base import Engine as Engine
from .base import Limits as Limits
from .base import Listener as Listener
from .base import engines as engines
from .base import parse_engine as parse_engine
