"""beyond: one thing is changed at a time, and in the control every variant is in one world."""

from __future__ import annotations

import pytest
from paper_scale import scores_table

from recombine import UserError
from recombine.lab.study_table import PreconditionFailed
from recombine.studies import registry
from recombine.studies.redhardt2025 import beyond_readings as read

STUDY = registry["beyond"]


def trials(scale: str = "laptop", **changes) -> dict[str, dict]:
    """The trials of the first seed, by variant."""
    specs = STUDY.grid(STUDY.settings(scale, changes), 0)
    return {spec["at"]["variant"]: spec["trial"] for spec in specs}


def test_each_variant_changes_one_thing():
    found = trials()
    usual = found.pop("reference")
    parts = {
        "more-active": {"world", "support"},  # the space is larger by the combinations that are asked about
        "weights-between": {"world", "asks"},
        "weights-beyond": {"world", "asks"},
        "continuous-weights": {"world"},
        "product": {"world"},
        "deep-teacher": {"world", "stages"},  # taught ten times as long: shorter, it was not learned
        "hypernetwork": {"stages"},
    }
    assert {name: {part for part in trial if trial[part] != usual[part]} for name, trial in found.items()} == parts
    assert found["more-active"]["world"]["space"] == {"modules": 16, "at_most": 4}
    assert found["more-active"]["support"] == {"name": "fewer-active"}
    assert found["hypernetwork"]["stages"][0]["net"] == {"name": "hypernetwork", "width": 64}
    (deep,), (plain,) = found["deep-teacher"]["stages"], usual["stages"]
    assert deep == plain | {"recipe": plain["recipe"] | {"steps": 10 * plain["recipe"]["steps"]}}
    assert found["product"]["world"]["name"] == "product-v1"
    assert found["deep-teacher"]["world"]["hidden"] == [16, 16, 16]


@pytest.mark.parametrize(
    "variant, trained, asked",
    [("weights-between", [0.5, 0.6, 0.9, 1.0], [0.7, 0.8]), ("weights-beyond", [0.5, 0.6, 0.7, 0.8], [0.9, 1.0])],
)
def test_other_weights_are_asked_in_a_world_that_is_the_same_but_for_them(variant, trained, asked):
    trial = trials()[variant]
    assert trial["world"]["weights"] == trained
    usual, elsewhere = trial["asks"]
    assert usual == {"streams": ["test", "held_out"]}
    assert elsewhere == {"streams": ["elsewhere"], "world": trial["world"] | {"weights": asked}}


def test_every_variant_is_in_the_control_of_its_claim():
    asked = {name: trials("smoke", **STUDY.control(name)) for name in STUDY.control_names()}
    for claim in STUDY.claims:
        assert claim.id in asked[claim.false_in]


@pytest.mark.parametrize("scale", ["smoke", "laptop", "night", "paper"])
def test_in_its_controls_every_variant_is_in_one_world(scale):
    controls = [trials(scale, **STUDY.control(name, scale)) for name in STUDY.control_names()]
    found = {variant: trial for trials_of_one in controls for variant, trial in trials_of_one.items()}
    worlds = [trial["world"] for trial in found.values()]
    worlds += [ask["world"] for trial in found.values() for ask in trial["asks"] if "world" in ask]
    assert {world["name"] for world in worlds} == {"lookup-v1"}
    assert {world["space"]["modules"] for world in worlds} == {4 if scale == "smoke" else 6}
    assert {world.get("hidden", 16) for world in worlds} == {16}  # lookup-v1 has one layer


def test_a_gap_is_read_where_the_variant_asks():
    def rows(variant: str, **scores: float) -> list[dict]:
        return [{"variant": variant, "stream": stream, "value": value} for stream, value in scores.items()]

    table = scores_table(
        rows("reference", test=0.9, held_out=0.8)
        + rows("weights-beyond", test=0.9, held_out=0.85, elsewhere=0.5)
        + rows("product", test=0.3, held_out=0.3)
    )
    assert read.gap(table, "reference") == pytest.approx(0.1)
    assert read.gap(table, "weights-beyond") == pytest.approx(0.4)
    with pytest.raises(PreconditionFailed, match="product was not learned: 0.30 on trained combinations, below 0.5"):
        read.gap(table, "product")
    with pytest.raises(PreconditionFailed, match="hypernetwork has no score"):
        read.gap(table, "hypernetwork")
    (figure,) = STUDY.figures(table)
    assert {(row["variant"], row["series"]): row["value"] for row in figure.spec["data"]["values"]} == {
        ("nothing changed", "trained"): 0.9,
        ("nothing changed", "asked"): 0.8,
        ("weights beyond those trained", "trained"): 0.9,
        ("weights beyond those trained", "asked"): 0.5,
        ("modules that multiply", "trained"): 0.3,
        ("modules that multiply", "asked"): 0.3,
    }


def test_the_headline_says_how_far_it_reaches_and_not_that_nothing_was_changed():
    outcomes = {"reference": "supported", "product": "supported", "more-active": "refuted"}
    found = STUDY.headline_for(scores_table([]), outcomes)
    assert (
        found == "It composes with modules that multiply; it does not compose with more modules at once than trained."
    )


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"variant": "upside-down"}, "upside-down"),
        ({"world": "preference-v1"}, "preference-v1"),
        ({"at_most": "16"}, "modules=16 has none left; at_most=15 would do"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_compiled(changes, words, monkeypatch):
    monkeypatch.setattr("jax.stages.Lowered.compile", lambda *_, **__: pytest.fail("something was compiled"))
    with pytest.raises(UserError, match=words):
        STUDY.cells(STUDY.settings("laptop", changes), 3)


def test_without_more_active_all_modules_may_be_active():
    assert STUDY.cells(STUDY.settings("laptop", {"at_most": 4, "modules": 4, "variant": ["reference"]}), 1)
