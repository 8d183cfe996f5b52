"""The plan of the data of other systems: `plan.toml` as Python values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from zscope.samples.declaration_files import read_declared

if TYPE_CHECKING:
    from collections.abc import Mapping

NO_CIPHER = "none"


@dataclass(frozen=True, slots=True)
class SystemRun:
    """One run in runs.toml."""

    name: str
    system: str
    role: str
    begin: datetime
    end: datetime
    tags: Mapping[str, Any]
    note: str = ""


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


@dataclass(frozen=True, slots=True)
class TaskKind:
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


@dataclass(frozen=True, slots=True)
class LinkCase:
    """One case of the z/VM link."""

    run: SystemRun
    form: str
    """`print`, `screen` or `csv`."""
    write_bytes_per_s: int
    read_bytes_per_s: int
    tcpu_s: Mapping[str, float]
    """CPU seconds by virtual machine."""


@dataclass(frozen=True, slots=True)
class SampleFlood:
    """One flood of session requests on z/TPF."""

    run: SystemRun
    form: str
    """`csv`, `panel` (a Grafana export) or `jsonl`."""
    sessions: int
    idle_ecbs: int
    peak_ecbs: int
    step_s: float
    high_s: float
    """Time for which the number of ECBs is high."""
    threads_starting: int


def declared() -> Mapping[str, Any]:
    """Return the content of `plan.toml`."""
    return read_declared("systems/plan.toml")


def task_kinds() -> list[TaskKind]:
    """Return the kinds of tasks of a channel initiator."""
    return [TaskKind(**task) for task in declared()["mq"]["task"]]


def start() -> datetime:
    """Return the start of all data in UTC."""
    begin: datetime = declared()["start"]
    return begin.astimezone(UTC)


def zone() -> timedelta:
    """Return the offset of all clocks from UTC."""
    return timedelta(minutes=declared()["zone_minutes"])


def round_trips() -> list[RoundTrips]:
    """Return all configurations: without a cipher, and with each cipher without and with key resets.

    >>> len(round_trips())
    14
    """
    plan = declared()["mq"]
    result: list[RoundTrips] = []
    for place, message in enumerate(plan["message"]):
        per_negotiation = plan["sslrkeyc"] / message["channel_bytes"]
        plain = (NO_CIPHER, 0, 0, message["round_trip_us"], message["cpu_us"], message["sends"])
        variants = [plain]
        for cipher in plan["cipher"]:
            steady = message["round_trip_us"] + cipher["added_us"][place]
            again = steady + cipher["negotiation_us"][place] / per_negotiation
            cpu = message["cpu_us"] + cipher["added_cpu_us"][place]
            for sslrkeyc, round_trip in ((0, steady), (plan["sslrkeyc"], again)):
                variants.append(
                    (cipher["name"], cipher["code"], sslrkeyc, round_trip, cpu, message["sends_with_cipher"])
                )
        for name, code, sslrkeyc, round_trip, cpu, sends in variants:
            result.append(
                RoundTrips(
                    len(result), message["bytes"], message["channel_bytes"], name, code, sslrkeyc,
                    float(round_trip), float(cpu), sends,
                )
            )  # fmt: skip
    return result


def mq_run(system: str) -> SystemRun:
    """Return the run that all round trips belong to."""
    plan = declared()["mq"]
    lasts = timedelta(seconds=plan["interval_s"] * len(round_trips()))
    return SystemRun(plan["run"], system, "client", start(), start() + lasts, {})


def link_cases() -> list[LinkCase]:
    """Return the cases of the link, an hour apart."""
    plan = declared()["zvm"]
    result = []
    for number, case in enumerate(plan["case"]):
        begin = start() + timedelta(hours=2 + number)
        end = begin + timedelta(seconds=plan["period_s"])
        run = SystemRun(case["run"], plan["system"], "server", begin, end, case["tags"])
        per_s = (case["write_bytes_per_s"] + case["read_bytes_per_s"]) / plan["scaling"]
        used = {name: cost * per_s / 100 * plan["period_s"] for name, cost in case["cpu_per_tx"].items()}
        result.append(LinkCase(run, case["form"], case["write_bytes_per_s"], case["read_bytes_per_s"], used))
    return result


def floods() -> list[SampleFlood]:
    """Return the floods, half an hour apart."""
    plan = declared()["ztpf"]
    result = []
    for number, flood in enumerate(plan["flood"]):
        begin = start() + timedelta(hours=7, minutes=30 * number)
        high = flood["high_s"] if "high_s" in flood else flood["sessions"] / flood["starts_per_s"]
        run = SystemRun(
            flood["run"], plan["system"], "server", begin, begin + timedelta(minutes=10), flood["tags"]
        )
        result.append(
            SampleFlood(
                run, flood["form"], flood["sessions"], flood["idle_ecbs"], flood["peak_ecbs"],
                flood["step_s"], high, flood.get("threads_starting", plan["worker_threads"] // 2),
            )
        )  # fmt: skip
    return result
