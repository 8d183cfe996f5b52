"""AMATERSE: composed vectors, real pairs, the encoders against the decoders, and every kind of damage.

The decoders are written for speed. `PlainPack` and `PlainSpack` implement the ordered lists of the format
description literally, and random code streams must give the same result.
"""

from __future__ import annotations

import io
import random
import tracemalloc
from collections import OrderedDict
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.marking import deep_except

from zscope.parsers.containers.streams import Form, foreign_terse, looks_tersed
from zscope.parsers.containers.terse import (
    BATCH,
    MAX_RDW_DATA,
    TerseError,
    TerseHeader,
    parse_header,
    split_codes,
    unpack,
)
from zscope.parsers.containers.terse_phrases import KEPT_PHRASE, MAX_PHRASE
from zscope.parsers.containers.terse_write import join_codes, pack, pack_codes, packed_file, spack_codes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMS: tuple[Form, ...] = ("PACK", "SPACK")
REAL = ("FB.FIELDS.C", "VB.AAA.TXT", "VB.XARGS")

both_forms = pytest.mark.parametrize("form", FORMS)
of_any_kind = pytest.mark.parametrize("variable", [False, True], ids=["fixed", "variable"])


def unpacked(packed: bytes, chunk: int = 1 << 20) -> bytes:
    return b"".join(unpack(io.BytesIO(packed), chunk))


def until_error(packed: bytes) -> tuple[bytes, TerseError | None]:
    """What is delivered, and the error after it if there is one."""
    output = bytearray()
    try:
        for piece in unpack(io.BytesIO(packed)):
            output += piece
    except TerseError as error:
        return bytes(output), error
    return bytes(output), None


def good_part(packed: bytes, offset: int, reason: str) -> bytes:
    """What is delivered ahead of the error that has to come."""
    output, error = until_error(packed)
    assert error is not None
    assert (error.offset, error.reason) == (offset, reason)
    return output


def file_of(codes: list[int], form: Form = "PACK", *, variable: bool = False, length: int = 1) -> bytes:
    return packed_file(TerseHeader(form, variable, length, 27998, 0x0C), codes)


def rdw(record: bytes) -> bytes:
    return (len(record) + 4).to_bytes(2) + b"\0\0" + record


def rdw_stream(symbols: list[int]) -> bytes:
    """What variable symbols have to become, said without any hurry."""
    records = [bytearray()]
    for symbol in symbols:
        if symbol == 257:
            records.append(bytearray())
        else:
            records[-1].append(symbol - 1)
    if not records[-1]:
        records.pop()
    return b"".join(rdw(bytes(record)) for record in records)


class PlainPack:
    """PACK with its dictionary in one ordered list, back first."""

    def __init__(self) -> None:
        self._parent = [0] * 258 + [65, *range(258, 4095)]
        self._ext = [65] * 4096
        self._order = OrderedDict.fromkeys(range(4095, 257, -1))
        self._pending = 0
        self.size = [1] * 258 + list(range(2, 3840))

    def may_name(self, code: int) -> bool:
        replaced: int = next(iter(self._order))
        return code != replaced

    def step(self, code: int) -> list[int]:
        entry, _ = self._order.popitem(last=False)
        path: list[int] = []
        at = code
        while at > 257:
            path.append(at)
            at = self._parent[at]
        self._ext[self._pending] = at
        self._order[entry] = None
        for prefix in path:
            self._order.move_to_end(prefix)
        self._parent[entry] = code
        self.size[entry] = self.size[code] + 1
        self._pending = entry
        return [at, *(self._ext[prefix] for prefix in reversed(path))]


