"""The structures that the formatter prints: columns, kinds of values and widths.

Columns are recognised by name, never by position: releases of the formatter have added some in the middle.
The order here is that of the newest release, for the writer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from typing import TYPE_CHECKING

from zscope.parsers.text.mq_formatter.values import cells

if TYPE_CHECKING:
    from collections.abc import Iterable

_NOT_PLAIN = re.compile(r"[^0-9a-z]+")


class MqValueKind(Enum):
    """The ways in which a value is printed."""

    NUMBER = auto()
    TEXT = auto()
    """In quotes, padded with blanks to the width of the field."""
    HEX = auto()
    """Bytes as hexadecimal digits."""
    CIPHER = auto()
    WORD = auto()
    """A word for a number of a code table."""
    SPAN = auto()
    """Seconds and microseconds in CSV, microseconds alone in JSON."""
    MOMENT = auto()
    """Date and time of day, in the zone in which the formatter ran."""


@dataclass(frozen=True, slots=True)
class MqItem:
    """One value of a structure; a span and a moment are printed in two columns."""

    name: str
    kind: MqValueKind
    width: int = 0
    codes: str = ""
    """The code table of a word."""
    once: str = ""
    """The name in earlier releases of the formatter."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The columns in a CSV."""
        match self.kind:
            case MqValueKind.SPAN:
                return (f"{self.name}(S)", f"{self.name}(US)")
            case MqValueKind.MOMENT:
                return (f"{self.name} (DATE)", f"{self.name} (TIME)")
            case _:
                return (self.name,)


@dataclass(frozen=True, slots=True)
class Structure:
    """One block of a record; the formatter writes a CSV for each kind."""

    name: str
    table: str
    record: tuple[int, int]
    """Type and subtype."""
    items: tuple[MqItem, ...]
    """The values after date and time."""
    task_type: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return ("Date", "Time", *(part for item in self.items for part in item.parts))


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """Return a name in the form in which names are compared: CSV and JSON write it differently.

    >>> plain("Task_CPU_Time(US)"), plain("taskCpuTimeUs")
    ('taskcputimeus', 'taskcputimeus')
    """
    return _NOT_PLAIN.sub("", name.lower())


def json_key(name: str) -> str:
    """Return the name of a column in JSON.

    >>> json_key("SSL_CipherSuite"), json_key("Interval_Start (DATE)")
    ('sslCiphersuite', 'intervalStartDate')
    """
    first, *others = [part for part in re.split(r"[ _(){}.]+", name) if part]
    return first.lower() + "".join(part.capitalize() for part in others)


def _numbers(*names: str) -> tuple[MqItem, ...]:
    return tuple(MqItem(name, MqValueKind.NUMBER) for name in names)


_LEAD = (
    MqItem("LPAR", MqValueKind.TEXT, 4),
    MqItem("QMgr", MqValueKind.TEXT, 4),
    MqItem("QSG", MqValueKind.TEXT, 4),
    MqItem("MQ_Version", MqValueKind.TEXT),
)
_INTERVAL = (MqItem("Interval_Start", MqValueKind.MOMENT), MqItem("Interval_Duration", MqValueKind.NUMBER))
_TASK = (
    *_LEAD,
    *_INTERVAL,
    *_numbers("Task_Number", "Task_Index", "Request_Count"),
    *(MqItem(f"Task_{part}_Time", MqValueKind.SPAN) for part in ("CPU", "Elapsed", "Wait")),
)


def _longest(kind: str) -> tuple[MqItem, ...]:
    name = f"Max_{kind}_Request"
    return MqItem(f"{name}_Time", MqValueKind.MOMENT), MqItem(f"{name}_Duration", MqValueKind.SPAN)


