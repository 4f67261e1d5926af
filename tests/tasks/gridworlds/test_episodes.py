"""Episodes for people: walked by nets, as pictures, as text and from the command line."""

from __future__ import annotations

import xml.etree.ElementTree

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gridworlds import KEY, MAP, SUBSETS, decoded

from recombine.cli import main
from recombine.nets import Net
from recombine.report.episodes import episode_png, episode_svg, episode_text
from recombine.tasks import Episode, Frame, Preference
from recombine.tasks.gridworlds.episode_task import Entry
from recombine.training import Player


class Stubborn(Net):
    """A net that always says the same."""

    action: int
    actions: int

    def __call__(self, batch, key=None):
        said = jax.nn.one_hot(self.action, self.actions)
        return jnp.broadcast_to(said, (*batch.inputs.shape[:-1], self.actions)), {}


SHOWN = []


class Keeps(Stubborn):
    """Stubborn, and keeps what it is shown."""

    def __call__(self, batch, key=None):
        jax.debug.callback(lambda inputs: SHOWN.append(np.asarray(inputs)), batch.inputs)
        return super().__call__(batch)


def test_an_episode_shows_what_the_batch_holds(preference):
    row = jnp.asarray(SUBSETS.from_sets([{0, 3, 5}]))
    batch = preference.sample(KEY, row)
    episode, labels = preference.episode(KEY, np.asarray(row)[0]), np.asarray(batch.target)[0, 0]
    assert [frame.action for frame in episode.frames if frame.action] == [
        preference.actions[a] for a in labels[labels >= 0]
    ]
    assert episode.correct and episode.actor == "expert"
    assert (episode.walls == np.array([[c == "w" for c in line] for line in MAP])).all()
    for frame, seen in zip(episode.frames, decoded(preference, batch.inputs)[0], strict=False):
        assert frame.agent == tuple(np.argwhere(seen[..., 16])[0])
        assert {(c, int(f)) for c, f in frame.objects} == {((r, c), f) for r, c, f in np.argwhere(seen[..., :16])}


def test_a_net_walks_its_own_way_and_is_told_where_it_errs(goal):
    episode = goal.episode(KEY, [1, 2, 0, 4], Player(Stubborn(0, goal.words["target"])))
    start = goal.episode(KEY, [1, 2, 0, 4]).frames[0]
    assert episode.actor == "net" and episode.frames[0].agent == start.agent and not episode.correct
    assert {frame.action for frame in episode.frames[:-1]} == {"up"} and len(episode.frames) == goal.length + 1
    assert {frame.agrees for frame in episode.frames[:-1]} <= {True, False} and not episode.frames[-2].agrees
    assert episode.frames[-2].note == "bumps into a wall" and episode.frames[-1].action is None


def test_a_net_that_does_nothing_ends_the_episode(preference):
    episode = preference.episode(KEY, [0, 3, 5], Player(Stubborn(0, 5)))
    assert [frame.action for frame in episode.frames] == ["nothing"]


def test_a_net_that_looks_back_is_shown_the_episode_so_far(preference):
    SHOWN.clear()
    episode = preference.episode(KEY, [0, 3, 5], Player(Keeps(2, 5)))
    jax.effects_barrier()
    shown = [inputs[0, 0] for inputs in SHOWN]  # (steps, numbers), of one task and one episode
    assert len(shown) == len(episode.frames) - 1 == 8
    for step, (inputs, later) in enumerate(zip(shown, shown[1:], strict=False)):
        assert (inputs[: step + 1] == later[: step + 1]).all() and (inputs[step:] == inputs[step]).all()


ODD = Episode(
    "<script>alert('&')</script>",
    np.ones((3, 3), bool) & (np.arange(9).reshape(3, 3) != 4),
    (Frame((1, 1), (((1, 1), '"<b>'),), "up", "<left>", "bumps & </svg>"), Frame((1, 1), (), None)),
    (Entry('"<b>', "<i>&amp;", "bad"),),
)


@pytest.mark.parametrize("odd", [False, True])
def test_pictures_are_whole_and_every_label_is_escaped(goal, odd):
    episode = ODD if odd else goal.episode(KEY, [1, 2, 0, 4])
    svg = episode_svg(episode)
    root = xml.etree.ElementTree.fromstring(svg)  # well formed
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert episode.title in texts and len(texts) > 5
    assert {element.tag.split("}")[1] for element in root.iter()} <= {
        "svg",
        "title",
        "rect",
        "g",
        "text",
        "circle",
        "line",
        "path",
    }
    assert "nan" not in svg and "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    assert episode_png(episode).startswith(b"\x89PNG")


@pytest.mark.parametrize("width", [20, 44, 120])
def test_text_fits_a_narrow_terminal(goal, width):
    episode = goal.episode(KEY, [1, 2, 0, 4])
    lines = episode_text(episode, width).splitlines()
    assert max(map(len, lines)) <= width and sum("█" in line for line in lines) == episode.walls.any(1).sum()
    last = len(episode.frames)  # a step each; the last one is the right interaction
    assert any("@" in line for line in lines) and lines[-1].split()[0] == str(last)


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["show-episode", *arguments])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def test_show_episode_prints_or_writes(capsys, tmp_path):
    code, out, err = run(capsys, "preference-v1", "--combination", "0,3,5")
    assert code == 0 and err == "" and out.startswith("preference-v1: {m0, m3, m5}") and "worth" in out
    assert run(capsys, "preference-v1", "--combination", "0,3,5")[1] == out
    assert run(capsys, "preference-v1", "--combination", "0,3,5", "--episode", "1")[1] != out
    for suffix, begins in ((".svg", b"<svg"), (".png", b"\x89PNG")):
        path = tmp_path / f"a b{suffix}"
        code, out, _ = run(capsys, "preference-v1", "--combination", "0,3,5", "--out", str(path))
        assert code == 0 and out.strip() == str(path) and path.read_bytes().startswith(begins)
    code, out, _ = run(capsys, "goal-v2", "--set", "grid=9", "maze=2", "--set", "length=30")
    assert code == 0 and "find and" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("preference",), "did you mean 'preference-v1'"),
        (("hyperteacher-v1",), "has no episodes; those that have are goal-v2"),
        (("preference-v1", "--combination", "x"), "whole numbers"),
        (("preference-v1", "--combination", "0,99999999999999999999"), "outside Subsets"),
        (("preference-v1", "--combination", "0,1,2,3"), "at_most=3"),
        (("goal-v2", "--combination", "9,9,9,9"), "not a combination"),
        (("preference-v1", "--set", "fetures=3"), "did you mean 'features'"),
        (("preference-v1", "--set", "features=big"), "features='big'"),
        (("preference-v1", "--set", "modules=20"), "features=20 or modules=16"),
        (("goal-v2", "--set", "quadrant=9"), "'quadrant'=9"),
        (("goal-v2", "--set", "encoding=few-shot"), "few-shot"),
        (("preference-v1", "--seed", "-1"), "seed=-1"),
        (("preference-v1", "--out", "x.gif"), ".svg or .png"),
        (("preference-v1", "--out", "x" * 300 + ".svg"), "too long"),
    ],
)
def test_show_episode_refuses_in_one_sentence(capsys, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    if "features=big" in arguments:  # the tests' runtime type checks would refuse it first
        monkeypatch.setattr(Preference, "__init__", getattr(Preference.__init__, "__wrapped__", Preference.__init__))
    code, out, err = run(capsys, *arguments)
    assert code == 2 and out == "" and err.startswith("recombine: ") and err.count("\n") == 1 and words in err
    assert list(tmp_path.iterdir()) == []
