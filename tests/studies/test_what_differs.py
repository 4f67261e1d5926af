"""What differs from the public code at paper scale, setting by setting: where it does, the page says so in one line."""

from __future__ import annotations

from typing import Any

import pytest
from drawn_tables import paper_trials

from recombine.studies import registry
from recombine.supports import missing
from recombine.tasks import Goal
from recombine.trials import Trial


def found(trials: list[Trial], part: str, of: str) -> set[Any]:
    """All values that a setting of the world, the net or the recipe has."""
    places = [getattr(trial, part) if part in ("world", "support") else trial.stages[-1][part] for trial in trials]
    return {place.get(of) for place in places}


#: study, part, setting: values at paper scale; what the public code has; what the page says of it
DIFFER = [
    ("re-entanglement", "recipe", "steps", {3125}, {3125, 1250}, "MLPs train for 50 epochs as CNNs do"),
    ("superposition", "recipe", "steps", {3125}, {12_500, 18_750}, "train for 12,500 steps"),
    ("hole-size", "recipe", "steps", {3125}, {100, 400}, "100 to 400 steps in all"),
    ("stripes", "net", "name", {"mlp", "cnn-decoder"}, {"cnn-decoder"}, "Here there are stripes, MLPs too"),
    ("data-efficiency", "world", "polarity", {None}, {"dark"}, "Pictures are bright"),
    ("required-tasks-preference", "net", "name", {"mlp"}, {"mlp", "transformer"}, "it is the MLP alone"),
    ("reverse-task", "net", "name", {"cnn-encoder", "mlp"}, {"cnn-encoder"}, "An MLP stands beside it"),
    ("supports-goal", "net", "name", {"mlp"}, {"transformer_mlp"}, "here it is the MLP"),
]


@pytest.mark.parametrize(("name", "part", "of", "ours", "published", "said"), DIFFER, ids=lambda value: None)
def test_a_setting_that_is_not_the_published_one_is_named(name, part, of, ours, published, said):
    """With the published value in its place the line would have to go, and with another one to change."""
    assert found(paper_trials(registry[name]), part, of) == ours != published
    assert any(said in sentence for sentence in registry[name].differs)


def test_the_depths_of_cnns_are_those_of_the_poster_and_the_page_says_so():
    study = registry["factorized-fails"]
    depths = {
        trial.stages[0]["net"]["depth"] for trial in paper_trials(study) if "cnn" in trial.stages[0]["net"]["name"]
    }
    assert depths == {2, 3, 4, 5, 6} and any("script runs 2 to 10" in sentence for sentence in study.differs)


@pytest.mark.parametrize("name", ["encodings", "encodings-preference"])
def test_layers_of_the_invertible_encoding_are_said_where_they_are_not_the_three_of_the_public_code(name):
    trials = paper_trials(registry[name])
    options = [trial.world["encoding_options"] for trial in trials if trial.world["encoding"] == "invertible"]
    layers = {one["layers"] for one in options if one["scale"] == 0.1}
    said = any("in the public code it always has three" in sentence for sentence in registry[name].differs)
    assert said == (layers == {5}) and len(layers) == 1


@pytest.mark.parametrize(
    "name",
    ["factorized-fails", "re-entanglement", "superposition", "render", "stripes", "tuning-curves", "hole-size"]
    + ["data-efficiency", "reverse-task"],
)
def test_pages_of_decoders_say_that_batches_are_fresh_and_biases_do_not_decay(name):
    """The loop draws every batch afresh; the public code repeats the pictures that it drew once."""
    assert any("Batches are drawn afresh" in sentence for sentence in registry[name].differs)


@pytest.mark.parametrize("name", ["stripes", "tuning-curves", "factorized-fails", "superposition", "re-entanglement"])
def test_pictures_are_dark_on_white_as_published_but_where_a_net_was_published_with_bright_ones(name):
    bright = {"coordinate-mlp", "rendering"} if name != "factorized-fails" else set()  # which asks all for the same
    for trial in paper_trials(registry[name]):
        net = trial.stages[-1]["net"]["name"]
        assert trial.world.get("polarity", "bright") == ("bright" if net in bright else "dark"), net


def test_encoders_read_bright_pictures_for_the_published_epochs():
    trials = paper_trials(registry["reverse-task"])
    steps = {trial.world["asked"]: trial.build_stages()[0].recipe.steps for trial in trials}
    assert steps == {"bump": 20 * 2000 // 32, "scalar": 50 * 2000 // 32}
    assert not any("polarity" in trial.world for trial in trials)


def test_missing_leaves_out_an_object_and_the_page_says_that_the_public_code_leaves_out_a_quadrant():
    (untrained,) = missing(Goal.default_space()).certificate().untrained
    assert untrained.startswith("object=")
    assert any("leaves out a quadrant" in sentence for sentence in registry["supports-goal"].differs)
