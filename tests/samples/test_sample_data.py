"""The dump in sample-data agrees with its provenance note and its manifest."""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from zscope.parsers.issues import Code, Issues
from zscope.samples import generate, sample

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

SAMPLES = Path(__file__).resolve().parents[2] / "sample-data"
VERSIONS = {0x0301: "TLSv1.0", 0x0302: "TLSv1.1", 0x0303: "TLSv1.2", 0x0304: "TLSv1.3", 0: "unknown"}
HANDSHAKES = {1: "full", 2: "abbreviated", 3: "failed"}


@pytest.fixture(scope="module")
def dump() -> bytes:
    return (SAMPLES / "smf-sample.bin").read_bytes()


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((SAMPLES / "smf-sample.manifest.json").read_text(encoding="ascii"))
    return document


def test_the_dump_is_small_and_has_the_hash_in_its_manifest(dump: bytes, manifest: dict[str, Any]) -> None:
    assert len(dump) == manifest["file_bytes"] <= 2_000_000
    assert hashlib.sha256(dump).hexdigest() == manifest["sha256"]
    assert manifest["synthetic"] is True


def test_generating_it_again_gives_the_same_bytes(dump: bytes, manifest: dict[str, Any]) -> None:
    out = io.BytesIO()
    again = json.loads(generate(sample(), out).to_json())
    assert out.getvalue() == dump, (
        "the generator changed: generate the sample again as PROVENANCE.md describes"
    )
    del again["zscope_version"]
    assert again == {name: value for name, value in manifest.items() if name != "zscope_version"}


def test_decoding_it_gives_the_numbers_in_the_manifest(
    dump: bytes, manifest: dict[str, Any], decode: Callable[[bytes], tuple[dict[str, pa.Table], Issues]]
) -> None:
    tables, issues = decode(dump)
    records = tables.pop("smf_record")
    assert records.num_rows == manifest["records"]
    kinds = zip(records["record_type"].to_pylist(), records["record_subtype"].to_pylist(), strict=True)
    by_type = Counter(str(kind) if subtype is None else f"{kind}-{subtype}" for kind, subtype in kinds)
    assert by_type == manifest["records_by_type"]
    assert {name: table.num_rows for name, table in tables.items()} == manifest["rows_by_table"]
    detail = tables["smf119_zert_detail"]
    for column, names, expected in (
        ("tls_version", VERSIONS, "zert_detail_by_tls_version"),
        ("handshake_type", HANDSHAKES, "zert_detail_by_handshake"),
    ):
        counts = Counter(names[value] for value in detail[column].to_pylist() if value is not None)
        assert counts == manifest[expected]
    ciphers = Counter(value for value in detail["cipher"].to_pylist() if value is not None)
    assert ciphers == manifest["zert_detail_by_cipher"]
    assert issues.counts() == {Code.SECTION_LONGER: 1}


def test_it_has_all_tables_two_systems_and_one_day(manifest: dict[str, Any]) -> None:
    assert len(manifest["rows_by_table"]) == 25
    assert set(manifest["first_written_local"]) == {"SYSA", "SYSB"}
    assert manifest["recipe"]["start"] == "2026-03-02T00:00:00+00:00"
    assert manifest["recipe"]["end"] == "2026-03-03T00:00:00+00:00"
    assert manifest["zert_detail_by_tls_version"]["TLSv1.3"] > 100


def test_the_provenance_note_lists_every_file_and_the_seed() -> None:
    note = (SAMPLES / "PROVENANCE.md").read_text(encoding="utf-8")
    smf_files = [file.name for file in SAMPLES.iterdir() if file.name.startswith("smf-")]
    assert smf_files
    for name in smf_files:
        assert f"`{name}`" in note
    assert f"seed {sample().seed}" in note
