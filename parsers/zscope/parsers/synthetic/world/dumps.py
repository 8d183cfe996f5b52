"""The SMF dumps of a world: one for each system, written piece by piece in the order of time."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from zscope.parsers.smf.write import plain_records
from zscope.parsers.synthetic.batch import Batch, local, pick
from zscope.parsers.synthetic.dump import DUMP_HEADER, DUMP_TRAILER
from zscope.parsers.synthetic.manifest import Tally, positive
from zscope.parsers.synthetic.output import HashingWriter, PieceWriter, packed

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

    from zscope.parsers.synthetic.batch import Scene


class SystemDump:
    """The dump of one system while it is written."""

    def __init__(self, path: Path, scene: Scene, system: int, packing: str) -> None:
        self.path = path
        self.tally = Tally()
        self._scene, self._system, self._packing = scene, system, packing
        self._waiting = Batch()
        self._last_us = scene.recipe.start_us

    def __enter__(self) -> SystemDump:
        self._stack = ExitStack()
        self._file = HashingWriter(self._stack.enter_context(self.path.open("wb")))
        self._writer = PieceWriter(self._stack.enter_context(packed(self._packing, self._file)))
        self._plain(DUMP_HEADER)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.until(None)
            self._plain(DUMP_TRAILER)
            self._writer.flush()
        self._stack.__exit__(kind, error, trace)

    def take(self, batch: Batch) -> None:
        """Take records; they wait until all that are written before them are there."""
        self.tally.add(batch.tally)
        self._waiting.join(Batch(batch.records, batch.written))

    def until(self, time: int | None) -> None:
        """Write what has waited and was written before a time, or all of it."""
        if not self._waiting.records:
            return
        written, records = np.concatenate(self._waiting.written), self._waiting.records
        order = np.argsort(written, kind="stable")
        count = len(order) if time is None else int(np.searchsorted(written[order], time))
        now, later = order[:count].tolist(), order[count:]
        self._writer.take(records[at] for at in now)
        if now:
            self._last_us = int(written[now[-1]])
        self._waiting = Batch([records[at] for at in later.tolist()], [written[later]])

    def answers(self) -> dict[str, Any]:
        """What is in the file."""
        return {
            "sha256": self._file.sha256,
            "bytes": self._file.count,
            "records": self.tally.records,
            "records_by_type": positive(self.tally.types),
            "rows_by_table": positive(self.tally.tables),
        }

    def _plain(self, record_type: int) -> None:
        """The header or trailer that the dump program writes."""
        systems, times = np.array([self._system]), np.array([self._last_us])
        columns = {
            "system": pick(self._scene.names, systems),
            "written_local": local(self._scene.local_us(systems, times)),
        }
        self.tally.count(str(record_type), systems, times)
        self._writer.take(plain_records(record_type, columns, 1))
