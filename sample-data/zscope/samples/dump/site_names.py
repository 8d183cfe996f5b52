"""The names of the site that declarations of records use: arrays, lists and tables by number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from zscope.parsers.smf.record_writer import SectionRows, encode_entries
from zscope.samples.dump.dump_scenario import SCENARIO
from zscope.samples.dump.site import CLIENT_CERTIFICATES, FIRST_PARTNERS, PARTNERS
from zscope.schemas.arrow import UTC

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from zscope.samples.dump.dump_scenario import Suite
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
ELSEWHERE = "4X"
"""Value of the two-digit field if the suite is in the four-digit field."""
LU_NAMES = tuple(f"TCPS{number:04}" for number in range(200))
_ATTACHED_VERSIONS = {"TLSv1.0": "T1", "TLSv1.1": "11", "TLSv1.2": "12", "TLSv1.3": "13"}


def site_names(site: Site, names: list[str], *, newest: NDArray[np.bool_], tls13: bool) -> dict[str, Any]:
    """Return the names of the site: by number of system, application, partner, suite or certificate."""
    owners, suites, partners = site.applications, site.known_suites, site.partner_addresses
    return {
        "systems": len(names),
        "system_names": names,
        "newest": newest,
        "tls13": tls13,
        "first_partners": FIRST_PARTNERS,
        "partners": PARTNERS,
        "partner_addresses": partners,
        "partner_is_v6": site.partner_is_v6,
        "partner_count": len(partners),
        "local_addresses": site.local_addresses,
        "all_addresses": [*partners, *site.local_addresses],
        "applications": len(owners),
        "jobs": [owner.job for owner in owners],
        "job_ids": [f"STC{7_000 + number:05}" for number in range(len(owners))],
        "users": [owner.user for owner in owners],
        "observed": np.array([owner.provider == "Observation" for owner in owners]),
        "providers": [owner.provider for owner in owners],
        "fips_modes": np.array([owner.fips_mode for owner in owners], np.uint8),
        "calls_out": site.calls_out,
        "ports": site.ports,
        "smc": np.array([owner.smc for owner in owners]),
        "roles": site.roles,
        "protections": site.protection,
        "suites": len(suites),
        "suite_codes": [suite.code for suite in suites],
        "suite_versions": np.array([suite.version_code for suite in suites], np.uint16),
        "suite_digits": [
            ELSEWHERE if site.writes_long_ciphers and not suite.code.startswith("00") else suite.code[2:]
            for suite in suites
        ],
        "ciphers": [*(suite.code for suite in suites), UNKNOWN_CIPHER],
        "algorithms": np.array([suite.algorithms for suite in suites], np.uint16),
        "long_ciphers": site.writes_long_ciphers,
        "unpublished_bytes": site.unpublished_tls_bytes,
        "certificates": certificate_columns([*site.certificates, None]),
        "no_certificate": len(site.certificates),
        "host_applications": SCENARIO.host_applications,
        "lu_names": LU_NAMES,
        "attached": _attached_texts(suites),
    }


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


def _attached_texts(suites: Sequence[Suite]) -> list[str]:
    """Return the data that servers attach to their connections, by LU and suite.

    The last LU stands for the FTP server, the last suite for connections without TLS.
    """
    applications = SCENARIO.host_applications
    lus = (*range(len(LU_NAMES)), None)
    return [_attached(lu, applications, suite) for lu in lus for suite in (*suites, None)]


def _attached(lu: int | None, applications: Sequence[str], suite: Suite | None) -> str:
    tls = f"T{_ATTACHED_VERSIONS[suite.version]}{suite.code[2:]} {suite.code}" if suite else ""
    if lu is None:
        return f"EZAFTP0S C FTPUSER   {'P' + tls if tls else 'C'}"
    return f"EZBTNSRV {LU_NAMES[lu]} {applications[lu % len(applications)]:<8} ET {tls or 'B'}"


def certificate_names(site: Site, section: Section, number: int) -> SectionRows:
    """Encode the section with the names of the certificates of a session.

    The number is twice that of the session's certificates, and one more if they are described as one block,
    as at level 3.2.
    """
    named, is_block = divmod(number, 2)
    application, client = divmod(named, CLIENT_CERTIFICATES + 1)
    certificates = {SERVER_SUBJECT: site.certificates[application]}
    if client:
        certificates[CLIENT_SUBJECT] = site.certificates[len(site.applications) + client - 1]
    kinds = [kind for subject in certificates for kind in (subject, subject + 1)]
    texts = [text for each in certificates.values() for text in (each.subject, each.issuer_name)]
    columns = {"dn_type": pa.array(kinds, pa.uint16()), "distinguished_name": pa.array(texts)}
    entries = encode_entries(section, columns, len(kinds))
    row = np.frombuffer(b"".join(entries), np.uint8)[None]
    if is_block:
        return SectionRows(section, row, row.shape[1])
    return SectionRows(section, row, max(map(len, entries)), len(entries))
