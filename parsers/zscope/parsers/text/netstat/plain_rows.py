"""Rows of NETSTAT CONN in both forms, whose columns are split over many rows at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from zscope.parsers.text.netstat.sockets import state_name
from zscope.parsers.text.report_family import PlainRow
from zscope.parsers.text.report_rows import decoded_columns

if TYPE_CHECKING:
    from zscope.parsers.text.captured_report import RowStretch

_NAME_AND_ID = r"[A-Z@][A-Z0-9@#$]{0,7} +[0-9A-Fa-f]{8}"
_IPV6 = r"[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:]{1,35}(?:\.\d{1,3}\.\d{1,3}\.\d{1,3})?"
_SOCKET = rf"(?:\d{{1,3}}\.\d{{1,3}}\.\d{{1,3}}\.\d{{1,3}}|\*|{_IPV6})\.\.(?:\*|\d{{1,5}})"
_STATE = r"[A-Za-z][A-Za-z0-9_-]{0,11}"
_ID_WIDTH = 8


class ConnForm(NamedTuple):
    """A form of the rows, with the numbers of their words."""

    row: PlainRow
    words: int
    local: int
    remote: int
    state: int


_SHORT = ConnForm(
    PlainRow(re.compile(rf"{_NAME_AND_ID} +{_SOCKET} +{_SOCKET} +{_STATE} *", re.ASCII)),
    words=5,
    local=2,
    remote=3,
    state=4,
)
_LONG = ConnForm(
    PlainRow(
        re.compile(
            rf"{_NAME_AND_ID} +{_STATE} *\n +(?i:Local Socket): +{_SOCKET} *"
            rf"\n +(?i:Foreign Socket): +{_SOCKET} *",
            re.ASCII,
        ),
        lines=3,
    ),
    words=9,
    local=5,
    remote=8,
    state=2,
)
CONN_FORMS = {5: _SHORT, 3: _LONG}
"""The forms by the number of words in the first line of a row."""


def columns_of(rows: RowStretch, form: ConnForm, id_column: int | None) -> dict[str, pa.Array] | None:
    """Return the decoded columns of the rows; None if a value is invalid or unknown, or an id is not in
    its column.
    """
    words = rows.text.split()
    numbers, states = words[1 :: form.words], words[form.state :: form.words]
    if id_column is not None:
        end = id_column + _ID_WIDTH
        if [text[id_column:end] for text in rows.text.split("\n")[:: form.row.lines]] != numbers:
            return None
    names = {word: state_name(word) for word in {*states}}
    (local_ip, local_port), (remote_ip, remote_port) = (
        _parts(words[at :: form.words]) for at in (form.local, form.remote)
    )
    decoded = decoded_columns(
        "netstat_conn",
        {
            "job_name": words[:: form.words],
            "local_ip": local_ip,
            "local_port": local_port,
            "remote_ip": remote_ip,
            "remote_port": remote_port,
            "state": states,
        },
    )
    if decoded is None or None in names.values():
        return None
    decoded["connection_id"] = pa.array([int(digits, 16) for digits in numbers])
    decoded["state_name"] = pa.array([names[word] for word in states], pa.string())
    return decoded


def _parts(sockets: list[str]) -> tuple[list[str], list[str]]:
    """Return the addresses and the ports of sockets."""
    parts = " ".join(sockets).replace("..", " ").split()
    return parts[::2], parts[1::2]
