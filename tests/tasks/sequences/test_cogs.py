"""cogs-v1: the interpreter against every released sentence, the sampler against released frequencies, refusals."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from released import released, rows_of

from recombine import Listed, UserError, tasks
from recombine.supports.cogs_cases import CASES, case_of
from recombine.supports.cogs_words import NAMES
from recombine.tasks import Cogs, CogsIndifferent, CogsLookup
from recombine.tasks.sequences.cogs_meaning import MOST_WORDS, TOKENS, logical_form
from recombine.tasks.sequences.cogs_sampler import ATTACHED, FRAMES, NESTED, Sampler

FILES = ("train", "dev", "test", "gen_lexical", "gen_structural")


def rows(name):
    return [row.split("\t") for row in rows_of(released("cogs", f"{name}.tsv.gz"))]


# -- against what was released ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_every_released_sentence_has_its_released_form_and_its_case(name):
    read = rows(name)
    for sentence, form, case in read:
        words = sentence.split()
        assert " ".join(logical_form(words)) == form
        assert case_of(words) == ("exposure" if case.startswith("exposure") else case)
    assert len(read) == {"train": 24_155, "gen_lexical": 18_000}.get(name, 3_000)


def test_the_vocabulary_is_the_released_one():
    words = {word for name in FILES for sentence, _, _ in rows(name) for word in sentence.split()}
    assert words == set(Cogs.default_space().element_names)


@pytest.mark.slow
def test_sentences_come_as_often_as_in_the_released_training_file():
    """The shares of passives, of "that", of infinitives, of prepositions, and of the most frequent name."""
    own = Sampler(seed=3).ordinary(8_000)
    published = [tuple(sentence.split()) for sentence, _, case in rows("train") if case == "in_distribution"]
    for word in ("was", "by", "to", "that", "beside", "the", NAMES[0]):
        ours, theirs = (np.mean([word in sentence for sentence in sentences]) for sentences in (own, published))
        assert ours == pytest.approx(theirs, abs=0.03), word
    ours, theirs = (np.mean([len(sentence) for sentence in sentences]) for sentences in (own, published))
    assert ours == pytest.approx(theirs, rel=0.05)


# -- the language -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sentence, form",
    [
        ("Emma", "Emma"),
        ("shark", "LAMBDA a . shark ( a )"),
        ("crawl", "LAMBDA a . LAMBDA e . crawl . agent ( e , a )"),
        ("Emma rolled .", "roll . theme ( x _ 1 , Emma )"),
        ("Emma ate .", "eat . agent ( x _ 1 , Emma )"),
        (
            "A boy wanted to sleep .",
            "boy ( x _ 1 ) AND want . agent ( x _ 2 , x _ 1 ) AND want . xcomp ( x _ 2 , x _ 4 ) "
            "AND sleep . agent ( x _ 4 , x _ 1 )",
        ),
        (
            "The boy was given a cake in the box by Emma .",
            "* boy ( x _ 1 ) ; * box ( x _ 8 ) ; give . recipient ( x _ 3 , x _ 1 ) AND give . theme ( x _ 3 , x _ 5 ) "
            "AND give . agent ( x _ 3 , Emma ) AND cake ( x _ 5 ) AND cake . nmod . in ( x _ 5 , x _ 8 )",
        ),
    ],
)
def test_sentences_mean_what_they_say(sentence, form):
    assert " ".join(logical_form(sentence.split())) == form


@pytest.mark.parametrize(
    "sentence, named",
    [
        ("Emma", None),
        ("Emma slept", "breaks off at the end"),
        ("Emma slept the cake .", "breaks off at 'the', word 3"),
        ("the", "'the' means nothing by itself"),
        ("Emma gave the cake .", r"breaks off at '\.', word 5"),
        ("Emma said that .", r"breaks off at '\.', word 4"),
        ("Emma wanted to ate .", "breaks off at 'ate', word 4"),
        ("Emma was ate .", "breaks off at 'ate', word 3"),
        ("Emma saw the slept .", "breaks off at 'the', word 3"),
        ("Emma slept . Emma", r"breaks off at 'Emma', word 4"),
        (" ".join(["Emma said that"] * 30 + ["Emma slept ."]), f"93 words.*at most {MOST_WORDS}"),
    ],
)
def test_what_is_no_sentence_is_refused(sentence, named):
    if named is None:
        assert logical_form([sentence]) == ("Emma",)
        return
    with pytest.raises(UserError, match=named):
        logical_form(sentence.split())


# -- the sampler --------------------------------------------------------------------------------------------------


def test_each_case_is_what_it_is_called_and_can_be_understood():
    sampler = Sampler(seed=1)
    for case in CASES:
        sentences = sampler.of_case(case, 30)
        assert len(set(sentences)) == 30 and {case_of(sentence) for sentence in sentences} == {case}
        assert all(set(logical_form(sentence)) <= set(TOKENS) for sentence in sentences)


def test_ordinary_sentences_are_no_case_and_differ():
    sentences = Sampler(seed=1).ordinary(2_000)
    assert len(set(sentences)) == 2_000 and {case_of(sentence) for sentence in sentences} == {"in_distribution"}
    nested = np.mean(["that" in sentence for sentence in sentences])
    assert nested == pytest.approx(NESTED, abs=0.03) and 0 < ATTACHED < 1 and len(FRAMES) == 13


def test_recursions_have_as_many_of_each_depth():
    sampler = Sampler(seed=0)
    nested = Counter(sentence.count("that") for sentence in sampler.of_case("cp_recursion", 50))
    assert nested == {depth: 5 for depth in range(3, 13)}
    chained = Counter(
        sum(word in ("in", "on", "beside") for word in sentence) for sentence in sampler.of_case("pp_recursion", 50)
    )
    assert set(chained) == set(range(3, 13))


def test_the_seed_decides_and_more_than_there_are_is_refused():
    first, same, other = (Cogs.space_from(ordinary=400, each=1, seed=seed) for seed in (0, 0, 1))
    assert first == same != other
    with pytest.raises(UserError, match="sentences of only_seen_as_unacc_subj_as_unerg_subj.*would do"):
        Sampler(0).of_case("only_seen_as_unacc_subj_as_unerg_subj", 20, known={"A", "The", "hippo", "slept", "."})


# -- the task -----------------------------------------------------------------------------------------------------


def test_the_control_world_shuffles_the_forms_and_nothing_else():
    space = Cogs.space_from(ordinary=300, each=1)
    true, world, other = Cogs(space), CogsLookup(space, seed=1), CogsLookup(space, seed=2)
    assert (world.texts == true.texts).all() and (world.meanings != other.meanings).any()
    meanings = [sorted(map(tuple, np.asarray(one.meanings).tolist())) for one in (true, world)]
    assert meanings[0] == meanings[1]
    assert (np.asarray(world.meanings) == np.asarray(true.meanings)).all(1).mean() < 0.05


def test_in_the_other_control_world_all_sentences_have_one_form():
    world = CogsIndifferent(Cogs.space_from(ordinary=300, each=1))
    assert len(np.unique(np.asarray(world.meanings), axis=0)) == 1


def test_a_part_of_the_language_has_few_words_and_few_tokens_and_all_cases():
    space = Cogs.space_from(ordinary=300, each=4, words=4, deepest=3, longest=120)
    world, whole = Cogs(space), Cogs.default_space()
    assert len(space.element_names) < 120 < len(whole.element_names) and world.words["target"] < 120
    texts = [world.text([row]).split() for row in range(space.size)]
    assert {case_of(words) for words in texts} >= set(CASES)
    assert all(world.meaning([row]) == " ".join(logical_form(words)) for row, words in enumerate(texts))
    assert world.meanings.shape[1] <= 121  # with the end
    depths = world.sizes(space.enumerate())
    assert depths["clauses"].max() == depths["prepositions"].max() == 3
    used = Counter(word for words in texts for word in words if word in NAMES)
    assert set(used) == set(NAMES[:4])


def test_clauses_and_chained_prepositions_are_counted():
    world = Cogs(Cogs.space_from(ordinary=400, each=10))
    texts = {world.text([row]): row for row in range(world.space.size)}
    case = {text: case_of(text.split()) for text in texts}
    found = world.sizes(np.arange(world.space.size)[:, None])
    for text, row in texts.items():
        if case[text] == "in_distribution":
            assert found["prepositions"][row] <= 2 and found["clauses"][row] <= 2
        if case[text] == "pp_recursion":
            assert found["prepositions"][row] >= 3


def test_a_list_of_other_words_and_bad_sizes_are_refused():
    with pytest.raises(UserError, match=r"cogs-v1 needs a list of its texts.*got Listed\(2 comb"):
        tasks.registry["cogs-v1"](Listed([[0], [1]], ["hop", "skip"]))
    for options, named in (
        ({"ordinary": 0}, "ordinary=0"),
        ({"each": 0}, "each=0"),
        ({"words": 1}, "words=1"),
        ({"deepest": 2}, "deepest=2"),
        ({"longest": 10}, "longest=10"),
        ({"cases": ("cp_recursoin",)}, "'cp_recursoin'; did you mean 'cp_recursion'"),
    ):
        with pytest.raises(UserError, match=named):
            Cogs.space_from(**options)
