"""Sections that zERT detail and summary records have in common: certificates and their names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.record_writer import SectionRows, encode_entries
from zscope.samples.dump.site import CLIENT_CERTIFICATES
from zscope.schemas.arrow import UTC

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from zscope.samples.dump.site import Certificate, Site
    from zscope.schemas import Section

SERVER_SUBJECT, CLIENT_SUBJECT = 5, 7
"""Types of distinguished names; that of the issuer is one higher."""
RSA, ELLIPTIC_CURVE = (2, 2), (4, 5)
"""Encryption method and key type."""
RSA_WITH_SHA256, SHA256 = 7, 6
"""All certificates are signed with RSA: no signature code for elliptic curves is published."""
GENERALIZED_TIME = 2
UNKNOWN_CIPHER = "FFFFFF"


def certificate_columns(certificates: Sequence[Certificate | None]) -> dict[str, pa.Array]:
    """Return the columns about certificates; the names of columns of records begin with the kind."""
    there = np.array([certificate is not None for certificate in certificates])
    keys = [(0, 0) if c is None else ELLIPTIC_CURVE if c.elliptic else RSA for c in certificates]
    serials = [c.serial if c else None for c in certificates]
    times: list[datetime | None] = [c.not_after if c else None for c in certificates]
    return {
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


def session_names(site: Site) -> dict[str, Any]:
    """Return the names about protected sessions that declarations of zERT records use."""
    owners, suites = site.applications, site.known_suites
    return {
        "certificates": certificate_columns([*site.certificates, None]),
        "no_certificate": len(site.certificates),
        "applications": len(owners),
        "ciphers": [*(suite.code for suite in suites), UNKNOWN_CIPHER],
        "algorithms": np.array([suite.algorithms for suite in suites], np.uint16),
        "job_ids": [f"STC{7_000 + number:05}" for number in range(len(owners))],
        "observed": np.array([owner.provider == "Observation" for owner in owners]),
        "providers": [owner.provider for owner in owners],
        "fips_modes": np.array([owner.fips_mode for owner in owners], np.uint8),
        "unpublished_bytes": site.unpublished_tls_bytes,
    }


@dataclass(frozen=True)
class CertificateNames:
    """The sections with names of certificates.

    They have numbers: twice the number of the session's certificates, and one more if they are described as
    one block, as at level 3.2.
    """

    site: Site
    section: Section
    _known: dict[int, SectionRows] = field(default_factory=dict)

    def of(self, number: int) -> SectionRows:
        """Return the section with a number."""
        if number not in self._known:
            self._known[number] = self._made(number)
        return self._known[number]

    def _made(self, number: int) -> SectionRows:
        named, block = divmod(number, 2)
        application, client = divmod(named, CLIENT_CERTIFICATES + 1)
        certificates = self.site.certificates
        partner = certificates[len(self.site.applications) + client - 1] if client else None
        return names_section(self.section, certificates[application], partner, block=bool(block))


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
