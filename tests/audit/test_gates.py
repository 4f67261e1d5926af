"""Gates: `--fail-if` fails on what is shown, and on nothing else."""

from __future__ import annotations

import json

import numpy as np
import pandas
import pytest
from scipy.stats import binom

import recombine as rc
from recombine.audit.gates import Gate, GateResult, gates_of
from recombine.audit.outcomes import Evaluated
from recombine.audit.pattern_rates import Share, exact_at, share
from recombine.cli import main


def frame(right_on_snow: int, n: int = 50) -> pandas.DataFrame:
    """Two weathers x two times with n answers each; on snow so many of 2 n are right, on sun all but one."""
    rows = [("snow", time, int(i < right_on_snow / 2)) for time in ("day", "night") for i in range(n)]
    rows += [("sun", time, int(i > 0 or time == "day")) for time in ("day", "night") for i in range(n)]
    return pandas.DataFrame(rows, columns=["weather", "time", "right"])


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("accuracy(weather=snow) < .9", True),
        ("accuracy(weather = snow & time in {day, night}) < 90 %", True),
        ("accuracy(weather=snow | weather=sun) < .9", True),
        ("accuracy() <= .9", True),
        ("accuracy(weather=sun) < .9", False),
        ("accuracy(weather=snow) < .5", False),
        ("accuracy(!weather=snow) > .9", True),
        ("accuracy(weather=snow) > .1", True),
        ("accuracy(weather=snow) >= .5", False),
    ],
)
def test_a_gate_fails_where_the_whole_interval_is_on_its_side(text, failed):
    audit = rc.audit(frame(50), ["weather", "time"], outcome="right", fail_if=text)
    (one,) = audit.gates
    assert one.failed is failed and audit.to_json()["gates"][0]["failed"] is failed
    assert ("FAILED" in str(one)) is failed


def test_it_is_the_upper_end_that_is_tested():
    """86 of 100 lie below .9, and are not shown to: the same share of 1,000 is."""
    few, many = (
        rc.audit(frame(86 * n // 50, n), ["weather", "time"], outcome="right", fail_if="accuracy(weather=snow) < .9")
        for n in (50, 500)
    )
    assert few.gates[0].found.right == many.gates[0].found.right == 0.86
    assert not few.gates[0].failed and "undecided" in str(few.gates[0]) and many.gates[0].failed


@pytest.mark.parametrize(("accuracy", "most"), [(0.9, 0.05), (0.95, 0.001)])
@pytest.mark.parametrize("n", [7, 40, 200, 1000])
def test_a_gate_fails_on_noise_as_rarely_as_said(accuracy, most, n):
    """Exact: the probability of an outcome of n answers whose upper end lies below .9. With Wilson's it is .067."""
    right = np.arange(n + 1)
    fails = exact_at(right / n, n, 0.9)[1] < 0.9
    assert binom.pmf(right, n, accuracy)[fails].sum() <= (most if n == 200 else 0.05)


def test_answers_on_one_combination_count_for_fewer():
    """Design effect by hand: 10 combinations of 20 answers with rho .1 are worth 200 / (1 + 19 x .1) answers."""
    evaluated = Evaluated(np.arange(10), np.full(10, 20.0), np.full(10, 15.0), np.ones(10, bool), False)
    everything = np.ones(10, bool)
    assert share(evaluated, everything, 0.1).effective == pytest.approx(200 / 2.9)
    assert share(evaluated, everything).effective == 200
    narrow, wide = share(evaluated, everything), share(evaluated, everything, 0.1)
    assert wide.low < narrow.low < 0.75 < narrow.high < wide.high
    nothing = share(evaluated, ~everything)
    assert nothing.n == 0 and (nothing.low, nothing.high) == (0, 1)


def test_a_pattern_without_answers_decides_nothing():
    gate = Gate("accuracy(a=b) < .9", "a=b", "<", 0.9)
    empty = Share(float("nan"), 0.0, 1.0, 0.0, 0.0, 0)
    assert not GateResult(gate, empty).failed and "no answer" in str(GateResult(gate, empty))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("accuracy(weather=snow)", "cannot be read"),
        ("accuracy(weather=snow) < x", "cannot be read"),
        ("__import__('os').system('true')", "cannot be read"),
        ("risk(weather=snow) < .5", "only accuracy"),
        ("accuracy(weather=snow) < 90", "above 1"),
        ("accuracy(weather=hail) < .9", "unknown level of 'weather'"),
        ("accuracy(wether=snow) < .9", "did you mean 'weather'"),
        ("accuracy(weather=) < .9", "where a level should be"),
        ("(" * 20_000, "cannot be read"),
    ],
)
def test_what_is_no_gate_is_one_sentence_and_exit_code_2(text, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame(50).to_csv("t.csv", index=False)
    with pytest.raises(SystemExit) as ended:
        main(["audit", "t.csv", "--factors", "weather,time", "--outcome", "right", "--fail-if", text])
    out, err = capsys.readouterr()
    assert ended.value.code == 2 and not out and words in err and err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_gates_need_answers():
    with pytest.raises(rc.UserError, match="--outcome"):
        rc.audit(frame(50), ["weather", "time"], fail_if="accuracy() < .9")
    assert gates_of(None) == [] and len(gates_of(["accuracy() < .9", "accuracy()>1"])) == 2
    for wrong in (3, [3]):
        with pytest.raises(rc.UserError, match="no condition"):
            gates_of(wrong)


def test_the_command_exits_with_1_and_says_why(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame(50).to_csv("t.csv", index=False)
    common = ["audit", "t.csv", "--factors", "weather,time", "--outcome", "right", "--fail-if"]
    for condition, code in (("accuracy(weather=snow) < .9", 1), ("accuracy(weather=snow) < .3", 0)):
        with pytest.raises(SystemExit) as ended:
            main([*common, condition, "--json"])
        out, err = capsys.readouterr()
        assert ended.value.code == code and ("FAILED" in err) == bool(code)
        assert json.loads(out)["gates"][0]["failed"] == bool(code)
    assert (tmp_path / "runs" / "audit-t" / "audit.html").exists()  # a gate that fails comes with its page
