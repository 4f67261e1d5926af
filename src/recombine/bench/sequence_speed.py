"""How fast nets that write sequences are trained and decode, on all commands of SCAN, on one core.

    training    processor time of a step of `train`'s program, 64 commands each; words that count per second (answers
                with their end); the share of this machine's own matmul rate, by 6 operations per parameter and word
    decoding    processor time until 4,182 commands are answered greedily by a net that has learned nothing, and so
                mostly writes as much as it can: a trained net stops sooner
    torch       where it is installed, in a process of its own: the step of an equal net, eager, fused AdamW, one
                thread, on the same batches; rounds alternate

By the processor's clock: what other processes take is no part of a ratio.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jax
import numpy as np

from ..keys import key_for
from ..machine.precision import matmul_rates
from ..nets import LSTM, Blueprint, Seq2SeqTransformer, initialize
from ..supports import Support
from ..supports.scan_splits import scan
from ..tasks import Scan, Task
from ..training import Recipe, evaluate
from ..training.step import stepper
from .bench_row import Row, Say
from .throughput import begin

NETS: dict[str, Blueprint] = {"seq2seq-transformer": Seq2SeqTransformer(), "lstm": LSTM()}
TASKS, STEPS = 64, 20
RECIPE = Recipe(tasks=TASKS, learning_rate=1e-3, weight_decay=0.01, b2=0.98, nesterov=False, precision="float32")
TWIN = Path(__file__).with_name("torch_twin.py")
DECODED_WITHIN = 10.0  # seconds that answering all held-out commands may take
AS_FAST = round(1 / 1.3, 3)  # a step may take 1.3 times what torch takes


def measure_sequences(rounds: int, against: list[str], say: Say) -> list[Row]:
    """Rows of training and of decoding, of each net.

    Args:
        rounds: of steps; those of torch take turns with them.
        against: the other sides that are measured; torch is the one that counts here.
        say: is told each row.
    """
    task = Scan(Scan.default_space())
    support = scan(task.space, split="simple")
    rate = matmul_rates(seconds=0.3)["float32"]
    rows = []
    for name in NETS:
        rows += measured(name, task, support, rounds, rate, say, "torch" in against)
    return rows


def measured(name: str, task: Task, support: Support, rounds: int, rate: float, say: Say, torch: bool) -> list[Row]:
    """One net: its training, beside torch's if that is asked for, and its decoding."""
    batches = some_batches(task, support)
    state, *given = begin(NETS[name], task, support, RECIPE, "float32")
    parameters = sum(leaf.size for leaf in state.trained.values())
    words = float((batches["targets"] >= 0).sum(axis=(1, 2)).mean())
    advance = stepper(RECIPE.shape(), True)
    state = jax.block_until_ready(advance(state, *given, 2))  # compiles
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(rounds):
        begun = time.process_time()
        state = jax.block_until_ready(advance(state, *given, STEPS))
        ours.append((time.process_time() - begun) / STEPS * 1e3)
        if torch:
            theirs.append(torch_step(name, batches, parameters) * 1e3)
    second = words / (statistics.median(ours) / 1e3)
    share = 6 * parameters * second / rate
    work = f"{name} on SCAN, {TASKS} commands per step"
    others = {"torch": theirs} if torch else {}
    decoding = [decoding_seconds(NETS[name], task, support)]
    work_of_decoding = f"{name}: {support.held_out.size:,} commands of SCAN answered greedily"
    rows = [
        Row(work, "ms per step", ours, others, times={"torch": AS_FAST}),
        Row(work_of_decoding, "s", decoding, at_most=DECODED_WITHIN),
    ]
    for row in rows:
        say(f"  {row}")
    say(f"    {second:,.0f} words per second in training, {share:.0%} of the matmul rate")
    return rows


def some_batches(task: Task, support: Support) -> dict[str, np.ndarray]:
    """Batches as training draws them."""
    rows = support.train.sample(key_for("train", 0), (STEPS + 3) * TASKS)
    batch = task.sample(jax.random.key(0), jax.numpy.asarray(rows))
    codes, targets = (np.asarray(part).reshape(-1, TASKS, part.shape[-1]) for part in (batch.code, batch.target))
    return {"codes": codes, "targets": targets, "words": np.array([task.words["code"], task.words["target"]])}


def torch_step(name: str, batches: dict[str, np.ndarray], parameters: int) -> float:
    """Median processor seconds of a step of the equal net in torch."""
    with tempfile.TemporaryDirectory() as folder:
        batch_file = Path(folder, "batches.json")
        batch_file.write_text(json.dumps({part: array.tolist() for part, array in batches.items()}))
        command = [sys.executable, str(TWIN), str(batch_file), name]
        timed = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    apart = abs(timed["parameters"] - parameters) / parameters
    if apart > 0.02:  # torch has two biases where an LSTM needs one
        raise ValueError(f"the net in torch has {timed['parameters']} parameters, and ours {parameters}")
    return statistics.median(timed["seconds"])


def decoding_seconds(blueprint: Blueprint, task: Task, support: Support) -> float:
    """Processor seconds until all held-out commands are answered, without the first call, which compiles."""
    net = initialize(blueprint, task, key_for("init", 0), "float32")
    rows = support.held_out.combinations()
    evaluate(net, task, rows[:1], key=jax.random.key(0))
    begun = time.process_time()
    evaluate(net, task, rows, key=jax.random.key(0))
    return time.process_time() - begun
