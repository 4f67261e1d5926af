"""Nets: data -> (prediction, trace). One file a net."""

from .base import Blueprint as Blueprint
from .base import Net as Net
from .base import Trace as Trace
from .base import count_parameters as count_parameters
from .base import initialize as initialize
from .base import nets as registry  # noqa: F401
from .cnn import CNNDecoder as CNNDecoder
from .coordinate_mlp import CoordinateMLP as CoordinateMLP
from .hypernetwork import Hypernetwork as Hypernetwork
from .mlp import MLP as MLP
from .mlp import MLPNet as MLPNet
from .pixel_transformer import PixelTransformer as PixelTransformer
from .rendering import Rendering as Rendering
from .straightened import Straightened as Straightened
from .transformer import Transformer as Transformer
