"""pcfg-v1: the interpreter against every released pair, the sampler against the released histograms, exceptions."""

from __future__ import annotations

from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from released import released, rows_of

from recombine import Listed, UserError, tasks
from recombine.supports.pcfg_exceptions import EXCEPTIONS, excepted, exception_of
from recombine.supports.pcfg_language import FUNCTIONS, SYNONYMS, interpreted, parsed, shape, steps, written
from recombine.tasks import Pcfg, PcfgExceptions, PcfgExceptionsLookup, PcfgIndifferent, PcfgLookup
from recombine.tasks.sequences.pcfg_sampler import Sampler

SIZES = {"dev": 4_860, "test": 9_721, "systematicity": 10_175, "productivity": 11_333}


# -- the language -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_every_released_expression_has_its_released_string(name):
    rows = [row.split("\t") for row in rows_of(released("pcfg", f"{name}.tsv.gz"))]
    assert len(rows) == SIZES[name]
    for text, string in rows:
        words = tuple(text.split())
        assert " ".join(interpreted(words)) == string
        assert written(parsed(words)) == words


@pytest.mark.parametrize(
    "text, string",
    [
        ("copy A1 B2", "A1 B2"),
        ("reverse A1 B2 C3", "C3 B2 A1"),
        ("shift A1 B2 C3", "B2 C3 A1"),
        ("echo A1 B2", "A1 B2 B2"),
        ("swap_first_last A1 B2 C3", "C3 B2 A1"),
        ("swap_first_last A1", "A1"),
        ("repeat A1 B2", "A1 B2 A1 B2"),
        ("append A1 , B2", "A1 B2"),
        ("prepend A1 , B2", "B2 A1"),
        ("remove_first A1 , B2", "B2"),
        ("remove_second A1 , B2", "A1"),
        ("append_too A1 , repeat_too B2", "A1 B2 B2"),
        ("append remove_second A1 , B2 , C3", "A1 C3"),
    ],
)
def test_functions_do_what_they_are_called(text, string):
    assert " ".join(interpreted(text.split())) == string


def test_steps_from_the_inside_end_in_the_value():
    node = parsed(["echo", "append", "reverse", "A1", "B2", ",", "C3"])
    assert [" ".join(step) for step in steps(node)] == ["reverse A1 B2", "append B2 A1 , C3", "echo B2 A1 C3"]
    assert interpreted(steps(node)[-1]) == interpreted(written(node)) and shape(node) == (3, 3)


@pytest.mark.parametrize(
    "text, named",
    [
        ("echo", "breaks off at the end"),
        ("append A1 B2", "breaks off at the end"),
        ("echo A1 , B2", "breaks off at ',', word 3"),
        ("A1 echo", "breaks off at 'echo', word 2"),
        ("ehco A1", "breaks off at 'ehco', word 1"),
        ("", "breaks off at the end"),
    ],
)
def test_what_is_no_expression_is_refused(text, named):
    with pytest.raises(UserError, match=named):
        interpreted(text.split())


# -- the sampler --------------------------------------------------------------------------------------------------


def test_expressions_have_the_released_histograms():
    """Figures of the notes, counted on 14,581 released expressions."""
    rows = Sampler(seed=2).corpus(6_000, twins=0, unrolled=0)
    shapes = [shape(parsed(words)) for words in rows]
    counts, depths = (Counter(column) for column in zip(*shapes, strict=True))
    functions = {1: 0.015, 2: 0.128, 3: 0.194, 4: 0.188, 5: 0.132, 6: 0.103, 7: 0.066, 8: 0.051, 9: 0.034, 10: 0.025}
    for number, share in functions.items():
        assert counts[number] / len(rows) == pytest.approx(share, abs=0.015), number
    depth = {1: 0.015, 2: 0.132, 3: 0.227, 4: 0.233, 5: 0.159, 6: 0.092, 7: 0.056, 8: 0.040, 9: 0.023, 10: 0.011}
    for number, share in depth.items():
        assert depths[number] / len(rows) == pytest.approx(share, abs=0.025), number
    used = Counter(word for words in rows for word in words if word in FUNCTIONS)
    assert all(used[name] / sum(used.values()) == pytest.approx(0.1, abs=0.01) for name in FUNCTIONS)
    assert np.mean([len(words) for words in rows]) == pytest.approx(18.3, abs=0.7)
    assert max(map(len, rows)) <= 71 and len(set(rows)) == 6_000


def test_a_list_has_its_expressions_twins_and_steps_once():
    first, same, other = (Pcfg.space_from(200, twins=20, unrolled=10, seed=seed) for seed in (0, 0, 1))
    assert first == same != other
    world = Pcfg(Pcfg.space_from(300, twins=0, unrolled=0, longest=20))
    assert world.space.size == 300 and (np.asarray(world.meanings) > 0).sum(1).max() <= 20


def test_a_part_of_the_language_has_few_letters_and_few_functions():
    world = Pcfg(Pcfg.space_from(300, twins=0, unrolled=0, letters=6, functions=3, longest=9))
    assert world.words == {"code": 21, "target": 7}
    sizes = world.sizes(world.space.enumerate())
    assert sizes["functions"].max() == 3 and sizes["depth"].max() <= 3 and sizes["length"].max() <= 9
    text = world.text([7])
    assert world.meaning([7]) == " ".join(interpreted(text.split()))


