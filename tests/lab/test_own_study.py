"""A study of the user's own, by where it is; plug-ins of installed packages; and runs that are only counted."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from recombine.cli import main
from recombine.errors import UserError
from recombine.lab import own
from recombine.lab.own import own_study
from recombine.registry import Registry

COIN = """
import recombine as rc
from recombine.trials import Measured


def toss(spec, context):
    return Measured([{"reading": "toss", "value": spec["seed"] + spec["options"]["bias"]}], {"seconds": 0.0})


study = rc.Study(
    id="own-coin", title="Coin", question="Is it biased?", source="nobody", options={"bias": 1.0}, measure=toss,
    claims=[rc.Claim("biased", lambda t: t.value.mean(), rc.at_least(0), "It is", "fair", "mean")],
    controls={"fair": {"bias": -9.0}},
)
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "coin.py").write_text(COIN)
    package = tmp_path / "my_own_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "tossed.py").write_text(COIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    return tmp_path


def run(*words):
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    return ended.value.code


@pytest.mark.parametrize("where", ["./coin.py:study", "my_own_package.tossed:study"])
@pytest.mark.parametrize("engine", ["inprocess", "local:1"])
def test_a_study_of_ones_own_runs_here_and_in_workers(here, capsys, where, engine):
    assert run("run", where, "--scale", "smoke", "--out", "coin-run", "--engine", engine, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["study"] == "own-coin" and found["verdicts"][0]["verdict"] == "open"  # 1, 2, 3, 4: a wide interval
    assert found["verdicts"][0]["value"] == 2.5
    assert run("report", "coin-run", "--study", where) == 0
    assert run("status", "coin-run", "--study", where, "--json") == 0


def test_a_study_of_ones_own_is_shown_as_any_other(here, capsys):
    assert run("show", "./coin.py:study") == 0
    shown = capsys.readouterr().out
    assert "Is it biased?" in shown and "options.bias" in shown


def test_a_study_of_ours_may_be_named_by_its_module(here):
    assert own_study("recombine.studies.redhardt2025.supports:study").id == "supports"


def test_an_option_that_the_study_does_not_have_cannot_be_set(here, capsys):
    """Its `measure` would not read it, and the run would be the usual one under another name."""
    assert run("run", "./coin.py:study", "--set", "options.biass=3", "--dry-run") == 2
    assert re.search("'options.biass'.*'options.bias'", capsys.readouterr().err)
    assert run("run", "./coin.py:study", "--set", "options.bias=3", "--dry-run") == 0


def test_what_the_environment_says_of_kept_nets_is_refused_before_any_cell(here, monkeypatch, capsys):
    monkeypatch.setenv("RECOMBINE_NETS", "lots")
    assert run("run", "./coin.py:study", "--scale", "smoke", "--out", "coin-run", "--engine", "inprocess") == 2
    assert "RECOMBINE_NETS='lots'" in capsys.readouterr().err and not (here / "coin-run").exists()


def test_a_store_of_an_own_study_does_not_make_us_import_it(here, capsys):
    run("run", "./coin.py:study", "--scale", "smoke", "--out", "coin-run", "--engine", "inprocess")
    capsys.readouterr()
    assert run("report", "coin-run") == 2
    assert "'own-coin'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "value", "remedy"),
    [
        ("x = (\n", "coin.py, line 1", "never closed"),
        ("import no_such_thing\n", "coin.py, line 1", "no_such_thing"),
        ("\n\n1 / 0\n", "coin.py, line 3", "ZeroDivisionError"),
        ("import sys\nsys.exit(3)\n", "coin.py", "ends the process"),
        (COIN.replace("study = rc", "stuyd = rc"), "'study'", "'stuyd'"),
        ("study = 3\n", "is a int", "no study"),
        (COIN.replace("claims=[", "claims=[] and ["), "'own-coin' has no claims", "control"),
        (COIN.replace('"It is", "fair", "mean"', '"It is", description="mean"'), "'biased' of 'own-coin'", "same-arms"),
        (
            COIN.replace('options={"bias"', 'vary={"optoins.bias": [1]}, options={"bias"'),
            "'optoins.bias'",
            "'options.bias'",
        ),
        (
            COIN.replace('options={"bias"', 'vary={"options.biass": [1]}, options={"bias"'),
            "'options.biass'",
            "'options.bias'",
        ),
        (COIN.replace('"It is", "fair"', '"It is", "unfair"'), "'unfair'", "fair"),
        (COIN.replace('{"bias": -9.0}', '{"control": "same-arm"}'), "'same-arm'", "'same-arms'"),
        (COIN.replace('{"bias": -9.0}', '{"biass": -9.0}'), "'biass'", "'bias'"),
        (COIN.replace('id="own-coin"', 'id="supports"'), "'supports'", "'my-supports'"),
    ],
)
def test_what_is_wrong_with_a_study_file_is_said_in_a_sentence(here, text, value, remedy):
    (here / "coin.py").write_text(text)
    with pytest.raises(UserError) as refused:
        own_study("./coin.py:study")
    assert value in str(refused.value) and remedy in str(refused.value)


