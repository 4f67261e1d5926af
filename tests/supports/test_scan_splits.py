"""The splits of SCAN: row for row those that were released, and refusals by value and remedy."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import recombine as rc
from recombine import UserError
from recombine.files.released_rows import digest_of
from recombine.supports import scan
from recombine.supports.scan_released import RELEASED
from recombine.supports.scan_splits import asked_actions
from recombine.tasks import Scan, scan_commands
from recombine.testing import check_support

FILES = {
    "length": "length",
    "add-jump": "addprim_jump",
    "add-turn-left": "addprim_turn_left",
    "right": "template_right",
    "around-right": "template_around_right",
    "opposite-right": "template_opposite_right",
    "jump-around-right": "template_jump_around_right",
    **{f"filler-{n}": f"filler_num{n}" for n in range(4)},
}


@pytest.fixture(scope="module")
def world():
    return Scan(Scan.default_space())


@pytest.fixture(scope="module")
def rows(world):
    """The commands as the released files write them."""
    pairs = zip(np.asarray(world.texts), np.asarray(world.meanings), strict=True)
    return np.array([f"IN: {world.reads.decode(text)} OUT: {world.said(meaning)}" for text, meaning in pairs])


def written(rows, side):
    """The rows of one side, as often as it draws them."""
    times = np.ones(side.size, int) if side.weights is None else side.weights.astype(int)
    return np.repeat(rows[side.ranks], times).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("split", FILES)
def test_a_split_by_rule_is_row_for_row_the_released_one(split, world, rows):
    support = scan(world.space, split=split)
    for side, part in ((support.train, "train"), (support.held_out, "test")):
        assert digest_of(written(rows, side)) == RELEASED[f"{part}_{FILES[split]}"]


@pytest.mark.parametrize("split", ["simple", "length", "add-turn-left", "filler-1"])
def test_splits_pass_the_public_check_and_train_every_word(split, world):
    support = scan(world.space, split=split)
    check_support(support, n=50)
    assert support.certificate().compositional


def test_the_simple_split_is_a_fifth_and_its_seed_decides(world):
    first, same, other = (scan(world.space, seed=seed) for seed in (0, 0, 1))
    assert (first.train.size, first.held_out.size) == (16_728, 4_182)
    assert (first.train.ranks == same.train.ranks).all() and (first.train.ranks != other.train.ranks).any()


def test_lengths_are_those_of_the_meanings(world):
    texts = map(world.reads.decode, np.asarray(world.texts))
    assert [asked_actions(text.split()) for text in texts] == (np.asarray(world.meanings) > 0).sum(1).tolist()


@pytest.mark.parametrize("cutoff", [10, 22, 40])
def test_the_cutoff_divides_short_from_long(cutoff, world):
    support = scan(world.space, split="length", cutoff=cutoff)
    lengths = (np.asarray(world.meanings) > 0).sum(1)
    assert lengths[support.train.ranks].max() <= cutoff < lengths[support.held_out.ranks].min()
    assert support.train.size + support.held_out.size == 20_910


def test_examples_move_from_what_is_asked_to_what_is_trained(world):
    none, some, more = (scan(world.space, split="add-jump", examples=n, seed=3) for n in (0, 8, 32))
    assert [one.held_out.size for one in (none, some, more)] == [7_706, 7_698, 7_674]
    new = set(more.train.ranks) - set(none.train.ranks)
    assert len(new) == 32 and new <= set(none.held_out.ranks)
    assert set(some.train.ranks) < set(more.train.ranks)  # more examples are those and further ones


# -- released files -----------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path, world, rows):
    """The released files of the add-jump split, as they can be written by rule; one of them packed."""
    support = scan(world.space, split="add-jump")
    train, test = tmp_path / "train.txt", tmp_path / "test.txt.gz"
    train.write_text("\n".join(written(rows, support.train)[::-1]) + "\n")
    test.write_bytes(gzip.compress("\n".join(written(rows, support.held_out)).encode()))
    return train, test


def test_a_released_split_can_be_given_by_its_files(files, world):
    train, test = map(str, files)
    support, by_rule = scan(world.space, split="released", train=train, test=test), scan(world.space, split="add-jump")
    assert (support.train.ranks == by_rule.train.ranks).all()
    assert (support.train.weights == by_rule.train.weights).all() and support.train.weights.max() == 1_467
    assert (support.held_out.ranks == by_rule.held_out.ranks).all()


def test_damaged_and_altered_files_are_said_to_be(files, world):
    train, test = files

    def ask():
        return scan(world.space, split="released", train=str(train), test=str(test))

    text = train.read_text()
    train.write_text(text.replace("I_RUN", "I_JUMP", 1))
    with pytest.raises(UserError, match=r"train.txt' is no file of SCAN as released.*14,670 rows.*altered"):
        ask()
    train.write_text(text)
    test.write_bytes(test.read_bytes()[:-2000])
    with pytest.raises(UserError, match=r"test.txt.gz' cannot be read \(it is damaged\).*released file"):
        ask()
    test.unlink()
    with pytest.raises(UserError, match=r"test.txt.gz' cannot be read \(No such file"):
        ask()


def test_fewer_commands_can_be_trained_and_the_primitive_stays_a_tenth(world):
    few = scan(world.space, split="add-jump", trained=900)
    assert few.train.size == 901 and few.held_out.size == 7_706
    weights = few.train.weights
    assert sorted(set(weights.tolist())) == [1, 100] and (weights == 100).sum() == 1
    assert scan(world.space, split="add-jump", trained=13_203).train.size == 13_204
    assert scan(world.space, trained=500).train.size == 500
    with pytest.raises(UserError, match=r"trained=13204 .* at most 13203"):
        scan(world.space, split="add-jump", trained=13_204)


def test_a_word_that_no_command_of_the_list_has_need_not_be_trained():
    assert scan(scan_commands(sentences=1), split="add-jump").held_out.size == 20


# -- refusals -----------------------------------------------------------------------------------------------------

REFUSED = {
    "an unknown split": ({"split": "add-jmp"}, "'add-jmp'; did you mean 'add-jump'"),
    "a cutoff without test items": ({"split": "length", "cutoff": 48}, "cutoff=48 holds out nothing.*than 48; 40"),
    "a cutoff without training": ({"split": "length", "cutoff": 0}, "cutoff=0 trains nothing.*1 actions"),
    "a cutoff that leaves words untrained": ({"split": "length", "cutoff": 1}, "cutoff=1 leaves 'opposite' untrained"),
    "a cutoff that is no number": ({"split": "length", "cutoff": 2.5}, "cutoff=2.5"),
    "more examples than there are": ({"split": "right", "examples": 4_476}, "examples=4476 .* at most 4475"),
    "files that are not asked for": ({"train": "train.txt"}, "split='simple' is made by rule"),
    "no files": ({"split": "released"}, "needs train="),
    "a negative seed": ({"seed": -1}, "seed=-1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_splits_are_refused_by_value_and_remedy(name, world):
    options, named = REFUSED[name]
    with pytest.raises(UserError, match=named):
        scan(world.space, **options)


def test_spaces_without_commands_are_refused():
    for space in (rc.Product(a=2, b=2), rc.Subsets(4, 2), rc.Listed([[0], [1]], ["a", "b"])):
        with pytest.raises(UserError, match=r"needs a list of SCAN commands.*got "):
            scan(space)


def test_a_list_without_the_template_is_refused():
    space = scan_commands(sentences=1)
    short = rc.Listed(
        [row for row in space.table if space.element_names.index("around") not in row], space.element_names
    )
    with pytest.raises(UserError, match="no command of the list is 'jump around right'"):
        scan(short, split="filler-0")
