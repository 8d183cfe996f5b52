"""The reports of Performance Toolkit that are read, and the words over their columns.

No listing is published, so a column is known by its word in the last heading line and by what stands above
that, and in no other way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Choice:
    """A word that may stand over several columns; what stands above it decides."""

    columns: tuple[tuple[str, frozenset[str]], ...]
    """Columns of the table in their usual order, each with words above it that only it has."""
    alone: bool = False
    """Whether it is the first of these columns when it is there once, whatever stands above it."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of report."""

    title: str
    table: str
    headings: re.Pattern[str]
    """Is found in the last heading line."""
    headings_shown: str
    """The same for messages."""
    key: str
    """Column with what a row is about, which is the first word of its line."""
    key_shape: re.Pattern[str]
    words: Mapping[str, str]
    """Columns by words that no other column has, in capitals."""
    choices: Mapping[str, Choice]
    required: tuple[str, ...]
    """Columns without which a row says nothing."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Columns that hold no numbers by their words, with their name in the table or none."""


_SYSTEM, _OWN = frozenset({"SYSTEM"}), frozenset({"OWN", "PARTITION"})

USER = Kind(
    title="USER",
    table="zvm_user",
    headings=re.compile(r"[01+-]? *Userid(?!\S)", re.ASCII | re.IGNORECASE),
    headings_shown="Userid ... TCPU",
    key="userid",
    key_shape=re.compile(r"[A-Z0-9@#$_:+-]{1,8}", re.ASCII),
    words={"%CPU": "cpu_pct", "TCPU": "tcpu_s", "VCPU": "vcpu_s"},
    choices={
        "RATIO": Choice((("tv_ratio", frozenset({"T/V"})),), alone=True),
        "TOTAL": Choice((("virtual_io_per_s", frozenset({"VIRTUAL", "VIRT", "VIRT."})),)),
    },
    required=("tcpu_s",),
    texts={"USER STATUS": "", "STATUS": ""},
)
CHANNEL = Kind(
    title="FCHANNEL",
    table="zvm_channel",
    headings=re.compile(
        r"(?=.{0,400}(?<!\S)Write/s(?!\S))(?=.{0,400}(?<!\S)Read/s(?!\S))", re.ASCII | re.IGNORECASE
    ),
    headings_shown="ID Shrd ... Write/s Read/s",
    key="chpid",
    key_shape=re.compile(r"[0-9A-F]{2}", re.ASCII | re.IGNORECASE),
    words={"CYCLE": "bus_cycle_pct", "WRITE/S": "write_bytes_per_s", "READ/S": "read_bytes_per_s"},
    choices={
        "UNITS": Choice((("work_units_pct", _SYSTEM), ("own_work_units_pct", _OWN))),
        "WRITE": Choice((("data_write_pct", _SYSTEM), ("own_data_write_pct", _OWN))),
        "READ": Choice((("data_read_pct", _SYSTEM), ("own_data_read_pct", _OWN))),
    },
    required=("write_bytes_per_s", "read_bytes_per_s"),
    texts={"SHRD": "shared"},
)
KINDS = {"112": USER, "215": CHANNEL}
"""By the number of the report."""
