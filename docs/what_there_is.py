"""The table of what there is, in the README: from the registries and never by hand.

python docs/what_there_is.py            writes it
"""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
MARKS = re.compile(r"(<!-- made by docs/what_there_is.py -->\n).*?(<!-- end -->)", re.DOTALL)


def table() -> str:
    """One row per kind: how many there are, and their names."""
    from recombine import nets, probes, supports, tasks
    from recombine.cli import COMMANDS
    from recombine.encodings import encodings
    from recombine.studies import registry as studies

    kinds = {
        "studies": list(studies),
        "tasks": list(tasks.registry),
        "nets": list(nets.registry),
        "encodings": list(encodings),
        "supports": list(supports.registry),
        "probes": list(probes.registry),
        "commands": list(COMMANDS),
    }
    lines = ["| kind | | names |", "|---|---|---|"]
    for kind, names in kinds.items():
        lines.append(f"| {kind} | {len(names)} | {', '.join(f'`{name}`' for name in sorted(names))} |")
    return "\n".join(lines) + "\n"


def filled(text: str) -> str:
    """The README with the table as it should be."""
    return MARKS.sub(lambda found: f"{found[1]}{table()}{found[2]}", text)


if __name__ == "__main__":
    README.write_text(filled(README.read_text()))
