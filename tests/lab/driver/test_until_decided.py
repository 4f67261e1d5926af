"""Until decided: which claims get more seeds, what is said, and that the order of looks changes no verdict."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recombine as rc
from recombine.cli import main
from recombine.context import Measured
from recombine.lab.boundaries import LOOKS
from recombine.lab.driver import run as driver
from recombine.lab.driver.run import run_study
from recombine.lab.driver.until_decided import Budget, fed_run, possible_looks, until_decided
from recombine.lab.reopening import Run, reopen
from recombine.lab.study import Study
from recombine.lab.verdicts import Claim, at_least

MEANS = {"clear": 3.0, "small": 0.8, "none": 0.0}


def side(name: str) -> Any:
    return lambda part: part.where(side=name).value.mean()


def noisy(ran: list[Any] | None = None, broken: Any = (), threshold: float = 0.0, stopped: Any = None) -> Study:
    """Three sides with means 3, .8 and 0 of standard normal readings; a claim about each, which reads nothing else."""

    def measure(spec: Any, context: Any) -> Measured:
        name, seed = spec["at"]["side"], spec["seed"]
        if ran is not None:
            ran.append((name, seed))
        if (name, seed) in broken:
            raise RuntimeError("it broke")
        if (name, seed) == stopped:
            raise KeyboardInterrupt
        drawn = np.random.default_rng([seed, len(name)]).standard_normal()
        return Measured([{"reading": "toss", "value": MEANS[name] + float(drawn)}], {"seconds": 1.0})

    return Study(
        id="noisy",
        title="t",
        question="q",
        source="s",
        options={"side": "clear"},
        vary={"options.side": list(MEANS)},
        claims=[
            Claim(name, side(name), at_least(threshold), name, "none", description="mean", needs={"side": [name]})
            for name in MEANS
        ],
        controls={"none": {}},
        measure=measure,
    )


def outcomes(result: Any) -> dict[str, tuple[str, int]]:
    return {verdict.claim.id: (verdict.outcome, verdict.decided_at) for verdict in result.verdicts}


def test_only_trials_that_open_claims_read_get_new_seeds(tmp_path):
    ran: list[Any] = []
    result = run_study(noisy(ran), "smoke", out=tmp_path / "s", until_decided=True, quiet=True)
    seeds = {name: max(seed for one, seed in ran if one == name) + 1 for name in MEANS}
    assert seeds["clear"] == 4 and seeds["small"] in LOOKS and seeds["none"] in LOOKS
    assert len(ran) == len(set(ran)) == len(result.records) == result.extent.total
    assert result.extent.complete and result.extent.seeds == 4 and result.extent.most_seeds == max(seeds.values())
    assert "--until-decided" in result.command
    (undecided,) = [verdict for verdict in result.verdicts if verdict.claim.id == "none"]
    assert undecided.hopeless and seeds["none"] < LOOKS[-1] and "seeds will not decide" in undecided.would_decide
    for verdict in result.verdicts:
        assert verdict.outcome != "open" or verdict.hopeless or verdict.judgement.n == LOOKS[-1]


def test_the_same_command_goes_on_and_what_is_stored_is_read_alike(tmp_path):
    ran: list[Any] = []
    first = run_study(noisy(ran), "smoke", out=tmp_path / "s", until_decided=True, quiet=True)
    there = len(ran)
    again = run_study(noisy(ran), "smoke", out=tmp_path / "s", until_decided=True, quiet=True)
    opened = reopen(tmp_path / "s", {"noisy": noisy()})
    assert len(ran) == there and first.to_json() == again.to_json() == opened.to_json()
    assert opened.extent == first.extent and opened.fed == first.fed
    plain = run_study(noisy(ran), "smoke", out=tmp_path / "s", quiet=True)
    assert len(ran) == there and plain.to_json() == first.to_json(), "what was fed stays part of it"
    unstored = run_study(noisy(), "smoke", until_decided=True, quiet=True)
    assert outcomes(unstored) == outcomes(first) and len(unstored.records) == there


def alone(name: str, seeds: int) -> tuple[str, int]:
    """The verdict of one claim over so many seeds, judged at once."""
    values = [MEANS[name] + float(np.random.default_rng([seed, len(name)]).standard_normal()) for seed in range(seeds)]
    judged = rc.verdict(values, at_least=0.0)
    return judged.outcome, judged.decided_at


@given(st.lists(st.tuples(st.sampled_from(list(MEANS)), st.integers(0, 5)), max_size=6), st.booleans())
@settings(deadline=None, max_examples=12)
def test_any_order_of_looks_budgets_and_restarts_gives_the_same_verdicts(tmp_path_factory, order, stored):
    """Claims are fed in any order, by several commands: each has the verdict of its own seeds judged at once."""
    place = tmp_path_factory.mktemp("s") / "s" if stored else None
    run = driver.prepare(noisy(), "smoke", 4, None, place)
    compute = driver._OneAfterAnother(driver.parse_engine("inprocess"), True)
    result = compute(run, None)
    for name, look in order:
        if LOOKS[look] > max(run.seeds, run.fed.get(name, 0)):
            found = [one for one in possible_looks(run, result) if one.claim == name]
            for one in found[:1]:
                run = fed_run(run, one)
                result = compute(run, None)
        if place is not None:  # a restart: what is wanted follows from the store
            run = driver.prepare(noisy(), "smoke", 4, None, place)
            compute = driver._OneAfterAnother(driver.parse_engine("inprocess"), True)
    for verdict in result.verdicts:
        name = verdict.claim.id
        assert (verdict.outcome, verdict.decided_at) == alone(name, max(4, run.fed.get(name, 0)))


class Clock:
    """A clock that a test moves."""

    def __init__(self):
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_no_look_is_begun_that_the_budget_does_not_hold_and_what_is_left_is_said(tmp_path, capsys):
    """Each cell says that it took a second: with four to spend, two looks of two cells each can be begun."""
    clock = Clock()
    run = driver.prepare(noisy(), "smoke", 4, None, tmp_path / "s")
    inner = driver._OneAfterAnother(driver.parse_engine("inprocess"), True)

    def compute(wanted: Run, limit: Budget | None) -> Any:
        clock.now += 2.0 if limit is not None else 0.0
        return inner(wanted, None)

    result = until_decided(run, compute, Budget.from_now(4.0, clock))
    assert sum(n - 4 for n in result.fed.values()) == 4 and clock.now == 4.0
    printed = capsys.readouterr().err
    assert "claims: 1 decided, 2 open" in printed and "feeding" in printed and "the budget is used up" in printed


def test_a_budget_that_ends_within_a_look_keeps_what_is_there(tmp_path):
    clock, ran = Clock(), []
    run = driver.prepare(noisy(ran), "smoke", 4, None, tmp_path / "s")
    inner = driver._OneAfterAnother(driver.parse_engine("inprocess"), True)

    def compute(wanted: Run, limit: Budget | None) -> Any:
        clock.now += 9.0 if limit is not None else 0.0  # time passes before the first cell of the look
        return inner(wanted, limit)

    stopped = until_decided(run, compute, Budget.from_now(5.0, clock), quiet=True)
    assert not stopped.extent.complete and stopped.extent.done == 12 and len(stopped.fed) == 1
    went_on = run_study(noisy(), "smoke", out=tmp_path / "s", until_decided=True, quiet=True)
    assert went_on.extent.complete
    assert outcomes(went_on) == outcomes(run_study(noisy(), "smoke", until_decided=True, quiet=True))


def test_a_cell_that_fails_blocks_its_claim_and_no_other_and_is_tried_once(tmp_path):
    ran: list[Any] = []
    result = run_study(noisy(ran, broken=[("small", 4)]), "smoke", out=tmp_path / "s", until_decided=True, quiet=True)
    found = {verdict.claim.id: verdict for verdict in result.verdicts}
    assert found["small"].outcome == "open" and "seed 4" in found["small"].why and "no record" in found["small"].why
    assert ran.count(("small", 4)) == 1 and len(result.failures) == 1
    assert found["none"].judgement.n > 4
    mended = run_study(noisy(), "smoke", out=tmp_path / "s", until_decided=True, quiet=True)
    assert outcomes(mended) == outcomes(run_study(noisy(), "smoke", until_decided=True, quiet=True))


def test_ctrl_c_within_a_look_keeps_what_is_there_and_the_same_command_goes_on(tmp_path):
    ran: list[Any] = []
    with pytest.raises(KeyboardInterrupt):
        run_study(noisy(ran, stopped=("small", 5)), "smoke", out=tmp_path / "s", until_decided=True, quiet=True)
    assert ran[-1] == ("small", 5)
    kept = reopen(tmp_path / "s", {"noisy": noisy()})
    assert kept.fed["small"] > 4 and kept.extent.done == len(ran) - 1 > 12
    before = len(ran)
    went_on = run_study(noisy(ran), "smoke", out=tmp_path / "s", until_decided=True, quiet=True)
    assert not set(ran[before:]) & set(ran[: before - 1]), "nothing is computed twice"
    assert outcomes(went_on) == outcomes(run_study(noisy(), "smoke", until_decided=True, quiet=True))


# -- looks, and claims that change ------------------------------------------------------------------------------------
@pytest.mark.parametrize("asked, run_to", [(1, 1), (2, 2), (3, 3), (5, 6), (7, 8), (64, 64)])
def test_seeds_run_to_the_next_look_and_say_so(asked, run_to):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = driver.prepare(noisy(), "smoke", asked, None, None)
    assert run.seeds == run_to and len(run.cells) == 3 * run_to
    assert [str(run_to) in str(one.message) for one in caught] == ([True] if asked != run_to else [])


def test_a_claim_that_changed_after_seeds_were_seen_is_a_new_one_and_says_so(tmp_path):
    place = tmp_path / "s"
    run_study(noisy(), "smoke", out=place, quiet=True)
    changed = noisy(threshold=2.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        opened = reopen(place, {"noisy": changed})
    said = [str(one.message) for one in caught]
    assert len(said) == 3 and "'clear' changed after 4 seeds" in said[0] and "threshold 0.0 -> 2.0" in said[0]
    assert len(opened.changed_claims) == 3 and opened.to_json()["changed_claims"]
    with pytest.warns(UserWarning, match="new claim"):
        run_study(changed, "smoke", out=place, quiet=True)
    with pytest.warns(UserWarning, match="new claim"):
        later = reopen(place, {"noisy": changed})
    assert len(later.changed_claims) == 3, "it is not forgotten, and not said twice"
    from recombine.report import render

    assert "threshold 0.0 -&gt; 2.0" in render(later)


def test_a_changed_claim_says_how_many_seeds_it_had_been_fed(tmp_path):
    fed = run_study(noisy(), "smoke", out=tmp_path / "s", until_decided=True, quiet=True).fed
    with pytest.warns(UserWarning, match="new claim"):
        opened = reopen(tmp_path / "s", {"noisy": noisy(threshold=2.0)})
    assert fed and {one.claim: one.seeds for one in opened.changed_claims} == dict.fromkeys(MEANS, 4) | fed


@pytest.mark.parametrize(
    "words, named",
    [
        (("--until-decided", "--budget", "soon"), ["'soon'", "10m"]),
        (("--until-decided", "--budget=-1"), ["'-1'", "10m"]),
        (("--until-decided", "--budget", "0m"), ["'0m'", "10m"]),
        (("--budget", "10m"), ["--until-decided"]),
    ],
)
def test_budgets_that_are_none_are_refused_in_a_sentence(capsys, words, named):
    with pytest.raises(SystemExit) as refused:
        main(["run", "supports", "--scale", "smoke", *words])
    assert refused.value.code == 2
    said = capsys.readouterr().err
    assert all(one in said for one in named) and "Traceback" not in said


def test_a_store_with_nonsense_where_fed_claims_stand_is_read(tmp_path: Path):
    run_study(noisy(), "smoke", out=tmp_path / "s", quiet=True)
    marker = tmp_path / "s" / "store.json"
    about = json.loads(marker.read_text())
    for nonsense in ([], "many", {"clear": "six"}, {"clear": 10**9}, {"nobody": 6}, {"clear": True}):
        marker.write_text(json.dumps(about | {"fed": nonsense}))
        assert reopen(tmp_path / "s", {"noisy": noisy()}).fed == {}
