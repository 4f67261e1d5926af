"""recombine show-item: an item of a world of sequences, and where a net's answer parts from the truth."""

from __future__ import annotations

import jax
import pytest

import recombine as rc
from recombine.cli.entry import main
from recombine.supports.pcfg_language import interpreted
from recombine.tasks import Scan


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["show-item", *arguments])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A net that has learned nothing."""
    world, blueprint = Scan(Scan.default_space()), rc.nets.LSTM(8, 1)
    path = tmp_path_factory.mktemp("nets") / "net.safetensors"
    net = rc.nets.initialize(blueprint, world, jax.random.key(0), "float32")
    net.save(path, blueprint=blueprint, task=world)
    return path


def test_an_item_is_printed_with_its_truth_the_same_for_a_seed(capsys):
    code, out, err = run(capsys, "scan-v1", "--seed", "3")
    assert code == 0 and err == "" and out.startswith("text    ") and "--net FILE" in out
    assert run(capsys, "scan-v1", "--seed", "3")[1] == out != run(capsys, "scan-v1", "--seed", "4")[1]
    code, out, _ = run(capsys, "scan-v1", "--text", "jump twice after look")
    assert code == 0 and out.splitlines()[:2] == ["text    jump twice after look", "truth   I_LOOK I_JUMP I_JUMP"]


def test_items_of_other_languages_are_printed_too(capsys):
    code, out, err = run(capsys, "cogs-v1", "--text", "shark")
    assert code == 0 and err == "" and out.splitlines()[:2] == ["text    shark", "truth   LAMBDA a . shark ( a )"]
    code, out, err = run(capsys, "pcfg-v1", "--seed", "3")
    text, truth = (line.split()[1:] for line in out.splitlines()[:2])
    assert code == 0 and err == "" and truth == list(interpreted(text))


def test_a_saved_net_is_asked_and_its_answer_stands_below_the_truth(capsys, saved):
    code, out, err = run(capsys, "scan-v1", "--text", "walk twice", "--net", str(saved), "--beam", "2")
    lines = out.splitlines()
    assert code == 0 and err == "" and lines[1].startswith("truth   I_WALK I_WALK")
    assert any(line.startswith("answer") for line in lines) and "word" in lines[-1] + lines[-2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("scan",), "did you mean 'scan-v1'"),
        (("hyperteacher-v1",), "has no texts; those that have are"),
        (("scan-v1", "--text", "jump twise"), "did you mean 'twice'"),
        (("scan-v1", "--text", "twice jump"), "'twice jump' is no text of scan-v1"),
        (("scan-v1", "--seed", "-1"), "seed=-1"),
        (("cogs-v1", "--text", "Emma sleptt ."), "did you mean 'slept'"),
        (("cogs-v1", "--text", "slept Emma ."), "'slept Emma .' is no text of cogs-v1"),
        (("pcfg-v1", "--text", "ehco A1 B2"), "did you mean 'echo'"),
        (("pcfg-v1", "--text", "echo A1 ,"), "is no text of pcfg-v1"),
        (("scan-v1", "--net", "nowhere"), "is no file"),
        (("scan-v1", "--net", "NET", "--beam", "0"), "beam=0"),
    ],
)
def test_it_refuses_in_one_sentence(capsys, saved, arguments, words):
    code, out, err = run(capsys, *(str(saved) if one == "NET" else one for one in arguments))
    assert code == 2 and out == "" and err.startswith("recombine: ") and err.count("\n") == 1 and words in err
