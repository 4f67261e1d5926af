"""Every registered design: which spaces suit it, and what its seed decides."""

from __future__ import annotations

import json
import re

import pytest

from recombine import Product, Subsets, UserError, supports
from recombine.tasks import Ciphers, Cogs, DynamicProgram, Pcfg, scan_commands
from recombine.testing import check_support

SMALL = Subsets(8, 3)  # 92
FACTORS = Product(color=4, shape=4, size=3)  # 48

LACKING = Product(x=[0, 1, 2, 3, "none"], y=[0, 1, 2, 3, "none"])

#: designs that suit some spaces only: numbers of active modules, places along ordered factors, factors that are absent
SUITED = {
    "fewer-active": (SMALL,),
    "bumps-and-stripes": (LACKING,),
    "one-apart": (Subsets(16, 3),),
    "scan": (scan_commands(),),
    "sizes": (DynamicProgram.default_space(),),
    "ciphers": (Ciphers.default_space(),),
    "cogs": (Cogs.default_space(),),
    "pcfg": (Pcfg.default_space(),),
    **dict.fromkeys(("donut", "corner", "cross", "band", "gap"), (FACTORS, LACKING)),
    **dict.fromkeys(("stair", "l-shape", "cross-arms", "diagonal", "orthotope"), (FACTORS, LACKING)),
}

EVERYWHERE = [(d, s) for d in supports.registry if d != "listed" for s in SUITED.get(d, (SMALL, FACTORS))]


@pytest.mark.parametrize("design", SUITED)
def test_designs_refuse_spaces_that_do_not_suit_them(design):
    for space in {SMALL, FACTORS} - set(SUITED[design]):
        with pytest.raises(UserError, match=f"need.*got {re.escape(str(space))}"):
            supports.registry[design](space)


@pytest.mark.parametrize("design, space", EVERYWHERE, ids=str)
def test_registered_designs_pass_the_public_check(design, space):
    check_support(supports.registry[design](space))


@pytest.mark.parametrize("most, trained", [(None, 36), (1, 8), (2, 36)])
def test_fewer_active_trains_the_small_and_holds_out_the_large(most, trained):
    support = supports.registry["fewer-active"](Subsets(8, 3), most=most)
    assert support.train.size == trained and support.held_out.size == Subsets(8, 3).size - trained
    counts = [(side.combinations() >= 0).sum(1) for side in (support.train, support.held_out)]
    assert counts[0].max() < counts[1].min() == (most or 2) + 1
    certificate = support.certificate()
    assert certificate.compositional and certificate.connected is (most != 1)
    for bad in (0, 3):
        with pytest.raises(UserError, match=f"most={bad}"):
            supports.registry["fewer-active"](Subsets(8, 3), most=bad)
    with pytest.raises(UserError, match="different sizes"):
        supports.registry["fewer-active"](FACTORS)


@pytest.mark.parametrize("space", [SMALL, FACTORS], ids=str)
def test_listed_trains_the_ranks_it_is_given_and_is_data(space):
    written = json.loads(json.dumps({"ranks": [7, 2, 40, 7]}))
    support = supports.registry["listed"](space, **written, seed=5)
    check_support(support)
    assert space.rank(support.train.combinations()).tolist() == [2, 7, 40]
    assert support.held_out.size == space.size - 3
    assert json.loads(json.dumps(support.settings)) == {"ranks": [2, 7, 40], "seed": 5}


@pytest.mark.parametrize(
    "ranks, words",
    [
        ([], r"needs the ranks that are trained, such as ranks=\[0, 1\]"),
        ([3, 92], "rank=92 is too large; it must be at most 91"),
        ([-1], "rank=-1 is too small; it must be at least 0"),
        ([0.5], "rank=0.5 is not a whole number"),
        (list(range(92)), "leaves nothing to hold out"),
    ],
)
def test_listed_refuses_ranks_that_make_no_split(ranks, words):
    with pytest.raises(UserError, match=words):
        supports.registry["listed"](SMALL, ranks=ranks)


@pytest.mark.parametrize("design, space", EVERYWHERE, ids=str)
def test_same_seed_same_split(design, space):
    first, second = (supports.registry[design](space, seed=3).certificate().content for _ in range(2))
    assert first == second


@pytest.mark.parametrize("design", ["random", "balanced", "implicit", "popular", "unpopular"])
def test_other_seed_other_split(design):
    space = Subsets(10, 3)  # where popular and unpopular have something left to choose
    contents = {supports.registry[design](space, seed=seed).certificate().content for seed in range(4)}
    assert len(contents) == 4


def test_other_seed_other_split_inside_blocks():
    contents = {supports.disconnected(SMALL, within=0.25, seed=s).certificate().content for s in range(4)}
    assert len(contents) == 4


@pytest.mark.parametrize("design", ["random", "implicit"])
@pytest.mark.parametrize("seed", [20_250_711, 2**31 - 1])
def test_large_seeds_are_seeds(design, seed):
    """A date is a seed that people use."""
    support = supports.registry[design](SMALL, seed=seed)
    assert support.certificate().disjoint


@pytest.mark.parametrize(
    "modules, at_most, share, blocks, trained", [(16, 3, 0.25, [1, 15], 523), (10, 2, 0.3, [2, 8], 39)]
)
def test_one_apart_is_the_published_disconnected_split(modules, at_most, share, blocks, trained):
    support = supports.registry["one-apart"](Subsets(modules, at_most), held_out=share)
    assert support.settings["blocks"] == blocks and support.train.size == trained
    across = support.group("cross-block").combinations()
    assert len(across) <= share * support.space.size and not support.certificate().connected
    assert support.asks == "held_out"  # the score is about all that is held out, as published
    for seed in (1, 2):  # the seed decides what is held out inside a block
        other = supports.registry["one-apart"](Subsets(modules, at_most), held_out=share, seed=seed)
        assert other.train.size == trained and len(other.group("cross-block")) == len(across)
    with pytest.raises(UserError, match=r"needs held_out=0\.31 at least"):
        supports.registry["one-apart"](SMALL, held_out=0.3)


@pytest.mark.parametrize(
    "like", [{"name": "disconnected"}, {"name": "disconnected", "within": 0.25}, {"name": "missing"}]
)
@pytest.mark.parametrize("space", [SMALL, FACTORS], ids=str)
def test_as_many_trains_as_many_as_another_design_and_is_random(space, like):
    options = {name: value for name, value in like.items() if name != "name"}
    other = supports.registry[like["name"]](space, seed=3, **options)
    support = supports.registry["as-many"](space, like=like, seed=3)
    assert support.train.size == other.train.size
    certificate = support.certificate()
    assert certificate.connected and certificate.compositional
    assert supports.registry["as-many"](space, like=like, seed=4).certificate().content != certificate.content


@pytest.mark.parametrize(
    "like, words",
    [
        ({"name": "disconected"}, "did you mean 'disconnected'"),
        ({"name": "as-many"}, "as-many"),
        ({}, "name of the design in like"),
        ({"name": "disconnected", "wihtin": 0.2}, "did you mean 'within'"),
    ],
)
def test_as_many_refuses_by_name_what_it_cannot_be_like(like, words):
    with pytest.raises(UserError, match=words):
        supports.registry["as-many"](SMALL, like=like)
