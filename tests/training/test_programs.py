"""Precision, the memory of the process, and the cache of programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import numpy as np

import recombine as rc
from recombine.statistics.intervals import over_seeds
from recombine.training import Recipe, train


def test_bfloat16_and_float32_give_the_same_score_within_seed_noise():
    space = rc.Subsets(8, 2)
    task, support = rc.tasks.Hyperteacher(space), rc.supports.random(space)
    found = {}
    for precision in ("float32", "bfloat16"):
        recipe = Recipe(steps=500, precision=precision, evaluations=1)
        found[precision] = train(task, support, rc.nets.MLP(128, 2), recipe, seeds=4).score("held_out", groups=False)
    values = [np.array(score.values["r2"]) for score in found.values()]
    noise = max(v.std(ddof=1) for v in values)
    assert min(v.mean() for v in values) > 0.5, "neither learned, so nothing is compared"
    assert abs(over_seeds((values[0] - values[1]).tolist()).mean) < 2 * noise


def _python(code: str, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, env=os.environ | environment
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_memory_does_not_grow_with_steps():
    found = json.loads(
        _python("""
        import json, resource
        import recombine as rc
        space = rc.Subsets(8, 2)
        task, support = rc.tasks.Hyperteacher(space), rc.supports.random(space)
        peaks = []
        for steps in (200, 400, 6000):
            rc.train(task, support, rc.nets.MLP(64, 2), rc.Recipe(steps=steps, evaluations=2), progress=False)
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        print(json.dumps(peaks))
        """)
    )
    grown = (found[2] - found[1]) / 1024
    assert grown < 8, f"{grown:.0f} MB more after 5,600 further steps"


def test_second_start_takes_its_programs_from_the_cache(tmp_path):
    # at a precision that is given: the trial of `auto` is made once per machine, and only by the first of two processes
    code = """
        import json
        import jax
        import recombine as rc
        counts = {}
        def count(event, **facts):
            counts[event] = counts.get(event, 0) + 1
        jax.monitoring.register_event_listener(count)
        space = rc.Subsets(8, 2)
        task, support = rc.tasks.Hyperteacher(space), rc.supports.random(space)
        recipe = rc.Recipe(steps=20, precision="float32")
        rc.train(task, support, rc.nets.MLP(200, 3), recipe, progress=False).score("held_out")
        print(json.dumps(counts))
    """
    first, second = (json.loads(_python(code, RECOMBINE_CACHE=str(tmp_path))) for _ in range(2))
    misses, hits = "/jax/compilation_cache/cache_misses", "/jax/compilation_cache/cache_hits"
    assert first.get(misses, 0) >= 2 and second.get(hits, 0) >= first[misses], (first, second)
    assert not second.get(misses)
