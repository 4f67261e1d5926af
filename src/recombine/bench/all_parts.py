"""All parts of `recombine bench` by name, and what one run of some of them found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .bench_row import Row, Say, one_core
from .other_sides import PACKAGES, installed

PARTS = {
    "throughput": "steps of training beside a plain float32 loop and beside the machine's own products",
    "convolutions": "steps of the CNN decoder beside a plain loop and beside torch",
    "transformer": "steps of the transformer beside torch",
    "sequences": "steps of nets that write sequences beside torch, and greedy decoding",
    "splits": "a balanced split of millions of combinations, and its certificate",
    "plans": "plans of all pairs beside allpairspy and covertable",
    "audit": "the audit of a million rows beside DuckDB's own group-by of them",
    "ridge": "linear probes beside scikit-learn",
    "start": "list, --help, import, and the first cell of a study",
    "map": "the map of scores of a cell beside its training",
    "time-to-score": "training until the held-out R2 passes .95, beside the published settings",
}


def run_bench(parts: Sequence[str], repeats: int, say: Say, against: bool = False) -> dict[str, Any]:
    """The rows of each part, as data.

    Args:
        parts: names of `PARTS`.
        repeats: rounds, or seeds.
        say: is told each row when it is measured.
        against: measure the other sides too, where they are installed.
    """
    others = installed() if against else []
    if against:
        missing = [name for name in PACKAGES if name not in others]
        say(
            f"against: {', '.join(others) or 'nothing'}" + (f"; not installed: {', '.join(missing)}" if missing else "")
        )
    found: dict[str, Any] = {}
    with one_core():
        for part in parts:
            say(f"{part}: {PARTS[part]}, one core")
            found[part.replace("-", "_")] = [row.to_json() for row in _MEASURED[part](repeats, others, say)]
    return found


def _throughput(repeats: int, others: list[str], say: Say) -> list[Row]:
    from .throughput import measure_throughput

    return measure_throughput(repeats, say)


def _convolutions(repeats: int, others: list[str], say: Say) -> list[Row]:
    from .net_rows import measure_cnn
    from .throughput import measure_loops

    return [*measure_loops(repeats, say), *measure_cnn(repeats, others, say)]


def _transformer(repeats: int, others: list[str], say: Say) -> list[Row]:
    from .net_rows import measure_transformer

    return measure_transformer(repeats, others, say)


def _sequences(repeats: int, others: list[str], say: Say) -> list[Row]:
    from .sequence_speed import measure_sequences

    return measure_sequences(repeats, others, say)


def _splits(repeats: int, others: list[str], say: Say) -> list[Row]:
    from .counted_rows import measure_splits

    return measure_splits(repeats, say)


def _plans(repeats: int, others: list[str], say: Say) -> list[Row]:
    from .counted_rows import measure_plans

    return measure_plans(repeats, others, say)


def _audit(repeats: int, others: list[str], say: Say) -> list[Row]:
    from .table_audit import measure_table_audit

    return measure_table_audit(repeats, say)


def _ridge(repeats: int, others: list[str], say: Say) -> list[Row]:
    from .counted_rows import measure_ridge

    return [measure_ridge(repeats, others, say)]


def _start(repeats: int, others: list[str], say: Say) -> list[Row]:
    from .start_rows import measure_start

    return measure_start(repeats, say)


def _map(repeats: int, others: list[str], say: Say) -> list[Row]:
    from .start_rows import measure_map

    return [measure_map(repeats, say)]


def _time_to_score(repeats: int, others: list[str], say: Say) -> list[Row]:
    from .throughput import measure_time_to_score

    row = measure_time_to_score(repeats, say)
    return [] if row is None else [row]


_MEASURED: dict[str, Callable[[int, list[str], Say], list[Row]]] = {
    "throughput": _throughput,
    "convolutions": _convolutions,
    "transformer": _transformer,
    "sequences": _sequences,
    "splits": _splits,
    "plans": _plans,
    "audit": _audit,
    "ridge": _ridge,
    "start": _start,
    "map": _map,
    "time-to-score": _time_to_score,
}
