"""The audit and what others made, on the same planted tables: writes docs/rivals.md.

    python docs/rivals/rivals.py PYTHON      PYTHON has sliceline, pysubgroup, divexplorer, interpret-core, scikit-learn

Tables are of the stream "judged", with at most `ANSWERS` answers, of the kinds whose causes are patterns.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from recombine.audit import logistic
from recombine.audit.planted_kinds import KINDS
from recombine.audit.planted_worlds import World, world
from recombine.audit.risk import TOLERANCE
from recombine.audit.scorecard import examine
from recombine.keys import generator, key_for

HERE = Path(__file__).parent
PATTERNS = [name for name, kind in KINDS.items() if (kind.patterns or kind.xor) and not kind.rule and not kind.lottery]
TABLES, ANSWERS, COMBINATIONS, FIRST = 3, 4_000, 2_000, 900_000  # per kind; worlds that audit-truth does not read
FINDERS = ("recombine", "sliceline", "pysubgroup", "divexplorer")
RANKERS = ("recombine", "boosted", "logistic")
NAMES = {
    "recombine": "this audit",
    "sliceline": "sliceline, told the number of causes",
    "pysubgroup": "pysubgroup (beam, WRAcc), told the number of causes",
    "divexplorer": "DivExplorer (by t), told the number of causes",
    "boosted": "boosted additive model (EBM)",
    "logistic": "logistic regression on levels and pairs",
}


def worlds() -> list[World]:
    """The tables, with answers thinned out where there are many."""
    found = []
    for kind in PATTERNS:
        for number in range(TABLES):
            made = world(kind, FIRST + number, "judged", COMBINATIONS)
            share = min(1.0, ANSWERS / made.answers.sum())
            rng = generator(key_for(f"rivals-{kind}", number))
            wrong = rng.binomial(made.wrong, share)
            found.append(replace(made, wrong=wrong, answers=wrong + rng.binomial(made.answers - made.wrong, share)))
    return found


def as_json(made: World) -> dict[str, Any]:
    """One row per answer."""
    wrong = [np.repeat(np.arange(len(made.rows)), n) for n in (made.wrong, made.answers - made.wrong)]
    rows = made.rows[np.concatenate(wrong)].tolist()
    marks = [1] * len(wrong[0]) + [0] * len(wrong[1])
    return {"rows": rows, "wrong": marks, "causes": len(made.causes), "asked": made.rows[made.answers == 0].tolist()}


def judged(made: World, patterns: list[dict]) -> tuple[int, int]:
    """How many causes were found, and how many of what was found are none."""
    at = np.flatnonzero(made.answers)
    planted = [one.covers(made.rows[at], {}) for one in made.causes]
    hit, false = set(), 0
    for pattern in patterns:
        held = np.logical_and.reduce([made.rows[at, int(i)] == v for i, v in pattern.items()])
        same = [number for number, mask in enumerate(planted) if (mask == held).all()]
        hit.update(same)
        false += not same
    return len(hit), false


def ranked(made: World, risk: Any) -> float:
    fails = (made.truth > made.seen_rate + TOLERANCE)[made.answers == 0]
    return logistic.auroc(np.asarray(risk, dtype=float), fails.astype(float))


def ours(made: World) -> dict[str, Any]:
    """What the audit finds, as patterns by number of factor and level, and the risk of combinations without answers."""
    began = time.process_time()
    said = examine(made)
    patterns = [{int(name[1:]): int(level) for name, level in one.pattern.items()} for one in said.findings]
    rules = sum(bool(one.rule) for one in said.findings)
    seconds = time.process_time() - began
    return {
        "found": [p for p in patterns if p],
        "rules": rules,
        "risk": said.risk[made.answers == 0],
        "seconds": seconds,
    }


def table(tables: list[World], found: dict[str, dict]) -> str:
    """The page."""
    planted = sum(len(made.causes) for made in tables)
    lines = [
        "<!-- made by docs/rivals/rivals.py, which make check-extras runs -->",
        "# The audit and what others made",
        "",
        f"{len(tables)} planted tables of {len(PATTERNS)} kinds with {planted} causes in all (levels, pairs, triples), "
        f"at most {ANSWERS:,} answers each. A cause counts as found if what is found covers the same answered "
        "combinations.",
        "",
        "| who | causes found | false findings | AUROC without answers | core-seconds, median | stopped |",
        "|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys([*FINDERS, *RANKERS]):
        hit, false, areas, seconds, stopped = 0, 0, [], [], 0
        for number, made in enumerate(tables):
            said = ours(made) if name == "recombine" else found[f"table-{number:03}"][name]
            if "error" in said:
                stopped += 1
                continue
            seconds.append(said["seconds"])
            if name in FINDERS:
                right, wrong = judged(made, said["found"])
                hit, false = hit + right, false + wrong + said.get("rules", 0)
            if name in RANKERS and (made.answers == 0).sum() >= 10:
                areas.append(ranked(made, said["risk"] if name == "recombine" else said["found"]))
        cells = [
            NAMES[name],
            f"{hit} of {planted}" if name in FINDERS else "–",
            str(false) if name in FINDERS else "–",
            f"{np.nanmean(areas):.3f}" if areas else "–",
            f"{np.median(seconds):.2f}" if seconds else "–",
            str(stopped),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def main(python: str) -> None:
    tables = worlds()
    with tempfile.TemporaryDirectory() as folder:
        for number, made in enumerate(tables):
            Path(folder, f"table-{number:03}.json").write_text(json.dumps(as_json(made)))
        subprocess.run([python, str(HERE / "run_rivals.py"), folder], check=True)
        found = json.loads(Path(folder, "found.json").read_text())
    errors = {(name, said["error"]) for own in found.values() for name, said in own.items() if "error" in said}
    for name, error in sorted(errors):
        print(f"{name} stopped: {error}")
    (HERE.parent / "rivals.md").write_text(table(tables, found))


if __name__ == "__main__":
    main(sys.argv[1])
