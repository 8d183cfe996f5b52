"""Deliberate damage does not affect other records and is reported with its location."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.marking import deep_except

from zscope.parsers.issues import Code, InputError, Issues
from zscope.samples import DAMAGES, FRAMINGS, Manifest, Recipe, generate

Decode = Callable[[bytes], tuple[dict[str, pa.Table], Issues]]
REFUSED = {"crlf": Code.LINE_ENDS, "ascii": Code.TEXT_MODE, "no-rdw": Code.RDW_STRIPPED}
READABLE = sorted(set(DAMAGES) - set(REFUSED))
RECORDS = 400
NOTES = {Code.SECTION_LONGER, Code.EXCLUSIVE_LENGTHS, Code.TRAILER_MISSING}
MIX = {"zert-detail": 0.5, "tcp-init": 0.2, "foreign": 0.2, "ftp-server": 0.1}


def damaged(
    *kinds: str, framing: str = "rdw", packing: str = "none", seed: int = 3
) -> tuple[bytes, Manifest]:
    recipe = Recipe(
        records=RECORDS * max(1, len(kinds)), mix=MIX, seed=seed, framing=framing, packing=packing,
        block_size=60_000 if framing == "bdw-extended" else 8_000, damage=kinds,
    )  # fmt: skip
    out = io.BytesIO()
    manifest = generate(recipe, out)
    return out.getvalue(), manifest


def rows(tables: dict[str, pa.Table]) -> dict[str, int]:
    return {name: table.num_rows for name, table in tables.items() if name != "smf_record"}


@pytest.mark.parametrize("framing", deep_except(["bdw-spanned"], FRAMINGS))
@pytest.mark.parametrize("kind", READABLE)
def test_all_other_records_are_read(kind: str, framing: str, decode: Decode) -> None:
    data, manifest = damaged(kind, framing=framing)
    tables, _ = decode(data)
    assert rows(tables) == manifest.rows_by_table
    assert tables["smf_record"].num_rows == manifest.records


@pytest.mark.parametrize("kind", READABLE)
def test_readers_report_the_issue_in_the_manifest(kind: str, decode: Decode) -> None:
    data, manifest = damaged(kind)
    _, issues = decode(data)
    (done,) = manifest.damage
    codes = {code for code in issues.counts() if code not in NOTES}
    assert codes == ({Code(done.issue)} if done.issue else set())


@pytest.mark.parametrize(
    "kind", [kind for kind in READABLE if DAMAGES[kind].specimens and DAMAGES[kind].code]
)
def test_issues_have_the_record_numbers_in_the_manifest(kind: str, decode: Decode) -> None:
    data, manifest = damaged(kind)
    _, issues = decode(data)
    (done,) = manifest.damage
    numbers = {issue.record_no for issue in issues if issue.code == done.issue}
    assert numbers == set(done.record_numbers)


@pytest.mark.parametrize("kind", ["mid-garbage", "zero-length", "trailing-zeros", "truncated"])
def test_issues_have_the_byte_ranges_in_the_manifest(kind: str, decode: Decode) -> None:
    data, manifest = damaged(kind)
    _, issues = decode(data)
    (done,) = manifest.damage
    assert tuple((i.offset, i.end) for i in issues if i.code == done.issue) == done.byte_ranges


@pytest.mark.parametrize("kind", sorted(REFUSED))
def test_a_wrongly_transferred_dump_is_refused(kind: str, decode: Decode) -> None:
    data, manifest = damaged(kind)
    with pytest.raises(InputError) as refused:
        decode(data)
    assert refused.value.issue.code == manifest.refused == REFUSED[kind]


def test_all_damage_at_once(decode: Decode) -> None:
    # Zeros after a truncated record would make it look complete.
    data, manifest = damaged(*(kind for kind in READABLE if kind != "trailing-zeros"))
    tables, issues = decode(data)
    assert rows(tables) == manifest.rows_by_table
    assert tables["smf_record"].num_rows == manifest.records
    assert {done.issue for done in manifest.damage if done.issue} <= set(issues.counts())


@pytest.mark.parametrize("seed", deep_except([0], range(6)))
def test_doubled_descriptors_are_recognised_at_any_time_of_day(seed: int, decode: Decode) -> None:
    data, manifest = damaged("doubled-header", seed=seed)
    tables, _ = decode(data)
    assert rows(tables) == manifest.rows_by_table


def test_duplicate_records_are_equal(decode: Decode) -> None:
    data, manifest = damaged("duplicate-records")
    (done,) = manifest.damage
    opened = decode(data)[0]["smf119_tcp_init"].drop_columns("record_offset")
    twice = opened.filter(pc.is_in(opened["record_no"], pa.array(done.record_numbers, pa.uint64())))
    contents = twice.drop_columns("record_no").to_pylist()
    assert contents[0::2] == contents[1::2]
    assert Counter(str(row) for row in contents).most_common(1)[0][1] == 2


def test_concatenated_dumps_have_two_headers_and_trailers(decode: Decode) -> None:
    data, manifest = damaged("concatenated")
    assert manifest.records_by_type["2"] == manifest.records_by_type["3"] == 2
    kinds = decode(data)[0]["smf_record"]["record_type"].to_pylist()
    first, second = manifest.damage[0].record_numbers
    assert (kinds[0], kinds[first - 1], kinds[second - 1], kinds[-1]) == (2, 3, 2, 3)


def test_damage_survives_packing(decode: Decode) -> None:
    data, manifest = damaged("mid-garbage", "truncated", packing="gzip")
    tables, issues = decode(data)
    assert rows(tables) == manifest.rows_by_table
    assert {Code.DAMAGED_RANGE, Code.TRUNCATED} <= set(issues.counts())
