"""The docs site: Sphinx with Markdown pages. `make docs` builds it into docs/_build; a warning is an error."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

from recombine import __version__  # noqa: E402

project, author, release = "Recombine", "the authors of Recombine", __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "reference", "narrow"]
exclude_patterns = ["_build", "*.py"]
source_suffix = {".md": "markdown"}

html_theme = "furo"
html_title = "Recombine"
html_show_sourcelink = html_copy_source = html_show_copyright = html_show_sphinx = False
html_static_path, html_css_files = ["static"], ["site.css"]
html_theme_options = {"footer_icons": []}
pygments_style, pygments_dark_style = "default", "github-dark"

myst_heading_anchors = 3  # links to headings work as they do where the files are read as they are
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
linkcheck_timeout = 20
