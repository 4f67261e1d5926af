"""What the report of encodings shows of a table."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...lab.study import Texts
from .encodings_readings import Published, as_text, chart


def shown(published: Published) -> dict[str, Any]:
    """What the report shows of a table, the held-out score first."""
    note = "Mean over seeds here, with half the 95 % interval, beside the published mean of three seeds."
    return {
        "charts": [chart(measure, published) for measure in ("held-out score", "task decoder", "input decoder")],
        "texts": Texts("The table, here and as published", note, partial(as_text, published=published)),
    }
