"""zscope demo: in the checkout on the sample, elsewhere on the same data made anew."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from click.testing import Result

from zscope.app.commands import demo

if TYPE_CHECKING:
    import pytest

Run = Callable[..., Result]
WORLD = Path(__file__).resolve().parents[2] / "sample-data" / "world"
KINDS = ("full", "abbreviated", "failed")


def test_counts_are_the_known_answers(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(demo, "CHECKOUT", tmp_path)  # as from an installed wheel: no sample data anywhere
    result = run("demo", "--store", tmp_path / "store")
    assert result.exit_code == 0, result.output
    manifest = json.loads((WORLD / "manifest.json").read_text(encoding="utf-8"))
    found = {
        system: [int(n) for n in numbers.split()[:4]]
        for system, numbers in re.findall(r"^(\w+) +((?:\d+ +){4}[\d.]+)$", result.stdout, re.MULTILINE)
    }
    for system, days in manifest["days"].items():
        kinds = [day["handshakes"] for day in days.values()]
        full, resumed, failed = (sum(k.get(kind, 0) for k in kinds) for kind in KINDS)
        assert found[system] == [full + resumed + failed, full, resumed, failed]
    assert "To have the sample as files: zscope generate --preset sample" in result.stdout


def test_the_second_time_nothing_is_added(run: Run, tmp_path: Path) -> None:
    output = run("demo", "--store", tmp_path / "store").stdout
    assert re.search(
        r"Loading them into .*: 35 files with 25,894 records .*, 0 files were there already", output
    )
    assert re.search(
        r"Once more into .*: 0 files with 0 .* as 0 rows .*, 35 files were there already", output
    )
    assert "72 sides of benchmark runs of world named" in output
    assert "9 sides of benchmark runs of systems named" in output
    again = run("demo", "--store", tmp_path / "store").stdout
    assert re.search(r"Loading them into .*: 0 files with 0 .* 35 files were there already", again)
    assert len(re.findall(r"^0 sides of benchmark runs of \w+ named", again, re.MULTILINE)) == 2


def test_it_ends_with_the_benchmark_and_says_what_is_synthetic_and_what_to_try_next(
    run: Run, tmp_path: Path
) -> None:
    output = run("demo", "--store", tmp_path / "store").stdout
    assert "The data are synthetic" in output
    [_, benchmark] = output.split("The 126 published results")
    assert "SYNTHETIC: agreement proves the arithmetic, not the figure" in benchmark
    measured = re.findall(
        r"^(\S+) .* synthetic .*(?:agrees|differs|direction only|not comparable)$", benchmark, re.MULTILINE
    )
    others = re.findall(r"(?:no data|not comparable) +(\d+)$", benchmark, re.MULTILINE)
    assert len(measured) + sum(map(int, others)) == 126
    [_, hints] = output.split("Try next:\n")
    assert len(re.findall(r"^  zscope \w+", hints, re.MULTILINE)) >= 5


def test_a_list_of_runs_that_cannot_be_changed_is_told(run: Run, tmp_path: Path) -> None:
    assert run("demo", "--store", tmp_path / "store").exit_code == 0
    (tmp_path / "store" / "runs.toml").write_text("[[run", encoding="utf-8")
    result = run("demo", "--store", tmp_path / "store")
    assert result.exit_code == 12
    assert f"{tmp_path / 'store' / 'runs.toml'}: it is not TOML" in result.stderr