class PlainSpack:
    """SPACK with a list of idle entries that is exact at all times."""

    def __init__(self) -> None:
        self._parts: dict[int, tuple[int, int]] = {}
        self._uses = [0] * 4096
        self._idle: OrderedDict[int, None] = OrderedDict()
        self._free = list(range(4095, 257, -1))
        self._last = 0
        self.size = [1] * 4096

    def may_name(self, code: int) -> bool:
        goes = not self._free and code == next(iter(self._idle))
        return code <= 257 or (code in self._parts and not goes)

    def step(self, code: int) -> list[int]:
        if not self._last:
            self._last = code
            return [code]
        if not self._free:
            removed, _ = self._idle.popitem(last=False)
            for part in self._parts.pop(removed):
                self._release(part)
            self._free.append(removed)
        symbols = self._spell(code)
        entry = self._free.pop()
        self._parts[entry] = self._last, code
        self.size[entry] = self.size[self._last] + self.size[code]
        self._uses[entry] = 0
        self._claim(self._last)
        self._claim(code)
        self._idle[entry] = None
        self._last = code
        return symbols

    def _spell(self, code: int) -> list[int]:
        symbols: list[int] = []
        stack = [code]
        while stack:
            at = stack.pop()
            if at > 257:
                stack += reversed(self._parts[at])
            else:
                symbols.append(at)
        return symbols

    def _release(self, code: int) -> None:
        if code > 257:
            self._uses[code] -= 1
            if not self._uses[code]:
                self._idle[code] = None

    def _claim(self, code: int) -> None:
        if code > 257:
            if not self._uses[code]:
                del self._idle[code]
            self._uses[code] += 1


PLAIN: dict[Form, type[PlainPack | PlainSpack]] = {"PACK": PlainPack, "SPACK": PlainSpack}
ENCODE = {"PACK": pack_codes, "SPACK": spack_codes}


TLS = "e3d3e2", "e3d3e240f14bf2", "e3d3e240f14bf240e3d3e240f14bf3"
TLS_RDWS = b"".join(rdw(bytes.fromhex(record)) for record in TLS)
C1_TO_C4 = bytes.fromhex("c1c2c3c4") * 5
TWELVE_BLANKS_X = b"\x40" * 12 + b"\xe7"
VECTORS = {
    "V1": ("020000040c006d5c000000000c20c30c40c5fffffdffbffcffeff8ffd000", C1_TO_C4),
    "V2": ("050000040c006d5c000000000c20c30c40c5102104106106106000", C1_TO_C4),
    "V3": ("0200000d0c006d550000000010c0e80000", TWELVE_BLANKS_X),
    "V3s": ("0500000d0c006d55000000000410411021031040e80000", TWELVE_BLANKS_X),
    "V4": (
        "020100fb0c006d5e000000000e40d40e3101fff0e30410f204c0f3ffcffeff9ff7041ffbff30f40000",
        TLS_RDWS,
    ),
    "V5": (
        "050100fb0c006d5e000000000e40d40e31011020e30410f204c0f31051071090f304110610804c0f4000",
        TLS_RDWS,
    ),
    "V6": (
        "020100fb0c006d5e000000000e40d40e31010e40d40e30410f204c0f3000",
        b"".join(rdw(bytes.fromhex(record)) for record in TLS[:2]),
    ),
    "V8": ("020000140c006d4c000000000c2fffffeffdffcffc0000", b"\xc1" * 20),
}


@pytest.mark.parametrize("vector", VECTORS)
def test_vector(vector: str) -> None:
    packed, expected = VECTORS[vector]
    assert unpacked(bytes.fromhex(packed).ljust(1024, b"\0")) == expected


def test_single_bytes_are_valid_in_both_forms() -> None:
    """Vector V6 has no phrase code, so its body has the same meaning with either version byte."""
    packed, expected = VECTORS["V6"]
    assert unpacked(b"\x05" + bytes.fromhex(packed)[1:]) == expected


@pytest.mark.parametrize("vector", ["V1", "V2", "V3", "V3s", "V8"])
def test_encoder_makes_the_fixed_vectors(vector: str) -> None:
    packed, data = VECTORS[vector]
    head = parse_header(bytes.fromhex(packed))
    size = head.record_length
    records = [data[start : start + size] for start in range(0, len(data), size)]
    whole = bytes.fromhex(packed).ljust(1024, b"\0")
    assert pack(records, variable=False, record_length=size, form=head.packed) == whole


@pytest.mark.parametrize("vector", ["V4", "V5"])
def test_encoder_makes_the_variable_vectors(vector: str) -> None:
    packed, _ = VECTORS[vector]
    head = parse_header(bytes.fromhex(packed))
    records = [bytes.fromhex(record) for record in TLS]
    whole = bytes.fromhex(packed).ljust(1024, b"\0")
    assert pack(records, variable=True, record_length=251, form=head.packed) == whole


