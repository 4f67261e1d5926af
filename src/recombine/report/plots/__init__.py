"""Charts, plates and splits of a study as matplotlib figures."""

from .chart import chart_figure as chart_figure
from .plates import plate_figure as plate_figure
from .splits import graph_figure as graph_figure
from .splits import map_figure as map_figure
