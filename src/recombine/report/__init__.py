"""Reports: what people look at. One self-contained HTML file per study or audit, and other formats of it."""

from .audit import render_audit as render_audit
from .audit import write_audit as write_audit
from .comparison import write_comparison as write_comparison
from .formats import write as write
from .gallery import write_gallery as write_gallery
from .html import render as render
from .html import write_report as write_report
from .split_page import render_split as render_split
from .split_page import write_split as write_split
