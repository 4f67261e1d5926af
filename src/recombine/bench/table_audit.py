"""bench, the audit of a table: processor time of `rc.audit` beside DuckDB's own group-by of the same Parquet file.

The group-by is what any audit has to do at least: how many rows there are of each combination, and how many are right.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from .bench_row import Row, Say, in_turns

LEVELS = {"color": 12, "shape": 10, "weather": 8, "time": 6, "road": 15, "vehicle": 20}  # 1.7 million combinations
ROWS = 1_000_000
AT_MOST = 15.0  # seconds that ten million rows of Parquet may take


def measure_table_audit(rounds: int, say: Say, rows: int = ROWS) -> list[Row]:
    """Audits a table of six factors, some of whose combinations fail, and groups it; the two take turns.

    Args:
        rounds: how often each is timed.
        say: is told the row.
        rows: of the table; what is wanted is asked of ten million.
    """
    import duckdb

    from ..audit.auditing import audit

    keys = ", ".join([*LEVELS, "split"])
    with tempfile.TemporaryDirectory() as folder, duckdb.connect(":memory:") as connection:
        file = Path(folder) / "table.parquet"
        connection.execute("SELECT setseed(0.5)")
        connection.execute(f"COPY ({_table(rows)}) TO '{file}'")
        grouped = f"SELECT {keys}, count(*), sum(correct) FROM '{file}' GROUP BY {keys}"
        sides = {
            "ours": lambda: audit(file, list(LEVELS), outcome="correct", split="split"),
            "group-by": lambda: connection.execute(f"CREATE OR REPLACE TEMP TABLE grouped AS {grouped}"),
        }
        took, _ = in_turns(sides, rounds, time.process_time)
    work = f"audit of {rows:,} rows, {len(LEVELS)} factors, Parquet"
    others = {"DuckDB's group-by": took["group-by"]}
    row = Row(work, "core-seconds", took["ours"], others, at_most=AT_MOST if rows == 10_000_000 else None)
    say(f"  {row}")
    return [row]


def _table(rows: int) -> str:
    """The query that makes it: one pair of levels fails more often than the rest."""
    columns = [f"'{name[0]}' || floor(random() * {count})::INT AS {name}" for name, count in LEVELS.items()]
    columns += ["CASE WHEN random() < .5 THEN 'train' ELSE 'test' END AS split"]
    fails = "CASE WHEN color = 'c1' AND shape = 's2' THEN .6 ELSE .05 END"
    drawn = f"SELECT {', '.join(columns)} FROM range({rows})"
    return f"SELECT *, (random() > {fails})::INT AS correct FROM ({drawn})"
