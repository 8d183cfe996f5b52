"""The machine the systems of a world run on: clients share processors, servers have their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.parsers.synthetic.recipe import RecipeError
from zscope.parsers.synthetic.rmf_machine import (
    CP,
    DEDICATED,
    HIGH,
    ICF,
    IFL,
    IIP,
    LOW,
    MANAGEMENT,
    MEDIUM,
    SEEN_BUSY,
    Partition,
    Processor,
    other_processor,
    physical_processors,
)
from zscope.parsers.synthetic.world.meter import is_server

if TYPE_CHECKING:
    from zscope.parsers.synthetic.batch import Numbers
    from zscope.parsers.synthetic.recipe import Recipe

_SHARED = ((0.38, HIGH, 1.0), (0.38, HIGH, 1.0), (0.24, MEDIUM, 0.5), (0.0, LOW, 0.0))
"""Of each shared processor: its part of the work, polarisation, share."""
_WEIGHT = 2_500
_OWN = (0.28, 0.26, 0.24, 0.22)
_MOST = {False: 2.4, True: 3.4}
"""Processors that a system, shared or dedicated, can keep busy."""
_ZIIP_USED = {"CLI1": 0.02}
"""Share of the time its zIIP is busy; those of the others are online and idle."""


def world_machine(recipe: Recipe, worked: Numbers) -> tuple[Partition, ...]:
    """All partitions in an interval in which each system worked so many microseconds."""
    length = recipe.interval_us
    partitions = []
    for number, system in enumerate(recipe.systems):
        time, dedicated = int(worked[number]), is_server(number)
        if time > _MOST[dedicated] * length:
            raise RecipeError(
                f"{system.name} would need {time / length:.1f} processors in an interval of "
                f"{recipe.interval_minutes} minutes, but has fewer: ask for fewer connections or lower costs"
            )
        cps = _own(length, time) if dedicated else _shared(length, time)
        ziip = other_processor(length, len(cps), IIP, 1_000, _ZIIP_USED.get(system.name, 0.0))
        partitions.append(Partition(system.name, number + 1, number, (*cps, ziip)))
    after = len(partitions) + 1
    return (
        *partitions,
        Partition("LINUX1", after, None, (other_processor(length, 0, IFL, 500),)),
        Partition("CF01", after + 1, None, (other_processor(length, 0, ICF, DEDICATED),)),
        Partition("PHYSICAL", 0, None, physical_processors(length, len(recipe.systems))),
    )


def _shared(length: int, worked: int) -> list[Processor]:
    """Dispatched for as long as they worked; the last one is parked."""
    times = [int(worked * part) for part, _, _ in _SHARED]
    times[0] += worked - sum(times)
    made = []
    for address, (time, (_, polarisation, share)) in enumerate(zip(times, _SHARED, strict=True)):
        parked = length if polarisation == LOW else 0
        busy = min(length - parked, int(time * SEEN_BUSY))
        made.append(
            Processor(
                address, CP, _WEIGHT, polarisation, share, length, time, int(time * MANAGEMENT), parked, busy
            )
        )
    return made


def _own(length: int, worked: int) -> list[Processor]:
    """Dispatched all the time; how long they worked shows in the time they waited."""
    times = [int(worked * part) for part in _OWN]
    times[0] += worked - sum(times)
    return [
        Processor(address, CP, DEDICATED, HIGH, 1.0, length, length, int(length * MANAGEMENT), 0, time)
        for address, time in enumerate(times)
    ]
