"""The headline of a result: what came out, in one sentence, in the words of its claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..charts.words import title
from .verdicts import Claim


def headline_of(claims: Sequence[Claim], outcomes: Mapping[str, str], otherwise: str) -> str:
    """Of each claim that is settled what it says then; how many are, if none says anything; else `otherwise`."""
    sentences = {claim.id: (claim.supported, claim.refuted) for claim in claims}
    settled = [outcomes.get(claim.id) for claim in claims if outcomes.get(claim.id) in ("supported", "refuted")]
    counted = [f"{settled.count(name)} {name}" for name in ("supported", "refuted") if name in settled]
    plural = "" if len(claims) == 1 else "s"
    return headline_from(
        sentences, outcomes, f"Of {len(claims)} claim{plural}: {', '.join(counted)}." if settled else otherwise
    )


def headline_from(sentences: Mapping[str, tuple[str, str]], outcomes: Mapping[str, str], otherwise: str) -> str:
    """The same from sentences by id of a claim: what is said if it is supported, and if it is refuted."""
    found = [
        said[outcomes[claim] == "refuted"]
        for claim, said in sentences.items()
        if outcomes.get(claim) in ("supported", "refuted")
    ]
    found = [words for words in found if words]
    return title("; ".join(found)) + "." if found else otherwise
