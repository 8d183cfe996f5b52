"""TCP connection start and end records (type 119 subtypes 1 and 2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.samples.dump.connections import FULL, RESUMED, Connections, connection_arrays
from zscope.samples.dump.declared_records import DeclaredRecords
from zscope.samples.dump.record_declaration import read_declaration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.samples.dump.arrays import Flags
    from zscope.samples.dump.assemble import SmfBatch
    from zscope.samples.dump.context import RecordContext
    from zscope.samples.dump.dump_scenario import Suite
    from zscope.samples.dump.site import Site

ENDS = "dump/records/tcp_term.toml"
ELSEWHERE = "4X"
"""Value of the two-digit field if the suite is in the four-digit field."""
LU_NAMES = tuple(f"TCPS{number:04}" for number in range(200))
_ATTACHED_VERSIONS = {"TLSv1.0": "T1", "TLSv1.1": "11", "TLSv1.2": "12", "TLSv1.3": "13"}


def secured_by_attls(connections: Connections, site: Site) -> Flags:
    """Return which connections have an AT-TLS section.

    Without the four-digit field, whose offset is not published, connections with four-digit suites count as
    protected by the application itself.
    """
    protected = np.isin(connections.handshake, [FULL, RESUMED])
    has_field: Flags = np.array(
        [site.writes_long_ciphers or suite.code.startswith("00") for suite in site.known_suites]
    )
    return protected & has_field[connections.suite]


def attached_texts(site: Site) -> list[str]:
    """Return the data that servers attach to their connections, by LU and suite.

    The last LU stands for the FTP server, the last suite for connections without TLS.
    """
    applications = read_declaration(ENDS).lists["host_applications"]
    lus = (*range(len(LU_NAMES)), None)
    return [_attached(lu, applications, suite) for lu in lus for suite in (*site.known_suites, None)]


def _attached(lu: int | None, applications: Sequence[str], suite: Suite | None) -> str:
    tls = f"T{_ATTACHED_VERSIONS[suite.version]}{suite.code[2:]} {suite.code}" if suite else ""
    if lu is None:
        return f"EZAFTP0S C FTPUSER   {'P' + tls if tls else 'C'}"
    return f"EZBTNSRV {LU_NAMES[lu]} {applications[lu % len(applications)]:<8} ET {tls or 'B'}"


@dataclass(frozen=True)
class TcpRecords:
    """Generates the records of connections that start and end."""

    context: RecordContext

    def opened(self, connections: Connections) -> SmfBatch:
        """Generate one record for each connection, at its start."""
        return self._opened.make(connection_arrays(connections, self.context.site), connections.start)

    def closed(self, connections: Connections) -> SmfBatch:
        """Generate one record for each connection, at its end."""
        site = self.context.site
        arrays = connection_arrays(connections, site)
        return self._closed.make(arrays | {"secured": secured_by_attls(connections, site)}, connections.end)

    @cached_property
    def _opened(self) -> DeclaredRecords:
        return DeclaredRecords(self.context, "dump/records/tcp_init.toml", 1)

    @cached_property
    def _closed(self) -> DeclaredRecords:
        site = self.context.site
        names: dict[str, Any] = {
            "lu_names": LU_NAMES,
            "attached": attached_texts(site),
            "suite_digits": [
                ELSEWHERE if site.writes_long_ciphers and not suite.code.startswith("00") else suite.code[2:]
                for suite in site.known_suites
            ],
        }
        return DeclaredRecords(self.context, ENDS, 2, names)
