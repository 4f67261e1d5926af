"""What a store remembers of the claims it was begun with: a claim whose rule changed since is a new claim, and is said
to be one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .claims import Claim
from .store import Store
from .study import Study
from .wanted import fed_of

WORDS = {"how_often": "how often", "looks": "looks"}


@dataclass(frozen=True)
class ChangedClaim:
    """A claim that is asked otherwise than when its first seeds were run.

    Args:
        claim: its id.
        what: which part of its rule changed, from what to what.
        seeds: how many seeds had been seen by then.
    """

    claim: str
    what: str
    seeds: int

    def __str__(self) -> str:
        after = f"after {self.seeds} seed{'' if self.seeds == 1 else 's'} had been seen"
        return f"claim {self.claim!r} changed {after} ({self.what}): it starts as a new claim"


def rules_of(study: Study) -> dict[str, Any]:
    """How each claim of a study is decided, by its id."""
    return {claim.id: claim.rule() | {"hash": claim.hash} for claim in study.claims}


def changed_since(store: Store, study: Study) -> list[ChangedClaim]:
    """Claims that changed since the store was begun, also in runs before this one."""
    said = store.about.get("changed")
    before = [found for one in (said if isinstance(said, list) else []) if (found := _known(one)) is not None]
    return [*before, *_changed_now(store, study)]


def _changed_now(store: Store, study: Study) -> list[ChangedClaim]:
    rules = store.about.get("claims")
    if not isinstance(rules, dict):  # a store that was begun before claims were remembered
        return []
    seeds, more = store.about.get("seeds"), fed_of(store.about, study)
    seen = seeds if isinstance(seeds, int) else 0
    return [
        ChangedClaim(claim.id, what, max(seen, more.get(claim.id, 0)))
        for claim in study.claims
        if (what := _difference(rules.get(claim.id), claim))
    ]


def _difference(was: Any, claim: Claim) -> str:
    """What changed, in words; nothing where nothing did."""
    if not isinstance(was, Mapping):
        return "it was not asked before"
    if was.get("hash") == claim.hash:
        return ""
    now = claim.rule()
    changed = [f"{WORDS.get(name, name)} {was.get(name)} -> {now[name]}" for name in now if was.get(name) != now[name]]
    return ", ".join(changed) or "its rule"


def _known(one: Any) -> ChangedClaim | None:
    try:
        return ChangedClaim(str(one["claim"]), str(one["what"]), int(one["seeds"]))
    except (TypeError, KeyError, ValueError):
        return None


def remember_claims(store: Store, study: Study) -> None:
    """Writes down how claims are decided now; of those that changed since records were made it says so, for good."""
    rules = rules_of(study)
    if store.about.get("claims") == rules:
        return
    found = _changed_now(store, study) if store.done() else []
    for one in found:
        warnings.warn(f"{store.place}: {one}", stacklevel=2)
    said = store.about.get("changed")
    kept = said if isinstance(said, list) else []
    store.update(claims=rules, **({"changed": [*kept, *(vars(one) for one in found)]} if found else {}))
