"""What the sample of the other systems is to show, from the plan beside this file, as values."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

PLAN = "plan.toml"
NO_CIPHER = "none"


@dataclass(frozen=True, slots=True)
class Run:
    """One run of runs.toml."""

    name: str
    system: str
    role: str
    begin: datetime
    end: datetime
    tags: Mapping[str, Any]
    note: str = ""


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """One arrangement of the channels: a size of message, a cipher, and how often keys are negotiated."""

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
class LinkCase:
    """One case of the z/VM link."""

    run: Run
    form: str
    """`print`, `screen` or `csv`."""
    write_bytes_per_s: int
    read_bytes_per_s: int
    tcpu_s: Mapping[str, float]
    """By virtual machine."""


@dataclass(frozen=True, slots=True)
class Flood:
    """One flood of session requests on z/TPF."""

    run: Run
    form: str
    """`csv`, `panel` (as Grafana exports one) or `jsonl`."""
    sessions: int
    idle_ecbs: int
    peak_ecbs: int
    step_s: float
    high_s: float
    """How long the ECBs stay up."""
    threads_starting: int


@cache
def declared() -> Mapping[str, Any]:
    """The plan as it is written."""
    text = (files("zscope.parsers.synthetic.systems") / PLAN).read_text(encoding="utf-8")
    return tomllib.loads(text)


def start() -> datetime:
    """When all of it begins, in UTC."""
    begin: datetime = declared()["start"]
    return begin.astimezone(UTC)


def zone() -> timedelta:
    """How far all clocks are ahead of UTC."""
    return timedelta(minutes=declared()["zone_minutes"])


def round_trips() -> list[RoundTrips]:
    """Every arrangement: without a cipher, and with each, without and with negotiating again.

    >>> len(round_trips())
    14
    """
    plan = declared()["mq"]
    made: list[RoundTrips] = []
    for place, message in enumerate(plan["message"]):
        per_negotiation = plan["sslrkeyc"] / message["channel_bytes"]
        plain = (NO_CIPHER, 0, 0, message["round_trip_us"], message["cpu_us"], message["sends"])
        found = [plain]
        for cipher in plan["cipher"]:
            steady = message["round_trip_us"] + cipher["added_us"][place]
            again = steady + cipher["negotiation_us"][place] / per_negotiation
            cpu = message["cpu_us"] + cipher["added_cpu_us"][place]
            for sslrkeyc, round_trip in ((0, steady), (plan["sslrkeyc"], again)):
                found.append(
                    (cipher["name"], cipher["code"], sslrkeyc, round_trip, cpu, message["sends_with_cipher"])
                )
        for name, code, sslrkeyc, round_trip, cpu, sends in found:
            made.append(
                RoundTrips(
                    len(made), message["bytes"], message["channel_bytes"], name, code, sslrkeyc,
                    float(round_trip), float(cpu), sends,
                )
            )  # fmt: skip
    return made


def mq_run(system: str) -> Run:
    """The run that all round trips belong to."""
    plan = declared()["mq"]
    lasts = timedelta(seconds=plan["interval_s"] * len(round_trips()))
    return Run(plan["run"], system, "client", start(), start() + lasts, {})


def link_cases() -> list[LinkCase]:
    """The cases of the link, one behind the other, an hour apart."""
    plan = declared()["zvm"]
    made = []
    for number, case in enumerate(plan["case"]):
        begin = start() + timedelta(hours=2 + number)
        end = begin + timedelta(seconds=plan["period_s"])
        run = Run(case["run"], plan["system"], "server", begin, end, case["tags"])
        per_s = (case["write_bytes_per_s"] + case["read_bytes_per_s"]) / plan["scaling"]
        used = {name: cost * per_s / 100 * plan["period_s"] for name, cost in case["cpu_per_tx"].items()}
        made.append(LinkCase(run, case["form"], case["write_bytes_per_s"], case["read_bytes_per_s"], used))
    return made


def floods() -> list[Flood]:
    """The floods, half an hour apart."""
    plan = declared()["ztpf"]
    made = []
    for number, flood in enumerate(plan["flood"]):
        begin = start() + timedelta(hours=7, minutes=30 * number)
        high = flood["high_s"] if "high_s" in flood else flood["sessions"] / flood["starts_per_s"]
        run = Run(flood["run"], plan["system"], "server", begin, begin + timedelta(minutes=10), flood["tags"])
        made.append(
            Flood(
                run, flood["form"], flood["sessions"], flood["idle_ecbs"], flood["peak_ecbs"],
                flood["step_s"], high, flood.get("threads_starting", plan["worker_threads"] // 2),
            )
        )  # fmt: skip
    return made