def real_pair(folder: Path, name: str, form: Form) -> tuple[bytes, bytes]:
    packed, expected = folder / "terse" / f"{name}.{form}", folder / "terse" / f"{name}.expected"
    if not packed.is_file():
        pytest.skip(f"no such real file: {packed}")
    return packed.read_bytes(), expected.read_bytes()


def split_records(data: bytes, head: TerseHeader) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        end = start + (int.from_bytes(data[start : start + 2]) if head.variable else head.record_length)
        yield data[start + 4 * head.variable : end]
        start = end


@both_forms
@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("chunk", [1, 1000, 1 << 20])
def test_real_file_unpacks(real_data: Path, name: str, form: Form, chunk: int) -> None:
    packed, expected = real_pair(real_data, name, form)
    assert looks_tersed(packed[:12])
    assert unpacked(packed, chunk) == expected


@both_forms
@pytest.mark.parametrize("name", REAL)
def test_encoder_makes_the_real_codes(real_data: Path, name: str, form: Form) -> None:
    """Header and codes up to the end code; the filler after it is left over from older buffers."""
    packed, expected = real_pair(real_data, name, form)
    head = parse_header(packed)
    again = pack(
        split_records(expected, head), variable=head.variable, record_length=head.record_length, form=form
    )
    codes = split_codes(again[12 : len(again) - len(again) % 3]).tolist()
    used = 12 + (codes.index(0) * 3 + 4) // 2
    assert again[:used] == packed[:used]
    assert len(again) == len(packed)


def symbols_from(seed: int, alphabet: int, phrases: int, size: int) -> list[int]:
    """Runs, repeats and singles over a small or large alphabet that has blanks and record marks in it."""
    choose = random.Random(seed)
    letters = [65, 257, *choose.sample(range(1, 257), alphabet)]
    words = [choose.choices(letters, k=choose.randrange(1, 30)) for _ in range(phrases)]
    words += [[letter] * choose.randrange(1, 400) for letter in letters[:4]]
    symbols: list[int] = []
    while len(symbols) < size:
        symbols += choose.choice(words)
    return symbols


texts = st.builds(
    symbols_from,
    seed=st.integers(0, 1 << 30),
    alphabet=st.sampled_from([2, 3, 16, 200]),
    phrases=st.sampled_from([1, 10, 300, 5000]),
    size=st.sampled_from([1, 100, 30_000]),
)


@both_forms
@given(symbols=texts)
@settings(max_examples=12)
def test_encoded_text_comes_back(form: Form, symbols: list[int]) -> None:
    codes = ENCODE[form](symbols)
    plain = PLAIN[form]()
    assert [symbol for code in codes for symbol in plain.step(code)] == symbols
    assert unpacked(file_of(codes, form, variable=True)) == rdw_stream(symbols)
    assert unpacked(file_of(codes, form)) == bytes(symbol - 1 for symbol in symbols if symbol != 257)


@pytest.mark.deep
@both_forms
@given(symbols=texts)
@settings(max_examples=200)
def test_many_encoded_texts_come_back(form: Form, symbols: list[int]) -> None:
    codes = ENCODE[form](symbols)
    plain = PLAIN[form]()
    assert [symbol for code in codes for symbol in plain.step(code)] == symbols
    assert unpacked(file_of(codes, form, variable=True)) == rdw_stream(symbols)


@pytest.mark.deep
@both_forms
@given(records=st.lists(st.binary(max_size=40)), chunk=st.integers(1, 50))
@settings(max_examples=300)
def test_many_records_come_back(form: Form, records: list[bytes], chunk: int) -> None:
    complete = records[:-1] if records and not records[-1] else records
    variable = pack(records, variable=True, record_length=40, form=form)
    assert unpacked(variable, chunk) == b"".join(map(rdw, complete))
    padded = [record.ljust(40, b"\0") for record in records]
    fixed = pack(padded, variable=False, record_length=40, form=form)
    assert unpacked(fixed, chunk) == b"".join(padded)


