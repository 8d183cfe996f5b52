"""`zscope generate`: dumps, manifests and wrong recipes."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import Result

from zscope.app.cli.commands import generate as command_module

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Result]


def test_the_dump_matches_the_manifest(run: Run, tmp_path: Path) -> None:
    target, answers = tmp_path / "test.smf", tmp_path / "test.json"
    result = run("generate", "-o", target, "--records", 300, "--manifest", answers)
    assert (result.exit_code, result.stdout) == (0, "")
    manifest = json.loads(answers.read_text())
    assert manifest["synthetic"] is True
    assert hashlib.sha256(target.read_bytes()).hexdigest() == manifest["sha256"]
    counted = run("inventory", target, "--format", "json").stdout
    assert sum(row["records"] for row in json.loads(counted)) == manifest["records"]
    details = run("decode", target, "-t", "smf119_zert_detail", "-c", "cipher").stdout
    rows = list(csv.DictReader(io.StringIO(details)))
    assert len(rows) == manifest["rows_by_table"]["smf119_zert_detail"]


def test_the_same_seed_gives_the_same_bytes(run: Run, tmp_path: Path) -> None:
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        assert run("generate", "-o", tmp_path / name, "--records", 50, "--seed", seed).exit_code == 0
    first, second, other = ((tmp_path / name).read_bytes() for name in "abc")
    assert first == second
    assert first != other


def test_every_option_reaches_the_recipe(run: Run, tmp_path: Path) -> None:
    target, answers = tmp_path / "test.smf", tmp_path / "test.json"
    result = run(
        "generate", "-o", target, "--manifest", answers, "--size", "200KB", "--mix", "zert-detail=3,tcp-term",
        "--systems", "AAAA,BBBB,CCCC", "--start", "2026-05-01T06:00", "--end", "2026-05-01T08:00+02:00",
        "--interval", 30, "--resumed", 0.25, "--no-tls13", "--framing", "bdw-spanned", "--block-size", 4096,
        "--packing", "gzip", "--extra", 8, "--damage", "bad-date, duplicate-records", "--seed", 3,
    )  # fmt: skip
    assert result.exit_code == 12
    assert "the time span from start to end must be at least a minute" in result.stderr
    result = run(
        "generate", "-o", target, "--manifest", answers, "--size", "200KB", "--mix", "zert-detail=3,tcp-term",
        "--systems", "AAAA,BBBB,CCCC", "--start", "2026-05-01T06:00", "--end", "2026-05-01T10:00+02:00",
        "--interval", 30, "--resumed", 0.25, "--no-tls13", "--framing", "bdw-spanned", "--block-size", 4096,
        "--packing", "gzip", "--extra", 8, "--damage", "bad-date, duplicate-records", "--seed", 3,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    recipe = json.loads(answers.read_text())["recipe"]
    assert recipe["size_bytes"] == 200_000
    assert recipe["mix"] == {"zert-detail": 3.0, "tcp-term": 1.0}
    assert [system["name"] for system in recipe["systems"]] == ["AAAA", "BBBB", "CCCC"]
    assert (recipe["start"], recipe["end"]) == ("2026-05-01T06:00:00+00:00", "2026-05-01T10:00:00+02:00")
    wanted = {
        "interval_minutes": 30, "resumed": 0.25, "tls13": False, "framing": "bdw-spanned", "block_size": 4096,
        "packing": "gzip", "section_extra": 8, "damage": ["bad-date", "duplicate-records"], "seed": 3,
    }  # fmt: skip
    assert {name: recipe[name] for name in wanted} == wanted
    assert target.read_bytes().startswith(b"\x1f\x8b")


def test_a_preset_can_be_changed(run: Run, tmp_path: Path) -> None:
    answers = tmp_path / "test.json"
    run("generate", "-o", tmp_path / "x", "--preset", "mixed", "--records", 40, "--manifest", answers)
    recipe = json.loads(answers.read_text())["recipe"]
    assert (recipe["records"], recipe["size_bytes"]) == (40, None)
    assert recipe["mix"]["foreign"] > recipe["mix"]["zert-detail"], "most of a mixed dump is not decoded"


def test_to_standard_output(run: Run) -> None:
    result = run("generate", "-o", "-", "--records", 20)
    assert result.exit_code == 0
    assert run("inventory", "-", "-q", stdin=result.stdout_bytes).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--size", "many"], "'many' is not a size such as 500000, 50MB or 2GiB"),
        (["--mix", "kangaroo=1"], "'kangaroo' is not one of zert-detail"),
        (["--mix", "tcp-term=much"], "'much' is not a number (share of tcp-term)"),
        (["--start", "yesterday"], "'yesterday' is not a date or a time such as 2026-03-02T08:00"),
        (["--start", "9999-12-31"], "'9999-12-31': the year must be between 1971 and 2041"),
        (["--damage", "rust"], "damage 'rust' is not one of"),
        (["--systems", "TOOLONG"], "system name 'TOOLONG'"),
        (["--systems", ","], "give at least one name"),
        (["--records", "0"], "0 is not in the range"),
        (["--packing", "terse-pack", "--framing", "bdw"], "use it with framing rdw"),
    ],
)
def test_wrong_recipes_are_refused_and_nothing_is_written(
    arguments: list[str], message: str, run: Run, tmp_path: Path
) -> None:
    result = run("generate", "-o", tmp_path / "x.smf", *arguments)
    assert result.exit_code == 12
    assert message in " ".join(result.stderr.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "number"), [("500000", 500_000), ("1.5k", 1500), ("50MB", 50_000_000), ("2 GiB", 2 << 30)]
)
def test_sizes(text: str, number: int) -> None:
    assert command_module.size(text) == number


@pytest.mark.parametrize("text", ["", "MB", "5 bytes", "-1", "1e6", "5i"])
def test_no_sizes(text: str) -> None:
    with pytest.raises(click.BadParameter):
        command_module.size(text)
