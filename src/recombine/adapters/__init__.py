"""Adapters: other people's models -> activations, one numpy array per layer with one row per example.

`rc.adapters.torch` and `rc.adapters.transformers` are loaded when they are first asked for, and torch and transformers
only by a call: who does not use them does not need them.
"""

from __future__ import annotations

from types import ModuleType

ADAPTERS = ("torch", "transformers")


def __getattr__(name: str) -> ModuleType:
    if name == "torch":
        import recombine.adapters.torch as adapter
    elif name == "transformers":
        import recombine.adapters.transformers as adapter
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has: {', '.join(ADAPTERS)}")
    return adapter


def __dir__() -> list[str]:
    return sorted({*globals(), *ADAPTERS})
