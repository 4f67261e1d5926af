"""Tasks: combinations -> data. One file a task."""

from .base import Batch as Batch
from .base import Task as Task
from .base import draw_batch as draw_batch
from .base import draw_stream as draw_stream
from .base import r2_scores as r2_scores
from .base import tasks as registry  # noqa: F401
from .hyperteacher import Hyperteacher as Hyperteacher
from .hyperteacher import Indifferent as Indifferent
from .hyperteacher import Lookup as Lookup
