"""What the formatter prints for each structure: its columns, what kind of value each has, and how wide it is.

Columns are told by their names, never by their place: releases of the formatter have added some in the
middle. The order here is the one of the newest release, for the writer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

_NOT_PLAIN = re.compile(r"[^0-9a-z]+")


class Kind(Enum):
    """How a value is printed."""

    NUMBER = auto()
    TEXT = auto()
    """In quotes, padded with blanks to the width of the field."""
    HEX = auto()
    """Bytes as hexadecimal digits."""
    CIPHER = auto()
    WORD = auto()
    """A word that stands for a number of a code table."""
    SPAN = auto()
    """Seconds and microseconds in CSV, microseconds alone in JSON."""
    MOMENT = auto()
    """Date and time of day, in the zone in which the formatter ran."""


@dataclass(frozen=True, slots=True)
class Item:
    """One value; a span and a moment are printed in two columns."""

    name: str
    kind: Kind
    width: int = 0
    codes: str = ""
    """Of a word: the table of its numbers."""
    once: str = ""
    """What earlier releases of the formatter called it."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The columns of a CSV."""
        match self.kind:
            case Kind.SPAN:
                return (f"{self.name}(S)", f"{self.name}(US)")
            case Kind.MOMENT:
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
    items: tuple[Item, ...]
    """Behind date and time."""
    task_type: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return ("Date", "Time", *(part for item in self.items for part in item.parts))


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """A name as names are compared: CSV and JSON write the same one differently.

    >>> plain("Task_CPU_Time(US)"), plain("taskCpuTimeUs")
    ('taskcputimeus', 'taskcputimeus')
    """
    return _NOT_PLAIN.sub("", name.lower())


def json_key(name: str) -> str:
    """What the formatter calls a column in JSON.

    >>> json_key("SSL_CipherSuite"), json_key("Interval_Start (DATE)")
    ('sslCiphersuite', 'intervalStartDate')
    """
    first, *others = [part for part in re.split(r"[ _(){}.]+", name) if part]
    return first.lower() + "".join(part.capitalize() for part in others)


def _numbers(*names: str) -> tuple[Item, ...]:
    return tuple(Item(name, Kind.NUMBER) for name in names)


_LEAD = (
    Item("LPAR", Kind.TEXT, 4),
    Item("QMgr", Kind.TEXT, 4),
    Item("QSG", Kind.TEXT, 4),
    Item("MQ_Version", Kind.TEXT),
)
_INTERVAL = (Item("Interval_Start", Kind.MOMENT), Item("Interval_Duration", Kind.NUMBER))
_TASK = (
    *_LEAD,
    *_INTERVAL,
    *_numbers("Task_Number", "Task_Index", "Request_Count"),
    *(Item(f"Task_{part}_Time", Kind.SPAN) for part in ("CPU", "Elapsed", "Wait")),
)


def _longest(kind: str) -> tuple[Item, ...]:
    name = f"Max_{kind}_Request"
    return Item(f"{name}_Time", Kind.MOMENT), Item(f"{name}_Duration", Kind.SPAN)


CHANNEL = Structure(
    "QCST", "mq_channel", (116, 10),
    (
        *_LEAD,
        Item("Collection_Time", Kind.MOMENT),
        Item("Chl_Name", Kind.TEXT, 20),
        Item("Disposition", Kind.WORD, codes="mq_disposition"),
        Item("Type", Kind.WORD, codes="mq_channel_type"),
        Item("Status", Kind.WORD, codes="mq_channel_state"),
        Item("Stat_Setting", Kind.WORD, codes="mq_monitoring"),
        Item("Connection_Name", Kind.TEXT, 48),
        Item("Start", Kind.MOMENT),
        Item("Stop", Kind.MOMENT),
        Item("Last_Msg", Kind.MOMENT),
        *_numbers(
            "BatchSize", "Msg_All_Count", "Msg_Persistent_Count", "Batches", "Full_Batches", "Buffers_Sent",
            "Buffers_Rcvd", "Current_Shared_Convs", "Number_Bytes", "Number_Persistent_Bytes", "Bytes_Sent",
            "Bytes_Received", "Compression_Rate", "Exit_Time_Avg", "Exit_Time_Min", "Exit_Time_Max",
        ),
        Item("Exit_Time_Max_Date", Kind.MOMENT),
        *_numbers("DNS_Resolution_Time", "Net_Time_Avg", "Net_Time_Min", "Net_Time_Max"),
        Item("Net_Time_Max_Date", Kind.MOMENT),
        Item("Remote_QMgr_Or_App", Kind.TEXT, 48),
        Item("SSL_Peer_Serial", Kind.HEX, 16),
        Item("SSL_CERTI", Kind.TEXT, 16),
        Item("SSL_CipherSuite", Kind.CIPHER),
        *_numbers(
            "Put_Retry_Count", "XmitQ_Empty_Count", "Batch_Interval", "Batch_Data_Limit", "Dispatcher_Number"
        ),
        Item("Remote_Product_ID", Kind.TEXT, 4),
        Item("Remote_Product_Version", Kind.TEXT, 8),
    ),
)  # fmt: skip
INITIATOR = Structure(
    "QCCT", "mq_channel_initiator", (115, 231),
    (
        *_LEAD,
        *_INTERVAL,
        Item("Job_Name", Kind.TEXT, 8),
        Item("QSG_Name", Kind.TEXT, 4),
        *_numbers(
            "Current_Chl_High_Water", "Current_Chl_Max", "Active_Chl_High_Water", "Active_Chl_Max",
            "Max_TCP_Chl", "Max_LU62_Chl",
        ),
        Item("Storage_Usage_31", Kind.NUMBER, once="Storage_Usage"),
        *_numbers("Storage_Usage_64", "Storage_Limit_64"),
    ),
)  # fmt: skip


def _tasks(name: str, task_type: str, more: tuple[Item, ...] = ()) -> Structure:
    return Structure(name, "mq_task", (115, 231), (*_TASK, *more), task_type)


ADAPTER = _tasks("QCTADP", "adapter")
"""Has nothing of its own: what the columns of a task are where no other structure has more."""
_MARKED = {
    "chlname": CHANNEL,
    "currentchlmax": INITIATOR,
    "taskchannelcount": _tasks("QCTDSP", "dispatcher", _numbers("Task_Channel_Count")),
    "maxsslrequestdurationus": _tasks("QCTSSL", "SSL", _longest("SSL")),
    "maxdnsrequestdurationus": _tasks("QCTDNS", "DNS", _longest("DNS")),
    "taskelapsedtimeus": ADAPTER,
}
"""The first of these columns that is there tells the structure."""
STRUCTURES = {structure.name: structure for structure in _MARKED.values()}
_ALWAYS = frozenset({"date", "time", "lpar", "qmgr"})
"""Columns that all MQ structures begin with."""
_LONGEST_HEADING = 20_000
"""The largest structure has thousands of characters of names."""


def names_structure(text: str) -> bool:
    """Whether a line names the columns of a structure, one of ours or another.

    >>> names_structure("Date,Time,LPAR,QMgr,MQ_Version,Chl_Name,"), names_structure("system,start,end")
    (True, False)
    """
    if text.count(",") < len(_ALWAYS) or len(text) > _LONGEST_HEADING or "lpar" not in text.lower():
        return False
    found = set(map(plain, text.split(",")))
    return found >= _ALWAYS and ("mqversion" in found or structure_of(found) is not None)


def structure_of(names: Iterable[str]) -> Structure | None:
    """The structure that has these columns, given as they are compared."""
    found = frozenset(names)
    return next((structure for mark, structure in _MARKED.items() if mark in found), None)
