"""What tests of kept nets share: a base, a net on top of it, and a count of what is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax

from recombine.nets import MLP, Blueprint, Net, Wrapper
from recombine.nets import registry as nets
from recombine.training.members import StageRun

WORLD = {"name": "hyperteacher-v1", "space": {"modules": 5, "at_most": 2}, "inputs": 4, "outputs": 4}
BASE = {"net": {"name": "mlp", "width": 16, "depth": 1}, "recipe": {"steps": 30, "tasks": 16, "precision": "float32"}}


class OnTop(Wrapper):
    """A scale on a frozen net."""

    scale: jax.Array

    def group(self, path, leaf):
        return "no_decay" if path == "scale" else "frozen"

    def __call__(self, batch, key=None):
        prediction, trace = self.net(batch, key)
        return prediction * self.scale, trace

    def answer(self, batch, key=None, how=None):
        return self(batch, key)

    def losses(self, task, batch, moment, memory):
        return Net.losses(self, task, batch, moment, memory)


@dataclass(frozen=True)
class Scaled(Blueprint):
    name: ClassVar[str] = "scaled"

    def layers(self):
        return MLP(16, 1).layers()

    def build(self, task, key, precision="float32", start=None):
        within = MLP(16, 1).build(task, key, precision) if start is None else start
        return OnTop(within, jax.numpy.ones(1))


def counting(tmp_path, monkeypatch):
    """A store's folder, a cache of its own, and how many members were trained."""
    monkeypatch.setenv("RECOMBINE_NETS", "50")
    monkeypatch.setattr("recombine.trials.kept.shared_folder", lambda: tmp_path / "shared")
    monkeypatch.setitem(nets._things, "scaled", Scaled)
    trained = []
    together = StageRun.together
    monkeypatch.setattr(
        StageRun, "together", lambda run, seeds, report: trained.extend(seeds) or together(run, seeds, report)
    )
    return tmp_path, trained
