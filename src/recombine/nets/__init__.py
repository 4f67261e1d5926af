"""Nets: data -> (prediction, trace). One file per net."""

from .base import Blueprint as Blueprint
from .base import Moment as Moment
from .base import Net as Net
from .base import Step as Step
from .base import Trace as Trace
from .base import how_to_ask as how_to_ask
from .base import initialize as initialize
from .base import nets as registry  # noqa: F401
from .cnn import CNNDecoder as CNNDecoder
from .cnn_encoder import CNNEncoder as CNNEncoder
from .coordinate_mlp import CoordinateMLP as CoordinateMLP
from .decoder_transformer import DecoderTransformer as DecoderTransformer
from .hypernetwork import Hypernetwork as Hypernetwork
from .lstm import LSTM as LSTM
from .mlp import MLP as MLP
from .mlp import MLPNet as MLPNet
from .parts import Parts as Parts
from .parts import count_parameters as count_parameters
from .parts import cut as cut
from .parts import graft as graft
from .parts import join as join
from .pixel_transformer import PixelTransformer as PixelTransformer
from .rendering import Rendering as Rendering
from .saved import load as load
from .seq2seq_transformer import Seq2SeqTransformer as Seq2SeqTransformer
from .sequence_net import Decoding as Decoding
from .sequence_net import SequenceNet as SequenceNet
from .sizes import Sizes as Sizes
from .sizes import sizes_of as sizes_of
from .transformer import Transformer as Transformer
from .wrappers.straightened import Straightened as Straightened
from .wrappers.wrapper import Wrapper as Wrapper
