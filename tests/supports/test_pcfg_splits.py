"""The tests of PCFG SET as splits: what is held out and what is trained, released files, and refusals."""

from __future__ import annotations

import pytest
from released import released

import recombine as rc
from recombine import UserError
from recombine.supports import pcfg
from recombine.supports.pcfg_exceptions import EXCEPTIONS, excepted, exception_of
from recombine.supports.pcfg_language import FUNCTIONS, SYNONYMS, interpreted, parsed, shape, steps
from recombine.supports.pcfg_splits import APART, SPLITS
from recombine.tasks import Pcfg
from recombine.testing import check_support


@pytest.fixture(scope="module")
def space():
    return Pcfg.space_from(2_000, twins=300, unrolled=40)


def expressions(space, side):
    names = space.element_names
    return [tuple(names[w] for w in row if w >= 0) for row in space.elements(side.combinations()).tolist()]


def sides(space, **options):
    support = pcfg(space, **options)
    return support, expressions(space, support.train), expressions(space, support.held_out)


@pytest.mark.parametrize("split", SPLITS[:-1])
def test_splits_pass_the_public_check_and_train_the_words_they_ask_about(split, space):
    support, trained, asked = sides(space, split=split)
    check_support(support, n=50)
    if split != "random":
        assert {word for words in asked for word in words} <= {word for words in trained for word in words}


def test_pairs_of_functions_are_never_trained_side_by_side(space):
    _, trained, asked = sides(space, split="systematicity")

    def pairs(words):
        plain = [SYNONYMS.get(word, word) for word in words]
        return set(zip(plain, plain[1:], strict=False)) & set(APART)

    assert not any(map(pairs, trained)) and all(map(pairs, asked))
    assert set.union(*map(pairs, asked)) == set(APART)


@pytest.mark.parametrize("functions", [3, 8])
def test_productivity_asks_about_more_functions(functions, space):
    _, trained, asked = sides(space, split="productivity", functions=functions)
    counts = [[shape(parsed(words)).functions for words in side] for side in (trained, asked)]
    assert max(counts[0]) <= functions < min(counts[1])


def test_equal_substitution_trains_either_way_of_writing_as_often(space):
    _, trained, asked = sides(space, split="substitutivity-equal")
    used = [sum(word in kind for words in trained for word in words) for kind in (SYNONYMS, SYNONYMS.values())]
    assert used[0] == pytest.approx(used[1], rel=0.2)
    plain = {tuple(SYNONYMS.get(word, word) for word in words) for words in trained}
    assert all(tuple(SYNONYMS.get(word, word) for word in words) in plain for words in asked)  # the twin is trained
    assert not set(asked) & set(trained)
    assert {any(word in SYNONYMS for word in words) for words in asked} == {True, False}


def test_primitive_substitution_trains_synonyms_alone(space):
    _, trained, asked = sides(space, split="substitutivity-primitive")
    alone = [words for words in trained if any(word in SYNONYMS for word in words)]
    assert {words[0] for words in alone} == set(SYNONYMS) and all(shape(parsed(w)).functions == 1 for w in alone)
    assert all(any(w in SYNONYMS for w in words) and shape(parsed(words)).functions > 1 for words in asked)


def test_localism_asks_about_every_step_of_a_trained_expression(space):
    _, trained, asked = sides(space, split="localism")
    assert {shape(parsed(words)).functions for words in asked} == {1}
    known = {step for words in trained if shape(node := parsed(words)).functions > 1 for step in steps(node)}
    assert set(asked) <= known
    assert max(map(len, asked)) > 11  # longer than any expression of one function by itself
    many = [words for words in trained if shape(parsed(words)).functions > 1]
    whole = [words for words in many if set(steps(parsed(words))) <= set(asked)]
    assert len(whole) >= 40 and all(interpreted(steps(parsed(w))[-1]) == interpreted(w) for w in whole)


def test_few_exceptions_are_trained_half_of_them_of_two_functions_and_no_other_expression_with_their_pair(space):
    support, trained, asked = sides(space, split="overgeneralization", exceptions=0.01)
    few = expressions(space, support.side("validation/exceptions"))
    rarer = {pair: min(sum(name in words for words in (*trained, *asked)) for name in pair) for pair in EXCEPTIONS}
    for pair, count in rarer.items():
        own = [words for words in few if pair in zip(words, words[1:], strict=False)]
        assert len(own) == max(1, round(0.01 * count))
    assert all(exception_of(words) for words in few)
    others = set(trained) - set(few)
    assert not any(excepted(words) for words in others) and all(map(excepted, asked))
    assert any(shape(parsed(words)).functions == 2 for words in few)


@pytest.mark.slow
def test_released_files_are_the_released_split():
    files = [str(released("pcfg", f"{name}.tsv.gz")) for name in ("dev", "productivity")]
    space = Pcfg.space_from(released=files)
    support = pcfg(space, split="released", train=files[0], test=files[1])
    assert (support.train.size, support.held_out.size) == (4_860, 11_333)
    by_rule = pcfg(space, split="productivity")
    assert set(support.held_out.ranks) <= set(by_rule.held_out.ranks)
    with pytest.raises(UserError, match=r"which the list has not; Pcfg.space_from"):
        pcfg(Pcfg.space_from(released=files[:1]), split="released", train=files[0], test=files[1])


@pytest.mark.slow
def test_the_released_systematicity_test_is_what_the_rule_holds_out():
    space = Pcfg.space_from(released=[str(released("pcfg", "systematicity.tsv.gz"))])
    with pytest.raises(UserError, match="leaves nothing to train on|untrained"):
        pcfg(space, split="systematicity")


REFUSED = {
    "an unknown split": ({"split": "systematicty"}, "'systematicty'; did you mean 'systematicity'"),
    "a cutoff without test items": ({"split": "productivity", "functions": 99}, "functions=99 holds out nothing"),
    "a share of all": ({"held_out": 1.0}, "held_out=1.0 .*leaves none to train on"),
    "files that are not asked for": ({"train": "train.tsv"}, "split='random' is made by rule"),
    "no files": ({"split": "released"}, "needs train="),
    "no exceptions": ({"split": "overgeneralization", "exceptions": 0}, "exceptions=0 is no share"),
    "more exceptions than there are": ({"split": "overgeneralization", "exceptions": 0.9}, "exceptions=0.9 .*would do"),
    "a negative seed": ({"seed": -1}, "seed=-1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_splits_are_refused_by_value_and_remedy(name, space):
    options, named = REFUSED[name]
    with pytest.raises(UserError, match=named):
        pcfg(space, **options)


def test_a_list_without_twins_or_steps_is_refused_with_one_that_has_them():
    plain = Pcfg.space_from(300, twins=0, unrolled=0)
    for split in ("substitutivity-equal", "substitutivity-primitive"):
        with pytest.raises(UserError, match=r"holds out nothing.*Pcfg.space_from\(twins=100\)"):
            pcfg(plain, split=split)
    words = FUNCTIONS.index("echo"), list(plain.element_names).index("A1")
    one = rc.Listed([words, (words[0], words[0], words[1])], plain.element_names)
    with pytest.raises(UserError, match=r"holds out nothing.*Pcfg.space_from\(unrolled=100\)"):
        pcfg(rc.Listed([words], plain.element_names), split="localism")
    assert pcfg(one, split="localism").held_out.size == 1


def test_spaces_without_expressions_are_refused():
    for other in (rc.Product(a=2, b=2), rc.Subsets(4, 2), rc.Listed([[0], [1]], ["a", "b"])):
        with pytest.raises(UserError, match=r"needs a list of expressions.*got "):
            pcfg(other)
