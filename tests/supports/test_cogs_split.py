"""The split of COGS: groups by case, words that stay trained, released files, and refusals."""

from __future__ import annotations

import pytest
from released import released

import recombine as rc
from recombine import UserError
from recombine.supports import cogs
from recombine.supports.cogs_cases import CASES, LEXICAL, case_of
from recombine.tasks import Cogs
from recombine.testing import check_support


@pytest.fixture(scope="module")
def space():
    return Cogs.space_from(ordinary=1_000, each=3)


def sentences(space, side):
    names = space.element_names
    return [[names[w] for w in row if w >= 0] for row in space.elements(side.combinations()).tolist()]


def test_cases_are_held_out_and_everything_they_need_is_trained(space):
    support = cogs(space)
    check_support(support, n=50)
    assert support.asks == "held_out/generalization" and support.group("generalization").size == 3 * len(CASES)
    assert support.group("lexical").size == 3 * len(LEXICAL) and support.group("structural").size == 9
    for case in CASES:
        assert {case_of(words) for words in sentences(space, support.group(case))} == {case}
    trained = sentences(space, support.train)
    assert {case_of(words) for words in trained} == {"in_distribution", "primitive", "exposure"}
    texts = {word for words in trained for word in words}
    assert {word for words in sentences(space, support.held_out) for word in words} <= texts
    ordinary = support.group("in-distribution").size
    assert 0 < ordinary <= 100  # a tenth, without sentences that have a word of their own


def test_cases_can_be_chosen_and_ordinary_sentences_kept(space):
    support = cogs(space, cases=["cp_recursion"], in_distribution=0)
    assert support.held_out.size == 3 and "lexical" not in support.groups and "in-distribution" not in support.groups


def test_the_seed_decides_which_ordinary_sentences_are_held_out(space):
    first, same, other = (set(cogs(space, seed=seed).held_out.ranks) for seed in (0, 0, 1))
    assert first == same != other


@pytest.mark.slow
def test_released_files_are_the_released_split():
    files = {name: str(released("cogs", f"{name}.tsv.gz")) for name in ("train", "test", "gen_structural")}
    space = Cogs.space_from(released=list(files.values()))
    support = cogs(space, train=files["train"], test=[files["test"], files["gen_structural"]])
    assert (support.train.size, support.held_out.size) == (24_155, 6_000)
    assert support.group("structural").size == 3_000 == support.group("in-distribution").size
    small = Cogs.space_from(released=[files["test"]])
    with pytest.raises(UserError, match="which the list has not; Cogs.space_from"):
        cogs(small, train=files["train"], test=[files["test"]])


def test_an_altered_file_is_said_to_be(tmp_path, space):
    path = tmp_path / "train.tsv"
    path.write_text("Emma slept .\tsleep . agent ( x _ 1 , Emma )\tin_distribution\n")
    with pytest.raises(UserError, match=r"train.tsv' is no file of COGS as released.*1 rows.*altered"):
        cogs(space, train=str(path), test=[str(path)])
    with pytest.raises(UserError, match="no file of COGS as released"):
        Cogs.space_from(released=[str(path)])


REFUSED = {
    "an unknown case": ({"cases": ["cp_recursoin"]}, "'cp_recursoin'; did you mean 'cp_recursion'"),
    "a share of one": ({"in_distribution": 1}, "in_distribution=1 is no share.*0.1 would do"),
    "a file alone": ({"train": "train.tsv"}, "test=.*one is missing"),
    "a negative seed": ({"seed": -1}, "seed=-1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_splits_are_refused_by_value_and_remedy(name, space):
    options, named = REFUSED[name]
    with pytest.raises(UserError, match=named):
        cogs(space, **options)


def test_a_word_that_would_stay_untrained_is_named(space):
    """A case with a word that no ordinary sentence has: the list is too small for it."""
    texts = ["The boy slept .", "Emma saw the gardner .", "shark", "The shark saw the gardner ."]
    row = {word: place for place, word in enumerate(space.element_names)}
    small = rc.Listed([[row[word] for word in text.split()] for text in texts], space.element_names)
    support = cogs(small, in_distribution=0.5)
    assert support.train.ranks.tolist() == [0, 1, 2]  # a half of the ordinary ones would leave a word untrained
    lacking = rc.Listed([small.table[rank][small.table[rank] >= 0] for rank in (0, 2, 3)], space.element_names)
    with pytest.raises(UserError, match="leaves 'the' untrained"):
        cogs(lacking)


def test_spaces_without_sentences_are_refused():
    for other in (rc.Product(a=2, b=2), rc.Subsets(4, 2), rc.Listed([[0], [1]], ["a", "b"])):
        with pytest.raises(UserError, match=r"needs a list of COGS sentences.*got "):
            cogs(other)
