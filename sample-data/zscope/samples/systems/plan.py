"""The plan of the data of other systems: `plan.toml` as Python values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from zscope.samples.declaration_files import read_declared
from zscope.samples.reports.runs_file import SystemRun
from zscope.schemas.declared import Declared

NO_CIPHER = "none"


class TaskKind(Declared, frozen=True):
    """Tasks of a kind of a channel initiator."""

    name: str
    section: str
    """Key of their section in records."""
    count: int
    requests: float
    """Requests of one message."""
    cpu_us: float
    """CPU time of one request."""
    elapsed_per_cpu: float


class DeclaredManager(Declared, frozen=True):
    """A queue manager, its system, and the queue manager to which its channels lead."""

    name: str
    system: str
    partner: str


class DeclaredMessage(Declared, frozen=True):
    """Round trips of messages of a size without a cipher."""

    bytes: int
    channel_bytes: int
    round_trip_us: float
    cpu_us: float
    sends: int
    sends_with_cipher: int


class DeclaredCipher(Declared, frozen=True):
    """What a cipher adds to a round trip, and how long a negotiation takes, by message."""

    name: str
    code: int
    added_us: tuple[float, ...]
    added_cpu_us: tuple[float, ...]
    negotiation_us: tuple[float, ...]


class MqPlan(Declared, frozen=True):
    """Request and reply through two pairs of channels."""

    run: str
    repetitions: int
    round_trips: int
    sslrkeyc: int
    interval_s: int
    requesters: int
    requester: DeclaredManager
    replier: DeclaredManager
    other: DeclaredManager
    task: tuple[TaskKind, ...]
    section_length: Mapping[str, int]
    initiator: Mapping[str, int]
    channel: Mapping[str, int | str]
    message: tuple[DeclaredMessage, ...]
    cipher: tuple[DeclaredCipher, ...]


class DeclaredLinkCase(Declared, frozen=True):
    """A case of the z/VM link, with the CPU time of virtual machines for a transaction."""

    run: str
    form: Literal["print", "screen", "csv"]
    write_bytes_per_s: int
    read_bytes_per_s: int
    cpu_per_tx: Mapping[str, float]
    tags: Mapping[str, str]

    @property
    def transactions_per_s(self) -> float:
        """Transactions per second: the bytes of both directions, scaled."""
        return (self.write_bytes_per_s + self.read_bytes_per_s) / PLAN.zvm.scaling

    @property
    def tcpu_s(self) -> dict[str, float]:
        """CPU seconds by virtual machine."""
        per_s, seconds = self.transactions_per_s, PLAN.zvm.period_s
        return {name: cost * per_s / 100 * seconds for name, cost in self.cpu_per_tx.items()}


class ZvmPlan(Declared, frozen=True):
    """One link in several cases."""

    system: str
    period_s: int
    chpid: str
    scaling: int
    case: tuple[DeclaredLinkCase, ...]


class DeclaredFlood(Declared, frozen=True):
    """A flood of session requests."""

    run: str
    form: Literal["csv", "panel", "jsonl"]
    """A table, a Grafana export or JSON lines."""
    sessions: int
    idle_ecbs: int
    peak_ecbs: int
    step_s: float
    tags: Mapping[str, bool | int]
    high_s: float = 0.0
    starts_per_s: float = 0.0

    @property
    def lasts_s(self) -> float:
        """Time for which the number of ECBs is high: that given, or that of the starts."""
        return self.high_s or self.sessions / self.starts_per_s


class ZtpfPlan(Declared, frozen=True):
    """Floods on z/TPF."""

    system: str
    worker_threads: int
    threads_starting: int
    flood: tuple[DeclaredFlood, ...]


class SystemsPlan(Declared, frozen=True):
    """The content of `plan.toml`."""

    start: datetime
    zone_minutes: int
    mq: MqPlan
    zvm: ZvmPlan
    ztpf: ZtpfPlan


PLAN = read_declared("systems/plan.toml", SystemsPlan)


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """One configuration of the MQ channels: message size, cipher and key reset count."""

    number: int
    message_bytes: int
    channel_bytes: int
    cipher: str
    cipher_code: int
    sslrkeyc: int
    round_trip_us: float
    cpu_us: float
    sends: int


def start() -> datetime:
    """Return the start of all data in UTC."""
    return PLAN.start.astimezone(UTC)


def zone() -> timedelta:
    """Return the offset of all clocks from UTC."""
    return timedelta(minutes=PLAN.zone_minutes)


def round_trips() -> list[RoundTrips]:
    """Return all configurations: without a cipher, and with each cipher without and with key resets.

    >>> len(round_trips())
    14
    """
    plan = PLAN.mq
    result: list[RoundTrips] = []
    for place, message in enumerate(plan.message):
        per_negotiation = plan.sslrkeyc / message.channel_bytes
        plain = (NO_CIPHER, 0, 0, message.round_trip_us, message.cpu_us, message.sends)
        variants = [plain]
        for cipher in plan.cipher:
            steady = message.round_trip_us + cipher.added_us[place]
            again = steady + cipher.negotiation_us[place] / per_negotiation
            cpu = message.cpu_us + cipher.added_cpu_us[place]
            for sslrkeyc, round_trip in ((0, steady), (plan.sslrkeyc, again)):
                variants.append(
                    (cipher.name, cipher.code, sslrkeyc, round_trip, cpu, message.sends_with_cipher)
                )
        for name, code, sslrkeyc, round_trip, cpu, sends in variants:
            result.append(
                RoundTrips(
                    len(result), message.bytes, message.channel_bytes, name, code, sslrkeyc,
                    float(round_trip), float(cpu), sends,
                )
            )  # fmt: skip
    return result


def mq_run(system: str) -> SystemRun:
    """Return the run that all round trips belong to."""
    plan = PLAN.mq
    lasts = timedelta(seconds=plan.interval_s * len(round_trips()))
    return SystemRun(plan.run, system, "client", start(), start() + lasts, {})


def link_cases() -> list[tuple[SystemRun, DeclaredLinkCase]]:
    """Return the cases of the link with their runs, an hour apart."""
    plan, length = PLAN.zvm, timedelta(seconds=PLAN.zvm.period_s)
    result = []
    for number, case in enumerate(plan.case):
        begin = start() + timedelta(hours=2 + number)
        run = SystemRun(case.run, plan.system, "server", begin, begin + length, case.tags)
        result.append((run, case))
    return result


def floods() -> list[tuple[SystemRun, DeclaredFlood]]:
    """Return the floods with their runs, half an hour apart."""
    plan, length = PLAN.ztpf, timedelta(minutes=10)
    result = []
    for number, flood in enumerate(plan.flood):
        begin = start() + timedelta(hours=7, minutes=30 * number)
        run = SystemRun(flood.run, plan.system, "server", begin, begin + length, flood.tags)
        result.append((run, flood))
    return result
