"""Theory: nets whose weights are written down, not trained, and impossibility as an executable proof."""

from .explicit_network import ExplicitNetwork as ExplicitNetwork
from .explicit_network import hyperteacher_network as hyperteacher_network
from .explicit_network import sawtooth_network as sawtooth_network
from .impossibility import indistinguishable_teacher as indistinguishable_teacher
from .written_blueprint import LayersOf as LayersOf
