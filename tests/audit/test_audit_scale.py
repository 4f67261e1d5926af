"""Ten million rows of six factors: an audit of coverage takes less than a minute and 2 GB on two cores."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import duckdb
import pytest

LEVELS = {"color": 12, "shape": 10, "weather": 8, "time": 6, "road": 15, "vehicle": 20}  # 1.7 million combinations


@pytest.mark.long
def test_ten_million_rows_in_a_minute_and_two_gigabytes(tmp_path):
    columns = ", ".join(f"'{name[0]}' || floor(random() * {n})::INT AS {name}" for name, n in LEVELS.items())
    file = tmp_path / "big.parquet"
    with duckdb.connect(":memory:") as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(f"COPY (SELECT {columns} FROM range(10000000)) TO '{file}'")
    begun = time.monotonic()
    command = [
        sys.executable,
        "-m",
        "recombine",
        "audit",
        str(file),
        "--factors",
        ",".join(LEVELS),
        "--json",
        "--out",
        str(tmp_path / "out"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds = time.monotonic() - begun
    found = json.loads(done.stdout)
    space = 12 * 10 * 8 * 6 * 15 * 20
    assert found["rows"] == 10_000_000 and found["coverage"]["combinations"] == space
    # every combination is drawn about six times, so few are missing: e^-5.8
    assert 0 < found["coverage"]["unseen"] < 0.01 * space
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    print(f"{seconds:.0f} s, {peak:.2f} GB")
    assert seconds < 60 and peak < 2
