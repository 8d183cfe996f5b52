"""The SMF 119 records of a day: what each system writes about the connections it sees."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.synthetic.events import CHANGED, ENDED, SHORT, STARTED, Events
from zscope.parsers.synthetic.tcp import TcpRecords
from zscope.parsers.synthetic.zert_detail import ZertDetail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from zscope.parsers.synthetic.batch import Batch, Scene
    from zscope.parsers.synthetic.connections import Connections


class ConnectionRecords:
    """Makes the records of connections that fall into a span of time."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def make(self, seen: Connections, begin: int, end: int) -> Batch:
        """Records of subtypes 1, 2 and 11 about what happened to these connections in the span."""

        def rows(column: str, mask: NDArray[np.bool_]) -> Connections:
            times = seen[column]
            return seen[mask & (times >= begin) & (times < end)]

        everyone = np.ones(len(seen), bool)
        opened, closed = rows("start", everyone), rows("end", everyone)
        parts = [
            (STARTED, rows("start", seen["long"]), "start"),
            (CHANGED, rows("shaken", seen["changed"]), "shaken"),
            (ENDED, rows("end", seen["long"]), "end"),
            (SHORT, rows("end", ~seen["long"]), "end"),
        ]
        events = Events(
            np.concatenate([connections for _, connections, _ in parts]),
            np.concatenate([np.full(len(connections), event) for event, connections, _ in parts]),
            np.concatenate([connections[column].astype(np.int64) for _, connections, column in parts]),
        )
        batch = self._zert.make(events)
        batch.join(self._tcp.opened(opened))
        batch.join(self._tcp.closed(closed))
        return batch

    @cached_property
    def _zert(self) -> ZertDetail:
        return ZertDetail(self._scene)

    @cached_property
    def _tcp(self) -> TcpRecords:
        return TcpRecords(self._scene)
