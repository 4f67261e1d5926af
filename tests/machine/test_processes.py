"""The cores of the process, not of the machine: affinity and control groups."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from recombine.lab.driver.engines import parse_engine
from recombine.machine import processes
from recombine.machine.processes import cores, cpu_quota


def test_a_process_bound_to_one_core_has_one():
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("processes cannot be bound to cores here")
    script = (
        "import os; from recombine.machine.processes import cores; "
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); print(cores())"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "1\n"


def planted(root, files: dict[str, str]) -> str:
    for path, text in files.items():
        at = root / path
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text(text)
    return str(root)


V1 = "4:memory:/x\n3:cpu,cpuacct:/pod/me\n2:cpuset:/\n"
QUOTAS = {
    "nothing to read": ({}, None),
    "version 2": ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "250000 100000\n"}, 2.5),
    "version 2, no limit": ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, None),
    "version 2, the least of those around": (
        {
            "proc/self/cgroup": "0::/a/b\n",
            "sys/fs/cgroup/a/b/cpu.max": "800000 100000\n",
            "sys/fs/cgroup/a/cpu.max": "300000 100000\n",
            "sys/fs/cgroup/cpu.max": "max 100000\n",
        },
        3.0,
    ),
    "version 2, a path of the host": (
        {"proc/self/cgroup": "0::/docker/123\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"},
        1.5,
    ),
    "version 1": (
        {
            "proc/self/cgroup": V1,
            "sys/fs/cgroup/cpu,cpuacct/pod/me/cpu.cfs_quota_us": "400000\n",
            "sys/fs/cgroup/cpu,cpuacct/pod/me/cpu.cfs_period_us": "200000\n",
            "sys/fs/cgroup/cpuset/cpu.cfs_quota_us": "1\n",
        },
        2.0,
    ),
    "version 1, called by one of two names": (
        {
            "proc/self/cgroup": V1,
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
        0.5,
    ),
    "version 1, no limit": (
        {
            "proc/self/cgroup": V1,
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        },
        None,
    ),
    "nonsense": ({"proc/self/cgroup": "0::/\n:\nx\n", "sys/fs/cgroup/cpu.max": "many 0\n"}, None),
    "a period of nothing": ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "1000 0\n"}, None),
}


@pytest.mark.parametrize("name", QUOTAS)
def test_the_quota_of_control_groups(name, tmp_path):
    files, expected = QUOTAS[name]
    assert cpu_quota(planted(tmp_path, files)) == expected


@pytest.mark.parametrize("quota, expected", [(None, 8), (2.5, 2), (0.2, 1), (100.0, 8)])
def test_cores_are_the_lesser_of_affinity_and_quota(monkeypatch, quota, expected):
    monkeypatch.setattr(os, "process_cpu_count", lambda: 8, raising=False)
    monkeypatch.setattr(processes, "cpu_quota", lambda: quota)
    assert cores() == expected


def test_where_a_system_tells_less(monkeypatch):
    monkeypatch.setattr(processes, "cpu_quota", lambda: None)
    monkeypatch.delattr(os, "process_cpu_count", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3, 5}, raising=False)
    assert cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert cores() == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1


def test_the_local_engine_has_a_process_per_core_of_this_process(monkeypatch):
    monkeypatch.setattr("recombine.lab.driver.engines.local_processes.cores", lambda: 5)
    assert parse_engine("local").workers == 5 and parse_engine("local:2").workers == 2
