"""bench: how long until a result stands, on one core, against the published settings and against a plain loop.

Three measurements, each repeated, printed as ratios with their spread:
    time to score   seconds of training until the held-out R^2 (mean of per-task R^2) of the default hyperteacher
                    passes .95: published settings in a plain float32 loop, against our default net and recipe
    throughput      steps a second of `train`'s program against a plain loop (one compiled step a Python call,
                    float32, same mathematics and data), and the share of this machine's own matmul rate
    convolutions    processor time a step of `train`'s program for the CNN decoder, against such a loop: written as jax
                    derives them, the gradients of convolutions are 10 to 70 times slower inside a compiled loop
Compilation and evaluation are outside the clock on both sides.
"""

from __future__ import annotations

import contextlib
import functools
import os
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import jax

from .keys import key_for
from .nets import MLP, Blueprint, CNNDecoder, Parts, join
from .precision import matmul_rates, one_thread, resolve
from .spaces import Product, Subsets
from .supports import Support, donut, random
from .tasks import Bumps, Hyperteacher, Task
from .training import Recipe, stream_scores
from .training.step import State, one_step, start, stepper

TARGET = 0.95
EVALUATE_EVERY = 50
GIVE_UP = 6000  # steps of the published settings
WIDTHS = (64, 256, 1024)
PUBLISHED_NET = MLP(width=1024, depth=4)
DECODERS = {16: CNNDecoder(width=32, depth=4, base=4), 28: CNNDecoder()}  # pixels along a side -> net

Say = Callable[[str], None]


@dataclass(frozen=True)
class Passed:
    """When a run passed the target: None if it never did."""

    seed: int
    step: int | None
    seconds: float | None
    score: float


@dataclass(frozen=True)
class Throughput:
    """Steps a second at one width, by round."""

    width: int
    precision: str
    plain: list[float]
    ours: list[float]
    matmul_share: float  # of the rate that one large product reaches here at the same precision

    @property
    def ratios(self) -> list[float]:
        return [ours / plain for ours, plain in zip(self.ours, self.plain, strict=True)]


@dataclass(frozen=True)
class Convolutions:
    """Processor seconds a step of a decoder, by round."""

    side: int
    net: CNNDecoder
    plain: list[float]
    ours: list[float]

    @property
    def ratios(self) -> list[float]:
        """Time of ours by that of the plain loop: below 1 is faster."""
        return [ours / plain for ours, plain in zip(self.ours, self.plain, strict=True)]


def spread(values: list[float], digits: int = 1) -> str:
    """Median and range."""
    low, middle, high = (f"{value:.{digits}f}" for value in (min(values), statistics.median(values), max(values)))
    return f"{middle} ({low} to {high})"


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Keeps this process on one core where the system can, so that both sides get the same."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def plain_loop(recipe: Recipe) -> Callable[..., State]:
    """What one would write without this library: one compiled step, called from Python. float32."""
    shape = replace(recipe.shape(), precision="float32")
    step = jax.jit(functools.partial(one_step, shape=shape), donate_argnums=0, compiler_options=one_thread())

    def advance(state: State, *given_and_count: Any) -> State:
        *given, count = given_and_count
        for _ in range(count):
            state = step(state, *given)
        return state

    return advance


def begin(net: Blueprint, task: Task, support: Support, recipe: Recipe, precision: str, seed: int = 0) -> tuple:
    """A fresh state, and what else a step takes: frozen arrays, task, sampler, rates and key."""
    sampler, key = support.train.sampler(), key_for("train", seed)
    state, frozen = start(net, task, sampler, recipe, (key_for("init", seed), key), precision)
    return state, frozen, task, sampler, recipe.rates(), key


def time_to_score(
    net: MLP, recipe: Recipe, advance: Callable[..., State], precision: str, seed: int, limit: int
) -> Passed:
    """Trains until the held-out score passes the target, clocking the training alone."""
    space = Subsets(modules=16, at_most=3)
    task, support = Hyperteacher(space, seed=seed), random(space, held_out=0.25, seed=seed)
    thrown_away, *given = begin(net, task, support, recipe, precision, seed)
    advance(thrown_away, *given, 1)  # compiles
    state, seconds, score = begin(net, task, support, recipe, precision, seed)[0], 0.0, float("nan")
    for step in range(EVALUATE_EVERY, limit + 1, EVALUATE_EVERY):
        begun = time.perf_counter()
        state = advance(state, *given, EVALUATE_EVERY)
        jax.block_until_ready(state)
        seconds += time.perf_counter() - begun
        net_now = join(Parts(state.trained, given[0], state.static))
        score = stream_scores(task, support.held_out, net_now, key_for("held_out", seed))["r2"]
        if score > TARGET:
            return Passed(seed, step, seconds, score)
    return Passed(seed, None, None, score)


def measure_time_to_score(repeats: int, say: Say) -> list[tuple[Passed, Passed]]:
    """(published, ours) for each seed, one after the other on the same core."""
    ours = Recipe()
    published = Recipe.published()
    pairs = []
    for seed in range(repeats):
        fast = time_to_score(MLP(), ours, stepper(ours.shape(), True), resolve(ours.precision), seed, ours.steps)
        say(f"  seed {seed}: ours {_passed(fast)}")
        slow = time_to_score(PUBLISHED_NET, published, plain_loop(published), "float32", seed, GIVE_UP)
        say(f"  seed {seed}: published {_passed(slow)}")
        pairs.append((slow, fast))
    return pairs


