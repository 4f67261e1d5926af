"""Checks that any space, support, task, net, probe or study must pass. Our tests run them; run them on your own.

    from recombine.testing import check_task
    check_task(MyTask(space))

Each raises AssertionError with a sentence on what is wrong. `check_study` returns the core-seconds that it took.
"""

from .net_checks import check_net as check_net
from .part_checks import check_probe as check_probe
from .part_checks import check_space as check_space
from .part_checks import check_support as check_support
from .part_checks import check_task as check_task
from .study_checks import check_power as check_power
from .study_checks import check_study as check_study
