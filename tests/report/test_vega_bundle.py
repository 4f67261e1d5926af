"""The script that draws charts is bundled once, kept, and made again where the file is not what was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from recombine.report import vega_bundle as bundled

SCRIPT = "window.vegaEmbed = 1; // é\r\nnext"


@pytest.fixture
def made(monkeypatch, tmp_path: Path) -> list[str]:
    """How often it was bundled, with a cache of its own."""
    calls: list[str] = []

    def bundle(source: str, vl_version: str) -> str:
        calls.append(vl_version)
        return SCRIPT

    monkeypatch.setattr("vl_convert.javascript_bundle", bundle)
    monkeypatch.setenv("RECOMBINE_CACHE", str(tmp_path))
    return calls


def fresh() -> str:
    """As another process finds it."""
    bundled.vega_bundle.cache_clear()
    try:
        return bundled.vega_bundle()
    finally:
        bundled.vega_bundle.cache_clear()


def test_another_process_finds_the_script_that_was_kept(made: list[str], tmp_path: Path):
    assert fresh() == fresh() == SCRIPT and len(made) == 1
    (kept,) = (tmp_path / "vega").iterdir()
    assert made[0] in kept.name  # another Vega-Lite is another file


@pytest.mark.parametrize("damage", [lambda data: data[:-3], lambda data: data + b"alert(1)", lambda data: b"\xff\n"])
def test_a_script_that_was_cut_or_changed_is_made_again(made: list[str], tmp_path: Path, damage):
    fresh()
    (kept,) = (tmp_path / "vega").iterdir()
    kept.write_bytes(damage(kept.read_bytes()))
    assert fresh() == SCRIPT and len(made) == 2
    assert fresh() == SCRIPT and len(made) == 2  # and kept again


def test_without_a_cache_it_is_bundled_each_time(made: list[str], monkeypatch, tmp_path: Path):
    monkeypatch.setenv("RECOMBINE_CACHE", "off")
    assert fresh() == fresh() == SCRIPT and len(made) == 2
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RECOMBINE_CACHE", str(tmp_path / "file"))  # no folder can be made there
    assert fresh() == SCRIPT and len(made) == 3
