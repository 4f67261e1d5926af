"""Training: a task, a split and a net -> trained nets; and the one evaluator that asks them."""

from .evaluation import EVERY_LAYER as EVERY_LAYER
from .evaluation import Items as Items
from .evaluation import Player as Player
from .evaluation import ask as ask
from .evaluation import draw_combinations as draw_combinations
from .evaluation import evaluate as evaluate
from .evaluation import item_blocks as item_blocks
from .evaluation import own_nats as own_nats
from .loop import train as train
from .recipe import Recipe as Recipe
from .stages import Stage as Stage
from .trained import Member as Member
from .trained import Score as Score
from .trained import Trained as Trained
from .trained import stream_scores as stream_scores
