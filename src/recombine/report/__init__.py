"""Reports: what people look at. One self-contained HTML file a study or an audit; sheets and figures for papers."""

from .audit import render_audit as render_audit
from .audit import write_audit as write_audit
from .comparison import compare as compare
from .comparison import compare_folders as compare_folders
from .comparison import write_comparison as write_comparison
from .formats import write as write
from .gallery import write_gallery as write_gallery
from .html import render as render
from .html import write_report as write_report
from .images import figure_png as figure_png
from .images import plate_png as plate_png
from .paper import figures as figures