CHANNEL = Structure(
    "QCST", "mq_channel", (116, 10),
    (
        *_LEAD,
        MqItem("Collection_Time", MqValueKind.MOMENT),
        MqItem("Chl_Name", MqValueKind.TEXT, 20),
        MqItem("Disposition", MqValueKind.WORD, codes="mq_disposition"),
        MqItem("Type", MqValueKind.WORD, codes="mq_channel_type"),
        MqItem("Status", MqValueKind.WORD, codes="mq_channel_state"),
        MqItem("Stat_Setting", MqValueKind.WORD, codes="mq_monitoring"),
        MqItem("Connection_Name", MqValueKind.TEXT, 48),
        MqItem("Start", MqValueKind.MOMENT),
        MqItem("Stop", MqValueKind.MOMENT),
        MqItem("Last_Msg", MqValueKind.MOMENT),
        *_numbers(
            "BatchSize", "Msg_All_Count", "Msg_Persistent_Count", "Batches", "Full_Batches", "Buffers_Sent",
            "Buffers_Rcvd", "Current_Shared_Convs", "Number_Bytes", "Number_Persistent_Bytes", "Bytes_Sent",
            "Bytes_Received", "Compression_Rate", "Exit_Time_Avg", "Exit_Time_Min", "Exit_Time_Max",
        ),
        MqItem("Exit_Time_Max_Date", MqValueKind.MOMENT),
        *_numbers("DNS_Resolution_Time", "Net_Time_Avg", "Net_Time_Min", "Net_Time_Max"),
        MqItem("Net_Time_Max_Date", MqValueKind.MOMENT),
        MqItem("Remote_QMgr_Or_App", MqValueKind.TEXT, 48),
        MqItem("SSL_Peer_Serial", MqValueKind.HEX, 16),
        MqItem("SSL_CERTI", MqValueKind.TEXT, 16),
        MqItem("SSL_CipherSuite", MqValueKind.CIPHER),
        *_numbers(
            "Put_Retry_Count", "XmitQ_Empty_Count", "Batch_Interval", "Batch_Data_Limit", "Dispatcher_Number"
        ),
        MqItem("Remote_Product_ID", MqValueKind.TEXT, 4),
        MqItem("Remote_Product_Version", MqValueKind.TEXT, 8),
    ),
)  # fmt: skip
INITIATOR = Structure(
    "QCCT", "mq_channel_initiator", (115, 231),
    (
        *_LEAD,
        *_INTERVAL,
        MqItem("Job_Name", MqValueKind.TEXT, 8),
        MqItem("QSG_Name", MqValueKind.TEXT, 4),
        *_numbers(
            "Current_Chl_High_Water", "Current_Chl_Max", "Active_Chl_High_Water", "Active_Chl_Max",
            "Max_TCP_Chl", "Max_LU62_Chl",
        ),
        MqItem("Storage_Usage_31", MqValueKind.NUMBER, once="Storage_Usage"),
        *_numbers("Storage_Usage_64", "Storage_Limit_64"),
    ),
)  # fmt: skip


def _tasks(name: str, task_type: str, more: tuple[MqItem, ...] = ()) -> Structure:
    return Structure(name, "mq_task", (115, 231), (*_TASK, *more), task_type)


ADAPTER = _tasks("QCTADP", "adapter")
"""The structure with only the columns of all tasks."""
_MARKED = {
    "chlname": CHANNEL,
    "currentchlmax": INITIATOR,
    "taskchannelcount": _tasks("QCTDSP", "dispatcher", _numbers("Task_Channel_Count")),
    "maxsslrequestdurationus": _tasks("QCTSSL", "SSL", _longest("SSL")),
    "maxdnsrequestdurationus": _tasks("QCTDNS", "DNS", _longest("DNS")),
    "taskelapsedtimeus": ADAPTER,
}
"""The structure by the first of these columns that occurs."""
STRUCTURES = {structure.name: structure for structure in _MARKED.values()}
_ALWAYS = frozenset({"date", "time", "lpar", "qmgr"})
"""Columns with which all MQ structures begin."""
_LONGEST_HEADING = 20_000
"""The names of the largest structure have thousands of characters."""


def names_structure(text: str) -> bool:
    """Return whether a line names the columns of a structure, also of one that zscope does not read.

    >>> names_structure("Date,Time,LPAR,QMgr,MQ_Version,Chl_Name,"), names_structure("system,start,end")
    (True, False)
    """
    if text.count(",") < len(_ALWAYS) or len(text) > _LONGEST_HEADING or "lpar" not in text.lower():
        return False
    names = set(map(plain, text.split(",")))
    return names >= _ALWAYS and ("mqversion" in names or structure_of(names) is not None)


def may_be_block(heading: str, text: str) -> bool:
    """Return whether a line can be a block with these columns.

    >>> may_be_block("Date,Time,LPAR,", "2026/03/02,08:30:00,SYSA,"), may_be_block("Date,Time,LPAR", "a,b")
    (True, False)
    """
    if not text.lstrip('=" ')[:1].isdecimal():
        return False
    values = cells(text)
    return values is not None and len(values) == len(heading.split(","))


def structure_of(names: Iterable[str]) -> Structure | None:
    """Return the structure with these columns, given in the form in which names are compared, or None."""
    present = frozenset(names)
    return next((structure for mark, structure in _MARKED.items() if mark in present), None)
