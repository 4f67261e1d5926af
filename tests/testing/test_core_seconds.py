"""Core-seconds mean the same on a slow core, on a fast one, and on one that a neighbor makes slow for a while."""

from __future__ import annotations

import jax
import pytest
from small_studies import coin

from recombine.testing import core_seconds, study_checks
from recombine.testing.core_seconds import EVERY, REFERENCE, CoreSeconds, fixed_work
from recombine.testing.study_checks import check_control


class Core:
    """A core on which all work takes so many times as long as on the reference core."""

    def __init__(self, slowness: float):
        self.slowness, self.now, self.looks = slowness, 0.0, 0

    def clock(self) -> float:
        return self.now

    def run(self, seconds: float) -> None:
        """Work that takes the reference core so long."""
        self.now += seconds * self.slowness

    def fixed_work(self) -> None:
        self.looks += 1
        self.run(REFERENCE)

    def stopwatch(self) -> CoreSeconds:
        return CoreSeconds(self.fixed_work, self.clock)


@pytest.mark.parametrize("slowness", [0.5, 1.0, 1.9])
def test_the_same_work_counts_the_same_on_every_core(slowness):
    core = Core(slowness)
    spent = core.stopwatch()
    core.run(7.0)
    spent.look()
    assert spent.reference == pytest.approx(7.0)
    assert spent.here == pytest.approx(7.0 * slowness), "the looks do not count"


def test_a_core_that_is_slow_for_a_while_is_seen_by_looking_again():
    core = Core(1.0)
    spent = core.stopwatch()
    for slowness in (1.0, 2.0, 2.0, 2.0, 1.0):
        core.slowness = slowness
        core.run(EVERY / slowness + 0.01)
        spent.look_if_due()
    core.run(1.0)
    spent.look()
    worked = sum(EVERY / slowness + 0.01 for slowness in (1.0, 2.0, 2.0, 2.0, 1.0)) + 1.0
    assert spent.here > 1.3 * worked
    assert spent.reference == pytest.approx(worked, rel=0.1)


def test_it_looks_no_more_often_than_every_few_seconds():
    core = Core(1.0)
    spent = core.stopwatch()
    before = core.looks
    for _ in range(100):
        core.run(0.1)
        spent.look_if_due()
    assert core.looks - before == pytest.approx(10.0 / EVERY, abs=1)


def test_the_fixed_work_is_compiled_each_time():
    """Kept on disk it would be fast where a study has to compile."""
    compiled, found = [], []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **_: compiled.append(seconds) if event.endswith("backend_compile_duration") else None
    )
    jax.monitoring.register_event_listener(
        lambda event, **_: found.append(event) if event.endswith("cache_hits") else None
    )
    fixed_work()
    for _ in range(2):
        compiled.clear()
        found.clear()
        least = jax.config.jax_persistent_cache_min_compile_time_secs
        fixed_work()
        assert max(compiled) > 1e-3 and not found
        assert jax.config.jax_persistent_cache_min_compile_time_secs == least, "the cache is as it was"


def test_a_slow_core_refuses_no_study(monkeypatch):
    """The same run, on this core, and on one that is said to take a million times as long for everything."""
    monkeypatch.setattr(study_checks, "CONTROL_SECONDS", 1e-3)
    with pytest.raises(AssertionError, match="control 'fair' of coin took .* core-seconds of the reference core"):
        check_control(coin(), "fair", 1)
    monkeypatch.setattr(core_seconds, "REFERENCE", REFERENCE / 1e6)
    check_control(coin(), "fair", 1)


@pytest.mark.parametrize(("took", "refused"), [([99.0, 1.0], False), ([99.0, 98.0], True), ([1.0], False)])
def test_a_run_over_the_limit_is_run_once_more_before_it_is_refused(took, refused, monkeypatch):
    """What a first run compiles lies on disk for the second."""
    left = list(took)

    class Planted(CoreSeconds):
        def __init__(self):
            super().__init__(work=lambda: None)
            self.planted = left.pop(0)

        def look(self):
            self.reference = self.planted

    monkeypatch.setattr(study_checks, "CoreSeconds", Planted)
    if refused:
        with pytest.raises(AssertionError, match=r"took 98\.0 core-seconds"):
            check_control(coin(), "fair", 1)
    else:
        assert check_control(coin(), "fair", 1) == took[-1]
    assert not left


def test_slack_multiplies_the_limits(monkeypatch):
    monkeypatch.setattr(study_checks, "CONTROL_SECONDS", 1e-9)
    with pytest.raises(AssertionError, match="core-seconds"):
        check_control(coin(), "fair", 1)
    check_control(coin(), "fair", 1, slack=1e12)
