"""An episode of a grid world: `recombine show-episode`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, UseAppendAction, arg

from ..errors import UserError, require_int
from .changes import changes_of
from .printing import print_text
from .worlds import made_world


def show_episode(
    task: Positional[str],
    combination: str | None = None,
    seed: int = 0,
    episode: int = 0,
    set: Annotated[UseAppendAction[tuple[tuple[str, ...], ...]], arg(metavar="NAME=VALUE")] = (),
    out: Path | None = None,
    force: bool = False,
) -> None:
    """Draws an episode of a grid world, in characters or as an image: what is there and what the expert does.

    Args:
        task: its name, such as preference-v1; `recombine list tasks` shows them
        combination: module numbers, or a level for each factor: 0,3,5 (default: a random one)
        seed: of the world
        episode: number of the episode in it
        set: the space (modules=8 at_most=2, or quadrant=2 ...) and options of the task (features=32)
        out: an .svg or .png to write
        force: replace a file there that recombine did not write, or that was changed since
    """
    from ..files import write_or_refuse
    from ..keys import key_for
    from ..report.episodes import episode_png, episode_svg, episode_text

    drawn = {".svg": lambda e: episode_svg(e).encode(), ".png": episode_png}
    if out is not None and out.suffix.lower() not in drawn:
        raise UserError(f"--out {out} must end in .svg or .png")
    require_int("episode", episode, at_least=0)
    world = _grid_world(task, seed, changes_of(pair for group in set for pair in group))
    row = _combination(world.space, combination, seed)
    found = world.episode(key_for("show-episode", episode), row)
    if out is not None:
        write_or_refuse(out, drawn[out.suffix.lower()](found), force)
        print_text(out)
        return
    text = episode_text(found, shutil.get_terminal_size().columns)
    code = sys.stdout.encoding or "utf-8"
    print(text.encode(code, "replace").decode(code))  # a terminal that knows no arrows gets question marks


def _grid_world(task: str, seed: int, changes: dict[str, str]):
    """A registered task with episodes, its space and its options changed as asked."""
    from ..tasks import Episodes, registry

    if not issubclass(registry[task], Episodes):
        worlds = [name for name in registry if issubclass(registry[name], Episodes)]
        raise UserError(f"{task} has no episodes; those that have are {', '.join(worlds)}")
    return made_world(task, seed, changes)


def _combination(space: Any, text: str | None, seed: int):
    if text is None:
        return space.sample(seed, 1)[0]
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise UserError(f"--combination takes whole numbers, such as 0,3,5, got {text!r}") from None
    if any(number >= len(space.element_names) for number in numbers):
        raise UserError(f"--combination {text} lies outside {space}")
    return space.check([numbers])[0] if space.ordered else space.from_sets([numbers])[0]
