"""Reports: what people look at. One self-contained HTML file a study, and images of its charts and plates."""

from .html import render as render
from .html import write_report as write_report
from .images import figure_png as figure_png
from .images import plate_png as plate_png
