"""Rows of NETSTAT CONN with IPv4 addresses, whose columns are split over many rows at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from zscope.parsers.text.codecs import IPV4
from zscope.parsers.text.netstat.sockets import state_name

if TYPE_CHECKING:
    from zscope.parsers.text.captured_report import RowStretch

_SOCKET = r"(?:\*|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})\.\.(?:\*|\d{1,5})"
PLAIN_ROW = re.compile(
    rf"[A-Z@][A-Z0-9@#$]{{0,7}} +[0-9A-Fa-f]{{8}} +{_SOCKET} +{_SOCKET} +[A-Za-z][A-Za-z0-9_-]{{0,11}} *",
    re.ASCII,
)
"""A row that is nothing else: no prompt, message, log record or heading looks like it."""
_WORDS = 5
_ID_WIDTH = 8
_MOST_PORT = 0xFFFF


def columns_of(rows: RowStretch, id_column: int | None) -> dict[str, pa.Array] | None:
    """Return the decoded columns of the rows; None if a value is invalid or unknown, or an id is not in
    its column.
    """
    words = rows.text.split()
    numbers, states = words[1::_WORDS], words[4::_WORDS]
    (local_ip, local_port), (remote_ip, remote_port) = (_parts(words[at::_WORDS]) for at in (2, 3))
    if id_column is not None:
        end = id_column + _ID_WIDTH
        if [text[id_column:end] for text in rows.text.split("\n")] != numbers:
            return None
    if not all(map(_is_address, {*local_ip, *remote_ip})):
        return None
    ports = [_with_nulls(texts).cast(pa.int32()) for texts in (local_port, remote_port)]
    if max(pc.max(port).as_py() or 0 for port in ports) > _MOST_PORT:
        return None
    names = {word: state_name(word) for word in {*states}}
    if None in names.values():
        return None
    return {
        "job_name": pa.array(words[::_WORDS]),
        "connection_id": pa.array([int(digits, 16) for digits in numbers]),
        "local_ip": _with_nulls(local_ip),
        "local_port": ports[0],
        "remote_ip": _with_nulls(remote_ip),
        "remote_port": ports[1],
        "state": pa.array(states),
        "state_name": pa.array([names[word] for word in states], pa.string()),
    }


def _parts(sockets: list[str]) -> tuple[list[str], list[str]]:
    """Return the addresses and the ports of sockets."""
    parts = " ".join(sockets).replace("..", " ").split()
    return parts[::2], parts[1::2]


def _is_address(text: str) -> bool:
    return text == _NO_VALUE or IPV4.fullmatch(text) is not None


_NO_VALUE = "*"


def _with_nulls(texts: list[str]) -> pa.Array:
    """Return the texts; those without a value are null."""
    if _NO_VALUE not in texts:
        return pa.array(texts)
    return pa.array([None if text == _NO_VALUE else text for text in texts], pa.string())
