"""The headline of a result: what came out, in one sentence, in the words of its claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..charts.vega import title
from .verdicts import Claim


def headline_of(claims: Sequence[Claim], outcomes: Mapping[str, str], otherwise: str) -> str:
    """Of each claim that is settled what it says then; `otherwise` where none is."""
    sentences = {claim.id: (claim.supported, claim.refuted) for claim in claims}
    return headline_from(sentences, outcomes, otherwise)


def headline_from(sentences: Mapping[str, tuple[str, str]], outcomes: Mapping[str, str], otherwise: str) -> str:
    """The same from sentences by id of a claim: what is said if it is supported, and if it is refuted."""
    found = [
        said[outcomes[claim] == "refuted"]
        for claim, said in sentences.items()
        if outcomes.get(claim) in ("supported", "refuted")
    ]
    found = [words for words in found if words]
    return title("; ".join(found)) + "." if found else otherwise
