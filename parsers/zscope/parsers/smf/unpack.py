"""A dump rewritten as the plainest thing it can be: records with length words, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import numpy as np

if TYPE_CHECKING:
    from zscope.parsers.smf.frames import Window


def write_plain(window: Window, out: BinaryIO) -> int:
    """Write the records of a window as an RDW stream; returns the number of bytes.

    Records that follow each other in the buffer and need no change are written in one go.
    """
    lengths = window.lengths
    words = window.data[window.starts].astype(np.int64) << 8 | window.data[window.starts + 1]
    unchanged = words == lengths
    follows = np.zeros(len(lengths), np.bool_)
    follows[1:] = (window.starts[1:] == window.starts[:-1] + lengths[:-1]) & unchanged[1:] & unchanged[:-1]
    for first, last in _runs(follows):
        begin = int(window.starts[first])
        end = int(window.starts[last] + lengths[last])
        if unchanged[first]:
            out.write(window.data[begin:end].data)
        else:
            out.write((end - begin).to_bytes(2, "big") + b"\0\0")
            out.write(window.data[begin + 4 : end].data)
    return int(lengths.sum())


def _runs(follows: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[tuple[int, int]]:
    """First and last index of each run of records that follow each other."""
    firsts = np.flatnonzero(~follows)
    lasts = np.append(firsts[1:], len(follows)) - 1
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))
