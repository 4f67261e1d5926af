"""scan-episodes-v1: one interpretation holds for study examples and query, and nothing of what is held out is told."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine import UserError
from recombine.supports import scan
from recombine.tasks import Scan, ScanEpisodes, ScanEpisodesIndifferent, ScanEpisodesLookup, scan_commands
from recombine.tasks.sequences.scan_grammar import VERBS, Actions, Command, action, meaning

SIDES = ("left", "right")
OWN = {**{verb: action(verb) for verb in VERBS}, **{side: f"I_TURN_{side.upper()}" for side in SIDES}}
AT_ONCE = 64


@pytest.fixture(scope="module")
def commands():
    return Scan.default_space()


@pytest.fixture(scope="module")
def jump(commands):
    """The world on the split add-jump."""
    return ScanEpisodes(commands).given(scan(commands, split="add-jump"))


def episodes(world, key: int, rows: np.ndarray) -> list[list[tuple[Command, Actions]]]:
    """Of each combination the pairs of an episode, the query first."""
    batch = world.sample(jax.random.key(key), world.space.unrank(rows))
    found = []
    for code, target in zip(np.asarray(batch.code), np.asarray(batch.target), strict=True):
        query, *examples = world.reads.decode(code).split(" | ")
        pairs = [(query, world.said(target)), *(tuple(one.split(" -> ")) for one in examples)]
        found.append([(tuple(words.split()), tuple(acts.split())) for words, acts in pairs])
    return found


def row_of(world, text: str) -> int:
    texts = np.asarray(world.texts)
    return int(np.flatnonzero((texts == world.reads.encode([text], texts.shape[1])).all(1))[0])


def interpretations(pairs: list[tuple[Command, Actions]]) -> list[dict[str, str]]:
    """All ways to give verbs and sides actions of their own under which every pair is right."""
    import itertools

    found = []
    for verbs in itertools.permutations(VERBS):
        for sides in itertools.permutations(SIDES):
            played = {**dict(zip(VERBS, verbs, strict=True)), **dict(zip(SIDES, sides, strict=True))}
            instead = {OWN[word]: OWN[other] for word, other in played.items()}
            if all(tuple(instead[one] for one in meaning(words)) == acts for words, acts in pairs):
                found.append({word: instead[OWN[word]] for word in OWN})
    return found


@settings(max_examples=4, deadline=None)
@given(key=st.integers(0, 2**20))
def test_one_interpretation_holds_for_the_study_examples_and_the_query(key, jump):
    rows = np.random.default_rng(key).integers(0, jump.space.size, AT_ONCE)
    own = 0
    for row, pairs in zip(rows, episodes(jump, key, rows), strict=True):
        found = interpretations(pairs)
        assert found, pairs
        # what the examples say of the words of the query is enough to answer it
        used = [word for word in pairs[0][0] if word in OWN]
        studied = interpretations(pairs[1:])
        assert {tuple(one[word] for word in used) for one in studied} == {tuple(found[0][word] for word in used)}
        own += OWN in found
        if np.asarray(jump.as_it_is)[row]:
            assert pairs[0][1] == meaning(pairs[0][0])
    assert own < AT_ONCE


@settings(max_examples=4, deadline=None)
@given(key=st.integers(0, 2**20))
def test_with_its_own_meaning_jump_stands_in_no_other_command_that_is_trained_or_studied(key, jump, commands):
    rng = np.random.default_rng(key)
    trained = np.flatnonzero(~np.asarray(jump.as_it_is))
    played = 0
    for pairs in episodes(jump, key, rng.choice(trained, AT_ONCE)):
        (own,) = {one["jump"] for one in interpretations(pairs)} if any("jump" in p[0] for p in pairs) else (None,)
        with_jump = [words for words, _ in pairs if "jump" in words]
        if own == OWN["jump"]:
            assert set(with_jump) <= {("jump",)}
        else:
            played += any(len(words) > 1 for words in with_jump)
    assert played > AT_ONCE / 8  # with other meanings it stands in other commands
    for pairs in episodes(jump, key, rng.choice(np.flatnonzero(np.asarray(jump.as_it_is)), AT_ONCE)):
        assert (("jump",), (OWN["jump"],)) in pairs[1:] and len(pairs[0][0]) > 1
        assert all(words == ("jump",) for words, _ in pairs[1:] if "jump" in words)


def test_study_examples_are_trained_commands_only(commands):
    support = scan(commands, split="length")
    world = ScanEpisodes(commands, study=12).given(support)
    reads = [commands.element_names[word] for word in range(len(commands.element_names))]
    trained = {
        tuple(reads[word] for word in row if word >= 0)
        for row in commands.elements(commands.unrank(support.train.ranks)).tolist()
    }
    asked = np.asarray(support.held_out.ranks)[:: len(support.held_out.ranks) // AT_ONCE]
    for pairs in episodes(world, 0, asked):
        assert pairs[0][0] not in trained and {words for words, _ in pairs[1:]} <= trained
        assert 8 <= len(pairs[1:]) <= 12


def test_rules_can_be_longer_than_those_of_training(jump, commands):
    longer = ScanEpisodes(commands, rule=2).given(scan(commands, split="add-jump"))
    row, long = (
        row_of(jump, text) for text in ("jump left twice", "jump around left thrice and jump around left twice")
    )
    ((query, *study),) = episodes(longer, 0, np.array([row]))
    turn, acts = OWN["left"], dict((words[0], acts) for words, acts in study if len(words) == 1)["jump"]
    assert len(acts) == 2 and acts[0] == OWN["jump"]
    assert query == (("jump", "left", "twice"), (turn, *acts, turn, *acts))
    target = np.asarray(longer.sample(jax.random.key(0), commands.unrank([long, row])).target)
    assert (target[0] == -1).all() and (target[1] >= 0).any()  # too long for any answer of SCAN: it does not count


def test_permuted_episodes_are_as_frequent_as_planted_and_all_meanings_come(jump):
    found = episodes(jump, 3, np.full(600, row_of(jump, "walk")))
    said = {(words, acts) for (words, acts), *_ in found}
    assert said == {((word,), (OWN[other],)) for word in VERBS for other in VERBS if word != other} | {
        ((word,), (OWN[word],)) for word in ("walk",)
    }


def test_in_the_control_worlds_nothing_is_composed(commands):
    assert {ScanEpisodesIndifferent(commands).meaning([row]) for row in range(0, commands.size, 999)} == {"I_WALK"}
    by_lot = np.asarray(ScanEpisodesLookup(commands, seed=1).meanings)
    assert by_lot.shape[1] == 2 and np.bincount(by_lot[:, 0])[1:] == pytest.approx(commands.size / 6, rel=0.1)
    with_jump = (np.asarray(ScanEpisodes(commands).texts) == VERBS.index("jump")).any(1)
    assert np.bincount(by_lot[with_jump, 0])[1:] == pytest.approx(with_jump.sum() / 6, rel=0.15)


@pytest.mark.parametrize(
    "options, named", [({"study": 3}, "study=3"), ({"rule": 0}, "rule=0"), ({"rule": 9}, "rule=9")]
)
def test_what_cannot_be_is_refused(options, named):
    with pytest.raises(UserError, match=named):
        ScanEpisodes(scan_commands(sentences=1), **options)
