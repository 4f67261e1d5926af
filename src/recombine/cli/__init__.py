"""The command line: `recombine list | show | run | status | retry | report | gallery | compare | audit | plan | ...`.

Exit codes: 0 done, 2 bad input (one sentence on stderr), 3 some cells failed, 130 interrupted and 143 terminated (what
was done is kept).
"""

from .entry import COMMANDS as COMMANDS
from .entry import main as main
