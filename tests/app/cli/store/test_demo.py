"""`zscope demo`: on the sample data of the checkout, and elsewhere on data generated anew."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import Result

from zscope.app.cli.commands import demo as demo_command
from zscope.samples import sample_folder
from zscope.samples.sample_folder import COUNTERS, DUMP, MANIFEST, PARTS

Run = Callable[..., Result]
SAMPLE = Path(__file__).resolve().parents[4] / "sample-data"
KINDS = ("full", "abbreviated", "failed")


def handshakes_printed(output: str) -> dict[str, list[int]]:
    """Return handshakes, full, resumed and failed of each system in the output."""
    return {
        system: [int(n) for n in numbers.split()[:4]]
        for system, numbers in re.findall(r"^(\w+) +((?:\d+ +){4}[\d.]+)$", output, re.MULTILINE)
    }


def handshakes_generated() -> dict[str, list[int]]:
    """Return the same from the manifest of the world."""
    manifest = json.loads((SAMPLE / "world" / "manifest.json").read_text(encoding="utf-8"))
    expected = {}
    for system, days in manifest["recorded"]["days"].items():
        kinds = [day["handshakes"] for day in days.values()]
        counts = [sum(k.get(kind, 0) for k in kinds) for kind in KINDS]
        expected[system] = [sum(counts), *counts]
    return expected


def test_counts_are_those_of_the_manifest(demo: tuple[Path, Result]) -> None:
    _, result = demo
    assert result.exit_code == 0, result.output
    printed = handshakes_printed(result.stdout)
    assert {system: printed[system] for system in handshakes_generated()} == handshakes_generated()


def test_the_second_load_adds_nothing(demo: tuple[Path, Result]) -> None:
    output = demo[1].stdout
    first = re.search(r"First load into .*: (\d+) files loaded, .*; 0 files skipped, already loaded", output)
    assert first
    assert int(first[1]) > 40
    skipped = f"{first[1]} files skipped, already loaded"
    assert re.search(rf"Second load .*: 0 files loaded, 0 records .*, 0 rows, .*; {skipped}", output)
    assert "128 entries for benchmark runs of world added" in output
    assert "9 entries for benchmark runs of systems added" in output


def test_the_benchmark_is_marked_synthetic_and_next_steps_follow(demo: tuple[Path, Result]) -> None:
    output = demo[1].stdout
    assert "The data is synthetic" in output
    [_, benchmark] = output.split("the 126 published results")
    assert "SYNTHETIC:\nagreement proves the arithmetic, not the published figure" in benchmark
    measured = re.findall(
        r"^(\S+) .* synthetic .*(?:agrees|differs|direction only|other machine|not comparable)$",
        benchmark,
        re.MULTILINE,
    )
    others = re.findall(r"(?:no data|not comparable) +(\d+)$", benchmark, re.MULTILINE)
    assert len(measured) + sum(map(int, others)) == 126
    [_, steps] = output.split("Next steps:\n")
    assert len(re.findall(r"^  zscope \w+", steps, re.MULTILINE)) >= 5


@pytest.mark.deep
def test_a_second_demo_adds_nothing(run: Run, own_demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_command, "_METRICS", {})
    again = run("demo", "--full", "--store", own_demo).stdout
    assert re.search(r"First load into .*: 0 files loaded, .*; \d{2} files skipped", again)
    assert len(re.findall(r"^0 entries for benchmark runs of \w+ added", again, re.MULTILINE)) == 2


@pytest.mark.deep
def test_an_unusable_list_of_runs_is_an_error(run: Run, own_demo: Path) -> None:
    (own_demo / "runs.toml").write_text("[[run", encoding="utf-8")
    result = run("demo", "--store", own_demo)
    assert result.exit_code == 12
    assert f"{own_demo / 'runs.toml'}: the file is not TOML" in result.stderr


@pytest.mark.deep
def test_without_a_checkout_the_data_is_generated(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, demo: tuple[Path, Result]
) -> None:
    """It loads the same as in a checkout; what is printed about it has tests above."""

    def copied(folder: Path, _: object) -> None:  # `zscope generate sample` has a test of its own
        for name in (DUMP, MANIFEST, COUNTERS):
            shutil.copy(SAMPLE / name, folder)
        for name in PARTS:
            shutil.copytree(SAMPLE / name, folder / name)

    monkeypatch.setattr(sample_folder, "write_sample_folder", copied)
    monkeypatch.setattr(demo_command, "CHECKOUT", tmp_path)  # as in an installed wheel
    monkeypatch.setattr(demo_command, "_METRICS", {})
    monkeypatch.setattr(demo_command, "_print_benchmark", lambda _: None)
    monkeypatch.setattr(demo_command, "said_statements", lambda _, **__: pa.table({}))
    result = run("demo", "--full", "--store", tmp_path / "store")
    assert result.exit_code == 0, result.output
    loaded = r" load .*into .*: (\d+ files loaded, .* rows), .*; (\d+ files skipped, already loaded)"
    loads = re.findall(loaded, demo[1].stdout)
    assert len(loads) == 2
    assert re.findall(loaded, result.stdout) == loads
    assert "to keep these files: zscope generate sample sample-data" in result.stderr