@both_forms
def test_thousands_of_distinct_phrases(form: Form) -> None:
    """Random bytes repeat little, so nearly every code makes an entry that is soon replaced."""
    data = random.Random(7).randbytes(25_000)
    packed = pack([data], variable=True, record_length=len(data), form=form)
    assert unpacked(packed) == rdw(data)


@both_forms
@pytest.mark.parametrize("byte", [b"\x40", b"\x00"], ids=["blank", "zero"])
def test_one_long_run(form: Form, byte: bytes) -> None:
    """Blanks fill the PACK dictionary from the start: there all entries come to form one single phrase."""
    packed = pack([byte * 80] * 2000, variable=False, record_length=80, form=form)
    assert unpacked(packed) == byte * 160_000


@both_forms
@given(records=st.lists(st.binary(max_size=40)))
def test_variable_records_come_back(form: Form, records: list[bytes]) -> None:
    complete = records[:-1] if records and not records[-1] else records
    packed = pack(records, variable=True, record_length=40, form=form)
    assert len(packed) % 1024 == 0
    assert unpacked(packed) == b"".join(map(rdw, complete))


@both_forms
@given(records=st.lists(st.binary(min_size=7, max_size=7)), chunk=st.integers(1, 50))
def test_fixed_records_come_back(form: Form, records: list[bytes], chunk: int) -> None:
    packed = pack(records, variable=False, record_length=7, form=form)
    assert unpacked(packed, chunk) == b"".join(records)


@both_forms
def test_empty_records_between_others(form: Form) -> None:
    packed = pack([b"", b"a", b"", b"", b"b"], variable=True, record_length=1, form=form)
    assert unpacked(packed).hex() == "00040000000500006100040000000400000005000062"


@both_forms
@pytest.mark.parametrize("single", [0.02, 0.3, 0.7])
@pytest.mark.parametrize("reach", [5, 100, 3838])
def test_any_legal_codes_mean_what_the_description_says(form: Form, reach: int, single: float) -> None:
    """Codes no encoder would choose: singles, and entries out of the first few or out of all."""
    choose = random.Random(f"{reach} {single}")
    plain = PLAIN[form]()
    codes: list[int] = []
    symbols: list[int] = []
    while len(codes) < 9000:
        code = choose.randrange(1, 258) if choose.random() < single else 258 + choose.randrange(reach)
        if len(codes) % 300 == 0:
            code = 257  # so that no record gets too long
        if plain.may_name(code) and plain.size[code] < 100:
            codes.append(code)
            symbols += plain.step(code)
    assert unpacked(file_of(codes, form)) == bytes(symbol - 1 for symbol in symbols if symbol != 257)
    assert unpacked(file_of(codes, form, variable=True)) == rdw_stream(symbols)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("020100fb0c006d5e00000000", TerseHeader("PACK", True, 251, 27998, 0x0C)),
        ("050000500c006d1000000000", TerseHeader("SPACK", False, 80, 27920, 0x0C)),
        ("0500005004006d1000000050", TerseHeader("SPACK", False, 80, 27920, 0x04)),
        ("020000000c006d1000012345", TerseHeader("PACK", False, 0x12345, 27920, 0x0C)),
        ("020100fb1c006d5e00000000", TerseHeader("PACK", True, 251, 27998, 0x1C)),
        ("020000500000000000000000", TerseHeader("PACK", False, 80, 0, 0)),
    ],
    ids=["variable", "fixed", "both-lengths", "long-length", "spanned", "not-mvs"],
)
def test_header(head: str, expected: TerseHeader) -> None:
    assert parse_header(bytes.fromhex(head)) == expected


@pytest.mark.parametrize(
    ("head", "offset", "reason"),
    [
        ("", 0, "ends inside its 12-byte header"),
        ("020100fb0c006d5e000000", 11, "ends inside its 12-byte header"),
        ("018969a50050", 0, "another platform"),
        ("078969a500500000000000000000", 0, "another platform"),
        ("090000500c006d1000000000", 0, "version X'09' is not PACK or SPACK"),
        ("020200500c006d1000000000", 1, "record type X'02'"),
        ("020000000c006d1000000000", 2, "no record length"),
        ("020000500c006d1000000051", 8, "two record lengths, 80 and 81"),
        ("0200005008006d1000000000", 4, "flags X'08' do not say MVS"),
        ("020000500001000000000000", 4, "flags X'00' do not say MVS"),
    ],
    ids=[
        "empty",
        "short",
        "foreign-1",
        "foreign-7",
        "version",
        "record-type",
        "no-length",
        "two-lengths",
        "flags",
        "ratio",
    ],
)
def test_impossible_header(head: str, offset: int, reason: str) -> None:
    with pytest.raises(TerseError, match=reason) as caught:
        unpack(io.BytesIO(bytes.fromhex(head)))
    assert caught.value.offset == offset
    assert str(caught.value) == f"{caught.value.reason} (byte {offset} of the packed data)"


