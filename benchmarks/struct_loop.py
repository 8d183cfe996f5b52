"""A fast hand-written decoder of zERT detail records (SMF 119-11) with `struct`, and a loader to Parquet.

It is independent of zscope: its offsets are those of the published record descriptions. The benchmarks use it
as the baseline, and a test as an independent reference for the columns. It is as fast as a loop over records
can reasonably be written in Python: one `struct` unpacks all fixed fields of a record at once, texts, dates
and addresses are decoded once for each distinct value, and a row is one tuple.
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

_HEADER = "H3xBI4s4s10x"
_HEADER_BYTES = 28
_TRIPLET = Struct(">IHH")
_SECTIONS = (
    "8s8s8s8s8s8s8s2xHBB2x",
    "5B3x8s8s8sI4sI4s16s16sHHIQQQQ8x",
    "2B2x40s8s40s8s",
    "HBBB2xB32s16s6sHHHBB2xHHHxB20sB15sHHHHHxB20sB15sHH",
)
"""Identification, common, filter and TLS section; the first two are in every record."""
_FROM_SUBTYPE = slice(22, _HEADER_BYTES + 8 * len(_SECTIONS))
"""Subtype, number of triplets, and the triplets of these sections."""
_NAMES_AT = _HEADER_BYTES + 8 * 6
_NAME = Struct(">HH")
_TEN_HEADER = Struct(">14x4s4xHH2x8xI4x8xI")
_TEN_COMMON = Struct(">8x8s16xI4s8x32x2xHIQ")
_TEN_TLS = Struct(">HxBB51x6s")

_NO_FILTER = (None,) * 6
_NO_TLS = (None,) * 31
_FILTER_VALUES = 6

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


_FROM_EBCDIC = bytes(range(256)).decode("cp037").encode("latin-1")


def text(raw: bytes) -> str:
    """Decode EBCDIC and remove padding."""
    return raw.translate(_FROM_EBCDIC).decode("latin-1").rstrip(" \0")


class Texts(dict[bytes, str]):
    """Texts that repeat, such as job names, by their bytes."""

    def __missing__(self, raw: bytes) -> str:
        self[raw] = shown = text(raw)
        return shown


class Days(dict[bytes, datetime | None]):
    """The begin of days, by packed date 0cyydddF; None for no date."""

    def __init__(self, zone: timezone | None = None) -> None:
        self.zone = zone
        """None for local time."""

    def __missing__(self, date: bytes) -> datetime | None:
        digits = date.hex()
        if digits in {"0000000f", "00000000"}:
            self[date] = None
        else:
            first = datetime(1900 + int(digits[1:4]), 1, 1, tzinfo=self.zone)
            self[date] = first + timedelta(days=int(digits[4:7]) - 1)
        return self[date]


class Addresses(dict[bytes, str]):
    """Addresses by their bytes: 4 of IPv4, 16 of IPv6."""

    def __missing__(self, raw: bytes) -> str:
        if len(raw) == 4:
            self[raw] = inet_ntoa(raw)
        else:
            six = IPv6Address(raw)
            self[raw] = str(six.ipv4_mapped or six)
        return self[raw]


class Expiries(dict[tuple[bytes, int], datetime | None]):
    """The end of the life of certificates: YYMMDDhhmmssZ (form 1) or YYYYMMDDhhmmssZ (form 2)."""

    def __missing__(self, key: tuple[bytes, int]) -> datetime | None:
        raw, form = key
        if form == 0:
            self[key] = None
            return None
        shown = raw.decode("ascii") if raw[:1].isdigit() else text(raw)
        if form == 1:  # RFC 5280: two-digit years below 50 are of this century.
            shown = ("20" if shown[:2] < "50" else "19") + shown
        # Slices, because strptime takes five times as long.
        self[key] = time = datetime(
            int(shown[:4]), int(shown[4:6]), int(shown[6:8]), int(shown[8:10]), int(shown[10:12]),
            int(shown[12:14]), tzinfo=UTC,
        )  # fmt: skip
        return time


class FixedParts(dict[bytes, tuple[Struct, bool, bool] | None]):
    """The fields of fixed length as one structure, and whether the sections for filter and TLS exist.

    The key has subtype, number of triplets and the triplets; None is for other subtypes.
    """

    def __missing__(self, key: bytes) -> tuple[Struct, bool, bool] | None:
        subtype, triplets = int.from_bytes(key[:2], "big"), int.from_bytes(key[2:4], "big")
        if subtype != 11:
            self[key] = None
            return None
        layout, end = f">{_HEADER}", _HEADER_BYTES
        exists = []
        for index, section in enumerate(_SECTIONS):
            offset, _, number = _TRIPLET.unpack_from(key, 6 + 8 * index)
            exists.append(index < triplets and number > 0)
            if exists[index]:
                layout += f"{offset - end}x{section}"
                end = offset + Struct(f">{section}").size
        self[key] = plan = Struct(layout), exists[2], exists[3]
        return plan


def decode(data: bytes) -> tuple[Rows, Rows]:
    """Decode all fields of all zERT detail records: rows of connections and rows of distinguished names."""
    details: Rows = []
    names: Rows = []
    fixed, texts, addresses, expiries = FixedParts(), Texts(), Addresses(), Expiries()
    days_local, days = Days(), Days(UTC)
    add_detail, add_name = details.append, names.append
    begin, stop = _FROM_SUBTYPE.start, _FROM_SUBTYPE.stop
    position, number, size = 0, 0, len(data)
    while position < size:
        number += 1
        record_bytes = data[position] << 8 | data[position + 1]
        plan = fixed[data[position + begin : position + stop]] if data[position + 5] == 119 else None
        if plan is None:
            position += record_bytes
            continue
        structure, has_filter, has_tls = plan
        (
            _, _, hundredths, date, sid,
            system_name, sysplex, stack, release, component, writer_job, writer_user, asid, reason, set_id,
            event, protocols, flags, ip_flags, transport, job, job_id, user,
            start_time, start_date, end_time, end_date, remote, local,
            remote_port, local_port, connection, in_bytes, out_bytes, in_segments, out_segments, *rest,
        ) = structure.unpack_from(data, position)  # fmt: skip
        system, system_name, sysplex, stack = texts[sid], texts[system_name], texts[sysplex], texts[stack]
        written, start, end = days_local[date], days[start_date], days[end_date]
        if written is not None:
            written += timedelta(0, 0, 10_000 * hundredths)
        if start is not None:
            start += timedelta(0, 0, 10_000 * start_time)
        if end is not None:
            end += timedelta(0, 0, 10_000 * end_time)
        if not flags & 0x80:
            remote, local = remote[:4], local[:4]
        job_name = texts[job]
        filter_values: tuple[Any, ...] = _NO_FILTER
        if has_filter:
            out_action, in_action, *rules = rest[:_FILTER_VALUES]
            filter_values = (out_action, in_action, *[texts[rule] for rule in rules])
            rest = rest[_FILTER_VALUES:]
        tls_values: tuple[Any, ...] = _NO_TLS
        if has_tls:
            (
                version, source, kind, role, id_size, session, provider, cipher, *algorithms,
                server_size, server_serial, server_form, server_end, server_key, server_key_length,
                client_signature, client_encryption, client_digest,
                client_size, client_serial, client_form, client_end, client_key, client_key_length,
            ) = rest  # fmt: skip
            tls_values = (
                version, source, kind, role, id_size, session[:id_size].hex() if id_size else None,
                texts[provider], texts[cipher], *algorithms,
                server_size, server_serial[:server_size].hex() if server_size else None,
                server_form, expiries[server_end, server_form], server_key, server_key_length,
                client_signature, client_encryption, client_digest,
                client_size, client_serial[:client_size].hex() if client_size else None,
                client_form, expiries[client_end, client_form], client_key, client_key_length,
            )  # fmt: skip
        add_detail((
            number, position, system, written,
            system_name, sysplex, stack, texts[release], texts[component], texts[writer_job],
            texts[writer_user], asid, reason, set_id,
            event, protocols, flags, ip_flags, transport, job_name, texts[job_id], texts[user],
            start, end, addresses[remote], addresses[local],
            remote_port, local_port, connection, in_bytes, out_bytes, in_segments, out_segments,
            *filter_values, *tls_values,
        ))  # fmt: skip
        if data[position + 25] > 6:
            offset, block, count = _TRIPLET.unpack_from(data, position + _NAMES_AT)
            at = position + offset
            limit = at + block
            entry = 0
            while entry < count or (count and at + 4 <= limit):
                length, who = _NAME.unpack_from(data, at)
                add_name((
                    number, position, entry, system, written, system_name, sysplex, stack, event, job_name,
                    start, connection, length, who, texts[data[at + 4 : at + length]],
                ))  # fmt: skip
                at += length
                entry += 1
        position += record_bytes
    return details, names


def decode_ten(data: bytes) -> Rows:
    """Decode only the ten fields that a handshake metric needs."""
    rows: Rows = []
    texts, days = Texts(), Days(UTC)
    position, size = 0, len(data)
    while position < size:
        sid, subtype, triplets, common, tls = _TEN_HEADER.unpack_from(data, position)
        if data[position + 5] == 119 and subtype == 11 and triplets > 3:
            job, time, date, port, connection, received = _TEN_COMMON.unpack_from(data, position + common)
            start = days[date]
            if start is not None:
                start += timedelta(0, 0, 10_000 * time)
            version = kind = role = cipher = None
            if data[position + 58] << 8 | data[position + 59]:
                version, kind, role, cipher = _TEN_TLS.unpack_from(data, position + tls)
            rows.append((
                texts[sid], start, texts[job], port, connection, role, kind, version,
                None if cipher is None else texts[cipher], received,
            ))  # fmt: skip
        position += data[position] << 8 | data[position + 1]
    return rows


def to_parquet(data: bytes, folder: Path) -> int:
    """Write one Parquet file of each table for each batch of records, and return the number of rows."""
    details, names = decode(data)
    for table, columns, rows in (("detail", DETAIL_COLUMNS, details), ("names", NAME_COLUMNS, names)):
        values = dict(zip(columns, zip(*rows, strict=True), strict=True))
        pq.write_table(pa.table(values), folder / f"loop-{table}.parquet", compression="zstd")
    return len(details) + len(names)
