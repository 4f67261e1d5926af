"""Training: a task, a split and a net -> trained nets; and the one evaluator that asks them."""

from .evaluation import Items as Items
from .evaluation import Player as Player
from .evaluation import ask as ask
from .evaluation import draw_combinations as draw_combinations
from .evaluation import evaluate as evaluate
from .loop import train as train
from .recipe import Recipe as Recipe
from .stages import Stage as Stage
from .trained import Member as Member
from .trained import Score as Score
from .trained import Trained as Trained
from .trained import stream_scores as stream_scores
