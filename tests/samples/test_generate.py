"""A synthetic dump has the contents in its manifest, with every framing and packing."""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.marking import deep_except

from zscope.parsers.issues import Code, Issues
from zscope.samples import (
    FRAMINGS,
    Manifest,
    Recipe,
    RecordKind,
    System,
    generate,
    mixed,
    named_systems,
    zert_only,
)

Decode = Callable[[bytes], tuple[dict[str, pa.Table], Issues]]
BLOCK_SIZES = {"segments": 900, "bdw": 27_998, "bdw-spanned": 4_096, "bdw-extended": 90_000}
VERSIONS = {0x0301: "TLSv1.0", 0x0302: "TLSv1.1", 0x0303: "TLSv1.2", 0x0304: "TLSv1.3", 0: "unknown"}
HANDSHAKES = {1: "full", 2: "abbreviated", 3: "failed"}


def generated(recipe: Recipe) -> tuple[bytes, Manifest]:
    out = io.BytesIO()
    manifest = generate(recipe, out)
    return out.getvalue(), manifest


def counted(column: pa.ChunkedArray) -> dict[str, int]:
    return {
        str(e["values"]): e["counts"] for e in pc.value_counts(column).to_pylist() if e["values"] is not None
    }


def check_manifest(manifest: Manifest, tables: dict[str, pa.Table]) -> None:
    """Compare the decoded tables with the manifest."""
    records = tables.pop("smf_record")
    assert {name: table.num_rows for name, table in tables.items()} == manifest.rows_by_table
    kinds = zip(records["record_type"].to_pylist(), records["record_subtype"].to_pylist(), strict=True)
    by_type = Counter(str(kind) if subtype is None else f"{kind}-{subtype}" for kind, subtype in kinds)
    assert by_type == manifest.records_by_type
    assert records.num_rows == manifest.records == sum(manifest.records_by_type.values())
    by_system = records.group_by("system").aggregate([("written_local", "min"), ("written_local", "max")])
    rows = {row["system"]: row for row in by_system.to_pylist()}
    first = {name: row["written_local_min"].isoformat(timespec="milliseconds") for name, row in rows.items()}
    last = {name: row["written_local_max"].isoformat(timespec="milliseconds") for name, row in rows.items()}
    assert (first, last) == (manifest.first_written_local, manifest.last_written_local)
    if (detail := tables.get("smf119_zert_detail")) is not None:
        versions = {VERSIONS[int(k)]: n for k, n in counted(detail["tls_version"]).items()}
        handshakes = {HANDSHAKES[int(k)]: n for k, n in counted(detail["handshake_type"]).items()}
        assert versions == manifest.zert_detail_by_tls_version
        assert counted(detail["cipher"]) == manifest.zert_detail_by_cipher
        assert handshakes == manifest.zert_detail_by_handshake


@pytest.mark.parametrize("packing", ["none", "gzip", "zip"])
@pytest.mark.parametrize("framing", ["rdw", *(pytest.param(f, marks=pytest.mark.deep) for f in FRAMINGS[1:])])
def test_every_framing_and_packing_has_the_contents_in_the_manifest(
    framing: str, packing: str, decode: Decode
) -> None:
    check_framing_and_packing(framing, packing, decode)


@pytest.mark.parametrize("framing", deep_except(["bdw-spanned"], FRAMINGS[1:]))
def test_every_framing_has_the_contents_in_the_manifest(framing: str, decode: Decode) -> None:
    check_framing_and_packing(framing, "none", decode)


def check_framing_and_packing(framing: str, packing: str, decode: Decode) -> None:
    recipe = Recipe(
        records=500, framing=framing, packing=packing, block_size=BLOCK_SIZES.get(framing, 27_998)
    )
    data, manifest = generated(recipe)
    tables, issues = decode(data)
    check_manifest(manifest, tables)
    expected = {Code.SECTION_LONGER: 1}  # the filler behind TLS sections of level 3.2
    if framing == "rdw-exclusive":
        expected[Code.EXCLUSIVE_LENGTHS] = 1
    assert issues.counts() == expected


