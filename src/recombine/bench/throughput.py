"""bench of training: how long until a result stands, on one core, against the published settings and a plain loop.

Three measurements, each repeated, printed as ratios with their spread:
    time to score   seconds of training until the held-out R^2 (mean of per-task R^2) of the default hyperteacher
                    passes .95: published settings in a plain float32 loop, against our default net and recipe
    throughput      time of a step of `train`'s program against a plain loop (one compiled step per Python call,
                    float32, same mathematics and data), and against its products at this machine's own matmul rate
    loops           processor time of a step of `train`'s program for the CNN decoder, against such a loop: written as
                    jax derives them, the gradients of convolutions are 10 to 70 times slower inside a compiled loop
Compilation and evaluation are outside the clock on both sides.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..keys import key_for
from ..machine.precision import one_thread, resolve
from ..nets import MLP, Blueprint, CNNDecoder, Parts, join
from ..spaces import Product, Subsets
from ..supports import Support, donut, random
from ..tasks import Bumps, Hyperteacher, Task
from ..training import Recipe, stream_scores
from ..training.step import State, one_step, start, stepper
from .bench_row import Row, Say, Steps, race
from .bench_row import one_core as one_core
from .bench_row import spread as spread

TARGET = 0.95
EVALUATE_EVERY = 50
GIVE_UP = 6000  # steps of the published settings
WIDTHS = (64, 256, 1024)
PUBLISHED_NET = MLP(width=1024, depth=4)
DECODERS = {16: CNNDecoder(width=32, depth=4, base=4), 28: CNNDecoder()}  # pixels along a side -> net
PLAIN, PRODUCTS = "a plain float32 loop", "its products at the rate of one large product"
LARGE = 1024  # rows and columns of one large product
OF_PRODUCTS = 0.85  # of that rate, wanted of a wide net in bfloat16
FASTER = 100.0  # times, wanted of the default net and recipe
SLOWER = 1.2  # times a plain loop that a step of a decoder may take


@dataclass(frozen=True)
class Passed:
    """When a run passed the target: None if it never did."""

    seed: int
    step: int | None
    seconds: float | None
    score: float


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


def stepping(advance: Callable[..., State], state: State, given: tuple[Any, ...]) -> Steps:
    """Steps of a program of ours."""
    held = [state]

    def steps(count: int) -> None:
        held[0] = jax.block_until_ready(advance(held[0], *given, count))

    return steps


def measure_time_to_score(repeats: int, say: Say) -> Row | None:
    """Seconds of both for each seed, one after the other on the same core; None where no seed passed in both."""
    recipe, published = Recipe(), Recipe.published()
    pairs = []
    for seed in range(repeats):
        fast = time_to_score(
            MLP(), recipe, stepper(recipe.shape(), True), resolve(recipe.precision), seed, recipe.steps
        )
        say(f"  seed {seed}: ours {_passed(fast)}")
        slow = time_to_score(PUBLISHED_NET, published, plain_loop(published), "float32", seed, GIVE_UP)
        say(f"  seed {seed}: published {_passed(slow)}")
        if fast.seconds and slow.seconds:
            pairs.append((fast.seconds, slow.seconds))
    if not pairs:
        return None
    name = "the published settings"
    ours, theirs = (list(side) for side in zip(*pairs, strict=True))
    row = Row(f"training until the held-out R2 passes {TARGET}", "s", ours, {name: theirs}, times={name: FASTER})
    say(f"  {row}")
    return row


def _passed(passed: Passed) -> str:
    if passed.step is None:
        return f"did not pass {TARGET} (reached {passed.score:.4f})"
    return f"passed {TARGET} at step {passed.step} after {passed.seconds:.1f} s"


def measure_throughput(rounds: int, say: Say, seconds: float = 2.0) -> list[Row]:
    """In float32 and in what `auto` means here; rounds alternate, so that a slow minute of the machine hits all."""
    space = Subsets(modules=16, at_most=3)
    task, support = Hyperteacher(space), random(space)
    recipe = Recipe(tasks=128, samples=16)
    precisions = sorted({"float32", resolve(recipe.precision)}, reverse=True)
    found = []
    for width in WIDTHS:
        net = MLP(width=width, depth=4)
        programs = {PLAIN: (plain_loop(recipe), "float32")}
        programs |= {precision: (stepper(recipe.shape(), True), precision) for precision in precisions}
        sides, parameters = {}, 0
        for name, (advance, precision) in programs.items():
            state, *given = begin(net, task, support, recipe, precision)
            parameters = sum(leaf.size for leaf in state.trained.values())
            sides[name] = stepping(advance, state, tuple(given))
        sides |= {f"product {precision}": one_product(precision) for precision in precisions}
        took = race(sides, rounds, seconds, time.process_time)
        products = 6 * parameters * recipe.tasks * (recipe.samples or task.samples) / (2 * LARGE**3)
        for precision in precisions:
            at_best = [products * each for each in took[f"product {precision}"]]
            others = {PLAIN: took[PLAIN], PRODUCTS: at_best}
            wanted = {PRODUCTS: OF_PRODUCTS} if precision == "bfloat16" and width == max(WIDTHS) else {}
            found.append(_row(f"MLP 4 x {width}, 128 x 16, {precision}", took[precision], others, wanted))
            say(f"  {found[-1]}")
    return found


def one_product(precision: str) -> Steps:
    """Large products of matrices on one thread, as many as there are steps."""
    rng = np.random.default_rng(0)
    a, b = (jnp.asarray(rng.standard_normal((LARGE, LARGE)), jnp.dtype(precision)) for _ in range(2))
    product = jax.jit(lambda a, b: jnp.dot(a, b, preferred_element_type=jnp.float32), compiler_options=one_thread())

    def steps(count: int) -> None:
        for _ in range(count):
            product(a, b).block_until_ready()

    return steps


def measure_loops(
    rounds: int, say: Say, seconds: float = 2.0, decoders: dict[int, CNNDecoder] | None = None
) -> list[Row]:
    """Time of `train`'s program for CNN decoders beside that of a plain loop.

    By the processor's clock and not the wall's: both programs have one thread, and what other processes take is no
    part of a ratio that has a limit.
    """
    recipe = Recipe(tasks=32, samples=1, precision="float32")
    found = []
    for side, net in (DECODERS if decoders is None else decoders).items():
        task = Bumps(Product(x=side, y=side))
        in_scan = net.steps_in_scan_on_cpu or jax.default_backend() != "cpu"
        sides = {}
        for name, advance in ((PLAIN, plain_loop(recipe)), ("ours", stepper(recipe.shape(), in_scan))):
            state, *given = begin(net, task, donut(task.space), recipe, "float32")
            sides[name] = stepping(advance, state, tuple(given))
        took = race(sides, rounds, seconds, time.process_time)
        work = f"CNN decoder, {net.width} channels, depth {net.depth}, {side} x {side} pixels, batch 32"
        found.append(_row(work, took["ours"], {PLAIN: took[PLAIN]}, {PLAIN: round(1 / SLOWER, 2)}))
        say(f"  {found[-1]}")
    return found


def _row(work: str, ours: list[float], others: dict[str, list[float]], times: dict[str, float]) -> Row:
    """From seconds to milliseconds."""
    in_ms = {name: [1e3 * each for each in took] for name, took in others.items()}
    return Row(work, "ms per step", [1e3 * each for each in ours], in_ms, times=times)
