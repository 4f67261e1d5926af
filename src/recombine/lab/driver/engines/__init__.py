"""Engines: where cells are computed. Importing this registers them."""

from . import in_process as in_process
from . import local_processes as local_processes
from . import ray_engine as ray_engine
from .base import Engine as Engine
from .base import Limits as Limits
from .base import Listener as Listener
from .base import engines as engines
from .base import parse_engine as parse_engine