@pytest.mark.parametrize(
    "head",
    [
        "020100fb0c006d5e00000000",
        "050000500c006d1000000000",
        "020000500c006d1000000050",
        "050101000c006d5e00000000",
    ],
    ids=["pack", "spack", "length-repeated", "length-256"],
)
def test_looks_tersed(head: str) -> None:
    assert looks_tersed(bytes.fromhex(head))
    assert not looks_tersed(bytes.fromhex(head)[:11])


@pytest.mark.parametrize(
    "head",
    [
        "001200001e020036ee800124123f",
        "020000005e7700112233012f",
        "050100005e2e000000000124",
        "02000100de77001100000124",
        "020001005e77001200000100",
        "050103005e77001200000300",
        "7d220000020000500c006d10",
        "018969a5005000000000000000",
        "0200005008006d1000000000",
        "020000500c006d1000000051",
        "020200500c006d1000000000",
    ],
    ids=[
        "smf-type-2",
        "rdw-512",
        "rdw-1281",
        "segment",
        "segment-of-2000",
        "segment-middle",
        "bdw",
        "foreign",
        "not-mvs",
        "two-lengths",
        "record-type",
    ],
)
def test_other_data_does_not_look_tersed(head: str) -> None:
    assert not looks_tersed(bytes.fromhex(head))


@given(
    length=st.integers(4, 0xFFFF),
    segment=st.integers(0, 3),
    flags=st.integers(0, 255),
    record_type=st.integers(0, 255),
    time=st.integers(0, 8_640_000),
    year=st.integers(0, 99),
    century=st.integers(0, 1),
)
def test_no_smf_record_looks_tersed(
    length: int, segment: int, flags: int, record_type: int, time: int, year: int, century: int
) -> None:
    head = length.to_bytes(2) + bytes((segment, 0, flags, record_type)) + time.to_bytes(4)
    date = bytes((century, int(str(year), 16)))
    # 1900 is written 00 00: no SMF record is that old, and there is nothing else to tell by.
    assert not looks_tersed(head + date) or date == b"\0\0"


@pytest.mark.parametrize(
    ("head", "foreign"),
    [("018969a5", True), ("078969a50050", True), ("018969", False), ("028969a5", False), ("", False)],
)
def test_foreign_terse(head: str, foreign: bool) -> None:
    assert foreign_terse(bytes.fromhex(head)) is foreign


@both_forms
@of_any_kind
def test_no_data_at_all(form: Form, variable: bool) -> None:
    assert unpacked(pack([], variable=variable, record_length=80, form=form)) == b""


@pytest.mark.parametrize("codes", [[194, 195], [194, 195, 196]], ids=["even", "odd"])
@of_any_kind
def test_everything_after_the_end_code_is_filler(codes: list[int], variable: bool) -> None:
    data = bytes(code - 1 for code in codes)
    packed = file_of([*codes, 0, 4095, 300, 7, 9, 300], "SPACK", variable=variable)
    assert unpacked(packed) == (rdw(data) if variable else data)


@pytest.mark.parametrize("codes", [[194, 195], [194, 195, 196]], ids=["even", "odd"])
@of_any_kind
def test_physical_end_without_an_end_code(codes: list[int], variable: bool) -> None:
    """A file that was cut off: whole records are passed on, one that no mark has closed is not."""
    first = [197, 257] if variable else [197]
    packed = file_of([], variable=variable)[:12] + join_codes([*first, *codes])
    passed: list[bytes] = []
    with pytest.raises(TerseError, match="ends without an end code: the file was cut off"):
        passed.extend(unpack(io.BytesIO(packed)))
    everything = b"\xc4" + bytes(code - 1 for code in codes)
    assert b"".join(passed) == (rdw(b"\xc4") if variable else everything)


