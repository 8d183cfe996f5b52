"""TN3270E session records (type 119 subtypes 20 and 21)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zscope.samples.dump.assemble import SmfBatch
from zscope.samples.dump.site import FIRST_PARTNERS, PARTNERS

if TYPE_CHECKING:
    from zscope.samples.dump.arrays import Numbers
    from zscope.samples.dump.context import RecordContext

MEAN_SESSION_US = 1_200_000_000


def telnet_sessions(
    context: RecordContext, rng: np.random.Generator, started: Numbers, ended: Numbers
) -> SmfBatch:
    """Generate records of sessions that start and that end at these times; as far as possible the same
    sessions.
    """
    count = max(len(started), len(ended))
    sessions = {
        "system": rng.integers(0, len(context.names), count),
        "partner": rng.integers(FIRST_PARTNERS, PARTNERS, count),
        "port": rng.integers(1024, 65_000, count),
        "draw": rng.integers(0, 1_000, count),
    }
    lasted = 1_000_000 + rng.exponential(MEAN_SESSION_US, count).astype(np.int64)
    both = min(len(started), len(ended))
    first, last = np.sort(started), np.sort(ended)
    begins = last - lasted[: len(last)]
    begins[:both] = np.minimum(first[:both], last[:both])
    batch = SmfBatch()
    for name, subtype, starts, written in (("init", 20, first, first), ("term", 21, begins, last)):
        these = {column: values[: len(written)] for column, values in sessions.items()}
        path = f"dump/records/tn3270_{name}.toml"
        batch.extend(context.make(path, subtype, {**these, "start": starts}, written))
    return batch
