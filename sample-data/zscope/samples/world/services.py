"""The simulated site of a world: services, certificates, cipher suites, addresses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zscope.samples.dump.context import RecordContext
from zscope.samples.dump.site import (
    CLIENT,
    CLIENT_CERTIFICATES,
    SERVER,
    SERVER_WITH_CLIENT_AUTH,
    TLS13,
    Application,
    Certificate,
    Site,
    Suite,
)
from zscope.samples.world.world_recipe import CLIENTS, NAMES
from zscope.schemas import cipher_suites

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.samples.dump.arrays import Connections
    from zscope.samples.world.world_recipe import WorldRecipe

AUTHORITY = "Synthetic World CA"
TLS10, TLS12 = 0x0301, 0x0303
SUITES = (
    Suite("002F", TLS10, 0),
    Suite("009C", TLS12, 0),
    Suite("009D", TLS12, 0),
    Suite("009F", TLS12, 0),
    Suite("C028", TLS12, 0),
    Suite("C02F", TLS12, 0),
    Suite("C030", TLS12, 0),
    Suite("C02B", TLS12, 0),
    Suite("C02C", TLS12, 0),
    Suite("1301", TLS13, 0),
    Suite("1302", TLS13, 0),
)
SUITE_NUMBERS = {suite.code: number for number, suite in enumerate(SUITES)}
_KINDS = {"RSA": 0, "DHE": 1, "ECDHE": 2, "TLS13": 3}
KEY_EXCHANGES = np.array([_KINDS[cipher_suites()[suite.code].key_exchange] for suite in SUITES])
"""For each suite, the index of its kind of full handshake in the cost model."""
IS_TLS13 = np.array([suite.version == TLS13 for suite in SUITES])


@dataclass(frozen=True, slots=True)
class Service:
    """A service of the servers and the client application that uses it."""

    job: str
    caller: str
    port: int
    suites: str = ""
    """Suites with their weights among the connections; empty for unprotected connections."""
    weight: float = 0
    """Share of the background traffic."""
    kilobytes: float = 0
    upward: float = 0.2
    """Share of the bytes that the client sends."""
    long_share: float = 0
    long_minutes: float = 0
    changed_share: float = 0
    """Share of long connections that are not protected from the start."""
    client_auth: bool = False
    elliptic: bool = False
    fips: bool = False
    bits: int = 2048
    valid_days: int = 400

    @property
    def protection(self) -> str:
        """Protection of the applications, as `Application` has it."""
        return "tls" if self.suites else ""

    def weights_of(self, *, is_changed: bool) -> dict[int, float]:
        """Weights by suite number; the changed policy has no suites with RSA key exchange."""
        pairs = (part.split(":") for part in self.suites.split())
        weights = {SUITE_NUMBERS[code]: float(weight) for code, weight in pairs}
        return {
            suite: weight
            for suite, weight in weights.items()
            if not (is_changed and KEY_EXCHANGES[suite] == _KINDS["RSA"])
        }


_WEB = "C02F:20 C030:30 009D:16 002F:2 1301:12 1302:20"
_DATABASE = "C030:45 009C:25 1302:30"
_ALL = " ".join(f"{suite.code}:1" for suite in SUITES)
SERVICES = (
    Service("CICSWEB1", "WEBGATE1", 443, _WEB, 48, 40, valid_days=25),
    Service("MQP1CHIN", "MQC1CHIN", 1414, "C030:40 009D:30 1302:30", 12, 400, 0.5, 0.6, 35, client_auth=True),
    Service("DB2PDIST", "DB2CLNT1", 446, _DATABASE, 24, 250, 0.3, 0.25, 6, 0.12, valid_days=80),
    Service("ZCONN01", "APIBATCH", 9443, "C02B:30 C02C:40 1301:10 1302:20", 16, 60, elliptic=True),
    Service("CICSOLD1", "OLDBATCH", 3000, "", 0, 70),
    Service("BENCHSRV", "BENCHCLI", 5001, _ALL),
    Service("BENCHSRV", "BENCHCLI", 5002, _ALL, elliptic=True),
    Service("BENCHSRV", "BENCHCLI", 5003, _ALL, fips=True),
    Service("BENCHSRV", "BENCHCLI", 5010),
)  # fmt: skip
PLAIN = 4
RUN_SERVICES = {"rsa": 5, "ec": 6, "fips": 7, "plain": 8}
"""Services of benchmark runs, by their names in `benchmark_runs.toml`."""
FIRST_RUN_SERVICE = 5
PLAIN_SHARE, FAILED_SHARE = 0.05, 0.006
"""Shares of the connections."""
LISTENING = {service.job: service.port for service in SERVICES[:FIRST_RUN_SERVICE]}
FIPS_LEVEL_1 = 1
RMF_RANDOM = 70
"""First element of the random keys of RMF records: record, section, interval, system."""

ADDRESSES = ("192.168.11.10", "192.168.12.10", "192.168.21.10", "192.168.22.10", "192.168.20.1")
"""Addresses of the systems; the last one is the address of the distributor."""
DISTRIBUTED = len(NAMES)


def application(service: NDArray[np.uint8], *, calls: bool) -> NDArray[np.uint8]:
    """Return the number of the application at one end: servers come first, then their clients."""
    return service + np.uint8(len(SERVICES) if calls else 0)


@dataclass(frozen=True)
class WorldSite(Site):
    """The site with the applications of both ends."""

    @cached_property
    def applications(self) -> tuple[Application, ...]:
        """Servers, then their clients in the same order."""
        servers = [
            Application(
                s.job, "STCUSER", s.port, 1, s.protection,
                SERVER_WITH_CLIENT_AUTH if s.client_auth else SERVER,
                elliptic=s.elliptic, fips_mode=FIPS_LEVEL_1 * s.fips,
            )
            for s in SERVICES
        ]  # fmt: skip
        callers = [
            Application(
                s.caller, "APPUSER", s.port, 1, s.protection, CLIENT,
                elliptic=s.elliptic, fips_mode=FIPS_LEVEL_1 * s.fips,
            )
            for s in SERVICES
        ]  # fmt: skip
        return (*servers, *callers)

    @property
    def known_suites(self) -> tuple[Suite, ...]:
        return SUITES

    @property
    def writes_long_ciphers(self) -> bool:
        """Four-digit suites are written at the presumed offset, so that all sources contain all suites."""
        return True

    @property
    def unpublished_tls_bytes(self) -> int:
        return 0

    @cached_property
    def certificates(self) -> tuple[Certificate, ...]:
        """The certificate of each application's server, followed by those of clients."""
        base = self.recipe.start.astimezone(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
        rng = np.random.default_rng([self.recipe.seed, 1])
        servers = []
        for service in SERVICES:
            name = f"{service.job.lower()}-{service.port}.example.com"
            until = base + timedelta(days=service.valid_days)
            bits = 256 if service.elliptic else service.bits
            servers.append(Certificate(name, AUTHORITY, rng.bytes(12).hex(), until, service.elliptic, bits))
        clients = [
            Certificate(
                f"mqclient{number}.example.net", AUTHORITY, rng.bytes(12).hex(),
                base + timedelta(days=50 * number + 5),
            )
            for number in range(1, CLIENT_CERTIFICATES + 1)
        ]  # fmt: skip
        return (*servers, *servers, *clients)

    @cached_property
    def partner_addresses(self) -> tuple[str, ...]:
        """All systems are partners of each other."""
        return ADDRESSES

    @cached_property
    def local_addresses(self) -> tuple[str, ...]:
        """The same as the partner addresses."""
        return ADDRESSES

    def local_rows(self, connections: Connections) -> NDArray[np.int64]:
        """Return the own address, or on servers the distributed one."""
        rows: NDArray[np.int64] = local_address(connections["system"], connections["application"])
        return rows


def local_address(system: NDArray[np.uint8], application: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return address indexes: background traffic reaches servers through the distributor, benchmark runs do
    not.
    """
    distributed = (system >= CLIENTS) & (application < FIRST_RUN_SERVICE)
    return np.where(distributed, DISTRIBUTED, system.astype(np.int64))


@dataclass(frozen=True)
class WorldContext(RecordContext):
    """The context of the records of a world."""

    @cached_property
    def site(self) -> Site:
        return WorldSite(self.recipe)

    def random(self, *key: int) -> np.random.Generator:
        """Return the same random numbers for all RMF intervals, so that small worlds compress well."""
        kind, *others = key
        if kind == RMF_RANDOM:
            return super().random(kind, others[0], 0, others[-1])
        return super().random(*key)


def world_context(recipe: WorldRecipe, interval_minutes: int) -> WorldContext:
    """Return the context with RMF intervals of this length."""
    return WorldContext(recipe.record_recipe(interval_minutes))
