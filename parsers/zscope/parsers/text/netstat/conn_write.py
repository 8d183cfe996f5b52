"""Writes NETSTAT CONN as TSO, the shell and the console print it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from zscope.parsers.text.netstat.heading_write import Command, reply_lines
from zscope.parsers.text.netstat.sockets_write import printed_socket

_SHORT = "User Id  Conn     Local Socket           Foreign Socket         State"
_LONG = "User Id  Conn     State"
_TITLE = re.compile(r"[^ ]+(?: [^ ]+)*")


def conn_lines(
    rows: Iterable[Mapping[str, Any]],
    command: Command | None = None,
    *,
    long: bool = False,
    mapped: bool = False,
    of: int | None = None,
) -> list[str]:
    """The report with these connections; each has a job name, an id and a state.

    `long` is the form of stacks with IPv6, `mapped` prints IPv4 as such a stack does for its IPv6 sockets;
    `of` is how many connections there would be on the console without a limit.
    """
    command = command or Command()
    rows = list(rows)
    titles = [_LONG if long else _SHORT]
    if not command.console:
        titles.append(_TITLE.sub(lambda title: "-" * len(title[0]), titles[0]))
    body = [line for row in rows for line in (_long(row, mapped=mapped) if long else _short(row))]
    return reply_lines(command, titles + body, len(rows), of)


def _short(row: Mapping[str, Any]) -> Iterator[str]:
    sockets = f"{printed_socket(row, 'local'):<22} {printed_socket(row, 'remote'):<22}"
    yield f"{row['job_name']:<8} {row['connection_id']:08X} {sockets} {row['state']}"
    yield from _application_data(row)


def _long(row: Mapping[str, Any], *, mapped: bool) -> Iterator[str]:
    yield f"{row['job_name']:<8} {row['connection_id']:08X} {row['state']}"
    yield f"  Local Socket:   {printed_socket(row, 'local', mapped=mapped)}"
    yield f"  Foreign Socket: {printed_socket(row, 'remote', mapped=mapped)}"
    yield from _application_data(row)


def _application_data(row: Mapping[str, Any]) -> Iterator[str]:
    if row.get("application_data"):
        yield f"  Application Data:  {row['application_data']}"
