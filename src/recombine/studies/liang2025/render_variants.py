"""The variants of `render`: which regularizers, how strong, and whose variance is taken."""

from __future__ import annotations

from typing import Any

from ...lab.paths import Same
from .render_readings import AS_PUBLISHED
from .render_weights import scaled

SMOKE_SIZE = 8
ENTROPY, VARIANCE = (Same("world", scaled(term)) for term in ("entropy", "variance"))


def regularized(entropy: Any, variance: Any, variance_of: str = "normalized") -> dict[str, Any]:
    return {"net.entropy": entropy, "net.variance": variance, "net.variance_of": variance_of}


PUBLISHED_NET = regularized(ENTROPY, VARIANCE, "raw")
VARIANTS = {
    AS_PUBLISHED: PUBLISHED_NET,
    "normalized": regularized(ENTROPY, VARIANCE),
    "entropy": regularized(ENTROPY, 0.0, "raw"),
    "variance": regularized(0.0, VARIANCE, "raw"),
    "neither": regularized(0.0, 0.0),
}
