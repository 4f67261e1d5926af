"""The files of SCAN as released, known by the digest of their rows, and what they say of a list of commands."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from ..errors import UserError
from ..files.released_rows import released_rows
from ..labels import quoted

Words = list[str]
#: file, without "tasks_" and ".txt" -> SHA-256 of its rows in order of the alphabet
RELEASED = {
    "tasks": "345bff3c25864652f326ba1960aa515d156b63f45067ea57268f71d7362a2440",
    "test_addprim_jump": "48956239771e67ded4d090164919ab79d21756218a3e94f9abc2cbe346c0cd1c",
    "test_addprim_turn_left": "81acae1af5137165debf8630986733b2581aea19cb98e32f4026bccce8042b09",
    "test_filler_num0": "3590e013eaa75106014637969f08fd9e139bd7f3ec59f11260619f1320f5e52b",
    "test_filler_num1": "3590e013eaa75106014637969f08fd9e139bd7f3ec59f11260619f1320f5e52b",
    "test_filler_num2": "3590e013eaa75106014637969f08fd9e139bd7f3ec59f11260619f1320f5e52b",
    "test_filler_num3": "3590e013eaa75106014637969f08fd9e139bd7f3ec59f11260619f1320f5e52b",
    "test_length": "45bb5e5f0e0678da016725d880ba4349267b93262762a2c66f9b51b04535a2ce",
    "test_simple": "faa3707d325ccaf3d2d0a4f03d613a7985e3c7a3bcc09c832a21f7e251cd4509",
    "test_template_around_right": "f5f94bb13ea393fbac7d963a13f5eb9831e51090b2e7210831674c4f77a1fa7b",
    "test_template_jump_around_right": "3590e013eaa75106014637969f08fd9e139bd7f3ec59f11260619f1320f5e52b",
    "test_template_opposite_right": "e148c4261607e2d97808c0de04a3358b48f4d96208945d0658561deb8fc90b26",
    "test_template_right": "770738098ffaef0370295c75005d8962f2ca1123ac31574a582b90ae33393e9c",
    "train_addprim_jump": "1e5ab3357dc958267480a6012d3970953f35bb098a115b1754a1ad36d371b7cb",
    "train_addprim_turn_left": "4f1ccb48ec39aed79ac69c8da9d2c8061b1bb8ea8199ab8931b6939068a3b626",
    "train_filler_num0": "aaf218dfd82a8b6a88e32deeb096cf498ee58e56a3808b17f715182f0ca90130",
    "train_filler_num1": "1f0bf0a27badb9e7b56f59682fc197e9e504b8f30c6b788dcfa1cbec6c991ea5",
    "train_filler_num2": "50bb46e65b8c83bb636ccaa131fca7fb43fb717d326dac2c0bc6719e4679dc5f",
    "train_filler_num3": "d3f82d1c47c35af14b1ff0718d5e632e257580ca71ad7df5270a63b85f83ed99",
    "train_length": "114e6bdb1575f27d8d6d4449081970cef4846b2ec89b260dc2a0e5297c3e75d5",
    "train_simple": "e34b60a1bdad3b55a83d91116bb312c195fa2f39d21092de929a6184ca911943",
    "train_template_around_right": "aaf218dfd82a8b6a88e32deeb096cf498ee58e56a3808b17f715182f0ca90130",
    "train_template_jump_around_right": "d3f82d1c47c35af14b1ff0718d5e632e257580ca71ad7df5270a63b85f83ed99",
    "train_template_opposite_right": "8f0e969c24011176ba5ed3aa2dbc64e193eb463dfb397d0604126a08e237438f",
    "train_template_right": "d98bd73f93f488dcf64bbeeb1547d712c17f26b67ccfb4bccdb04a6fdae35f12",
}


def released_commands(path: str | os.PathLike) -> list[Words]:
    """The commands of a released file, as often as it has them.

    Args:
        path: of the file, plain or packed.
    """
    rows = released_rows(path, RELEASED, "SCAN")
    return [row.removeprefix("IN: ").partition(" OUT: ")[0].split() for row in rows]


def places_of(path: str | os.PathLike, commands: Sequence[Words]) -> np.ndarray:
    """Where the commands of a released file stand in a list, as often as the file has them."""
    known = {tuple(words): place for place, words in enumerate(commands)}
    places = []
    for words in released_commands(path):
        if tuple(words) not in known:
            raise UserError(
                f"{quoted(path, 300)} has {quoted(' '.join(words))}, which the list has not; scan-v1 has all"
            )
        places.append(known[tuple(words)])
    return np.array(places)
