"""Options that the audit, the plan and the split share: how the columns of a table become factors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import tyro

from ..errors import UserError


@dataclass(frozen=True)
class ReadingOptions:
    """How columns become factors.

    Args:
        bin: columns of numbers as bins: age=4 for four of equally many rows, age=18,30,65 by the edges between them
        date: columns of dates by year, quarter, month, day, month-of-year, weekday or hour: month for all of them,
            when=month for one
        missing: level makes a level of missing values (default: rows without a value are left out)
    """

    bin: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    missing: Literal["level"] | None = None

    def options(self) -> dict[str, Any]:
        """As the functions of Python take them."""
        return {"bin": list(self.bin) or None, "date": list(self.date) or None, "missing": self.missing}


ReadAs = Annotated[ReadingOptions, tyro.conf.arg(name="")]
AS_IS = ReadingOptions()


def one_name(data: Sequence[str]) -> str:
    """What a folder of results is called after: the first file."""
    if not data:
        raise UserError("no data are named; give a file, such as drives.csv")
    return data[0]
