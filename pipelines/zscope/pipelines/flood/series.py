"""The curves of a flood as rows, sampled at the same moments for every mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.pipelines.flood.parameters import MOST_SAMPLES, USUAL_SAMPLES, FloodError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.pipelines.flood.trace import Trace


def series(traces: Iterable[Trace], samples: int = USUAL_SAMPLES) -> pa.Table:
    """So many steps from the begin of the burst to the end of the longest, and a row for each end of one."""
    if not 1 <= samples <= MOST_SAMPLES:
        raise FloodError(f"samples: {samples} is not between 1 and {MOST_SAMPLES:,}")
    played = list(traces)
    moments = np.linspace(0, max(trace.elapsed_s for trace in played), samples + 1)
    return pa.concat_tables(
        pa.table(
            {
                "mode": pa.array([str(trace.mode)] * len(moments), pa.string()),
                "since_start_s": moments,
                "ecbs_in_use": trace.ecbs.at(moments),
                "threads_in_use": trace.threads.at(moments),
                "sessions_started": trace.completed.at(moments),
                "waiting": trace.waiting.at(moments),
                "basis": pa.array(["model"] * len(moments), pa.string()),
            }
        )
        for trace in played
    )
