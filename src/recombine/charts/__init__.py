"""Charts: one vocabulary of pictures, as Altair charts that anyone can edit. Imports neither jax nor a study."""

from .bar_chart import bars as bars
from .computation_chart import computation as computation
from .count_chart import counts as counts
from .curve_chart import by_layer as by_layer
from .curve_chart import curves as curves
from .curve_chart import search as search
from .dot_chart import dots as dots
from .figure import Figure as Figure
from .graph_chart import graph as graph
from .heat_chart import heat as heat
from .history_chart import history as history
from .image_chart import images as images
from .map_chart import map as map
from .named_charts import Charts as Charts
from .power_law_chart import log_log as log_log
from .power_law_chart import needed as needed
from .saving import save as save
from .scatter_chart import scatter as scatter
from .tuning_chart import tuning as tuning
