"""Wrapper: a net around another. Whatever it does not change is what the net within does."""

from __future__ import annotations

from typing import Any

import jax

from ...tasks import Batch, Task
from ..base import Moment, Net, Step, Trace


class Wrapper(Net):
    """The base of nets around other nets. Subclass it, and override what is different.

    Its arrays are called "net...." here, and their groups are those that it gives them under their own names.

    Args:
        net: the net within.

    Example:
        >>> class Louder(rc.nets.Wrapper):
        ...     def answer(self, batch, key=None, how=None):
        ...         said, trace = self.net.answer(batch, key, how)
        ...         return 2 * said, trace
        >>> list(rc.nets.cut(Louder(trained.nets[0])).trained)[0]
        'net.kernels.0'
    """

    net: Net

    @property
    def How(self):  # type: ignore[override]
        return self.net.How

    @property
    def likelihood_is(self):  # type: ignore[override]
        return self.net.likelihood_is

    def __call__(self, batch: Batch, key: jax.Array | None = None) -> tuple[Any, Trace]:
        return self.net(batch, key)

    def losses(self, task: Task, batch: Batch, moment: Moment, memory: Any) -> Step:
        return self.net.losses(task, batch, moment, memory)

    def answer(self, batch: Batch, key: jax.Array | None = None, how: Any = None) -> tuple[Any, Trace]:
        return self.net.answer(batch, key, how)

    def likelihood(self, task: Task, batch: Batch, key: jax.Array, how: Any = None) -> jax.Array:
        return self.net.likelihood(task, batch, key, how)

    def memory(self, task: Task, batch: Batch) -> Any:
        return self.net.memory(task, batch)

    def group(self, path: str, leaf: Any) -> str:
        if path.startswith("net."):
            return self.net.group(path.removeprefix("net."), leaf)
        return super().group(path, leaf)
