"""Every registered study: at smoke scale, in its controls, with planted readings, and without a single record."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pandas
import pytest

from recombine import studies
from recombine.lab.reopening import Run, conclude
from recombine.lab.scales import SCALES
from recombine.report import render
from recombine.studies import registry
from recombine.testing import check_power, check_study

HERE = Path(__file__).parent
#: over all of them together the error of the controls is held
CONTROL_CLAIMS = sum(len(study.claims) for study in registry.values())
MOST_NIGHT_MINUTES = 600
#: seven studies have a control of 15 to 24 core-seconds where nothing was compiled before and another one runs beside
SLACK = 2.0


def planted() -> dict[str, dict[str, tuple]]:
    """Planted readings by study and claim, from all modules of tests/studies/planted."""
    found: dict[str, dict[str, tuple]] = {}
    for path in sorted((HERE / "planted").glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"planted_{path.stem}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for study, claims in module.PLANTED.items():
            found.setdefault(study, {}).update(claims)
    return found


PLANTED = planted()
CLAIMS = [(name, claim) for name, claims in PLANTED.items() for claim in claims]


@pytest.mark.studies
@pytest.mark.parametrize("name", registry)
def test_it_holds_what_a_study_must_at_smoke_scale_and_in_its_controls(name, monkeypatch, record_property):
    # decided by a trial of speed elsewhere: no verdict may depend on how busy the machine is
    monkeypatch.setattr("recombine.machine.precision._auto", lambda: "float32")
    took = check_study(registry[name], control_claims=CONTROL_CLAIMS, slack=SLACK)
    record_property("core_seconds", [name, took])  # printed at the end of the run, by tests/conftest.py


def test_every_claim_has_a_power_test():
    asked = {(name, claim.id) for name, study in registry.items() for claim in study.claims}
    assert asked == set(CLAIMS)


@pytest.mark.parametrize(("name", "claim"), CLAIMS, ids=lambda word: word)
def test_a_claim_is_supported_where_it_was_planted_and_refuted_where_its_opposite_was(name, claim):
    holds, fails, *scale = PLANTED[name][claim]
    check_power(registry[name], claim, holds=holds, fails=fails, scale=scale[0] if scale else "laptop")


@pytest.mark.parametrize("name", registry)
def test_a_report_without_a_single_record_says_so(name):
    study = registry[name]
    assert study.figures(study.table(pandas.DataFrame())) == [] and study.image_grids([]) == []
    settings = study.settings("smoke")
    result = conclude(Run(study, "smoke", settings, [], None), [], [])
    assert "Nothing was measured" in render(result) and result.headline == ""
    assert {verdict.outcome for verdict in result.verdicts} <= {"open", "by construction", "not asked"}


@pytest.mark.parametrize("name", registry)
def test_every_scale_says_how_long_it_takes_and_a_night_is_a_night(name):
    study = registry[name]
    assert all(study.running_time(scale) for scale in SCALES)
    if study.depends_on:  # it reads what those have run, and says so in words
        assert isinstance(study.minutes.night, str) and "studies that it reads" in study.minutes.night
    else:
        assert 0 < study.minutes.night <= MOST_NIGHT_MINUTES
    assert study.cells(study.settings("night"), 1), "night has cells"


def test_a_study_is_one_file_of_a_folder_and_is_found_by_itself():
    """Adding a study touches one file: nothing lists them by hand."""
    import recombine.studies as package

    text = Path(str(package.__file__)).read_text()
    assert not [name for name in registry if name in text]


@pytest.mark.parametrize(
    "path", sorted((Path(str(studies.__file__)).parent).glob("*/*.py")), ids=lambda path: path.stem
)
def test_a_study_fits_on_a_page(path):
    """What it is can be read in one go: readings, claims and charts that need room are files beside it."""
    text = path.read_text()
    if "Study(" in text:
        assert 60 <= len(text.splitlines()) <= 120
