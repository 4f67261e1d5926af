"""A Ray cluster: one that runs, or one that is started for the run and ended with it.

Every place for a cell (a core, its memory, a GPU where the cluster has some) gets a long-lived actor with a worker
process, which keeps its compiled programs; the queue gives it cells of the same program. Cells go out as JSON and
records come back as bytes. What a node has installed is compared with what is here before it gets a cell. A node that
dies loses nothing but time: its cells run again elsewhere, a few times at most.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import logging
import os
import signal
import socket
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....errors import UserError
from ...cells import Cell
from ...study import Study
from ..queue import Queue
from ..stop import Stop
from .base import Engine, Limits, Listener, checkpoint_folder, engines, outcome_of
from .ray_actor import SETTINGS, actor_class

CELL_MEMORY = 1 << 30  # bytes that a cell asks for where no limit is set: jax and a net of the laptop scale
LOSSES = 3  # times that a cell may lose its actor
STARTS = 3  # workers of a node that end before they are ready, until the node is left alone
LOOK_EVERY = 1.0  # seconds between looks at which nodes there are
CONNECT_SECONDS = 10.0
WAIT_EVERY = 0.1  # seconds between looks at signals
SAY_AFTER = 60.0  # seconds without a place to compute until it is said
GIVE_UP_AFTER = 300.0  # seconds without a node that could compute


@engines.register("ray")
def ray_engine(argument: str, limits: Limits) -> Engine:
    """a Ray cluster that runs, or one for this run; ray:ADDRESS, ray:auto (a running one) or ray:local (a new one)"""
    if importlib.util.find_spec("ray") is None:
        raise UserError("the engine 'ray' needs Ray, which is not installed: pip install 'recombine[ray]'")
    if argument.startswith("ray://"):
        raise UserError(f"ray:{argument} is an address for Ray's client; run on a node of the cluster, with ray:auto")
    return OnRay(argument, limits)


class OnRay:
    """Actors on the nodes of a cluster."""

    def __init__(self, address: str, limits: Limits):
        self.address, self.limits = address, limits
        self.crew: Crew | None = None

    def compute(self, study: Study, cells: Queue, checkpoints: Path | None, tell: Listener, stop: Stop) -> None:
        with cluster(self.address) as ray:
            self.crew = Crew(ray, study, cells, checkpoints, tell, stop, self.limits)
            try:
                self.crew.work()
            finally:
                self.crew.dismiss()
                self.crew = None

    def memory(self) -> int | None:
        sizes = [hand.memory for hand in self.crew.hands if hand.memory] if self.crew else []
        return sum(sizes) if sizes else None


@contextlib.contextmanager
def cluster(address: str) -> Iterator[Any]:
    """Ray, connected. Without an address: the cluster that runs here, or else a new one that ends with the block."""
    import ray  # type: ignore[import-not-found]

    if ray.is_initialized():  # who called us has a cluster and keeps it
        yield ray
        return
    _require_listener(address)
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    fresh = {"address": "local", "include_dashboard": False, "object_store_memory": 200 << 20}
    ours = threading.current_thread() is threading.main_thread()
    signals = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    usage = os.environ.get("RAY_USAGE_STATS_ENABLED")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Ray, about its own plans, and of jax, that Ray starts processes
            try:
                if address == "local":
                    raise ConnectionError
                ray.init(address=address or "auto", **quiet)
            except ConnectionError as problem:
                if address not in ("", "local"):
                    raise UserError(f"there is no Ray cluster at {address!r}: {_first_line(problem)}") from None
                if usage is None:
                    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # a cluster of ours reports to nobody
                ray.init(**fresh, **quiet)
    except (RuntimeError, ValueError, TimeoutError, OSError) as problem:
        raise UserError(f"Ray could not connect to {address or 'a cluster'!r}: {_first_line(problem)}") from problem
    finally:
        if usage is None:
            os.environ.pop("RAY_USAGE_STATS_ENABLED", None)
        if ours:
            for number, handler in signals.items():  # Ray takes SIGTERM for itself
                signal.signal(number, handler)
    with contextlib.redirect_stdout(sys.stderr):  # Ray prints what nodes report, at its end too; stdout is for results
        try:
            yield ray
        finally:
            ray.shutdown()


def _require_listener(address: str) -> None:
    """Refuses HOST:PORT where nothing listens; Ray would try for minutes."""
    host, colon, port = address.rpartition(":")
    if address in ("", "auto", "local"):
        return
    if not colon or not host or not (port.isascii() and port.isdecimal()):
        raise UserError(
            f"{address!r} is no address of a cluster; HOST:PORT, 'auto' (one that runs) or 'local' would do"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS).close()
    except (OSError, OverflowError) as problem:
        raise UserError(f"there is no Ray cluster at {address!r}: {problem}") from None


def _first_line(problem: BaseException) -> str:
    return next((line.strip() for line in str(problem).splitlines() if line.strip()), type(problem).__name__)


@dataclass(eq=False)
class Hand:
    """An actor, and what is expected from it: that it is ready, or the next word about its cell."""

    actor: Any
    node: str
    expected: Any
    ready: bool = False
    cell: Cell | None = None
    memory: int = 0


class Crew:
    """All actors of a run."""

    def __init__(
        self, ray: Any, study: Study, cells: Queue, checkpoints: Path | None, tell: Listener, stop: Stop, limits: Limits
    ):
        self.ray, self.study, self.cells, self.tell, self.stop = ray, study, cells, tell, stop
        self.checkpoints, self.limits = checkpoints, limits
        self.proof = _proof(checkpoints)
        self.here = facts_here()
        self.hands: list[Hand] = []
        self.losses: Counter[str] = Counter()
        self.stillborn: Counter[str] = Counter()  # by node
        self.refused: dict[str, str] = {}  # node -> why
        self.names: dict[str, str] = {}  # node -> its address
        self.met: set[str] = set()  # nodes that said what they have
        self.warned: set[str] = set()
        self.looked = 0.0
        self.idle_since: float | None = None
        self.actor_class = ray.remote(actor_class())

    def work(self) -> None:
        """Until every cell was told of, or nothing runs any more after `stop` was asked."""
        while True:
            self._recruit()
            if not any(hand.cell for hand in self.hands) and (self.stop.asked or not len(self.cells)):
                return
            expected = [hand.expected for hand in self.hands]
            if not expected:
                time.sleep(WAIT_EVERY)
                continue
            heard, _ = self.ray.wait(expected, num_returns=1, timeout=WAIT_EVERY)
            if heard and len(expected) > 1:  # all that can be heard now, and not one a turn
                heard, _ = self.ray.wait(expected, num_returns=len(expected), timeout=0)
            speaking = {id(one) for one in heard}
            for hand in [hand for hand in self.hands if id(hand.expected) in speaking]:
                self._hear(hand)

    def dismiss(self) -> None:
        """Ends all actors; their workers end with them."""
        for hand in self.hands:
            self._kill(hand)
        self.hands = []

    # -- who works --------------------------------------------------------------------------------------------------
    def _recruit(self) -> None:
        """Now and then: an actor for every free place, if there are cells for it."""
        now = time.monotonic()
        if self.stop.asked or now - self.looked < LOOK_EVERY:
            return
        self.looked = now
        alive = [node for node in self.ray.nodes() if node["Alive"]]
        self.names |= {node["NodeID"]: node["NodeManagerAddress"] for node in alive}
        need = needs(alive, self.limits)
        able = {node["NodeID"]: room for node in alive if (room := places(node["Resources"], need))}
        free = Counter({node: room for node, room in able.items() if node not in self.refused})
        free -= Counter(hand.node for hand in self.hands)
        for _ in range(len(self.cells) - sum(not hand.ready for hand in self.hands)):
            if not free:
                break
            node = max(free, key=lambda node: free[node])  # evenly over the nodes
            free -= Counter([node])
            self.hands.append(self._hire(node, need))
        self._mind_the_wait(now, able, need)

    def _hire(self, node: str, need: Mapping[str, float]) -> Hand:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # type: ignore[import-not-found]

        actor = self.actor_class.options(
            num_cpus=need["CPU"],
            num_gpus=need.get("GPU", 0),
            memory=need["memory"],
            max_restarts=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
        ).remote(self.study.worker, self.study.worker_arguments, self.limits.seconds, self.limits.memory)
        return Hand(actor, node, actor.start.remote(node not in self.met))

    def _mind_the_wait(self, now: float, able: Mapping[str, int], need: Mapping[str, float]) -> None:
        """Says so when cells wait and nobody computes; gives up when nobody ever will."""
        if any(hand.ready for hand in self.hands) or not len(self.cells):
            self.idle_since = None
            return
        self.idle_since = self.idle_since if self.idle_since is not None else now
        if able and all(node in self.refused for node in able):
            raise UserError(f"no node of the cluster can be used: {'; '.join(sorted(set(self.refused.values())))}")
        waited = now - self.idle_since
        wanted = ", ".join(
            f"{amount / 1e9:.1f} GB" if name == "memory" else f"{amount:g} {name}" for name, amount in need.items()
        )
        if waited > SAY_AFTER:
            missing = "a place on a busy cluster" if able else f"a node with {wanted} for a cell"
            self._say(f"{len(self.cells)} cells wait for {missing}", "wait")
        if not able and waited > GIVE_UP_AFTER:
            raise UserError(f"no node of the cluster has {wanted} for a cell; what was done is kept")

    def _kill(self, hand: Hand) -> None:
        with contextlib.suppress(Exception):  # it is gone, or its node, or the cluster
            self.ray.kill(hand.actor)

    # -- what they say ----------------------------------------------------------------------------------------------
    def _hear(self, hand: Hand) -> None:
        try:
            word = json.loads(self.ray.get(next(hand.expected) if hand.ready else hand.expected))
        except (self.ray.exceptions.RayError, StopIteration) as problem:
            self._lost(hand, problem)
            return
        if not hand.ready:
            self._meet(hand, word)
            return
        cell = hand.cell
        assert cell is not None
        if word["event"] == "memory":
            hand.memory = word["bytes"]
        elif word["event"] == "progress":
            self.tell("progress", cell, (word["share"], word["note"]))
        else:
            hand.cell = None
            self.tell(*outcome_of(cell, word))
            self._give(hand)

    def _meet(self, hand: Hand, word: dict[str, Any]) -> None:
        """What a worker is: taken, taken with a remark, or refused with all others of its node."""
        name = self.names.get(hand.node, hand.node)
        if word["event"] != "ready":
            self.stillborn[hand.node] += 1
            self._let_go(hand)
            if self.stillborn[hand.node] >= STARTS:
                ended = f"{word['python']} ended with code {word['code']}"
                self._refuse(hand.node, f"no worker starts on {name} ({ended}); is recombine installed there?")
            return
        self.met.add(hand.node)
        differing = differences(self.here, word["facts"] | word["settings"]) if "facts" in word else {}
        if mixed := [differing[name] for name in ("recombine", "code") if name in differing]:
            self._let_go(hand)
            self._refuse(hand.node, f"{name} would mix results of two versions: {', '.join(mixed)}")
            return
        if differing:
            self._say(f"node {name} differs from here: {', '.join(differing.values())}")
        hand.ready = True
        self._give(hand)

    def _give(self, hand: Hand) -> None:
        hand.cell = self.cells.take(hand)
        if hand.cell is None:
            self._let_go(hand)
            return
        self.tell("started", hand.cell, None)
        folder = checkpoint_folder(self.checkpoints, hand.cell)
        order = {"cell": hand.cell.to_json(), "checkpoint": str(folder) if folder else None, "proof": self.proof}
        hand.expected = hand.actor.compute.options(num_returns="streaming").remote(json.dumps(order).encode())

    def _lost(self, hand: Hand, problem: BaseException) -> None:
        """Its actor is gone, with its node perhaps: its cell runs again elsewhere, if that did not happen too often."""
        cell, hand.cell = hand.cell, None
        self._let_go(hand)
        self.looked = 0.0  # look at once which nodes are left
        if cell is None:
            self.stillborn[hand.node] += 1
            if self.stillborn[hand.node] >= STARTS:
                self._refuse(
                    hand.node, f"no actor starts on {self.names.get(hand.node, hand.node)}: {_first_line(problem)}"
                )
            return
        self.losses[cell.id] += 1
        if self.losses[cell.id] < LOSSES:
            self._say(f"node {self.names.get(hand.node)} lost an actor; what ran there runs again elsewhere", hand.node)
            self.cells.put_back(cell)
            self.tell("lost", cell, f"its actor is gone: {_first_line(problem)}")
        else:
            error = f"it lost its actor {LOSSES} times, the last time so: {_first_line(problem)}"
            self.tell("failed", cell, (error, str(problem)))

    def _let_go(self, hand: Hand) -> None:
        self.hands.remove(hand)
        self.cells.leave(hand)
        self._kill(hand)

    def _refuse(self, node: str, why: str) -> None:
        self.refused[node] = why
        self._say(f"a node is left out: {why}")

    def _say(self, text: str, about: str | None = None) -> None:
        """Once for everything it is about."""
        if (about or text) not in self.warned:
            self.warned.add(about or text)
            warnings.warn(text, stacklevel=2)


def _proof(checkpoints: Path | None) -> dict[str, str] | None:
    """A file of the run's folder and its hash: a node that finds it so sees the same folder."""
    if checkpoints is None:
        return None
    path = Path(checkpoints).absolute().parent / "store.json"
    with contextlib.suppress(OSError):
        return {"path": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    return None


# -- nodes ----------------------------------------------------------------------------------------------------------
def needs(nodes: list[dict[str, Any]], limits: Limits) -> dict[str, float]:
    """What a cell asks for: a core, memory, and a GPU if any node has one (so that all cells run on the same kind)."""
    need = {"CPU": 1.0, "memory": float(limits.memory or CELL_MEMORY)}
    return need | {"GPU": 1.0} if any(node["Resources"].get("GPU", 0) >= 1 for node in nodes) else need


def places(resources: Mapping[str, float], need: Mapping[str, float]) -> int:
    """How many cells a node has room for."""
    return min(int(resources.get(name, 0) // amount) for name, amount in need.items())


def facts_here() -> dict[str, str]:
    """What a node is compared with."""
    from ...provenance import about  # jax comes with it, and is not needed before

    settings = {name: os.environ.get(name, "") for name in SETTINGS}
    return about() | settings


def differences(here: Mapping[str, str], there: Mapping[str, str]) -> dict[str, str]:
    """What is not the same on a node, in words by name. The number of cores is no difference."""
    names = [name for name in [*here, *there] if name != "cores" and here.get(name) != there.get(name)]
    return {name: f"{name} {there.get(name) or 'none'} (here {here.get(name) or 'none'})" for name in names}
