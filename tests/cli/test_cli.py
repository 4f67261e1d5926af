"""The command line as a stranger uses it: right and wrong."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from recombine.cli import main
from recombine.cli.entry import COMMANDS
from recombine.context import Measured
from recombine.lab.study import Study
from recombine.lab.verdicts import Claim, at_least
from recombine.registry import Registry

TINY = ("--set", "support=random,missing", "steps=30", "modules=6", "at_most=2", "width=16")


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    out, err = capsys.readouterr()
    code = ended.value.code
    return int(code) if code else 0, out, err


def test_list_names_everything_with_one_line(capsys):
    code, out, _ = run(capsys, "list")
    assert code == 0
    for word in (
        "studies",
        "supports",
        "hyperteacher-v1",
        "mlp",
        "orthogonal",
        "disconnected",
        "decodability",
        "rotation-v1",
        "sinusoidal",
        "bumps-and-stripes",
    ):
        assert word in out
    code, out, _ = run(capsys, "list", "nets")
    assert code == 0 and "mlp" in out and "hyperteacher" not in out


@pytest.mark.filterwarnings("always:.*store format 1:UserWarning")
def test_the_same_warning_from_several_places_is_one_sentence(capsys):
    golden = Path(__file__).parents[1] / "golden" / "store-format-1"  # which `status` opens more than once
    for _ in range(2):  # by every command again
        code, _, err = run(capsys, "status", str(golden))
        assert code == 0 and err.count("is of store format 1: it can be looked at, and not be continued") == 1


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_has_every_command_with_what_it_does(capsys, word):
    code, out, _ = run(capsys, word)
    assert code == 0 and max(map(len, out.splitlines())) <= 120
    for name in COMMANDS:
        (line,) = (line for line in out.splitlines() if line.startswith(f"  {name} "))
        assert len(line.split()) > 3


def test_an_unknown_command_is_refused_with_the_near_one(capsys):
    code, _, err = run(capsys, "splitt")
    assert code == 2 and "'split'" in err and err.count("\n") == 1


def test_show_prints_claims_thresholds_sources_grid_settings_and_time(capsys):
    from recombine.studies import registry

    code, out, _ = run(capsys, "show", "supports")
    assert code == 0
    study = registry["supports"]
    for claim in study.claims:
        assert claim.id in out and f"{claim.side} {claim.threshold:g}" in out.replace("\n", " ")
    for name in study.settings("laptop"):
        assert name == "scale" or name in out
    assert "arXiv" in out and study.running_time("paper") in out and study.running_time("night") in out


def test_run_writes_a_report_and_prints_its_path(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "run", "supports", "--scale", "smoke", "--seeds", "1", "--engine", "inprocess", *TINY)
    assert code == 0 and "open" in out
    page = Path(out.strip().splitlines()[-1].removeprefix("report: "))
    assert page.exists() and page.parent.parent == Path("runs") and "<html" in page.read_text()
    assert "[2/2]" in err
    before = page.read_bytes()
    page.unlink()
    code, out, _ = run(capsys, "report", str(page.parent))
    assert code == 0 and len(page.read_bytes()) == len(before)


def test_json_is_one_object_and_nothing_else(capsys, tmp_path):
    code, out, _ = run(
        capsys,
        "run",
        "supports",
        "--scale",
        "smoke",
        "--seeds",
        "1",
        "--engine",
        "inprocess",
        "--json",
        "--out",
        str(tmp_path / "a b"),
        *TINY,
    )
    found = json.loads(out)
    assert code == 0 and list(found) == ["study", "scale", "verdicts", "changed_claims", "out"]
    assert found["study"] == "supports" and found["scale"] == "smoke" and found["out"] == str(tmp_path / "a b")
    for verdict in found["verdicts"]:
        shown = {"claim", "text", "side", "threshold", "verdict", "value", "interval", "effect", "seeds", "on_side"}
        assert shown | {"e_value", "survives", "why", "would_decide", "by_seed"} <= set(verdict)
        assert verdict["verdict"] == "open" and verdict["why"]


def toss(name: str, ran: list[str], reads: tuple[str, ...] = (), broken: bool = False) -> Study:
    """A study that costs nothing: the value of a cell is its seed."""

    def measure(spec, context):
        ran.append(name)
        if broken:
            raise RuntimeError("the coin broke")
        return Measured([{"reading": "toss", "value": spec["seed"] + spec["options"]["bias"]}], {"seconds": 0.0})

    return Study(
        id=name,
        title="Toss",
        question="Heads?",
        source="nobody",
        options={"bias": 1.0},
        claims=[Claim("heads", lambda t: t.value.mean(), at_least(0), "It is", "fair", description="mean")],
        controls={"fair": {"bias": -9.0}},
        depends_on=reads,
        measure=measure,
    )


def several(monkeypatch, **broken: bool) -> list[str]:
    """Three studies of which the first reads the others; returns what will have run."""
    ran: list[str] = []
    found = Registry("study")
    for name, reads in (("reader", ("one", "two")), ("one", ()), ("two", ())):
        found.register(name)(toss(name, ran, reads, broken.get(name, False)))
    monkeypatch.setattr("recombine.studies.registry", found)
    return ran


def test_run_all_takes_readers_last_continues_and_sums_up(capsys, tmp_path, monkeypatch):
    ran = several(monkeypatch)
    everything = ("run", "all", "--scale", "smoke", "--engine", "inprocess", "--out", str(tmp_path))
    code, out, _ = run(capsys, *everything)
    assert code == 0 and ran == ["one"] * 4 + ["two"] * 4 + ["reader"] * 4
    assert out.count("report: ") == 3 and "all studies" in out
    assert {path.name for path in tmp_path.iterdir()} == {"one-smoke", "two-smoke", "reader-smoke"}
    code, out, _ = run(capsys, *everything, "--json")
    found = json.loads(out)
    assert code == 0 and len(ran) == 12, "finished cells ran again"
    assert [one["study"] for one in found["studies"]] == ["one", "two", "reader"]


def test_a_dry_run_of_all_writes_nothing(capsys, tmp_path, monkeypatch):
    ran = several(monkeypatch)
    code, out, _ = run(capsys, "run", "all", "--scale", "smoke", "--dry-run", "--out", str(tmp_path / "all"))
    assert code == 0 and not ran and not list(tmp_path.iterdir())
    assert [line.split(" at ")[0] for line in out.splitlines()] == ["one", "two", "reader"]


def test_run_all_refuses_before_it_starts(capsys, tmp_path, monkeypatch):
    ran = several(monkeypatch)
    code, _, err = run(capsys, "run", "all", "--set", "bias=2")
    assert code == 2 and "--set bias changes one study" in err
    here = ("--scale", "smoke", "--engine", "inprocess")
    run(capsys, "run", "reader", *here, "--out", str(tmp_path / "reader-smoke"), "--set", "bias=2")
    ran.clear()
    code, _, err = run(capsys, "run", "all", *here, "--out", str(tmp_path))
    assert code == 2 and "holds another run" in err and not ran


def test_failed_cells_are_kept_shown_and_tried_again(capsys, tmp_path, monkeypatch):
    place = str(tmp_path / "s")
    ran = several(monkeypatch, one=True)
    here = ("--scale", "smoke", "--engine", "inprocess", "--out", place)
    code, _, err = run(capsys, "run", "one", *here)
    assert code == 3 and "recombine retry" in err and len(ran) == 4
    code, out, _ = run(capsys, "status", place)
    assert code == 0 and "0 of 4 done, 0 running, 4 failed, 0 left" in out and "the coin broke" in out
    code, out, _ = run(capsys, "status", place, "--json", "--watch")
    assert code == 0 and json.loads(out)["failed"] == 4
    code, _, _ = run(capsys, "retry", place, "--engine", "inprocess")
    assert code == 3 and len(ran) == 8
    ran = several(monkeypatch)
    code, out, _ = run(capsys, "retry", place, "--all", "--engine", "inprocess", "--json")
    assert code == 0 and len(ran) == 4 and json.loads(out)["out"] == place
    assert "4 of 4 done" in run(capsys, "status", place)[1] and not list((tmp_path / "s" / "failures").iterdir())


def test_run_all_goes_on_after_a_failure_and_says_so(capsys, tmp_path, monkeypatch):
    ran = several(monkeypatch, one=True)
    code, _, err = run(capsys, "run", "all", "--scale", "smoke", "--engine", "inprocess", "--out", str(tmp_path))
    assert code == 3 and "the coin broke" in err and ran.count("two") == ran.count("reader") == 4


def test_certify_prints_a_certificate(capsys):
    code, out, _ = run(capsys, "certify", "missing", "--modules", "16", "--at-most", "3")
    assert code == 0 and "trained 575, held out 121" in out and "never trained: m15" in out
    code, out, _ = run(capsys, "certify", "random", "--factors", "color=red,green", "shape=3", "--json")
    assert code == 0 and json.loads(out)["combinations"] == 6
    code, out, _ = run(capsys, "certify", "disconnected", "--modules", "6", "--at-most", "2", "--blocks", "2", "4")
    assert code == 0 and "cross-block: 8 held out" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("show", "suports"), "did you mean 'supports'"),
        (("run", "suport"), "did you mean 'supports'"),
        (("list", "study"), "studies"),
        (("run", "supports", "--set", "widht=3"), "did you mean 'width'"),
        (("run", "supports", "--set", "width"), "name=value"),
        (("run", "supports", "--set", "width=wide"), "width='wide'"),
        (("run", "supports", "--set", "width=3", "width=4"), "twice"),
        (("run", "supports", "--set", "support=random,magic"), "magic"),
        (("run", "supports", "--set", "schedule=cosin"), "cosine"),
        (("run", "supports", "--set", "at_most=99"), "at_most=99"),
        (("run", "supports", "--set", "held_out=0"), "held_out=0"),
        (("run", "supports", "--set", "held_out=1"), "held_out=1"),
        (("run", "supports", "--set", "modules=1", "at_most=1"), "one"),
        (("run", "supports", "--set", "world=hyperteacher"), "hyperteacher-v1"),
        (("run", "supports", "--set", "encoding=idenity"), "'identity'"),
        (("run", "supports", "--set", "support=random,random"), "twice"),
        (("run", "supports", "--set", "support="), "empty"),
        (("run", "supports", "--set", "learning_rate=inf"), "learning_rate='inf'"),
        (("run", "supports", "--engine", "local:²"), "unknown engine"),
        (("run", "supports", "--out", "x" * 300), "too long"),
        (("run", "supports", "--seeds", "0"), "seeds=0"),
        (("run", "supports", "--engine", "cloud"), "unknown engine"),
        (("run", "supports", "--cell-timeout", "0"), "cell-timeout"),
        (("run", "supports", "--cell-memory", "much"), "4G"),
        (("run", "supports", "--engine", "inprocess", "--cell-timeout", "3"), "need processes"),
        (("report", "nowhere"), "store.json"),
        (("status", "nowhere"), "store.json"),
        (("retry", "nowhere"), "store.json"),
        (("retry", "nowhere", "--failed", "--all"), "not both"),
        (("bench", "--engine", "cloud"), "unknown engine"),
        (("bench", "--part", "convolutions", "--engine"), "give one of them"),
        (("certify", "random"), "--modules"),
        (("certify", "randm", "--modules", "4", "--at-most", "2"), "'random'"),
        (("certify", "random", "--modules", "4", "--at-most", "9"), "at_most=9"),
        (("certify", "random", "--modules", "4", "--at-most", "2", "--held-out", "0"), "nearest found"),
        (("certify", "random", "--modules", "4", "--at-most", "2", "--held-out", "1"), "nearest found"),
        (("certify", "random", "--modules", "1", "--at-most", "1"), "cannot be split"),
        (("certify", "random", "--modules", "4", "--at-most", "2", "--within", ".1"), "--within does not apply"),
        (("certify", "missing", "--modules", "4", "--at-most", "2", "--elements", "m9"), "m9"),
        (("certify", "random", "--factors", "color=2", "--modules", "3"), "not both"),
        (("bench", "--repeats", "0"), "repeats=0"),
        (("run", "supports", "--seeds", "99999999999", "--dry-run"), "at most 10000"),
        (("run", "./study.json:study"), "./file.py:study"),
        (("run", "a:b:c"), "./file.py:study"),
        (("certify", "random", "--factors", "color=99999999999"), "at most 100000"),
        (("certify", "random", "--modules", "99999999999", "--at-most", "2"), "at most 100000"),
        (("export", "hyperteacher-v1", "--set", "modules=99999999999"), "at most 100,000"),
        (("export", "hyperteacher-v1", "--set", "modules=" + "9" * 400), "at most 100,000"),
        (("export", "hyperteacher-v1", "--set", "samples=4", "modules=nan"), "modules='nan'"),
        (("show-item", "scan-v1", "--beam", "0"), "beam=0"),
        (("show-item", "scan-v1", "--beam", "3"), "--net"),
        (("report", "nowhere", "--width", "nan"), "--chart"),
        (("report", "nowhere", "--width", "text", "--chart", "list"), "--chart"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(capsys, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *arguments)
    assert code == 2 and out == ""
    assert err.startswith("recombine: ") and err.count("\n") == 1 and words in err
    assert list(tmp_path.iterdir()) == [], "bad input must not leave anything behind"


@pytest.mark.parametrize(
    "problem",
    [MemoryError(), RuntimeError("INTERNAL: Error: Out of memory allocating 64 bytes."), ValueError("a fault of ours")],
    ids=["of Python", "of jax", "another"],
)
def test_memory_that_is_not_there_is_one_sentence_and_other_faults_are_not_hidden(capsys, monkeypatch, problem):
    def fails(*_):
        raise problem

    monkeypatch.setattr("recombine.cli.certify_command.certify", fails)
    if isinstance(problem, ValueError):
        with pytest.raises(ValueError, match="a fault of ours"):
            run(capsys, "certify")
        return
    code, out, err = run(capsys, "certify")
    assert (code, out) == (2, "") and "more memory than there is" in err and err.count("\n") == 1


def test_unknown_commands_and_flags_exit_with_2(capsys):
    for arguments in (("rnu",), ("run", "supports", "--scael", "smoke")):
        assert run(capsys, *arguments)[0] == 2


def test_an_output_folder_that_cannot_be_written_is_one_sentence(capsys, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        code, _, err = run(capsys, "run", "supports", "--scale", "smoke", "--out", str(out), *TINY)
        assert code == 2 and err.count("\n") == 1 and str(out) in err
    if os.getuid() != 0:  # root may write anywhere
        (tmp_path / "locked").mkdir()
        (tmp_path / "locked").chmod(stat.S_IRUSR | stat.S_IXUSR)
        code, _, err = run(
            capsys, "run", "supports", "--scale", "smoke", "--out", str(tmp_path / "locked" / "x"), *TINY
        )
        assert code == 2 and err.count("\n") == 1


def test_module_and_script_are_the_same_program_on_a_narrow_pipe():
    environment = os.environ | {"COLUMNS": "40"}
    script = Path(sys.executable).with_name("recombine")
    outputs = [
        subprocess.run([*command, "show", "supports"], capture_output=True, text=True, env=environment)
        for command in ([sys.executable, "-m", "recombine"], [str(script)])
    ]
    assert outputs[0].stdout == outputs[1].stdout and all(o.returncode == 0 and not o.stderr for o in outputs)
    assert max(map(len, outputs[0].stdout.splitlines())) <= 40
