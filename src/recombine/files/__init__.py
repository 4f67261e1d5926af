"""Files that are whole or absent, in a folder or at a URL."""

from .base import Files as Files
from .base import beside as beside
from .base import cannot_write as cannot_write
from .base import open_files as open_files
from .base import user_cache as user_cache
from .base import why_not as why_not
from .local import TEMPORARY as TEMPORARY
from .local import Disk as Disk
from .local import LocalFiles as LocalFiles
from .local import temporary as temporary
from .local import write_or_refuse as write_or_refuse
from .local import write_whole as write_whole
from .marks import ForeignFile as ForeignFile
from .marks import is_marked as is_marked
from .marks import marked as marked
from .marks import refuse_foreign as refuse_foreign
from .marks import replaced_by_force as replaced_by_force
from .tables import write_table as write_table