@pytest.mark.parametrize("packing", ["terse-pack", "terse-spack"])
def test_terse_has_the_contents_in_the_manifest(packing: str, decode: Decode) -> None:
    data, manifest = generated(Recipe(records=40, packing=packing))
    tables, _ = decode(data)
    check_manifest(manifest, tables)


@pytest.mark.parametrize("kind", list(RecordKind))
def test_each_kind_alone_has_exactly_the_requested_number_of_records(
    kind: RecordKind, decode: Decode
) -> None:
    data, manifest = generated(Recipe(records=150, mix={kind: 1.0}, seed=5))
    assert manifest.records == 150 + 2  # the header and the trailer of the dump
    tables, _ = decode(data)
    check_manifest(manifest, tables)


RECIPES = {
    "several slices": Recipe(records=8_300, seed=2),
    "one system": Recipe(records=800, systems=named_systems("PROD")),
    "old level only": Recipe(records=800, systems=(System("OLD1"), System("OLD2"))),
    "no TLSv1.3": Recipe(records=800, tls13=False, systems=named_systems("NEW1")),
    "west": Recipe(records=800, systems=named_systems("WEST", utc_offset_minutes=-300)),
    "hourly": Recipe(records=800, interval_minutes=60, resumed=0.9),
    "over new year": Recipe(
        records=800,
        start=datetime(2026, 12, 31, 22, 7, tzinfo=UTC),
        end=datetime(2027, 1, 1, 2, 11, tzinfo=UTC),
    ),
    "mixed": mixed(2_000_000),
    "zert only": zert_only(2_000),
}


@pytest.mark.parametrize("name", deep_except(["old level only", "over new year", "zert only"], RECIPES))
def test_the_contents_of_various_recipes_are_those_in_the_manifest(name: str, decode: Decode) -> None:
    data, manifest = generated(RECIPES[name])
    tables, _ = decode(data)
    check_manifest(manifest, tables)


def test_manifest_describes_the_file() -> None:
    data, manifest = generated(Recipe(records=300, packing="gzip"))
    assert manifest.sha256 == hashlib.sha256(data).hexdigest()
    assert manifest.file_bytes == len(data) < manifest.dump_bytes
    document = json.loads(manifest.to_json())
    assert document["synthetic"] is True
    assert document["recipe"]["records"] == 300
    assert document["recipe"]["systems"][0]["name"] == "SYSA"
    assert document["records"] == 302


def test_the_same_recipe_gives_the_same_bytes_and_another_seed_gives_others() -> None:
    recipe = Recipe(records=400, packing="zip", damage=("mid-garbage",))
    first, manifest = generated(recipe)
    second, again = generated(recipe)
    assert first == second
    assert manifest == again
    other, _ = generated(replace(recipe, seed=7))
    assert other != first


@pytest.mark.parametrize("size", deep_except([50_000], [50_000, 1_200_000]))
def test_a_dump_has_the_requested_size(size: int) -> None:
    _, manifest = generated(Recipe(size_bytes=size))
    assert size <= manifest.dump_bytes < size + 100_000


def test_a_tenth_of_a_mixed_dump_is_type_119(decode: Decode) -> None:
    data, _ = generated(mixed(4_000_000))
    records = decode(data)[0]["smf_record"]
    network = pc.sum(records.filter(pc.equal(records["record_type"], 119))["record_length"]).as_py()
    assert 0.08 < network / len(data) < 0.12


def test_zert_records_are_about_500_bytes() -> None:
    data, manifest = generated(zert_only(4_000))
    assert 450 < len(data) / manifest.records < 550


def test_records_come_in_the_order_of_their_times(decode: Decode) -> None:
    data, _ = generated(Recipe(records=2_000))
    written = decode(data)[0]["smf_record"]["written_local"].to_pylist()[1:-1]
    assert written == sorted(written)


def test_longer_sections_are_reported_once_each(decode: Decode) -> None:
    data, manifest = generated(Recipe(records=1_500, section_extra=12))
    tables, issues = decode(data)
    check_manifest(manifest, tables)
    longer = [issue.section for issue in issues]
    assert {issue.code for issue in issues} == {Code.SECTION_LONGER}
    assert len(longer) == len(set(longer))
    assert {"identification", "common", "tls", "tcp_init", "tcp_term", "attls", "cpu_data", "icsf"} <= set(
        longer
    )
