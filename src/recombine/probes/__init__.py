"""Probes: trained net -> readings. One file per probe."""

from .base import CONTROLS as CONTROLS
from .base import Readings as Readings
from .base import probes as registry  # noqa: F401
from .crossfade import crossfade as crossfade
from .drawings import drawings_of as drawings_of
from .effective_rank import effective_rank as effective_rank
from .geometry import geometry as geometry
from .geometry import metric_maps as metric_maps
from .grid import Grid as Grid
from .grid import activations as activations
from .grid import grid_of as grid_of
from .ink_superposition import explained as explained
from .ink_superposition import superposition as superposition
from .kernels import fit_kernels as fit_kernels
from .kernels import kernel_machine as kernel_machine
from .linear_decoding import decodability as decodability
from .separability import separability as separability
from .separability import separable_maps as separable_maps
from .similarity import similarity as similarity
from .similarity import similarity_maps as similarity_maps
from .transport import transport as transport
from .transport import transport_maps as transport_maps
from .tuning import tuned_units as tuned_units
from .tuning import tuning as tuning