def _passed(passed: Passed) -> str:
    if passed.step is None:
        return f"did not pass {TARGET} (reached {passed.score:.4f})"
    return f"passed {TARGET} at step {passed.step} after {passed.seconds:.1f} s"


def measure_throughput(rounds: int, say: Say, seconds: float = 2.0) -> list[Throughput]:
    """Rounds alternate between the two sides, so that a slow minute of the machine hits both."""
    space = Subsets(modules=16, at_most=3)
    task, support = Hyperteacher(space), random(space)
    recipe = Recipe(tasks=128, samples=16)
    precision = resolve(recipe.precision)
    rate = matmul_rates(size=1024, seconds=0.5)[precision]
    found = []
    for width in WIDTHS:
        net = MLP(width=width, depth=4)
        sides = {"plain": (plain_loop(recipe), "float32"), "ours": (stepper(recipe.shape(), True), precision)}
        begun = {name: begin(net, task, support, recipe, p) for name, (_, p) in sides.items()}
        states, arguments = {name: first for name, (first, *_) in begun.items()}, begun["ours"][1:]
        parameters = sum(leaf.size for leaf in states["ours"].trained.values())
        programs = {name: advance for name, (advance, _) in sides.items()}
        took = race(programs, states, arguments, rounds, seconds, time.perf_counter)
        clocks = {name: [1 / each for each in times] for name, times in took.items()}
        flop = 6 * parameters * recipe.tasks * (recipe.samples or task.samples)
        share = statistics.median(clocks["ours"]) * flop / rate
        found.append(Throughput(width, precision, clocks["plain"], clocks["ours"], share))
        say(f"  width {width}: {spread(found[-1].ratios)} times, {share:.0%} of the matmul rate")
    return found


def race(
    programs: dict[str, Callable[..., State]],
    states: dict[str, State],
    arguments: tuple[Any, ...],
    rounds: int,
    seconds: float,
    clock: Callable[[], float],
) -> dict[str, list[float]]:
    """Seconds a step of each program, by round; rounds of about `seconds` each alternate between them."""
    took: dict[str, list[float]] = {name: [] for name in programs}
    counts = {}
    for name, advance in programs.items():
        states[name] = advance(states[name], *arguments, 1)  # compiles
        begun = clock()
        states[name] = jax.block_until_ready(advance(states[name], *arguments, 3))
        counts[name] = max(3, int(seconds / ((clock() - begun) / 3)))
    for _ in range(rounds):
        for name, advance in programs.items():
            begun = clock()
            states[name] = jax.block_until_ready(advance(states[name], *arguments, counts[name]))
            took[name].append((clock() - begun) / counts[name])
    return took


def measure_convolutions(
    rounds: int, say: Say, seconds: float = 2.0, decoders: dict[int, CNNDecoder] | None = None
) -> list[Convolutions]:
    """Time of `train`'s program for CNN decoders by that of a plain loop.

    By the processor's clock and not the wall's: both programs have one thread, and what other processes take is no
    part of a ratio that has a limit.
    """
    recipe = Recipe(tasks=32, samples=1, precision="float32")
    found = []
    for side, net in (DECODERS if decoders is None else decoders).items():
        task = Bumps(Product(x=side, y=side))
        in_scan = net.steps_in_scan_on_cpu or jax.default_backend() != "cpu"
        programs = {"plain": plain_loop(recipe), "ours": stepper(recipe.shape(), in_scan)}
        begun = {name: begin(net, task, donut(task.space), recipe, "float32") for name in programs}
        states, arguments = {name: first for name, (first, *_) in begun.items()}, begun["ours"][1:]
        took = race(programs, states, arguments, rounds, seconds, time.process_time)
        found.append(Convolutions(side, net, took["plain"], took["ours"]))
        say(
            f"  {side} x {side} pixels, width {net.width}, depth {net.depth}: {spread(found[-1].ratios, 2)} times the "
            f"plain loop's {statistics.median(took['plain']) * 1e3:.0f} ms a step"
        )
    return found


def run_bench(parts: tuple[str, ...], repeats: int, say: Say) -> dict[str, Any]:
    """All that was asked for, as data."""
    found: dict[str, Any] = {}
    with one_core():
        if "throughput" in parts:
            say("throughput of train against a plain float32 loop, depth 4, 128 x 16 samples, one core")
            rows = measure_throughput(repeats, say)
            found["throughput"] = [
                {"width": row.width, "precision": row.precision, "plain": row.plain, "ours": row.ours,
                 "ratios": row.ratios, "matmul_share": row.matmul_share}
                for row in rows
            ]  # fmt: skip
        if "convolutions" in parts:
            say("processor time of train's step for the CNN decoder by that of a plain loop, batches of 32, one core")
            found["convolutions"] = [
                {"side": row.side, "net": row.net.to_json(), "plain": row.plain, "ours": row.ours, "ratios": row.ratios}
                for row in measure_convolutions(repeats, say)
            ]
        if "time-to-score" in parts:
            say(f"time until held-out R2 passes {TARGET}, one core")
            pairs = measure_time_to_score(repeats, say)
            ratios = [slow.seconds / fast.seconds for slow, fast in pairs if slow.seconds and fast.seconds]
            found["time_to_score"] = {
                "published": [vars(slow) for slow, _ in pairs],
                "ours": [vars(fast) for _, fast in pairs],
                "ratios": ratios,
            }
            if ratios:
                say(f"  ours is {spread(ratios)} times faster")
    return found
