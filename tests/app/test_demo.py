"""zscope demo: in the checkout on the sample, elsewhere on the same data made anew."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from click.testing import Result

from zscope.app.commands import demo
from zscope.parsers.synthetic import generate, sample

if TYPE_CHECKING:
    import pytest

Run = Callable[..., Result]


def counts(text: str) -> dict[str, int]:
    """The first number behind the first words of each line of a table."""
    return {name: int(number) for name, number in re.findall(r"^(\S+(?: \S+)*) +(\d+) ", text, re.MULTILINE)}


def test_counts_are_the_known_answers(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(demo, "CHECKOUT", tmp_path)  # as from an installed wheel: no sample data anywhere
    result = run("demo", "--store", tmp_path / "store")
    assert result.exit_code == 0, result.output
    manifest = generate(sample(), io.BytesIO())
    found = counts(result.stdout)
    told = {record: number for record, number in manifest.records_by_type.items() if record in found}
    assert {record: found[record] for record in told} == told
    assert {"119-2", "119-11", "119-12", "70-1", "70-2"} <= told.keys()
    assert found["full"] + found["abbreviated"] <= manifest.rows_by_table["smf119_zert_detail"]
    assert "TLS_AES_128_GCM_SHA256" in result.stdout
    assert "To have the sample as files: zscope generate --preset sample" in result.stdout


def test_the_second_time_nothing_is_added(run: Run, tmp_path: Path) -> None:
    output = run("demo", "--store", tmp_path / "store").stdout
    assert re.search(
        r"Loading them into .*: 6 files with 2,466 records .*, 0 files were there already", output
    )
    assert re.search(r"Once more into .*: 0 files with 0 .* as 0 rows .*, 6 files were there already", output)
    again = run("demo", "--store", tmp_path / "store").stdout
    assert re.search(r"Loading them into .*: 0 files with 0 .* 6 files were there already", again)


def test_it_says_that_the_data_are_synthetic_and_what_to_try_next(run: Run, tmp_path: Path) -> None:
    output = run("demo", "--store", tmp_path / "store").stdout
    assert "The data are synthetic" in output
    [_, hints] = output.split("Try next:\n")
    assert len(re.findall(r"^  zscope \w+", hints, re.MULTILINE)) >= 5
