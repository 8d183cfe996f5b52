"""Who takes part in a world: services, their certificates and suites, addresses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.synthetic.batch import Scene
from zscope.parsers.synthetic.cast import (
    CLIENT,
    CLIENT_CERTIFICATES,
    SERVER,
    SERVER_WITH_CLIENT_AUTH,
    TLS13,
    Application,
    Cast,
    Certificate,
    Suite,
)
from zscope.parsers.synthetic.world.recipe import CLIENTS, NAMES
from zscope.schemas import cipher_suites

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.synthetic.connections import Connections
    from zscope.parsers.synthetic.world.recipe import WorldRecipe

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
"""Of each suite the place among the kinds of full handshakes in the cost model."""
IS_TLS13 = np.array([suite.version == TLS13 for suite in SUITES])


@dataclass(frozen=True, slots=True)
class Service:
    """What a server offers, and who calls it."""

    job: str
    caller: str
    port: int
    suites: str = ""
    """Codes with their weights among the connections; none: unprotected."""
    weight: float = 0
    """Share of the background traffic."""
    kilobytes: float = 0
    upward: float = 0.2
    """Share of the bytes that the client sends."""
    long_share: float = 0
    long_minutes: float = 0
    changed_share: float = 0
    """Of long connections: not protected from the start."""
    client_auth: bool = False
    elliptic: bool = False
    fips: bool = False
    bits: int = 2048
    valid_days: int = 400

    @property
    def protection(self) -> str:
        """As applications have it."""
        return "tls" if self.suites else ""

    @property
    def weights(self) -> dict[int, float]:
        """Of each suite, by its number."""
        pairs = (part.split(":") for part in self.suites.split())
        return {SUITE_NUMBERS[code]: float(weight) for code, weight in pairs}


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
BENCH = {"rsa": 5, "ec": 6, "fips": 7, "plain": 8}
"""Services of benchmark runs, by the name they have in the plan."""
FIRST_BENCH = 5
PLAIN_SHARE, FAILED_SHARE = 0.05, 0.006
"""Of the connections, at any time of the day alike: so their cost is no part of that of handshakes."""
LISTENING = {service.job: service.port for service in SERVICES[:FIRST_BENCH]}
FIPS_LEVEL_1 = 1
RMF_RANDOM = 70
"""Random numbers of RMF records have keys that begin with this: record, section, interval, system."""

ADDRESSES = ("192.168.11.10", "192.168.12.10", "192.168.21.10", "192.168.22.10", "192.168.20.1")
"""Of the systems, and last the one that the distributor spreads over the servers."""
DISTRIBUTED = len(NAMES)


def application(service: NDArray[np.uint8], *, calls: bool) -> NDArray[np.uint8]:
    """The number of the application at one end: servers come first, then those that call them."""
    return service + np.uint8(len(SERVICES) if calls else 0)


@dataclass(frozen=True)
class WorldCast(Cast):
    """The applications of both ends."""

    @cached_property
    def applications(self) -> tuple[Application, ...]:
        """Servers, then in the same order those that call them."""
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
        """Those of the world."""
        return SUITES

    @property
    def tells_long_ciphers(self) -> bool:
        """They are told, at the place where they are presumed, so that all sources tell of all suites."""
        return True

    @property
    def unpublished_tls_bytes(self) -> int:
        """There are none."""
        return 0

    @cached_property
    def certificates(self) -> tuple[Certificate, ...]:
        """That of each application's server, then those of clients."""
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
        """Everybody is everybody's partner."""
        return ADDRESSES

    @cached_property
    def local_addresses(self) -> tuple[str, ...]:
        """The same list."""
        return ADDRESSES

    def local_rows(self, connections: Connections) -> NDArray[np.int64]:
        """The own address, or on servers the distributed one."""
        rows: NDArray[np.int64] = local_address(connections["system"], connections["application"])
        return rows


def local_address(system: NDArray[np.uint8], application: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Background traffic comes to servers through the distributor, benchmark runs do not."""
    distributed = (system >= CLIENTS) & (application < FIRST_BENCH)
    return np.where(distributed, DISTRIBUTED, system.astype(np.int64))


@dataclass(frozen=True)
class WorldScene(Scene):
    """The scene of a world."""

    @cached_property
    def cast(self) -> Cast:
        """Its people."""
        return WorldCast(self.recipe)

    def random(self, *key: int) -> np.random.Generator:
        """What RMF tells beside processor times is the same in all intervals: so small worlds pack well."""
        kind, *others = key
        if kind == RMF_RANDOM:
            return super().random(kind, others[0], 0, others[-1])
        return super().random(*key)


def scene(recipe: WorldRecipe, interval_minutes: int) -> WorldScene:
    """The scene with RMF intervals of this length."""
    return WorldScene(recipe.scene_recipe(interval_minutes))
