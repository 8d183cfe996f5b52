"""The scenario of a world: its systems, who connects to whom, how often, and where CPU time goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from zscope.samples.declaration_files import read_declared
from zscope.samples.dump.dump_scenario import Suite
from zscope.schemas.declared import Declared, WrongValueError


class WorldSystem(Declared, frozen=True):
    """A system of a world."""

    name: str
    level: Literal["V2R3", "3.2"]
    role: Literal["client", "server"]
    address: str
    policy: Literal["report", "file"]
    """The form of its AT-TLS policy."""
    share: float = 0.0
    """Share of a client in the connections."""
    ziip_used: float = 0.0
    """Part of the time in which its zIIP is busy."""


class Service(Declared, frozen=True):
    """A service of the servers and the client application that uses it."""

    job: str
    caller: str
    port: int
    suites: Mapping[str, float] = {}
    """Suites with their weights among the connections; empty for unprotected connections."""
    has_all_suites: bool = False
    """Whether it has all suites, with the same weights."""
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
    smc: bool = False
    """Whether the data of its connections bypass TCP, through shared memory."""
    bits: int = 2048
    valid_days: int = 400
    run_name: str = ""
    """Name among the services of benchmark runs."""
    program: str = "BPXBATCH"
    enclave: float = 0.0
    """Part of the CPU time of its address space in enclaves."""
    ziip: bool = False

    def __post_init__(self) -> None:
        if self.weight and not self.is_protected:
            raise WrongValueError(
                "weight", "is for services with suites: it is a share of the TLS connections"
            )

    @property
    def is_protected(self) -> bool:
        """Whether its connections have TLS."""
        return bool(self.suites) or self.has_all_suites

    @property
    def protection(self) -> Literal["tls", ""]:
        """Protection of the applications, as `Application` has it."""
        return "tls" if self.is_protected else ""


class AddressSpace(Declared, frozen=True):
    """An address space, with its part of the other work that all of them account for, and the service whose
    connections it owns.
    """

    job: str
    program: str
    number: int
    service_class: str
    part: float
    report_class: str = ""
    srb: float = 0.1
    """Parts of its CPU time by kind: SRBs, preemptable SRBs, enclaves; the rest is that of tasks."""
    preemptable: float = 0.0
    enclave: float = 0.0
    batch: bool = False
    cumulative: bool = False
    ziip: bool = False
    counters: tuple[int, ...] = ()
    """Numbers of its counters of cryptographic instructions."""
    service: int | None = None

    @property
    def job_id(self) -> str:
        """Number of the job or started task; the name where there is none."""
        return self.job if self.cumulative else f"{'JOB' if self.batch else 'STC'}{self.number:05}"


class Distributor(Declared, frozen=True):
    """What divides the connections of clients among the servers."""

    address: str


class TrafficShares(Declared, frozen=True):
    """How often clients connect."""

    plain_share: float
    """Share of the connections without TLS."""
    failed_share: float
    daily: tuple[float, ...]
    """Relative load of the days of a week, from Monday on."""


class DeclaredIntervals(Declared, frozen=True):
    """Intervals of a system, numbered within a day."""

    system: str
    first: int
    count: int
    form: Literal["xml", "text", ""] = ""
    """The form of a report about them."""


class KnownOtherwise(Declared, frozen=True):
    """What is known of systems from more than the records of their connections."""

    rmf: tuple[DeclaredIntervals, ...]
    gap: DeclaredIntervals
    workload_records: str
    workload_listing: str
    cache_reset: str
    session_audit: str
    """System whose ICSF audits the keys of TLS sessions."""


class ApplicationSpaces(Declared, frozen=True):
    """The address spaces of all services together."""

    part: float
    first_number: int


class WorkloadClasses(Declared, frozen=True):
    """Classes of the workload manager."""

    workloads: Mapping[str, str]
    """The workload of each service class."""
    periods: Mapping[str, tuple[float, ...]]
    """Parts of the periods of a class with more than one."""
    with_transactions: tuple[str, ...]


class DeclaredCosts(Declared, frozen=True):
    """Costs of the cost model, in microseconds."""

    client: Mapping[str, int | float]
    server: Mapping[str, int | float]


class WorldScenario(Declared, frozen=True):
    """The content of the file."""

    suite: tuple[Suite, ...]
    system: tuple[WorldSystem, ...]
    distributor: Distributor
    traffic: TrafficShares
    reports: KnownOtherwise
    service: tuple[Service, ...]
    run_service: tuple[Service, ...]
    address_space: tuple[AddressSpace, ...]
    applications: ApplicationSpaces
    classes: WorkloadClasses
    cost: DeclaredCosts

    def __post_init__(self) -> None:
        roles = [system.role for system in self.system]
        if roles != sorted(roles) or len(set(roles)) < 2:
            raise WrongValueError("system", "needs clients, followed by servers")


SCENARIO = read_declared("world/scenario.toml", WorldScenario)
