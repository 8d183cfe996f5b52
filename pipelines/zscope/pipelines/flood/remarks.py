"""What a reproduction shows and what it cannot, in sentences made of its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from zscope.pipelines.flood.closed import gain_pct
from zscope.pipelines.flood.published import (
    GAIN,
    HIGH_BEFORE,
    HIGH_WITH,
    PEAK_BEFORE,
    PEAK_WITH,
    modelled,
    published_figures,
)

if TYPE_CHECKING:
    from zscope.pipelines.flood.reproduce import Reproduction


def remarks(found: Reproduction) -> Iterator[str]:
    """What is to be known about the parameters that were found."""
    flood = found.flood
    waits = flood.flows * flood.network_ms
    yield found.attempt.words
    if found.missed:
        yield f"Not reproduced by these parameters: {', '.join(found.missed)}."
    yield (
        f"A handshake waits {waits:.3g} ms for the network for {flood.cpu_ms:.3g} ms of processor time, "
        f"{100 * waits / flood.cpu_ms:.3g} %. A thread that is held during the waits costs just that: the "
        f"gain of a long queue is {gain_pct(flood):.3g} %."
    )
    if HIGH_BEFORE in found.attempt.figures:
        yield from _about_the_gain(found)
        yield from _about_ecbs(found)
    else:
        yield from _about_the_ratio(found)


def _about_the_ratio(found: Reproduction) -> Iterator[str]:
    flood = found.flood
    many = replace(flood, workers=4 * flood.processors)
    yield (
        "Only this ratio follows from the published gain: no rates were published, so cpu_ms may be any "
        "number, and the number of flows too if they are as long together."
    )
    none, long = (replace(flood, network_ms=factor * flood.network_ms) for factor in (0, 10))
    yield (
        f"Without waits, bound by processor work alone, the gain is {gain_pct(none):.3g} %; with waits ten "
        f"times as long it is {gain_pct(long):.3g} %. With {many.workers} worker threads, of which "
        f"{many.starters} may start sessions, all I-streams are busy even before, and it is "
        f"{gain_pct(many):.3g} %."
    )
    tried = found.attempt.tried_sessions
    if tried != flood.sessions:
        yield (
            f"What each parameter does was tried with {tried:,} requests instead of {flood.sessions:,}: the "
            "gain of a long queue hardly depends on how long it is."
        )


def _about_the_gain(found: Reproduction) -> Iterator[str]:
    gain = modelled(found.comparison)[GAIN]
    told = {name: figure.value for name, figure in published_figures().items()}
    if gain is None:
        return
    if HIGH_WITH in found.missed:
        yield (
            f"The gain is {gain:.3g} % here and {told[GAIN]:g} % in the other test: the peaks of "
            f"{told[PEAK_BEFORE]:g} and {told[PEAK_WITH]:g} ECBs and a gain of this size fit each other."
        )
        return
    yield (
        f"The gain is {gain:.3g} % here and {told[GAIN]:g} % in the other test. A flood that is over in "
        f"{told[HIGH_WITH]:g} s instead of {told[HIGH_BEFORE]:g} s starts sessions about "
        f"{told[HIGH_BEFORE] / told[HIGH_WITH]:g} times as fast. If both are right, the tests were not "
        "alike: here the waits are far longer, or the work is far less."
    )


def _about_ecbs(found: Reproduction) -> Iterator[str]:
    flood, high = found.flood, modelled(found.comparison)[HIGH_WITH]
    told = {name: figure.value for name, figure in published_figures().items()}
    if HIGH_WITH in found.missed:
        yield (
            f"With PJ48040 ECBs are high for {high:.3g} s and not for {told[HIGH_WITH]:g} s. A gain of "
            f"{told[GAIN]:g} % makes {told[HIGH_BEFORE] / (1 + told[GAIN] / 100):.3g} s of "
            f"{told[HIGH_BEFORE]:g} s, and requests arrive for {flood.burst_s:.3g} s here. Requests that "
            "arrive evenly or at random cannot give both; a burst with a short spike in it might, which this "
            "model does not have."
        )
    if flood.connections:
        yield (
            f"A peak of {flood.connections:,} among {flood.sessions:,} requests takes a limit of connections "
            "that are open at a time here, such as that of the program that sends the requests. None was "
            "published. Without it either nearly all requests have an ECB before PJ48040, or they arrive so "
            "slowly that they cannot be over soon with it."
        )
    yield (
        "The document does not tell which use of ECBs counts as high: here it is "
        f"{100 * flood.threshold:g} % of the peak."
    )
    yield (
        "The peak with PJ48040 is the small difference between what arrives and what starts, so small causes "
        "do much: see what arrivals, cpu_ms and burst_s do to it."
    )
