"""zscope demo: in the checkout on the sample, elsewhere on the same dump made anew."""

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
    """The first number behind the first word of each line of a table."""
    return {name: int(number) for name, number in re.findall(r"^(\S+) +(\d+) +\d", text, re.MULTILINE)}


def test_counts_are_the_known_answers(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(demo, "CHECKOUT", tmp_path)  # as from an installed wheel: no sample data anywhere
    result = run("demo")
    assert result.exit_code == 0
    manifest = generate(sample(), io.BytesIO())
    found = counts(result.stdout)
    for record, number in manifest.records_by_type.items():
        assert found.get(record, number) == number, record
    assert {"119-2", "119-11", "119-12", "70-1", "70-2"} <= found.keys()
    assert f"{manifest.records:,} SMF records" in result.stdout
    assert "TLSv1.2" in found
    assert found["full"] + found["abbreviated"] <= manifest.rows_by_table["smf119_zert_detail"]


def test_it_says_that_the_data_are_synthetic_and_what_to_try_next(run: Run) -> None:
    output = run("demo").stdout
    assert "The data are synthetic" in output
    [_, hints] = output.split("Try next:\n")
    assert len(re.findall(r"^  zscope \w+", hints, re.MULTILINE)) >= 3


def test_the_sample_of_the_checkout_is_used(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / demo.SAMPLE
    file.parent.mkdir()
    with file.open("wb") as out:
        generate(sample(), out)
    monkeypatch.setattr(demo, "CHECKOUT", tmp_path)
    assert f"{demo.SAMPLE}: 2,402 SMF records" in run("demo").stdout
