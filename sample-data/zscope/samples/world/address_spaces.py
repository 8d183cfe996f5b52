"""The address spaces of a world, and how each divides its CPU time by kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from zscope.samples.dump.arrays import ColumnTable, column
from zscope.samples.world.services import FIRST_RUN_SERVICE, SERVICES
from zscope.samples.world.world_scenario import SCENARIO, AddressSpace

if TYPE_CHECKING:
    from zscope.samples.dump.arrays import Floats, Numbers

HUNDREDTH_US = 10_000
"""Times of SMF 30 are in 1/100 s."""


STACK = "TCPIP"


@cache
def address_spaces() -> tuple[AddressSpace, ...]:
    """Return the address spaces of a server; the applications are those that own its connections."""
    services, together = SERVICES[:FIRST_RUN_SERVICE], SCENARIO.applications
    weights = [service.weight + 5 for service in services]
    applications = [
        AddressSpace(
            service.job,
            service.program,
            together.first_number + number,
            "ONLINE",
            together.part * weight / sum(weights),
            "RTLS" if service.is_protected else "ROTHER",
            enclave=service.enclave,
            ziip=service.ziip,
            service=number,
        )
        for number, (service, weight) in enumerate(zip(services, weights, strict=True))
    ]
    return (*SCENARIO.address_space, *applications)


@dataclass
class SpaceUse(ColumnTable):
    """The CPU time of an address space in consecutive intervals, in 1/100 s by kind."""

    task: Numbers = column()
    srb: Numbers = column()
    preemptable: Numbers = column()
    enclave: Numbers = column()
    io_interrupt: Numbers = column()
    ziip: Numbers = column()

    def summed(self, before: dict[str, int]) -> SpaceUse:
        """Return running totals, continued from those before, which are brought up to date."""
        totals = {}
        for name, values in vars(self).items():
            totals[name] = before.get(name, 0) + np.cumsum(values)
            before[name] = int(totals[name][-1])
        return SpaceUse(**totals)


def time_of(space: AddressSpace, other_us: Numbers, connections_us: Numbers, in_stack: Floats) -> Numbers:
    """Return the CPU time of an address space by interval, from that of other work in all of them, that of
    the connections of each service, and the share of it that is charged to the TCP/IP stack.
    """
    time: Numbers = (other_us * space.part).astype(np.int64)
    if space.job == STACK:
        # Rounded first, as the error of the binary form is none.
        time += np.round((connections_us * in_stack).sum(axis=0), 6).astype(np.int64)
    if space.service is not None:
        time += (connections_us * (1 - in_stack))[space.service].astype(np.int64)
    return time


def use_of(space: AddressSpace, time_us: Numbers, ziip_us: Numbers) -> SpaceUse:
    """Divide the CPU time of an address space by kind, rounded down to what the record can show."""
    total = time_us // HUNDREDTH_US
    srb, io = (total * space.srb).astype(np.int64), total // 50
    task = total - srb - io
    preemptable, enclave = ((task * share).astype(np.int64) for share in (space.preemptable, space.enclave))
    ziip = ziip_us // HUNDREDTH_US if space.ziip else np.zeros_like(total)
    return SpaceUse(task, srb, preemptable, enclave, io, ziip)
