"""Records only contain documented fields; offsets and lengths here are those of the documentation."""

from __future__ import annotations

import struct
from collections import defaultdict

import pytest
from tests.dumps import generated, kind_of, records_in

from zscope.samples import Recipe, System

Sections = dict[int, tuple[int, int, int]]


def records(recipe: Recipe) -> dict[tuple[int, int], list[bytes]]:
    """Return the records of a plain dump by type and subtype."""
    found: dict[tuple[int, int], list[bytes]] = defaultdict(list)
    for record in records_in(generated(recipe)):
        if len(record) >= 28:
            found[kind_of(record)].append(record)
    return found


def sections(record: bytes) -> Sections:
    """Return offset, length and number of the sections that exist."""
    (count,) = struct.unpack_from(">H", record, 24)
    triplets = {at: struct.unpack_from(">IHH", record, 28 + 8 * at) for at in range(count)}
    return {at: triplet for at, triplet in triplets.items() if triplet[2]}


@pytest.fixture(scope="module")
def old() -> dict[tuple[int, int], list[bytes]]:
    return records(Recipe(records=2_000, systems=(System("OLD1", "V2R3"),)))


@pytest.fixture(scope="module")
def new() -> dict[tuple[int, int], list[bytes]]:
    return records(Recipe(records=2_000, systems=(System("NEW1", "3.2"),)))


def lengths(found: list[bytes]) -> dict[int, set[int]]:
    result: dict[int, set[int]] = defaultdict(set)
    for record in found:
        for at, (_, length, _) in sections(record).items():
            result[at].add(length)
    return result


def test_subtype_2_is_at_the_published_level(old: dict[tuple[int, int], list[bytes]]) -> None:
    assert lengths(old[119, 2]) == {0: {64}, 1: {216}, 2: {32}, 3: {16}, 4: {40}}
    assert {struct.unpack_from(">H", record, 24)[0] for record in old[119, 2]} == {5}
    ciphers = set()
    for record in old[119, 2]:
        if 3 in (found := sections(record)):
            offset = found[3][0]
            ciphers.add(record[offset + 2 : offset + 4].decode("cp037"))
    assert ciphers == {"9C", "9D", "3C", "2F", "0A"}


def test_subtype_11_of_the_older_level(old: dict[tuple[int, int], list[bytes]]) -> None:
    found = lengths(old[119, 11])
    del found[6]  # distinguished names vary
    assert found == {0: {64}, 1: {128}, 2: {100}, 3: {168}, 4: {284}, 5: {236}}
    assert {struct.unpack_from(">H", record, 24)[0] for record in old[119, 11]} == {7}
    for record in old[119, 11]:
        if 3 in (there := sections(record)):
            (version,) = struct.unpack_from(">H", record, there[3][0])
            assert version in {0x0301, 0x0302, 0x0303}
            assert record[there[3][0] + 3] in {1, 2}


def test_subtype_11_of_the_newer_level_ends_in_filler(new: dict[tuple[int, int], list[bytes]]) -> None:
    assert {struct.unpack_from(">H", record, 24)[0] for record in new[119, 11]} == {8}
    for record in new[119, 11]:
        if 3 in (there := sections(record)):
            offset, length, _ = there[3]
            assert length > 168
            assert set(record[offset + 168 : offset + length]) == {0xEE}


@pytest.mark.parametrize(("level", "expected"), [("old", (204, 36, 46, 74)), ("new", (212, 116, 46, 148))])
def test_subtype_12_has_the_lengths_of_its_level(
    level: str, expected: tuple[int, ...], request: pytest.FixtureRequest
) -> None:
    found = request.getfixturevalue(level)[119, 12]
    for at, length in enumerate(expected, 1):
        assert lengths(found)[at] == {length}
    for record in found:
        there = sections(record)
        if 2 in there and expected[1] == 116:
            offset = there[2][0]
            assert record[offset + 36 : offset + 42] == bytes(6)


def test_summary_events_have_the_identification_and_one_section(
    old: dict[tuple[int, int], list[bytes]],
) -> None:
    events = [r for r in old[119, 12] if r[sections(r)[1][0] + 8] == 2]
    assert [set(sections(record)) for record in events] == [{0, 1}]


def test_without_tls13_a_new_system_writes_details_of_the_older_level() -> None:
    found = records(Recipe(records=800, tls13=False, systems=(System("NEW1", "3.2"),)))[119, 11]
    assert lengths(found)[3] == {168}
    assert {struct.unpack_from(">H", record, 24)[0] for record in found} == {7}


def test_other_subtypes_have_their_published_lengths(old: dict[tuple[int, int], list[bytes]]) -> None:
    first = {kind: lengths(found)[1] for kind, found in old.items() if kind[0] == 119}
    assert (first[119, 1], first[119, 3], first[119, 70], first[119, 72]) == ({72}, {172}, {184}, {67})
    assert (first[119, 20], first[119, 21]) == ({64}, {144})
    assert lengths(old[119, 72])[2] == lengths(old[119, 70])[5] == lengths(old[119, 3])[4] == {38}
    assert lengths(old[70, 1]) == {0: {104}, 1: {344}, 2: {92}, 3: {788}, 4: {84}, 5: {88}, 6: {24}}
    assert lengths(old[70, 2]) == {0: {104}, 1: {52}, 2: {372}, 3: {500}, 4: {100}}


def test_every_section_lies_inside_its_record(new: dict[tuple[int, int], list[bytes]]) -> None:
    for found in new.values():
        for record in found:
            if record[5] not in {70, 119}:
                continue
            (count,) = struct.unpack_from(">H", record, 24)
            for offset, length, number in sections(record).values():
                assert offset >= 28 + 8 * count
                assert number >= 1
                assert offset + length <= len(record)
