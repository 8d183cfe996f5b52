"""The options of `format("smf")`: texts that become a selection, `ReadOptions` and a size of ranges."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa

from zscope.parsers.api import selected_schema
from zscope.parsers.issues import ISSUE_SCHEMA
from zscope.parsers.options import ReadOptions, Selection, SelectionError, parse
from zscope.parsers.planning import RANGE_BYTES
from zscope.parsers.smf.framing import Framing
from zscope.schemas.arrow import in_stored_types
from zscope.schemas.errors import Error
from zscope.schemas.suggestions import suggestion
from zscope.schemas.tables import table_names

if TYPE_CHECKING:
    from collections.abc import Mapping

ISSUE_TABLE = "smf_issue"
"""What could not be read: the issues, as rows."""
PATHS = ("path", "paths")
READING = ("system", "taken", "code_page", "framing", "run", "mapping", "time_format", "formatter_zone")
"""Options with the names of `ReadOptions`."""
OPTIONS = ("table", "select", *READING, "range_bytes", "jobs", "refused", "pushdown")

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


class SparkOptionError(Error, ValueError):
    """An option, a path or a schema that `format("smf")` cannot use."""


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """What one frame reads."""

    table: str
    selection: Selection
    options: ReadOptions
    paths: tuple[str, ...]
    range_bytes: int = RANGE_BYTES
    refuse: bool = True
    """Whether a named file that cannot be used ends the query."""
    pushdown: bool = False
    """Whether filters are evaluated while files are read."""

    @property
    def schema(self) -> pa.Schema:
        """Return the columns of the table in the types of the store, all of them nullable."""
        if self.table == ISSUE_TABLE:
            schema = ISSUE_SCHEMA
        else:
            schema = selected_schema(self.table, self.selection.columns[self.table])
        return pa.schema([field.with_nullable(nullable=True) for field in in_stored_types(schema)])


def settings(given: Mapping[str, str]) -> SparkSettings:
    """Return the settings of the options that a user gave, or raise an error that names the wrong one.

    >>> settings({"table": "smf_issue", "path": "a.smf", "range_bytes": "64m"}).range_bytes
    67108864
    >>> settings({"table": "smf70_cpus", "path": "a.smf"})
    Traceback (most recent call last):
    ...
    zscope.parsers.spark.spark_options.SparkOptionError: table='smf70_cpus': there is no table 'smf70_cpus'; \
did you mean smf70_cpu, smf70_icsf or smf70_cpu_type?
    """
    known = {name.lower(): text for name, text in given.items()}
    for name in known:
        if name not in {*OPTIONS, *PATHS}:
            hint = suggestion(name, OPTIONS, f"it has {', '.join(OPTIONS)}")
            raise SparkOptionError(f"format smf has no option {name!r}; {hint}")
    table, selection = _table(known)
    return SparkSettings(
        table,
        selection,
        _read_options(known),
        _paths(known),
        _bytes(known.get("range_bytes")),
        _choice(known, "refused", {"fail": True, "skip": False}),
        _choice(known, "pushdown", {"false": False, "true": True}),
    )


def _table(known: Mapping[str, str]) -> tuple[str, Selection]:
    if not (text := known.get("table", "").strip()):
        raise SparkOptionError(
            'option table is missing; name one, for example option("table", "smf119_zert_detail"); '
            f"{ISSUE_TABLE} has what could not be read"
        )
    if text.lower() == ISSUE_TABLE:
        return ISSUE_TABLE, _selection("select", known.get("select"))
    if "select" in known:
        raise SparkOptionError(
            f"option select is for table {ISSUE_TABLE}; for rows, table names what is read"
        )
    selection = _selection("table", text)
    if len(selection.tables) != 1:
        raise SparkOptionError(f"table={text!r} selects {len(selection.tables)} tables; name one")
    return selection.tables[0], selection


def _selection(option: str, text: str | None) -> Selection:
    try:
        return parse(text)
    except SelectionError as error:
        name = (text or "").strip()
        near = suggestion(name, [*table_names(), ISSUE_TABLE], "")
        hint = f"; {near}" if near and near not in str(error) else ""
        raise SparkOptionError(f"{option}={text!r}: {error}{hint}") from None


def _read_options(known: Mapping[str, str]) -> ReadOptions:
    jobs = known.get("jobs", "1")
    if not jobs.isdigit():
        raise SparkOptionError(f"jobs={jobs!r}: a number of threads of each task is needed, such as 1")
    try:
        return ReadOptions(
            system=known.get("system"),
            taken=_moment(known.get("taken")),
            code_page=known.get("code_page", "1047"),
            framing=Framing(known["framing"]) if "framing" in known else None,
            run=known.get("run"),
            mapping=json.loads(known.get("mapping", "{}")),
            time_format=known.get("time_format"),
            formatter_zone=known.get("formatter_zone"),
            # A task has one processor.
            jobs=int(jobs),
        )
    except ValueError as error:
        given = ", ".join(f"{name}={known[name]!r}" for name in ("jobs", *READING) if name in known)
        raise SparkOptionError(f"{given}: {error}") from None


def _moment(text: str | None) -> date | datetime | None:
    if text is None:
        return None
    return date.fromisoformat(text) if len(text) <= len("2026-03-02") else datetime.fromisoformat(text)


def _paths(known: Mapping[str, str]) -> tuple[str, ...]:
    """Spark passes one path as `path`, several as a list in JSON."""
    listed = json.loads(known["paths"]) if "paths" in known else []
    paths = [*([known["path"]] if known.get("path") else []), *listed]
    if not paths:
        raise SparkOptionError("no path is named: load(path) or load([path, path]) names files or folders")
    return tuple(_local(path) for path in paths)


def _local(path: str) -> str:
    """Return an absolute path: the working directory of executors is another one."""
    scheme = _SCHEME.match(path)
    if scheme is not None and scheme[1].lower() == "file":
        rest = path[scheme.end() :]
        path = unquote(rest.removeprefix("//") if rest.startswith("///") else rest)
    elif scheme is not None and not Path(path).exists():
        raise SparkOptionError(
            f"{path}: zscope reads files of a file system that driver and executors see under the same path, "
            f"and not {scheme[1]}:; mount it, or copy the files"
        )
    return str(Path(path).absolute())


def _bytes(text: str | None) -> int:
    if text is None:
        return RANGE_BYTES
    size = re.fullmatch(r"(\d+)\s*([kmg]?)b?", text.strip().lower())
    if size is None or not int(size[1]):
        raise SparkOptionError(f"range_bytes={text!r}: a size such as 256m or 268435456 is needed")
    return int(size[1]) * _UNITS[size[2]]


def _choice(known: Mapping[str, str], name: str, choices: dict[str, bool]) -> bool:
    text = known.get(name, next(iter(choices)))
    if text.lower() not in choices:
        raise SparkOptionError(f"{name}={text!r} is not one of {', '.join(choices)}")
    return choices[text.lower()]
