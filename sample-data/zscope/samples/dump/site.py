"""The simulated site: applications, certificates, cipher suites, partners and addresses.

`scenario.toml` declares the applications and suites, with how often each occurs.
All names show that they are made up: the sysplex is SYNTHPLX, and certificates belong to an organisation
called Synthetic. Addresses are from the ranges for private use and for documentation.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from zscope.samples.dump.dump_scenario import SCENARIO

if TYPE_CHECKING:
    from zscope.samples.dump.arrays import Choice, Numbers
    from zscope.samples.dump.dump_scenario import Application, Suite
    from zscope.samples.dump.recipe import Recipe

Weights = NDArray[np.float64]
SYSPLEX = "SYNTHPLX"
STACK = "TCPIP"
RELEASES = {"V2R3": "CS V2R3", "3.1": "CS V3R1", "3.2": "CS V3R2"}
ZOS_LEVELS = {"V2R3": "ZV020300", "3.1": "ZV030100", "3.2": "ZV030200"}
"""Releases as TCP/IP and RMF write them."""
MACHINES = {"z16": ("3931", "A01"), "z17": ("9175", "ME1")}
"""Machine types and models."""
USUAL_MACHINE = "z16"
TLS, SSH, IPSEC = 0x80, 0x40, 0x20
PROTECTION_BITS = {"tls": TLS, "ssh": SSH, "ipsec": IPSEC, "": 0}
PARTNERS = 3_000
FIRST_PARTNERS = 6
"""The first partners are servers that the local clients connect to."""
IPV6_EACH = 50
"""Every 50th partner has an IPv6 address."""


class ConnectionEnds(Protocol):
    """The numbers of the systems, applications and partners of connections."""

    system: Numbers
    application: Numbers
    partner: Numbers


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate with the properties that zERT reports."""

    name: str
    issuer: str
    serial: str
    not_after: datetime
    elliptic: bool = False
    bits: int = 2048

    @property
    def subject(self) -> str:
        """Distinguished name of the subject."""
        return f"CN={self.name},O=Synthetic,C=DE"

    @property
    def issuer_name(self) -> str:
        """Distinguished name of the issuer."""
        return f"CN={self.issuer},O=Synthetic,C=DE"


APPLICATIONS, SUITES = SCENARIO.application, SCENARIO.suite
CLIENT_CERTIFICATES = 4
"""Number of certificates that the partners of servers with client authentication share."""


@dataclass(frozen=True)
class Site:
    """The site that a recipe describes; the same seed gives the same site."""

    recipe: Recipe

    @property
    def applications(self) -> tuple[Application, ...]:
        """Applications; application numbers are indexes into this tuple."""
        return APPLICATIONS

    @property
    def known_suites(self) -> tuple[Suite, ...]:
        """Cipher suites; suite numbers are indexes into this tuple."""
        return SUITES

    @property
    def writes_long_ciphers(self) -> bool:
        """Whether AT-TLS sections contain four-digit suites, at an offset that is not published."""
        return False

    @property
    def unpublished_tls_bytes(self) -> int:
        """Filler bytes for the fields that newer levels append to the TLS section of zERT detail records.

        The real number of these bytes is not known.
        """
        return 8

    @cached_property
    def calls_out(self) -> NDArray[np.bool_]:
        """For each application, whether the local end is the client."""
        return np.array([app.calls_out for app in self.applications])

    @cached_property
    def ports(self) -> NDArray[np.uint16]:
        """For each application, the port of the server."""
        return np.array([app.port for app in self.applications], np.uint16)

    @cached_property
    def roles(self) -> NDArray[np.uint8]:
        """For each application, its role in handshakes."""
        return np.array([app.role for app in self.applications], np.uint8)

    @cached_property
    def protection(self) -> NDArray[np.uint8]:
        """For each application, the bits of the protocol that protects it."""
        return np.array([PROTECTION_BITS[app.protection] for app in self.applications], np.uint8)

    @cached_property
    def certificates(self) -> tuple[Certificate, ...]:
        """The certificate of each application, followed by those of clients."""
        rng = np.random.default_rng([self.recipe.seed, 1])
        base = self.recipe.start.astimezone(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
        names = [f"{app.host or app.job.lower()}.example.com" for app in APPLICATIONS]
        names += [f"partner{number}.example.net" for number in range(1, CLIENT_CERTIFICATES + 1)]
        certificates = []
        for number, name in enumerate(names):
            elliptic = number < len(APPLICATIONS) and APPLICATIONS[number].elliptic
            certificates.append(
                Certificate(
                    name,
                    "Synthetic Root CA" if number % 3 else "Synthetic Issuing CA 2",
                    rng.bytes(8 + 4 * (number % 3)).hex(),
                    base + timedelta(days=int(rng.integers(5, 700))),
                    elliptic,
                    256 if elliptic else (2048, 4096)[number % 4 == 1],
                )
            )
        return tuple(certificates)

    @cached_property
    def suites(self) -> tuple[tuple[Weights, Weights], ...]:
        """For each system, the weights of the suites with an RSA and with an elliptic curve certificate."""
        weights = []
        for system in self.recipe.systems:
            newest = system.level == "3.2" and self.recipe.tls13
            rsa = np.array([s.rsa if newest or not s.is_tls13 else 0 for s in SUITES], float)
            ec = np.array([s.ec if newest or not s.is_tls13 else 0 for s in SUITES], float)
            weights.append((rsa / rsa.sum(), ec / ec.sum()))
        return tuple(weights)

    def draw_suites(
        self, rng: np.random.Generator, systems: Choice, elliptic: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Return suites of connections, from their systems and kinds of server certificates."""
        suites = np.zeros(len(systems), np.int64)
        for system, by_certificate in enumerate(self.suites):
            for weights, is_elliptic in zip(by_certificate, (False, True), strict=True):
                rows = np.flatnonzero((systems == system) & (elliptic == is_elliptic))
                suites[rows] = rng.choice(len(SUITES), len(rows), p=weights)
        return suites

    @cached_property
    def partner_addresses(self) -> tuple[str, ...]:
        """Several thousand IPv4 addresses and some IPv6 addresses."""
        rng = np.random.default_rng([self.recipe.seed, 2])
        octets = rng.integers(1, 255, (PARTNERS, 3)).tolist()
        return tuple(
            f"2001:db8:{a:x}:{b:x}::{c:x}" if number % IPV6_EACH == IPV6_EACH - 1 else f"10.{a}.{b}.{c}"
            for number, (a, b, c) in enumerate(octets)
        )

    @cached_property
    def partner_is_v6(self) -> NDArray[np.bool_]:
        """For each partner, whether its address is an IPv6 address."""
        return np.array([":" in address for address in self.partner_addresses])

    @cached_property
    def local_addresses(self) -> tuple[str, ...]:
        """For each system, its IPv4 and its IPv6 address."""
        numbers = range(1, len(self.recipe.systems) + 1)
        return tuple(address for n in numbers for address in (f"192.168.{n}.10", f"2001:db8::{n}:10"))

    def local_rows(self, connections: ConnectionEnds) -> Numbers:
        """Return for each connection the index of its local address."""
        return 2 * connections.system + self.partner_is_v6[connections.partner]
