"""scan-v1: the grammar against the released pairs, its control world, and what is refused."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from released import released, rows_of

from recombine import Listed, UserError, tasks
from recombine.files.released_rows import digest_of
from recombine.supports.scan_released import RELEASED
from recombine.tasks import Scan, ScanIndifferent, ScanLookup, Tokenizer, scan_commands
from recombine.tasks.sequences.scan_grammar import interpreted
from recombine.testing import check_space, check_task
from recombine.trials.trial import build_space


@pytest.fixture(scope="module")
def scan():
    return Scan(Scan.default_space())


@pytest.fixture(scope="module")
def pairs(scan):
    both = zip(np.asarray(scan.texts), np.asarray(scan.meanings), strict=True)
    return {scan.reads.decode(text): scan.said(meaning) for text, meaning in both}


# -- the language -------------------------------------------------------------------------------------------------


def test_every_released_pair_is_there_word_for_word_and_no_other(pairs):
    rows = [f"IN: {text} OUT: {meaning}" for text, meaning in pairs.items()]
    assert len(rows) == 20_910
    assert digest_of(rows) == RELEASED["tasks"]


@pytest.mark.slow
def test_the_released_file_says_the_same(pairs):
    both = (row.removeprefix("IN: ").split(" OUT: ") for row in rows_of(released("scan", "tasks.txt.gz")))
    assert dict(both) == pairs


def test_lengths_are_the_published_ones(scan):
    assert scan.texts.shape == (20_910, 9) and scan.meanings.shape == (20_910, 49)  # 48 actions and the end
    assert scan.words == {"code": 13, "target": 7}


@pytest.mark.parametrize(
    "text, meaning",
    [
        ("jump", "I_JUMP"),
        ("turn left", "I_TURN_LEFT"),
        ("turn opposite right", "I_TURN_RIGHT I_TURN_RIGHT"),
        ("look opposite left twice", "I_TURN_LEFT I_TURN_LEFT I_LOOK I_TURN_LEFT I_TURN_LEFT I_LOOK"),
        ("run after walk left", "I_TURN_LEFT I_WALK I_RUN"),
        ("walk and turn around left", "I_WALK I_TURN_LEFT I_TURN_LEFT I_TURN_LEFT I_TURN_LEFT"),
    ],
)
def test_commands_mean_what_they_say(text, meaning, pairs):
    assert " ".join(interpreted(text)) == meaning == pairs[text]


@pytest.mark.parametrize(
    "text, named",
    [
        ("jmp twice", "'jmp'; did you mean 'jump'"),
        ("jump around", "'jump around' is no command"),
        ("turn", "'turn' is no command"),
        ("", "'' is no command"),
        ("jump twice twice", "'jump twice twice' is no command"),
        ("jump and run and walk", "two at most"),
        ("left jump", "'left jump' is no command"),
    ],
)
def test_what_is_no_command_is_refused(text, named):
    with pytest.raises(UserError, match=named):
        interpreted(text)


def test_more_verbs_make_more_commands_with_the_same_grammar():
    space = scan_commands(verbs=5, sentences=1)
    world = Scan(space)
    assert space.size == 123 and world.words == {"code": 14, "target": 8}  # 5 verbs and turn: 5 + 6 * 6 phrases V
    assert interpreted("verb-5 around left", 5) == ("I_TURN_LEFT", "I_VERB-5") * 4
    texts = [world.text([row]) for row in range(space.size)]
    assert world.meaning([texts.index("verb-5 twice")]) == "I_VERB-5 I_VERB-5"
    with pytest.raises(UserError, match="verbs=0"):
        scan_commands(verbs=0)
    with pytest.raises(UserError, match="sentences=3"):
        scan_commands(sentences=3)


def test_of_many_verbs_some_commands_are_drawn_each_verb_alone_among_them():
    space = scan_commands(verbs=50, number=400)
    world = Scan(space)
    texts = [world.text([row]) for row in range(space.size)]
    assert len(set(texts)) == space.size == 400 and world.words == {"code": 59, "target": 53}
    assert all(f"verb-{number}" in texts for number in range(5, 51))
    assert all(world.meaning([row]) == " ".join(interpreted(texts[row], 50)) for row in range(0, 400, 7))
    both = [text for text in texts if " and " in text or " after " in text]
    assert len(both) > 300 and {"and", "after"} <= {word for text in both for word in text.split()}
    whole = scan_commands(verbs=3, number=81 + 2 * 81**2)  # all of them: 27 phrases V, 81 sentences
    assert {tuple(row) for row in whole.table.tolist()} == {tuple(row) for row in scan_commands(verbs=3).table.tolist()}
    assert scan_commands(sentences=1, number=102).size == 102
    for number in (4, 20_911):
        with pytest.raises(UserError, match=f"number of commands={number}"):
            scan_commands(number=number)
    with pytest.raises(UserError, match=r"verbs=9 .*8"):
        scan_commands(verbs=9)


def test_a_trial_says_its_space_by_verbs_and_number():
    space = build_space({"name": "scan-v1", "space": {"verbs": 5, "sentences": 1, "number": 50}})
    assert space.size == 50 and len(space.element_names) == 14
    with pytest.raises(UserError, match="'verb'.*did you mean 'verbs'"):
        build_space({"name": "scan-v1", "space": {"verb": 5}})


# -- the task -----------------------------------------------------------------------------------------------------


def test_a_batch_has_the_words_their_meaning_and_where_it_ends(scan):
    row = next(row for row in range(200) if scan.text([row]) == "jump left")
    batch = scan.sample(jax.random.key(0), jnp.asarray([[row]], jnp.int16))
    jump, left = scan.reads.numbers["jump"], scan.reads.numbers["left"]
    assert batch.code.tolist() == [[jump, left, *[-1] * 7]]
    turn, act = scan.writes.numbers["I_TURN_LEFT"], scan.writes.numbers["I_JUMP"]
    assert batch.target.tolist() == [[turn, act, 0, *[-1] * 46]]
    assert np.flatnonzero(batch.constituents[0]).tolist() == sorted([jump, left])


def test_an_answer_that_goes_on_or_stops_too_soon_is_wrong(scan):
    batch = jax.tree.map(np.asarray, scan.sample(jax.random.key(0), jnp.asarray([[0], [0], [0]], jnp.int16)))
    right = np.where(batch.target < 0, 3, batch.target)  # what stands after the end does not count
    on, soon = right.copy(), right.copy()
    on[:, 1], soon[:, 0] = 3, 0  # "walk" is one action
    answer = np.stack([right[0], on[0], soon[0]])
    found = scan.score(answer, batch)
    assert found["right"].tolist() == [2, 1, 1] and found["written"].tolist() == [1, 49, 0]
    assert [metric(found) for metric in scan.metrics] == pytest.approx([1 / 3, 4 / 6, 1 / 3])
    assert scan.said(answer[0]) == "I_WALK" and scan.said(answer[2]) == ""


def test_the_list_is_no_part_of_the_program(scan):
    """Commands are data of the task: another list of the same size compiles nothing, and the program stays small."""
    program = jax.jit(lambda task, rows: task.sample(jax.random.key(0), rows)).lower(scan, jnp.zeros((4, 1), jnp.int16))
    assert len(program.as_text()) < 20_000


def test_the_space_is_a_space():
    check_space(scan_commands(sentences=1))


# -- the control world --------------------------------------------------------------------------------------------


def test_the_control_world_shuffles_the_meanings_and_nothing_else(scan):
    space = scan.space
    first, same, other = ScanLookup(space, seed=1), ScanLookup(space, seed=1), ScanLookup(space, seed=2)
    assert (first.texts == scan.texts).all() and (first.meanings == same.meanings).all()
    assert (first.meanings != other.meanings).any()
    for world in (first, other):
        meanings = sorted(map(tuple, np.asarray(world.meanings).tolist()))
        assert meanings == sorted(map(tuple, np.asarray(scan.meanings).tolist()))
        assert (np.asarray(world.meanings) == np.asarray(scan.meanings)).all(1).mean() < 0.01


def test_small_lists_are_worlds_too():
    check_task(Scan(scan_commands(sentences=1)))
    check_task(ScanLookup(scan_commands(sentences=1)))


@pytest.mark.parametrize("name", ["scan-v1", "scan-lookup-v1"])
def test_a_list_of_other_words_is_refused(name):
    with pytest.raises(UserError, match=r"needs a list of its texts.*got Listed\(2 comb"):
        tasks.registry[name](Listed([[0], [1]], ["hop", "skip"]))


def test_a_row_that_is_no_command_is_refused():
    words = scan_commands().element_names
    with pytest.raises(UserError, match="'left walk' is no command"):
        Scan(Listed([[words.index("left"), words.index("walk")]], words))


# -- the tokenizer ------------------------------------------------------------------------------------------------


def test_texts_go_to_numbers_and_back_by_words_and_by_characters():
    words, letters = Tokenizer(("jump", "twice")), Tokenizer(tuple("abc "), by="characters")
    assert words.decode(words.encode(["twice jump"])[0]) == "twice jump"
    assert letters.encode(["cab", "a b"]).tolist() == [[2, 0, 1], [0, 3, 1]]
    assert letters.decode([2, 0, 1, -1]) == "cab"
    assert words.encode(["jump"], longest=3).tolist() == [[0, -1, -1]]
    assert words.encode([]).shape == (0, 0)


@pytest.mark.parametrize(
    "make, named",
    [
        (lambda: Tokenizer(("jump", "twice")).encode(["jump", "jump twce"]), "'jump twce': 'twce'.*'twice'"),
        (
            lambda: Tokenizer(("jump",)).encode(["jump jump jump"], longest=2),
            "'jump jump jump' has 3 words.*room for 2",
        ),
        (lambda: Tokenizer(("jump", "jump")), "'jump' twice"),
        (lambda: Tokenizer(("jump",), by="characters"), "'jump', which is no single character"),
        (lambda: Tokenizer(("jump",), by="letters"), "'letters'"),
    ],
    ids=["unknown word", "too long", "a word twice", "long characters", "unknown unit"],
)
def test_what_cannot_be_read_is_refused_by_name(make, named):
    with pytest.raises(UserError, match=named):
        make()


def test_in_the_indifferent_world_every_command_means_the_same():
    world = ScanIndifferent(scan_commands(sentences=1))
    assert {world.meaning([row]) for row in range(world.space.size)} == {"I_WALK"}
    check_task(world)
