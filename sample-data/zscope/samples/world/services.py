"""The simulated site of a world: services, certificates, cipher suites, addresses.

`scenario.toml` declares the services, who calls them and how often.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zscope.samples.dump.context import RecordContext
from zscope.samples.dump.dump_scenario import Application
from zscope.samples.dump.site import (
    CLIENT_CERTIFICATES,
    Certificate,
    Site,
)
from zscope.samples.world.world_recipe import CLIENTS, NAMES, WORLD_SYSTEMS
from zscope.samples.world.world_scenario import SCENARIO
from zscope.schemas import cipher_suites

if TYPE_CHECKING:
    from zscope.samples.dump.arrays import Choice, Numbers
    from zscope.samples.dump.dump_scenario import Suite
    from zscope.samples.dump.site import ConnectionEnds
    from zscope.samples.dump.site_context import IplOfSystem
    from zscope.samples.world.world_recipe import WorldRecipe
    from zscope.samples.world.world_scenario import Service

AUTHORITY = "Synthetic World CA"
SUITES = SCENARIO.suite
SUITE_NUMBERS = {suite.code: number for number, suite in enumerate(SUITES)}
_KINDS = {"RSA": 0, "DHE": 1, "ECDHE": 2, "TLS13": 3}
KEY_EXCHANGES = np.array([_KINDS[cipher_suites()[suite.code].key_exchange] for suite in SUITES])
"""For each suite, the index of its kind of full handshake in the cost model."""
IS_TLS13 = np.array([suite.is_tls13 for suite in SUITES])


_BACKGROUND = SCENARIO.service
SERVICES = (*_BACKGROUND, *SCENARIO.run_service)
FIRST_RUN_SERVICE = len(_BACKGROUND)
PLAIN_SERVICES = np.array([number for number, service in enumerate(_BACKGROUND) if not service.is_protected])
RUN_SERVICES = {service.run_name: number for number, service in enumerate(SERVICES) if service.run_name}
"""Services of benchmark runs, by their names in `benchmark_runs.toml`."""
LISTENING = {service.job: service.port for service in SERVICES[:FIRST_RUN_SERVICE]}
FIPS_LEVEL_1 = 1
RMF_RANDOM = 70
"""First element of the random keys of RMF records: record, section, interval, system."""

ADDRESSES = (
    *(system.address for system in WORLD_SYSTEMS),
    SCENARIO.distributor.address,
)
"""Addresses of the systems; the last one is the address of the distributor."""
DISTRIBUTED = len(NAMES)


def other_suites(recipe: WorldRecipe) -> Numbers:
    """Return for each suite the one that connections have instead, usually itself."""
    return np.array([SUITE_NUMBERS[recipe.other_suites.get(suite.code, suite.code)] for suite in SUITES])


def suite_weights(service: Service, *, is_changed: bool) -> dict[int, float]:
    """Return weights by suite number; the changed policy has no suites with RSA key exchange."""
    declared = dict.fromkeys(SUITE_NUMBERS, 1) if service.has_all_suites else service.suites
    weights = {SUITE_NUMBERS[code]: float(weight) for code, weight in declared.items()}
    return {
        suite: weight
        for suite, weight in weights.items()
        if not (is_changed and KEY_EXCHANGES[suite] == _KINDS["RSA"])
    }


def application(service: Numbers, *, calls: bool) -> Numbers:
    """Return the number of the application at one end: servers come first, then their clients."""
    return service + (len(SERVICES) if calls else 0)


@dataclass(frozen=True)
class WorldSite(Site):
    """The site with the applications of both ends."""

    @cached_property
    def applications(self) -> tuple[Application, ...]:
        """Servers, then their clients in the same order."""
        servers = [
            Application(
                s.job, "STCUSER", s.port, 1, s.protection,
                client_auth=s.client_auth, elliptic=s.elliptic, fips_mode=FIPS_LEVEL_1 * s.fips, smc=s.smc,
            )
            for s in SERVICES
        ]  # fmt: skip
        callers = [
            Application(
                s.caller, "APPUSER", s.port, 1, s.protection,
                calls_out=True, elliptic=s.elliptic, fips_mode=FIPS_LEVEL_1 * s.fips, smc=s.smc,
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

    def local_rows(self, connections: ConnectionEnds) -> Numbers:
        """Return the own address; background traffic reaches servers through the distributor."""
        system, is_run = connections.system, connections.application >= FIRST_RUN_SERVICE
        return np.where((system < CLIENTS) | is_run, system, DISTRIBUTED)


@dataclass(frozen=True)
class WorldContext(RecordContext):
    """The context of the records of a world."""

    @cached_property
    def site(self) -> Site:
        return WorldSite(self.recipe)

    later_ipls: tuple[IplOfSystem, ...] = ()
    """IPLs within the world, in the order of time."""

    @cached_property
    def ipls_of_systems(self) -> tuple[IplOfSystem, ...]:
        return (*super().ipls_of_systems, *self.later_ipls)

    def latest_ipl(self, systems: Choice, times: Numbers) -> Choice:
        """Return the number of the latest IPL of the systems at these times."""
        at_us, latest = self._latest_ipls
        numbers: Choice = latest[np.searchsorted(at_us, times, side="right"), systems]
        return numbers

    @cached_property
    def _latest_ipls(self) -> tuple[Numbers, Numbers]:
        """The times of IPLs, and by system the number of the latest one before and after each of them."""
        latest = [list(range(len(self.names)))]
        for number, ipl in enumerate(self.later_ipls, len(self.names)):
            latest.append(
                [number if system == ipl.system else last for system, last in enumerate(latest[-1])]
            )
        return np.array([ipl.at_us for ipl in self.later_ipls], np.int64), np.array(latest)

    def random(self, *key: int) -> np.random.Generator:
        """Return the same random numbers for all RMF intervals, so that small worlds compress well."""
        kind, *others = key
        if kind == RMF_RANDOM:
            return super().random(kind, others[0], 0, others[-1])
        return super().random(*key)


def world_context(
    recipe: WorldRecipe, interval_minutes: int, ipls: tuple[IplOfSystem, ...] = ()
) -> WorldContext:
    """Return the context with RMF intervals of this length."""
    return WorldContext(recipe.record_recipe(interval_minutes), later_ipls=ipls)
