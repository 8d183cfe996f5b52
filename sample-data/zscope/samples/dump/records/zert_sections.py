"""Sections that zERT detail and summary records have in common: certificates, names, SSH and IPsec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.record_writer import SectionRows, encode_entries
from zscope.samples.dump.arrays import same
from zscope.schemas.arrow import UTC

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from zscope.samples.dump.site import Certificate
    from zscope.schemas import Section

SERVER_SUBJECT, CLIENT_SUBJECT = 5, 7
"""Types of distinguished names; that of the issuer is one higher."""
RSA, ELLIPTIC_CURVE = (2, 2), (4, 5)
"""Encryption method and key type."""
RSA_WITH_SHA256, SHA256 = 7, 6
"""All certificates are signed with RSA: no signature code for elliptic curves is published."""
GENERALIZED_TIME = 2
UNKNOWN_CIPHER = "FFFFFF"
VERSION_NAMES = {0x0301: "TLSv1.0", 0x0302: "TLSv1.1", 0x0303: "TLSv1.2", 0x0304: "TLSv1.3"}


def certificate_columns(kind: str, certificates: list[Certificate | None]) -> dict[str, pa.Array]:
    """Return the columns about certificates of one kind (`server_cert`, `local_cert` and so on)."""
    there = np.array([certificate is not None for certificate in certificates])
    keys = [(0, 0) if c is None else ELLIPTIC_CURVE if c.elliptic else RSA for c in certificates]
    serials = [c.serial if c else None for c in certificates]
    times: list[datetime | None] = [c.not_after if c else None for c in certificates]
    columns: dict[str, Any] = {
        "sig_method": pa.array((there * RSA_WITH_SHA256).astype(np.uint16)),
        "enc_method": pa.array([method for method, _ in keys], pa.uint16()),
        "digest_alg": pa.array((there * SHA256).astype(np.uint16)),
        "serial_length": pa.array([len(serial or "") // 2 for serial in serials], pa.uint8()),
        "serial": pa.array(serials, pa.string()),
        "time_form": pa.array((there * GENERALIZED_TIME).astype(np.uint8)),
        "not_after_utc": pa.array(times, UTC),
        "key_type": pa.array([key for _, key in keys], pa.uint16()),
        "key_length_bits": pa.array([c.bits if c else 0 for c in certificates], pa.uint16()),
    }
    return {f"{kind}_{name}": column for name, column in columns.items()}


def names_section(
    section: Section, server: Certificate, client: Certificate | None, *, block: bool
) -> SectionRows:
    """Encode subjects and issuers of the certificates, counted one by one or described as one block."""
    kinds, texts = [], []
    for first, certificate in ((SERVER_SUBJECT, server), (CLIENT_SUBJECT, client)):
        if certificate is not None:
            kinds += [first, first + 1]
            texts += [certificate.subject, certificate.issuer_name]
    columns = {"dn_type": pa.array(kinds, pa.uint16()), "distinguished_name": pa.array(texts)}
    entries = encode_entries(section, columns, len(kinds))
    row = np.frombuffer(b"".join(entries), np.uint8)[None]
    if block:
        return SectionRows(section, row, row.shape[1])
    return SectionRows(section, row, max(map(len, entries)), len(entries))


def _column(value: int | str, kind: pa.DataType) -> pa.Array:
    return same(value, 1) if isinstance(value, str) else pa.array([value], kind)


def one_row(section: Section, values: Mapping[str, int | str]) -> dict[str, pa.Array]:
    """Return the columns of a single row, without the values that the section has no field for."""
    lengths = {field.column: field.length or 0 for field in section.fields}
    kinds = {1: pa.uint8(), 2: pa.uint16(), 4: pa.uint32()}
    there = {name: value for name, value in values.items() if name in lengths}
    return {name: _column(value, kinds.get(lengths[name], pa.uint64())) for name, value in there.items()}


SSH_SESSION: Mapping[str, int | str] = {
    "ssh_version": 2,
    "ssh_source": 2,
    "ssh_crypto_flags": 0xC0,
    "ssh_component": "SSHD",
    "ssh_provider": "IBM OpenSSH",
    "auth_method": 3,
    "kex_method": 6,
    "server_key_type": 5,
    "server_key_length_bits": 256,
    "client_key_type": 2,
    "client_key_length_bits": 4096,
    "server_key_fingerprint_length": 32,
    "server_key_fingerprint": "5e" * 32,
    "client_key_fingerprint_length": 32,
    "client_key_fingerprint": "c1" * 32,
}
IPSEC_TUNNEL: Mapping[str, int | str] = {
    "ike_tunnel_id": 17,
    "ike_major_version": 2,
    "key_exchange_rule": "Synthetic~Branch~IKE",
    "tunnel_local_ip": "192.168.1.10",
    "tunnel_remote_ip": "192.168.200.1",
    "ike_local_auth_method": 2,
    "ike_remote_auth_method": 2,
    "ike_dh_group": 20,
    "ike_pseudo_random_function": 3,
    "ike_lifesize_kb": 0,
    "ike_lifetime_min": 480,
    "ike_reauth_interval_min": 1440,
    "tunnel_id": 4711,
    "tunnel_type": 2,
    "tunnel_state": 1,
    "encapsulation_mode": 1,
    "auth_protocol": 50,
    "tunnel_msg_auth": 1,
    "pfs_group": 20,
    "sa_lifesize_kb": 4_194_304,
    "sa_lifetime_min": 240,
    "vpn_lifetime_min": 1440,
}
IP_FILTER_RULES: Mapping[str, int | str] = {
    "out_filter_action": 2,
    "in_filter_action": 2,
    "out_filter_rule": "Synthetic~Branch~Out",
    "in_filter_rule": "Synthetic~Branch~In",
}