@pytest.mark.parametrize("where", ["./uses.py:study", "uses:study", "of_mine.uses:study"])
@pytest.mark.parametrize(("text", "value"), [("\n1 / 0\n", "ZeroDivisionError"), ("x = (\n", "never closed")])
def test_the_file_and_line_are_those_of_the_users_own_file_that_is_wrong(here, monkeypatch, where, text, value):
    for folder in (here, here / "of_mine"):
        folder.mkdir(exist_ok=True)
        (folder / "uses.py").write_text("import a_part_of_mine\n")
    (here / "a_part_of_mine.py").write_text(text)
    monkeypatch.delitem(sys.modules, "uses", raising=False)
    with pytest.raises(UserError) as refused:
        own_study(where)
    line = 1 if "never" in value else 2
    assert f"{here / 'a_part_of_mine.py'}, line {line}" in str(refused.value) and value in str(refused.value)


def test_a_file_that_is_not_there_and_a_word_without_a_name_are_refused(here, capsys):
    assert run("run", "./nothing.py:study") == 2
    assert "nothing.py" in capsys.readouterr().err
    assert run("run", "no_package_of_mine.at_all:study") == 2
    assert "no_package_of_mine" in capsys.readouterr().err
    with pytest.raises(UserError, match=r"'coin:'.*\./file\.py:study"):
        own_study("coin:")


def test_what_a_study_prints_when_it_is_imported_stays_off_stdout(here, capsys):
    (here / "coin.py").write_text("print('hello')\n" + COIN)
    own_study("./coin.py:study")
    out, err = capsys.readouterr()
    assert out == "" and "hello" in err and "coin.py" in err


def test_an_import_that_does_not_end_is_ended(here, monkeypatch):
    (here / "coin.py").write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(own, "IMPORT_SECONDS", 0.2)
    with pytest.raises(UserError, match=r"coin\.py was not imported within 0\.2 s.*measure"):
        own_study("./coin.py:study")


