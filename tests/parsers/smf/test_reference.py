"""Every column of zERT detail records against a decoder that shares no line with ours.

The other decoder is the hand-written `struct` loop that the benchmark measures us by.
"""

from __future__ import annotations

import importlib.util
import io
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from tests.parsers.smf.decoders import default_decoder

from zscope.parsers.issues import Issues
from zscope.parsers.options import parse
from zscope.parsers.smf.dump import decode_windows
from zscope.parsers.smf.framing import Framing
from zscope.parsers.smf.record_writer import SectionBytes, encode_entries, encode_records, encode_section
from zscope.parsers.smf.walker import FrameReader
from zscope.schemas import Format, Section, catalog
from zscope.schemas.arrow import arrow_type
from zscope.schemas.tables import columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from numpy.typing import NDArray

RECORDS = 18_000
Rows = list[tuple[Any, ...]]
CHECKOUT = Path(__file__).resolve().parents[3]
LAYOUT = catalog().records[119, 11]
COMMON, TLS, FILTER, NAMES = (LAYOUT.section(key) for key in ("common", "tls", "ip_filter", "dn"))
IDENTIFICATION = LAYOUT.section("identification")
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
YEAR_US = 365 * 86_400_000_000

random = np.random.default_rng(119)


@pytest.fixture(scope="module")
def struct_loop() -> ModuleType:
    spec = importlib.util.spec_from_file_location("struct_loop", CHECKOUT / "benchmarks" / "struct_loop.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _some(values: Sequence[Any], kind: pa.DataType | None = None) -> pa.Array:
    return pa.array([values[i] for i in random.integers(0, len(values), RECORDS)], kind)


def _times(zone: str | None, absent: float = 0.0) -> pa.Array:
    hundredths = random.integers(0, YEAR_US // 10_000, RECORDS) * 10_000
    microseconds = int(NEW_YEAR.timestamp()) * 1_000_000 + hundredths
    return pa.array(microseconds, mask=random.random(RECORDS) < absent).view(pa.timestamp("us", zone))


def _serials(longest: int) -> tuple[pa.Array, pa.Array]:
    sizes = random.integers(0, longest + 1, RECORDS)
    return pa.array([random.bytes(size).hex() for size in sizes.tolist()]), pa.array(sizes, pa.uint8())


def _columns(section: Section, given: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """The given columns, and random numbers and names for all others."""
    columns = dict(given)
    for field in section.columns:
        if field.column in columns:
            continue
        if field.format in {Format.UINT, Format.BITS}:
            values = random.integers(0, 256 ** (field.length or 0) - 1, RECORDS, np.uint64, endpoint=True)
            columns[field.column] = pa.array(values).cast(arrow_type(field))
        elif field.format is Format.TEXT:
            distinct = 1 << int(random.integers(0, 12))
            names = [f"N{value:0{int(random.integers(1, 7))}X}"[:7] for value in range(distinct)]
            columns[field.column] = _some(["", *names])
    return columns


def _expiries(rows: NDArray[np.uint8], form_at: int, text_at: int) -> None:
    """Write certificate expiries in all forms, as EBCDIC and as ASCII."""
    forms = (
        (2, "20270304050607Z", "cp037"),
        (1, "491231235959Z", "cp037"),
        (1, "500101000000Z", "ascii"),
        (2, "20991231235959Z", "ascii"),
        (0, "", "cp037"),
    )
    for row, choice in zip(rows, random.integers(0, len(forms), len(rows)).tolist(), strict=True):
        form, text, page = forms[choice]
        row[form_at] = form
        row[text_at : text_at + 15] = np.frombuffer(text.ljust(15).encode(page), np.uint8)


def _one(rows: NDArray[np.uint8], there: NDArray[np.bool_] | None = None) -> list[list[bytes]]:
    present = np.ones(len(rows), np.bool_) if there is None else there
    return [[row.tobytes()] if is_there else [] for row, is_there in zip(rows, present, strict=True)]


def _tls_rows() -> NDArray[np.uint8]:
    session, session_size = _serials(32)
    server, server_size = _serials(20)
    client, client_size = _serials(20)
    ciphers = _some(["C02F", "C030", "1301", "009D", "FFFFFF", "010080"])
    given = {
        "session_id": session, "session_id_length": session_size, "cipher": ciphers,
        "server_cert_serial": server, "server_cert_serial_length": server_size,
        "client_cert_serial": client, "client_cert_serial_length": client_size,
    }  # fmt: skip
    rows = encode_section(TLS, _columns(TLS, given), RECORDS, TLS.known_length)
    for name in ("server_cert", "client_cert"):
        fields = {field.column: field for field in TLS.columns}
        _expiries(rows, fields[f"{name}_time_form"].offset, fields[f"{name}_not_after_utc"].offset)
    return rows


def _common_rows(flags: Sequence[int]) -> NDArray[np.uint8]:
    """With the bytes after an IPv4 address left undefined, as the format has it."""
    given = {
        "connection_flags": _some(flags, pa.uint8()),
        "start_utc": _times("UTC"), "end_utc": _times("UTC", absent=0.3),
    }  # fmt: skip
    rows = encode_section(COMMON, _columns(COMMON, given), RECORDS, COMMON.known_length)
    rows[:, 48:80] = random.integers(0, 256, (RECORDS, 32), np.uint8)
    rows[::7, 48:64] = np.frombuffer(bytes(10) + b"\xff\xff\x0a\x01\x02\x03", np.uint8)
    return rows


def _names() -> list[list[bytes]]:
    texts = [f"CN=host{n}.example.com,O={'X' * (n % 40)},C=GB" for n in range(300)]
    columns = {"dn_type": _some(range(1, 13), pa.uint16()), "distinguished_name": _some(texts)}
    entries = encode_entries(NAMES, columns, RECORDS)
    counts = random.integers(0, 4, RECORDS)
    return [entries[at : at + count] for at, count in zip(range(RECORDS), counts.tolist(), strict=True)]


def _dump(*, varied: bool) -> bytes:
    """Many records with random values; `varied` leaves sections out and lets their lengths differ."""
    everyone = np.ones(RECORDS, np.bool_)
    some = random.random(RECORDS) < 0.7 if varied else everyone
    identification = encode_section(IDENTIFICATION, _columns(IDENTIFICATION, {}), RECORDS, 64)
    tls = _tls_rows()
    tls_entries = _one(tls, some)
    if varied:
        tls_entries = [[e + bytes(n % 3 * 4) for e in entry] for n, entry in enumerate(tls_entries)]
    filters = encode_section(FILTER, _columns(FILTER, {}), RECORDS, FILTER.known_length)
    sections = [
        SectionBytes(IDENTIFICATION, _one(identification)),
        SectionBytes(COMMON, _one(_common_rows([0, 0x80] if varied else [0]))),
        SectionBytes(FILTER, _one(filters, random.random(RECORDS) < 0.5 if varied else everyone)),
        SectionBytes(TLS, tls_entries),
        SectionBytes(NAMES, _names(), as_block=varied),
    ]
    header = {"system": _some(["SYSA", "SYSB"]), "written_local": _times(None), "subsystem": _some(["TCP"])}
    return b"".join(encode_records(LAYOUT, header, sections, RECORDS))


def _decoded(dump: bytes, window: int, table: str, columns: Sequence[str], jobs: int = 1) -> Rows:
    issues = Issues()
    reader = FrameReader(io.BytesIO(dump), Framing.RDW, issues, window=window)
    decoder = default_decoder(parse(f"{table}[{','.join(columns)}]"), issues)
    batches = [b for _, tables in decode_windows(reader, decoder, jobs) for _, b in tables]
    notes_aside = [str(issue) for issue in issues if issue.severity]
    assert notes_aside == []
    assert len(batches) > 1
    return [
        row for batch in batches for row in zip(*(batch[name].to_pylist() for name in columns), strict=True)
    ]


@dataclass(frozen=True)
class Dump:
    """A dump, and what the plain loop finds in it."""

    data: bytes
    details: Rows
    names: Rows
    ten: Rows


@pytest.fixture(scope="module", params=[False, True], ids=["alike", "varied"])
def dump(request: pytest.FixtureRequest, struct_loop: ModuleType) -> Dump:
    data = _dump(varied=request.param)
    details, names = struct_loop.decode(data)
    assert len(details) == RECORDS
    assert len(names) > RECORDS
    return Dump(data, details, names, struct_loop.decode_ten(data))


COLLECTED, AS_IT_LIES = 1 << 18, 17 << 19
"""Sizes of a window with few enough records to put them aside, and with enough to decode them in place."""


@pytest.mark.parametrize(
    ("window", "jobs"),
    [
        *(pytest.param(window, 1, marks=pytest.mark.deep) for window in (COLLECTED, AS_IT_LIES)),
        (AS_IT_LIES, 2),
    ],
)
def test_connections(dump: Dump, window: int, jobs: int, struct_loop: ModuleType) -> None:
    got = _decoded(dump.data, window, "smf119_zert_detail", struct_loop.DETAIL_COLUMNS, jobs)
    assert got == dump.details


@pytest.mark.deep
@pytest.mark.parametrize("window", [COLLECTED, AS_IT_LIES])
def test_distinguished_names(dump: Dump, window: int, struct_loop: ModuleType) -> None:
    assert _decoded(dump.data, window, "smf119_zert_dn", struct_loop.NAME_COLUMNS) == dump.names


@pytest.mark.parametrize("window", [COLLECTED, AS_IT_LIES])
def test_ten_columns(dump: Dump, window: int, struct_loop: ModuleType) -> None:
    assert _decoded(dump.data, window, "smf119_zert_detail", struct_loop.TEN_COLUMNS) == dump.ten


@pytest.mark.parametrize(
    ("table", "known"),
    [("smf119_zert_detail", "DETAIL_COLUMNS"), ("smf119_zert_dn", "NAME_COLUMNS")],
)
def test_the_loop_knows_every_column(table: str, known: str, struct_loop: ModuleType) -> None:
    assert {column.name for column in columns_of(table)} == set(getattr(struct_loop, known))
