"""Commands that Ctrl-C interrupts wherever the tests are started.

A shell's background job ignores it, and that is inherited. It is undone by a program in between, and not by
`preexec_fn`: that would fork this process, which jax warns of.
"""

import sys

INTERRUPTIBLE = [
    sys.executable,
    "-c",
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])",
]