def test_the_tutorial_runs_as_it_is_written(here, capsys):
    text = (Path(__file__).parents[2] / "docs" / "tutorials" / "your-own-study.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(code.splitlines()) <= 40
    (here / "coverage.py").write_text(code)
    assert run("run", "./coverage.py:study", "--scale", "smoke", "--out", "r", "--engine", "local:1", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["study"] == "coverage" and found["verdicts"][0]["seeds"] == 4
    assert run("run", "./coverage.py:study", "--scale", "night", "--dry-run", "--json", "--seeds", "6") == 0
    counted = json.loads(capsys.readouterr().out)
    assert counted["cells"] == 12 and counted["hours"] == pytest.approx(6 / 4 * 5 / 60)
    assert run("run", "./coverage.py:study", "--set", "held_out=.2,.4", "width=8", "--dry-run", "--json") == 0
    assert json.loads(capsys.readouterr().out)["hours"] == pytest.approx(0.5 / 60 / 8**2)


def test_a_dry_run_counts_and_runs_nothing(here, capsys):
    assert run("run", "./coin.py:study", "--scale", "smoke", "--seeds", "7", "--out", "coin-run", "--dry-run") == 0
    assert "8 cells" in capsys.readouterr().out and not (here / "coin-run").exists()
    run("run", "./coin.py:study", "--scale", "smoke", "--seeds", "3", "--out", "coin-run", "--engine", "inprocess")
    capsys.readouterr()
    run("run", "./coin.py:study", "--scale", "smoke", "--seeds", "7", "--out", "coin-run", "--dry-run", "--json")
    found = json.loads(capsys.readouterr().out)
    assert (found["cells"], found["done"]) == (8, 3)


def test_a_dry_run_of_a_registered_study_knows_what_nets_take(capsys):
    assert run("run", "phase", "--dry-run", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["cells"] == 120 and found["megabytes"] > 120 * 0.06


# -- plug-ins -----------------------------------------------------------------------------------------------------


class Point:
    """An entry point of somebody's package."""

    def __init__(self, name, thing):
        self.name, self.value, self.thing = name, f"package:{name}", thing

    def load(self):
        print(f"{self.name} is imported")
        if isinstance(self.thing, BaseException):
            raise self.thing
        return self.thing


@pytest.fixture
def registry(monkeypatch):
    points = [
        Point("theirs", "a thing"),
        Point("broken", ImportError("no module named torch")),
        Point("ending", SystemExit(3)),
        Point("number", 3),
        Point("ours", "a shadow"),
    ]
    monkeypatch.setattr("recombine.registry.entry_points", lambda group: points if group == "recombine.things" else [])
    found = Registry("thing", plugins="recombine.things")
    found.plugins_unfit(lambda name, thing: "" if isinstance(thing, str) else "it is no text")
    found.register("ours")("our own")
    return found


def test_a_plug_in_is_loaded_when_it_is_looked_for_and_the_others_are_named(registry):
    assert registry["ours"] == "our own"  # nothing of others is imported for what is ours
    with pytest.warns(UserWarning) as said:
        assert registry["theirs"] == "a thing"
    texts = [str(one.message) for one in said]
    for plugin, why in [("broken", "torch"), ("ending", "SystemExit"), ("number", "no text"), ("ours", "name of ours")]:
        assert any(f"'package:{plugin}'" in text and why in text for text in texts)
    assert registry["ours"] == "our own" and list(registry) == ["ours", "theirs"]


def test_a_plug_in_is_listed_with_the_others(registry):
    with pytest.warns(UserWarning):
        assert set(registry) == {"ours", "theirs"} and len(registry) == 2
    with pytest.raises(UserError, match="'their'.*'theirs'"):
        registry["their"]


def test_what_a_plug_in_prints_stays_off_stdout(registry, capsys):
    with pytest.warns(UserWarning):
        registry["theirs"]
    out, err = capsys.readouterr()
    assert out == "" and "theirs is imported" in err


def installed(folder, entry_points):
    """A package as pip leaves it, and the environment of a process that sees it."""
    (folder / "coin_package.py").write_text(COIN)
    info = folder / "coin_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: coin-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[recombine.studies]\n{entry_points}\n")
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path}


def test_an_installed_package_adds_a_study(tmp_path):
    script = tmp_path / "listed.py"
    script.write_text(
        textwrap.dedent("""
        from recombine.studies import registry
        print(registry["own-coin"].title, "own-coin" in list(registry))
        """)
    )
    environment = installed(tmp_path, "own-coin = coin_package:study")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == "Coin True", done.stderr


@pytest.mark.parametrize(
    ("entry_point", "why"),
    [
        ("another-name = coin_package:study", "its id is 'own-coin'"),
        ("own-coin = coin_package:toss", "it is a function and no study"),
        ("supports = coin_package:study", "'supports' is a name of ours"),
    ],
)
def test_a_plug_in_that_is_no_study_of_its_name_is_left_out(tmp_path, entry_point, why):
    command = [sys.executable, "-m", "recombine", "list", "studies"]
    done = subprocess.run(command, capture_output=True, text=True, env=installed(tmp_path, entry_point))
    assert done.returncode == 0 and why in done.stderr and "Coin" not in done.stdout