def test_end_code_before_a_lone_nibble() -> None:
    assert unpacked(file_of([])[:12] + join_codes([194, 195, 0])) == b"\xc1\xc2"


class Dribble(io.BytesIO):
    """A stream that gives a few bytes at a time, as a pipe may do."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size or 0, 5))


def test_short_reads() -> None:
    packed, expected = VECTORS["V5"]
    assert b"".join(unpack(Dribble(bytes.fromhex(packed)))) == expected


def test_output_comes_before_all_input_is_read() -> None:
    data = random.Random(1).randbytes(4 * 65_000)
    records = [data[start : start + 65_000] for start in range(0, len(data), 65_000)]
    packed = pack(records, variable=False, record_length=65_000, form="PACK")
    stream = Dribble(packed)
    assert data.startswith(next(unpack(stream, 1000)))
    assert stream.tell() < len(packed) / 2


@pytest.mark.parametrize("form", FORMS)
def test_end_inside_a_code(form: Form) -> None:
    packed = file_of([], form)[:12] + join_codes([194, 195, 196, 197])[:-2]
    reason = "the packed data ends inside a code, without an end code"
    assert good_part(packed, 15, reason) == b"\xc1\xc2"


def test_unclosed_record_is_not_passed_on_after_damage() -> None:
    packed = file_of([], variable=True)[:12] + join_codes([194, 257, 195, 196, 197, 198])[:-2]
    reason = "the packed data ends inside a code, without an end code"
    assert good_part(packed, 18, reason) == rdw(b"\xc1")


@pytest.mark.parametrize(
    ("codes", "index"),
    [([258], 0), ([194, 258], 1), ([194, 195, 259], 2), ([194, 195, 258, 4095], 3)],
    ids=["first", "second", "own", "far"],
)
@of_any_kind
def test_spack_code_without_an_entry(codes: list[int], index: int, variable: bool) -> None:
    packed = file_of(codes, "SPACK", variable=variable)
    reason = f"code {codes[index]} is a dictionary entry that does not exist"
    good = good_part(packed, 12 + index * 3 // 2, reason)
    assert variable or bytes.fromhex("c1c2c1c2").startswith(good)
    assert len(good) == (0 if variable else (0, 1, 2, 4)[index])


def test_spack_code_for_the_entry_just_freed() -> None:
    """3839 pairs of singles fill the dictionary; then the first entry is removed."""
    codes = [1 + n % 256 for n in range(3839)]
    assert len(unpacked(file_of([*codes, 259], "SPACK"))) == 3841
    reason = "code 258 is a dictionary entry that does not exist"
    assert len(good_part(file_of([*codes, 258], "SPACK"), 12 + 3839 * 3 // 2, reason)) == 3839


@pytest.mark.parametrize("codes", [[4095], [194, 4094], [4094, 4095]], ids=["first", "second", "pending"])
def test_pack_code_for_the_entry_replaced_in_the_same_step(codes: list[int]) -> None:
    reason = f"code {codes[-1]} is the entry replaced in the same step"
    good = good_part(file_of(codes), 12 + (len(codes) - 1) * 3 // 2, reason)
    assert good == (b"", b"\xc1", b"\x40" * 3838)[(codes[0] == 194) + 2 * (codes[0] == 4094)]


def test_offset_of_damage_far_into_the_data() -> None:
    codes = [1 + n % 250 for n in range(3 * BATCH + 17)]
    reason = "code 4095 is a dictionary entry that does not exist"
    good = good_part(file_of([*codes, 4095], "SPACK"), 12 + len(codes) * 3 // 2, reason)
    assert len(good) == len(codes)


@both_forms
def test_fixed_data_that_fill_no_record(form: Form) -> None:
    packed = file_of([194, 195, 196, 197, 198], form, length=3)
    good = good_part(packed, 12 + 5 * 3 // 2, "2 bytes are left over after the last 3-byte record")
    assert good == b"\xc1\xc2\xc3\xc4\xc5"


@both_forms
def test_longest_record_that_an_rdw_can_express(form: Form) -> None:
    data = bytes(MAX_RDW_DATA)
    packed = pack([data, b"a", data], variable=True, record_length=MAX_RDW_DATA, form=form)
    assert unpacked(packed) == b"\xff\xff\0\0" + data + rdw(b"a") + b"\xff\xff\0\0" + data


@pytest.mark.parametrize("after", [[], [b"b"]], ids=["unclosed", "closed"])
@both_forms
def test_record_too_long_for_an_rdw(form: Form, after: list[bytes]) -> None:
    data = bytes(MAX_RDW_DATA + 1)
    packed = pack([b"a", data, *after], variable=True, record_length=len(data), form=form)
    output, error = until_error(packed)
    assert output == rdw(b"a")
    assert error is not None
    assert error.reason == "record 2 is longer than 65531 bytes, the most an RDW can express"
    assert 12 <= error.offset <= len(packed)


def doubling(times: int) -> list[int]:
    """Codes of the entry that was just created: phrases of 2, 3, 5, 8 ... symbols."""
    return [66, 67, *range(258, 258 + times)]


@pytest.mark.parametrize("second", [67, 257], ids=["bytes", "marks"])
def test_phrases_too_long_to_keep(second: int) -> None:
    """Fibonacci's numbers pass the limit, then phrases on both sides of it are used again."""
    codes = [66, second, *range(258, 281), 257, *range(270, 281)]
    plain = PlainSpack()
    symbols = [symbol for code in codes for symbol in plain.step(code)]
    assert max(plain.size[code] for code in codes) > KEPT_PHRASE
    assert unpacked(file_of(codes, "SPACK")) == bytes(symbol - 1 for symbol in symbols if symbol != 257)
    if second == 257:
        assert unpacked(file_of(codes, "SPACK", variable=True)) == rdw_stream(symbols)


