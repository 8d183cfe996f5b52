"""A simple hand-written decoder of zERT detail records (SMF 119-11) with `struct`, and a loader to Parquet.

It is independent of zscope: its offsets are those of the published record descriptions. The benchmarks use it
as the baseline, and a test as an independent reference for the columns. For both, it should be neither slow
on purpose nor optimised: all numbers of a section are unpacked at once, and a row is one tuple.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from ipaddress import IPv6Address
from socket import inet_ntoa
from struct import Struct
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path

Rows = list[tuple[Any, ...]]

_HEADER = Struct(">HHBBI4s4s4sHHxx")
_TRIPLET = Struct(">IHH")
_IDENTIFICATION = Struct(">8s8s8s8s8s8s8s2xHBB2x")
_COMMON = Struct(">5B3x8s8s8sI4sI4s16s16sHHIQQQQ8x")
_FILTER = Struct(">2B2x40s8s40s8s")
_TLS = Struct(">HBBB2xB32s16s6sHHHBB2xHHHxB20sB15sHHHHHxB20sB15sHH")
_NAME = Struct(">HH")

_DETAIL_TRIPLETS = ("identification", "common", "filter", "tls")
_NAMES_TRIPLET = 6
_NO_FILTER = (None,) * 6
_NO_TLS = (None,) * 31

_NAMES_OF_DETAIL = """
record_no record_offset system written_local
system_name sysplex stack release component writer_job writer_user writer_asid record_reason record_set_id
event_type security_protocols_flags connection_flags ip_security_flags ip_protocol job_name job_id user_id
start_utc end_utc remote_ip local_ip remote_port local_port connection_id
in_bytes out_bytes in_segments out_segments
out_filter_action in_filter_action
out_filter_rule out_filter_rule_extension in_filter_rule in_filter_rule_extension
tls_version tls_source handshake_type handshake_role session_id_length session_id tls_provider cipher
enc_alg msg_auth kex_alg fips_mode crypto_flags
server_cert_sig_method server_cert_enc_method server_cert_digest_alg
server_cert_serial_length server_cert_serial server_cert_time_form server_cert_not_after_utc
server_cert_key_type server_cert_key_length_bits
client_cert_sig_method client_cert_enc_method client_cert_digest_alg
client_cert_serial_length client_cert_serial client_cert_time_form client_cert_not_after_utc
client_cert_key_type client_cert_key_length_bits
"""
_NAMES_OF_NAMES = """
record_no record_offset section_no system written_local system_name sysplex stack event_type job_name
start_utc connection_id entry_length dn_type distinguished_name
"""
_NAMES_OF_TEN = """
system start_utc job_name local_port connection_id handshake_role handshake_type tls_version cipher in_bytes
"""
DETAIL_COLUMNS = tuple(_NAMES_OF_DETAIL.split())
NAME_COLUMNS = tuple(_NAMES_OF_NAMES.split())
TEN_COLUMNS = tuple(_NAMES_OF_TEN.split())


def text(raw: bytes) -> str:
    """Decode EBCDIC and remove padding."""
    return raw.decode("cp037").rstrip(" \0")


def time_of(date: bytes, hundredths: int, zone: timezone | None = None) -> datetime | None:
    """Decode packed 0cyydddF and hundredths of a second since midnight; local time unless a zone is given."""
    digits = date.hex()
    if digits in {"0000000f", "00000000"}:
        return None
    first = datetime(1900 + int(digits[1:4]), 1, 1, tzinfo=zone)
    return first + timedelta(days=int(digits[4:7]) - 1, milliseconds=10 * hundredths)


def address(raw: bytes, flags: int) -> str:
    """Decode an address: IPv4 in the first four bytes unless bit 0x80 of the flags means IPv6."""
    if not flags & 0x80:
        return inet_ntoa(raw[:4])
    six = IPv6Address(raw)
    return str(six.ipv4_mapped or six)


def serial(raw: bytes, size: int) -> str | None:
    """Return the valid bytes in hexadecimal."""
    return raw[:size].hex() if size else None


def expiry(raw: bytes, form: int) -> datetime | None:
    """Decode YYMMDDhhmmssZ (form 1) or YYYYMMDDhhmmssZ (form 2)."""
    if form == 0:
        return None
    shown = raw.decode("ascii" if raw[:1].isdigit() else "cp037").rstrip(" \0")
    # RFC 5280: two-digit years below 50 are of this century.
    year, rest = (
        ((2000 if shown[:2] < "50" else 1900) + int(shown[:2]), shown[2:])
        if form == 1
        else (int(shown[:4]), shown[4:])
    )
    # Slices, because strptime would take a third of the whole time.
    return datetime(
        year, int(rest[:2]), int(rest[2:4]), int(rest[4:6]), int(rest[6:8]), int(rest[8:10]), tzinfo=UTC
    )


def _tls_values(section: bytes) -> tuple[Any, ...]:
    (
        version, source, kind, role, id_size, session, provider, cipher, *algorithms,
        server_serial_size, server_serial, server_form, server_expiry, server_key, server_key_length,
        client_signature, client_encryption, client_digest,
        client_serial_size, client_serial, client_form, client_expiry, client_key, client_key_length,
    ) = _TLS.unpack_from(section)  # fmt: skip
    return (
        version, source, kind, role, id_size, serial(session, id_size), text(provider), text(cipher),
        *algorithms,
        server_serial_size, serial(server_serial, server_serial_size), server_form,
        expiry(server_expiry, server_form), server_key, server_key_length,
        client_signature, client_encryption, client_digest,
        client_serial_size, serial(client_serial, client_serial_size), client_form,
        expiry(client_expiry, client_form), client_key, client_key_length,
    )  # fmt: skip


def _filter_values(section: bytes) -> tuple[Any, ...]:
    out_action, in_action, *rules = _FILTER.unpack_from(section)
    return (out_action, in_action, *map(text, rules))


def _first_sections(record: bytes, triplets: int) -> dict[str, bytes]:
    """Return the sections that occur once, by name."""
    sections = {}
    for index, name in enumerate(_DETAIL_TRIPLETS[:triplets]):
        offset, length, number = _TRIPLET.unpack_from(record, 28 + 8 * index)
        if number:
            sections[name] = record[offset : offset + length]
    return sections


def decode(data: bytes) -> tuple[Rows, Rows]:
    """Decode all fields of all zERT detail records: rows of connections and rows of distinguished names."""
    details: Rows = []
    names: Rows = []
    position, number = 0, 0
    while position < len(data):
        length, _, _, kind, hundredths, date, sid, _, subtype, triplets = _HEADER.unpack_from(data, position)
        record = data[position : position + length]
        number += 1
        if (kind, subtype) == (119, 11):
            sections = _first_sections(record, triplets)
            *texts, asid, reason, set_id = _IDENTIFICATION.unpack_from(sections["identification"])
            identification = [text(raw) for raw in texts]
            (
                event, protocols, flags, ip_flags, transport, job, job_id, user,
                start_time, start_date, end_time, end_date, remote, local, *numbers,
            ) = _COMMON.unpack_from(sections["common"])  # fmt: skip
            head = (number, position, text(sid), time_of(date, hundredths))
            job_name, start = text(job), time_of(start_date, start_time, UTC)
            details.append((
                *head, *identification, asid, reason, set_id,
                event, protocols, flags, ip_flags, transport, job_name, text(job_id), text(user),
                start, time_of(end_date, end_time, UTC),
                address(remote, flags), address(local, flags), *numbers,
                *(_filter_values(sections["filter"]) if "filter" in sections else _NO_FILTER),
                *(_tls_values(sections["tls"]) if "tls" in sections else _NO_TLS),
            ))  # fmt: skip
            if triplets > _NAMES_TRIPLET:
                at, block, count = _TRIPLET.unpack_from(record, 28 + 8 * _NAMES_TRIPLET)
                end = at + block
                entry = 0
                while entry < count or (count and at + 4 <= end):
                    size, who = _NAME.unpack_from(record, at)
                    names.append((
                        *head[:2], entry, *head[2:], *identification[:3], event, job_name, start, numbers[2],
                        size, who, text(record[at + 4 : at + size]),
                    ))  # fmt: skip
                    at += size
                    entry += 1
        position += length
    return details, names


def decode_ten(data: bytes) -> Rows:
    """Decode only the ten fields that a handshake metric needs."""
    rows: Rows = []
    position = 0
    while position < len(data):
        length, _, _, kind, _, _, sid, _, subtype, triplets = _HEADER.unpack_from(data, position)
        if (kind, subtype) == (119, 11) and triplets > 3:
            common, _, _ = _TRIPLET.unpack_from(data, position + 36)
            tls, _, exists = _TRIPLET.unpack_from(data, position + 52)
            (_, _, _, _, _, job, _, _, time, date, _, _, _, _, _, port, connection, received, *_) = (
                _COMMON.unpack_from(data, position + common)
            )
            version, _, kind, role, _, _, _, cipher, *_ = (
                _TLS.unpack_from(data, position + tls) if exists else (None,) * 8
            )
            rows.append((
                text(sid), time_of(date, time, UTC), text(job), port, connection, role, kind, version,
                text(cipher) if exists else None, received,
            ))  # fmt: skip
        position += length
    return rows


def to_parquet(data: bytes, folder: Path) -> int:
    """Write one Parquet file of each table for each batch of records, and return the number of rows."""
    details, names = decode(data)
    for table, columns, rows in (("detail", DETAIL_COLUMNS, details), ("names", NAME_COLUMNS, names)):
        values = dict(zip(columns, zip(*rows, strict=True), strict=True))
        pq.write_table(pa.table(values), folder / f"loop-{table}.parquet", compression="zstd")
    return len(details) + len(names)
