"""Events that zERT writes a detail record about, and what protects a connection when they happen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.synthetic.batch import Choice, Numbers
    from zscope.parsers.synthetic.cast import Cast
    from zscope.parsers.synthetic.connections import Connections

STARTED, CHANGED, ENDED, SHORT = 1, 2, 3, 4


@dataclass(frozen=True, slots=True)
class Events:
    """zERT events: each is a connection and what happened to it when."""

    connections: Connections
    event: Choice
    written: Numbers

    def both(self, other: Events) -> Events:
        """These events and others."""
        return Events(
            np.concatenate([self.connections, other.connections]),
            np.concatenate([self.event, other.event]),
            np.concatenate([self.written, other.written]),
        )

    @property
    def ended(self) -> NDArray[np.bool_]:
        """Which events tell that the connection is over."""
        over: NDArray[np.bool_] = (self.event == ENDED) | (self.event == SHORT)
        return over

    def protection(self, cast: Cast) -> Choice:
        """What protects the connection at the time of the event."""
        unprotected = (self.event == STARTED) & self.connections["changed"]
        return np.where(unprotected, 0, cast.protection[self.connections["application"]])


def ends_of(connections: Connections) -> Events:
    """The last events of connections that started earlier."""
    return Events(connections, np.full(len(connections), ENDED), connections["end"].astype(np.int64))


def events_of(connections: Connections, end: int) -> Events:
    """The events of new connections before a time."""
    everyone = np.arange(len(connections))
    long = everyone[connections["long"]]
    short = everyone[~connections["long"]]
    closed = long[connections["end"][long] < end]
    changed = everyone[connections["changed"]]
    middle = (connections["start"][changed] + connections["end"][changed]) // 2
    index = np.concatenate([short, long, changed, closed])
    event = np.repeat([SHORT, STARTED, CHANGED, ENDED], [len(short), len(long), len(changed), len(closed)])
    starts, ends = connections["start"][long], connections["end"]
    written = np.concatenate([ends[short], starts, middle, ends[closed]])
    return Events(connections[index], event, written.astype(np.int64))