def test_exponential_phrases_are_stopped() -> None:
    output, error = until_error(file_of(doubling(3000), "SPACK"))
    assert error is not None
    assert error.reason.startswith("phrase too long: code 28")
    assert MAX_PHRASE < len(output) < 4 * MAX_PHRASE


@pytest.mark.parametrize("form", deep_except(["PACK"], FORMS))
@of_any_kind
def test_hostile_expansion_needs_bounded_memory(form: Form, variable: bool) -> None:
    """Kilobytes that unpack to a hundred megabytes: passed on piece by piece."""
    codes = {"PACK": [4050, 257] * 20_000, "SPACK": [66, 257, 67, *range(259, 286), *[285] * 300]}
    packed = file_of(codes[form], form, variable=variable)
    tracemalloc.start()
    total = sum(map(len, unpack(io.BytesIO(packed))))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total > 70_000_000
    assert peak < 50_000_000


@given(data=st.binary(max_size=3000), head=st.sampled_from(["0200", "0201", "0500", "0501"]))
def test_random_bodies_end_in_output_or_a_terse_error(data: bytes, head: str) -> None:
    output, error = until_error(bytes.fromhex(head) + bytes.fromhex("00010c006d5e00000000") + data)
    assert error is None or 12 <= error.offset <= 12 + len(data)
    assert isinstance(output, bytes)


@pytest.mark.parametrize("length", [0, 65536])
def test_record_length_that_no_header_can_hold(length: int) -> None:
    with pytest.raises(ValueError, match=f"record length {length}"):
        pack([], variable=True, record_length=length, form="PACK")


@pytest.mark.parametrize(
    ("record", "variable"),
    [(b"abc", False), (b"abcde", False), (b"abcde", True)],
    ids=["fixed-short", "fixed-long", "variable-long"],
)
def test_record_that_does_not_fit(record: bytes, variable: bool) -> None:
    with pytest.raises(ValueError, match=f"record 2 has {len(record)} bytes, not 4"):
        pack([b"abcd", record], variable=variable, record_length=4, form="PACK")


@pytest.mark.parametrize(("length", "block"), [(80, 27920), (13, 27989), (27999, 27999)])
def test_block_size_of_fixed_data(length: int, block: int) -> None:
    assert parse_header(pack([], variable=False, record_length=length, form="PACK")).block_size == block
