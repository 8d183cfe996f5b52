"""Invalid recipes are refused with a reason."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from zscope.samples import PRESETS, Recipe, RecipeError, System, generate, zert_only
from zscope.samples.dump import output

START = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"records": 0}, "at least one record"),
        ({"size_bytes": 0}, "at least one byte"),
        ({"framing": "fixed"}, "framing 'fixed' is not one of rdw"),
        ({"packing": "rar"}, "packing 'rar' is not one of none, gzip"),
        ({"start": datetime(2026, 5, 1)}, "time zone"),  # noqa: DTZ001
        ({"start": START, "end": START + timedelta(seconds=5)}, "at least a minute"),
        ({"interval_minutes": 90}, "from 1 to 60 minutes"),
        ({"resumed": 1.0}, "between 0 and 1"),
        ({"section_extra": -1}, "section_extra"),
        ({"seed": -1}, "seed"),
        ({"systems": ()}, "from 1 to 8 systems"),
        ({"systems": (System("SYSA"), System("SYSA"))}, "same name"),
        ({"systems": (System("SYSTEM"),)}, "one to four"),
        ({"systems": (System("sysa"),)}, "upper case"),
        ({"systems": (System("SYSA", level="V2R9"),)}, "level 'V2R9'"),
        ({"mix": {"tcp": 1.0}}, "kind 'tcp' is not one of zert-detail"),
        ({"mix": {"tcp-init": -1.0}}, "not be negative"),
        ({"mix": {"tcp-init": 0.0}}, "at least one must be above zero"),
        ({"framing": "bdw", "block_size": 40_000}, "from 256 to 32,760"),
        ({"packing": "terse-pack", "framing": "bdw"}, "use it with framing rdw"),
        ({"packing": "terse-pack", "size_bytes": 1 << 30}, "at most 64 MB"),
        ({"packing": "terse-pack", "damage": ("truncated",)}, "whole records only"),
        ({"damage": ("rust",)}, "damage 'rust' is not one of"),
        ({"damage": ("crlf", "ascii")}, "cannot be combined"),
        ({"damage": ("crlf",), "framing": "bdw"}, "replaces framing rdw"),
        ({"damage": ("truncated", "truncated")}, "given only once"),
        ({"damage": ("truncated", "trailing-zeros")}, "only end in one way"),
        ({"damage": ("truncated",), "records": 20}, "at least 100 records"),
    ],
)
def test_invalid_recipes_are_refused_with_a_reason(wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(RecipeError, match=text):
        Recipe(**wrong)


def test_more_rmf_records_than_intervals_are_refused() -> None:
    hour = Recipe(records=50, mix={"rmf-cpu": 1.0}, start=START, end=START + timedelta(hours=1))
    with pytest.raises(RecipeError, match="lengthen the time span"):
        generate(hour, io.BytesIO())


def test_more_rmf_records_than_intervals_go_to_the_other_kinds() -> None:
    hour = Recipe(
        records=100, mix={"rmf-cpu": 0.5, "tcp-init": 0.5}, start=START, end=START + timedelta(hours=1)
    )
    manifest = generate(hour, io.BytesIO())
    # four intervals of two systems
    assert manifest.records_by_type == {"70-1": 8, "119-1": 92, "2": 1, "3": 1}


def test_interval_records_alone_cannot_fill_a_size() -> None:
    with pytest.raises(RecipeError, match="not come at intervals"):
        generate(Recipe(size_bytes=500_000, mix={"zert-summary": 1.0}), io.BytesIO())


@pytest.mark.parametrize("amount", [{"size_bytes": 500_000}, {"records": 5_000}])
def test_an_impossible_plan_writes_nothing(amount: dict[str, Any]) -> None:
    out = io.BytesIO()
    with pytest.raises(RecipeError):
        generate(Recipe(**amount, mix={"rmf-cpu": 1.0}, packing="gzip"), out)
    assert not out.getvalue()


def test_terse_fails_when_a_dump_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "TERSE_LIMIT", 1 << 20)
    out = io.BytesIO()
    with pytest.raises(RecipeError, match="larger than 1 MB"):
        generate(replace(zert_only(3_000), packing="terse-pack"), out)
    assert not out.getvalue()


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_presets_are_valid_recipes(name: str) -> None:
    assert PRESETS[name]().total_records > 0
