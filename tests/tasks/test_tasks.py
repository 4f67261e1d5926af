"""What every registered task promises: streams that share nothing, and refusals by name."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from every_name import WORLDS, every, registered_world

from recombine import Product, Subsets, UserError, supports, tasks
from recombine.keys import STREAMS, key_for
from recombine.tasks import BumpsRead, Hyperteacher, Pictures, Sequences, draw_batch
from recombine.testing import check_task

SPACE = Subsets(16, 3)
TEACHERS = [name for name in tasks.registry if issubclass(tasks.registry[name], Hyperteacher)]


# -- streams ------------------------------------------------------------------------------------------------------


def test_streams_of_all_seeds_draw_from_their_side_and_share_no_item():
    task, support = Hyperteacher(SPACE), supports.random(SPACE)
    trained = {tuple(row) for row in SPACE.multihot(support.train.combinations()).tolist()}
    draw = jax.jit(lambda sampler, key: draw_batch(task, sampler, key, 64, 2))
    inputs = []
    for stream in (*STREAMS, "held_out/3 active"):
        for seed in range(2):
            batch = draw(support.side(stream).sampler(), key_for(stream, seed))
            inputs.append(np.asarray(batch.inputs).reshape(-1, 16))
            combinations = (np.asarray(batch.constituents) > 0).tolist()
            assert {tuple(row) in trained for row in combinations} == {not stream.startswith("held_out")}
    items = np.concatenate(inputs)
    assert len(np.unique(items, axis=0)) == len(items) == 8 * 2 * 64 * 2


@pytest.mark.parametrize("name", every(tasks.registry, at_once=WORLDS))
def test_registered_tasks_pass_the_public_check(name):
    check_task(registered_world(name))


def test_the_public_check_passes_with_another_encoding():
    check_task(Hyperteacher(SPACE, encoding="orthogonal", weights="continuous"))


# -- bad arguments ------------------------------------------------------------------------------------------------

BAD_ARGUMENTS = {
    "another space": (lambda cls: cls(Product(color=3, shape=3)), "color=3"),
    "a space of the other kind": (
        lambda cls: cls(Subsets(5, 2) if isinstance(cls.default_space(), Product) else Product(x=4)),
        r"got .*\(",
    ),
    "a negative seed": (lambda cls: cls(cls.default_space(), seed=-1), "seed=-1"),
}

#: of tasks that make samples of an input; a picture has none
BAD_SAMPLES = {
    "no samples": (lambda cls: cls(cls.default_space(), samples=0), "samples=0"),
    "a truth value": (lambda cls: cls(cls.default_space(), samples=True), "samples=True"),
    "an unknown encoding": (
        lambda cls: cls(cls.default_space(), encoding="identiti"),
        "'identiti'; did you mean 'identity'",
    ),
}

#: texts are shown as they are, and each means one thing: there is no encoding to choose, and one sample
TEXTS = [name for name in tasks.registry if issubclass(tasks.registry[name], Sequences)]
DRAWN = [name for name in tasks.registry if issubclass(tasks.registry[name], (Pictures, BumpsRead))]
SAMPLED = [name for name in tasks.registry if name not in (*TEXTS, *DRAWN)]


@pytest.mark.parametrize("task", tasks.registry)
@pytest.mark.parametrize("name", BAD_ARGUMENTS)
def test_bad_arguments_are_refused_by_name(name, task):
    make, named = BAD_ARGUMENTS[name]
    with pytest.raises(UserError, match=named):
        make(tasks.registry[task])


@pytest.mark.parametrize("task", SAMPLED)
@pytest.mark.parametrize("name", BAD_SAMPLES)
def test_bad_samples_and_encodings_are_refused_by_name(name, task):
    make, named = BAD_SAMPLES[name]
    with pytest.raises(UserError, match=named):
        make(tasks.registry[task])


@pytest.mark.parametrize("task", [*SAMPLED, *DRAWN])
def test_unknown_encodings_are_refused_by_name(task):
    made = tasks.registry[task]
    with pytest.raises(UserError, match="unknown encoding.*'identiti'"):
        made(made.default_space(), encoding="identiti")


@pytest.mark.parametrize("task", DRAWN)
def test_an_unknown_code_of_a_picture_is_refused_with_the_near_one(task):
    made = tasks.registry[task]
    with pytest.raises(UserError, match="'bum'; did you mean 'bump'"):
        made(made.default_space(), encoding="bum")


@pytest.mark.parametrize("task", TEACHERS)
@pytest.mark.parametrize("size", ["inputs", "outputs", "hidden"])
def test_a_teacher_without_inputs_outputs_or_units_is_refused(size, task):
    for value in (0, True):
        with pytest.raises(UserError, match=f"{size}={value}"):
            tasks.registry[task](SPACE, **{size: value})


def test_a_teacher_needs_a_hidden_layer():
    with pytest.raises(UserError, match=r"hidden=\(\)"):
        Hyperteacher(SPACE, hidden=())
    with pytest.raises(UserError, match="hidden=-3"):
        Hyperteacher(SPACE, hidden=(4, -3))


def test_an_unknown_task_is_refused_with_the_near_one():
    with pytest.raises(UserError, match="did you mean 'hyperteacher-v1'"):
        tasks.registry["hyperteacher"]


# Values of a wrong type: the tests' runtime type checks would refuse them first, users have no such checks.
WRONG_TYPES = {
    "weights='discreet'": "'discreet'; did you mean 'discrete'",
    "inputs=2.5": "inputs=2.5",
    "hidden=2.5": "hidden=2.5",
    "seed=1.5": "seed=1.5",
}


@pytest.fixture(scope="module")
def answers(ask) -> dict[str, str]:
    calls = {text: f"tasks.Hyperteacher(Subsets(6, 3), {text})" for text in WRONG_TYPES}
    found = ask(list(calls.values()))
    return {text: found[call] for text, call in calls.items()}


@pytest.mark.parametrize("text", WRONG_TYPES)
def test_wrong_types_are_refused_by_name(answers, text):
    assert answers[text].startswith("UserError") and WRONG_TYPES[text] in answers[text], answers[text]
