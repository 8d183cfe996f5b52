"""The address space section of RMF CPU records: samples of queues, summed up and as distributions.

Column names of the layout say what each number counts, for instance `batch_samples_3_4` or
`work_unit_samples_n_plus_151_up`, so the bins are taken from them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from zscope.schemas.arrow import arrow_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.parsers.synthetic.batch import Numbers
    from zscope.schemas import Section

_BIN = re.compile(r"(?P<queue>\w+?)_samples_(?P<above>n(?:_plus)?_?)?(?P<low>\d+)?(?:_(?P<high>\d+|up))?")
_TYPICAL = {
    "in_ready": 3, "in": 60, "out_ready": 0, "out_wait": 0, "batch": 6, "started_task": 180, "tso": 9,
    "logical_out_ready": 1, "logical_out_wait": 120, "asch": 0, "omvs": 14,
    "cp_work_units": 4, "zaap_work_units": 0, "ziip_work_units": 1,
}  # fmt: skip
_NO_END = 1 << 40
_COUNTED_FROM = {"queue": "in_ready", "work_unit": "cp_work_units"}
"""Distributions that say how far a queue was above the number of processors."""


def queue_columns(
    section: Section, rngs: Sequence[np.random.Generator], samples: int, processors: int
) -> dict[str, pa.Array]:
    """All columns of the section, with a row for each source of random numbers."""
    drawn = {
        queue: np.stack([rng.poisson(mean, samples) for rng in rngs]) for queue, mean in _TYPICAL.items()
    }
    return {
        field.column: pa.array(_values(field.column, drawn, processors), arrow_type(field))
        for field in section.columns
    }


def _values(column: str, drawn: dict[str, Numbers], processors: int) -> Numbers:
    rows, samples = drawn["in"].shape
    if column == "srm_sample_count":
        return np.full(rows, samples)
    for ending, summary in (("_minimum", np.min), ("_maximum", np.max), ("_total", np.sum)):
        queue = column.removesuffix(ending)
        if queue != column and queue in drawn:
            result: Numbers = summary(drawn[queue], axis=1)
            return result
    found = _BIN.fullmatch(column)
    if found is None:
        return np.zeros(rows, np.int64)
    counts = drawn[_COUNTED_FROM.get(found["queue"], found["queue"])]
    low = int(found["low"] or 0)
    if found["above"]:
        counts = np.maximum(counts - processors, 0)
    high = _NO_END if found["high"] == "up" else int(found["high"] or low)
    inside: Numbers = ((counts >= low) & (counts <= high)).sum(axis=1)
    return inside
