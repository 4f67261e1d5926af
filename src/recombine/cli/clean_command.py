"""`recombine clean`: what is kept to save time, and can be made again, is removed."""

from __future__ import annotations

from pathlib import Path

from tyro.conf import Positional

from ..errors import UserError, require_number
from .printing import print_json


def clean(place: Positional[str | None] = None, keep: float = 0.0, json: bool = False) -> None:
    """Removes trained nets that were kept so that no cell trains them again. Records and reports stay.

    Args:
        place: where `recombine run` put its records (default: the folder that all studies of this user share)
        keep: megabytes that may stay; what was used longest ago goes first
        json: print one JSON object
    """
    from ..trials.kept import megabytes, remove_oldest, shared_folder

    require_number("keep", keep, at_least=0)
    if place is None:
        folder = shared_folder()
        if folder is None:
            raise UserError(
                "RECOMBINE_CACHE=off: nothing is shared; name a folder of a run, such as runs/supports-laptop"
            )
    else:
        if not (Path(place) / "store.json").is_file():
            raise UserError(f"{place} is no folder of a run; `recombine clean` alone cleans what studies share")
        folder = Path(place) / "nets"
    before = megabytes(folder)
    gone = remove_oldest(folder, keep)
    after = megabytes(folder)
    if json:
        print_json({"folder": str(folder), "removed": gone, "megabytes": before - after, "left": after})
    else:
        print(f"{folder}: {gone} net{'' if gone == 1 else 's'} removed, {before - after:.1f} MB; {after:.1f} MB left")