def test_synonyms_are_written_as_often_as_asked_and_change_nothing_else():
    plain, mixed = (Pcfg.space_from(1_000, twins=0, unrolled=0, alone=5, synonyms=share) for share in (0, 0.5))
    texts = [[Pcfg(space).text([row]).split() for row in range(space.size)] for space in (plain, mixed)]
    assert [[SYNONYMS.get(word, word) for word in words] for words in texts[1][:1_000]] == texts[0][:1_000]
    counts = Counter(word for words in texts[1][:1_000] for word in words)
    for synonym, name in SYNONYMS.items():
        assert counts[synonym] / (counts[synonym] + counts[name]) == pytest.approx(0.5, abs=0.1)
        assert not any(synonym in words for words in texts[0][:1_000])
        assert sum(words[0] == synonym and shape(parsed(words)).functions == 1 for words in texts[0][1_000:]) == 5


# -- exceptions ---------------------------------------------------------------------------------------------------


def test_exceptions_are_read_as_two_other_functions():
    for pair, other in EXCEPTIONS.items():
        text = (*pair, "A1", "B2", ",", "C3")
        assert excepted(("copy", *text)) == ("copy", *other, *text[2:])
    assert excepted(["echo", "echo", "A1"]) is None


@pytest.fixture(scope="module")
def world():
    return PcfgExceptions(Pcfg.space_from(1_000, twins=0, unrolled=0), seed=1, exceptions=0.01)


def test_the_share_of_exceptions_breaks_the_rule_and_no_other_does(world):
    true = Pcfg(world.space)
    exceptional = np.asarray(world.exceptional)
    assert exceptional.sum() == 10
    said = [(world.meaning([row]), true.meaning([row])) for row in range(world.space.size)]
    assert all((given == rule) or exceptional[row] for row, (given, rule) in enumerate(said))
    assert sum(given != rule for given, rule in said) == 10


def test_answers_by_the_rule_and_as_trained_are_told_apart(world):
    rows = np.flatnonzero(np.asarray(world.exceptional))[:4]
    batch = jax.tree.map(np.asarray, world.sample(jax.random.key(0), jnp.asarray(rows[:, None])))
    given, rule = batch.target, np.asarray(world.rules)[rows].astype(np.int32)
    for answer, wanted in ((given, (1.0, 0.0, 1.0)), (rule, (0.0, 1.0, 0.0))):
        found = world.score(answer, batch)
        exact, by_rule, as_trained = (world.metric(name)(found) for name in ("exact", "by_rule", "as_exception"))
        assert (exact, by_rule, as_trained) == wanted
    plain = jax.tree.map(np.asarray, world.sample(jax.random.key(0), jnp.asarray([[0]])))
    assert np.isnan(world.metric("by_rule")(world.score(plain.target, plain)))


def test_all_that_can_be_exceptions_are_where_it_is_asked(world):
    every = PcfgExceptions(world.space, exceptions="all")
    other = {row for row in range(world.space.size) if exception_of(tuple(world.text([row]).split()))}
    assert set(np.flatnonzero(np.asarray(every.exceptional))) == other and len(other) > 10


def test_where_strings_are_shuffled_no_answer_by_the_rule_is_trained(world):
    control = PcfgExceptionsLookup(world.space, seed=1, exceptions="all")
    given, rules = np.asarray(control.meanings), np.asarray(control.rules)
    assert (given == rules).all(1).mean() < 0.05 and (rules == np.asarray(PcfgExceptions(world.space).rules)).all()


@pytest.mark.parametrize(
    "options, named", [({"exceptions": 0}, "exceptions=0 is no share"), ({"exceptions": 0.9}, "only .* would do")]
)
def test_bad_shares_of_exceptions_are_refused(options, named, world):
    with pytest.raises(UserError, match=named):
        PcfgExceptions(world.space, **options)


# -- the task -----------------------------------------------------------------------------------------------------


def test_the_control_world_shuffles_the_strings_and_nothing_else(world):
    true, shuffled = Pcfg(world.space), PcfgLookup(world.space, seed=1)
    given = [sorted(map(tuple, np.asarray(one.meanings).tolist())) for one in (true, shuffled)]
    assert given[0] == given[1]
    assert (np.asarray(shuffled.meanings) == np.asarray(true.meanings)).all(1).mean() < 0.05


def test_in_the_other_control_world_all_expressions_stand_for_one_string(world):
    assert len(np.unique(np.asarray(PcfgIndifferent(world.space).meanings), axis=0)) == 1


@pytest.mark.parametrize("name", ["pcfg-v1", "pcfg-lookup-v1", "pcfg-exceptions-v1", "pcfg-indifferent-v1"])
def test_a_list_of_other_words_is_refused(name):
    with pytest.raises(UserError, match=r"needs a list of its texts.*got Listed\(2 comb"):
        tasks.registry[name](Listed([[0], [1]], ["hop", "skip"]))


@pytest.mark.parametrize(
    "option", ["ordinary", "twins", "unrolled", "longest", "letters", "functions", "alone", "synonyms"]
)
def test_bad_sizes_are_refused(option):
    with pytest.raises(UserError, match=f"{option}=-1"):
        Pcfg.space_from(**{option: -1})
