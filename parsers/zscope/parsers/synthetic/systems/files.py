"""The files of the sample: dumps and formatter output of MQ, listings of z/VM, time series of z/TPF."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zscope.parsers.synthetic.reports.files import LABEL
from zscope.parsers.synthetic.systems.channels import UNITS_PER_US, QueueManager, round_trip_rows
from zscope.parsers.synthetic.systems.floods import samples
from zscope.parsers.synthetic.systems.links import channel_rows, user_rows
from zscope.parsers.synthetic.systems.plan import (
    declared,
    floods,
    link_cases,
    mq_run,
    round_trips,
    zone,
)
from zscope.parsers.synthetic.systems.records import dump
from zscope.parsers.text.dress import as_bytes, with_control
from zscope.parsers.text.mq_formatter.write import JSON_FILE, csv_files, json_lines
from zscope.parsers.text.supplied.write import supplied_lines
from zscope.parsers.text.zvm.channel_write import channel_pages
from zscope.parsers.text.zvm.table_write import Form
from zscope.parsers.text.zvm.user_write import user_pages

if TYPE_CHECKING:
    from zscope.parsers.synthetic.systems.plan import Flood, LinkCase, RoundTrips, Run

RUNS, README = "runs.toml", "README.txt"
_REQUESTER, _REPLIER, _OTHER = ("MQ5A", "MQA1"), ("MQ5B", "MQB1"), ("MQ5C", "MQC1")
"""Queue managers with their systems: the records of the first, what the formatter made of the others."""
SYSTEMS = sorted(
    [_REQUESTER[1], _REPLIER[1], _OTHER[1], *(declared()[kind]["system"] for kind in ("zvm", "ztpf"))]
)
_INTERVALS_AS_JSON = 2
_PANEL = {"Time": "sample_utc", "ECBs in use": "ecbs_in_use", "TLS session starts": "tls_starts_completed"}
"""The columns of a chart's export, as its author called the series."""
_NOTE = f"# {LABEL.lower()}"


def systems_files(seed: int) -> Iterator[tuple[str, bytes]]:
    """Every file by its name in the folder."""
    yield from _mq(seed)
    for case in link_cases():
        yield from _link(case)
    for flood in floods():
        yield _flood(flood, seed)
    runs = [mq_run(_REQUESTER[1]), *(c.run for c in link_cases()), *(f.run for f in floods())]
    yield RUNS, as_bytes([_NOTE, "", *(line for run in runs for line in (*_run(run), ""))])
    yield README, _readme().encode()


def _mq(seed: int) -> Iterator[tuple[str, bytes]]:
    arrangements = round_trips()
    requester, replier, other = (
        QueueManager(name, system, partner, seed)
        for (name, system), partner in (
            (_REQUESTER, _REPLIER[0]),
            (_REPLIER, _REQUESTER[0]),
            (_OTHER, "MQ5D"),
        )
    )
    yield f"mq/{requester.system}.smf", dump(requester, arrangements)
    for name, lines in csv_files(_blocks(replier, arrangements)).items():
        yield f"mq/formatter/{name}", as_bytes(lines)
    yield f"mq/formatter/{JSON_FILE}", as_bytes(json_lines(_blocks(other, arrangements[:_INTERVALS_AS_JSON])))
    measured = (row for used in arrangements for row in round_trip_rows(used, requester.system, seed))
    yield "mq/round-trips.csv", as_bytes([_NOTE, *supplied_lines("mq_round_trip", measured)])


def _blocks(manager: QueueManager, arrangements: Sequence[RoundTrips]) -> dict[str, list[dict[str, Any]]]:
    """Tasks and channels of all intervals, with times in whole microseconds."""
    tasks = [_in_us(row) for used in arrangements for row in manager.tasks(used)]
    channels = [_in_us(row) for used in arrangements for row in manager.channels(used)]
    return {"mq_task": tasks, "mq_channel": channels}


def _in_us(row: Mapping[str, Any]) -> dict[str, Any]:
    spans = {
        f"{name.removesuffix('_tod')}_us": value // UNITS_PER_US
        for name, value in row.items()
        if name.endswith("_tod")
    }
    return {"queue_sharing_group": None, **row, **spans}


def _link(case: LinkCase) -> Iterator[tuple[str, bytes]]:
    users, channels = user_rows(case), channel_rows(case)
    name = f"zvm/{case.run.name}.{case.run.system}"
    if case.form == "csv":
        for table, rows in (("zvm_user", users), ("zvm_channel", channels)):
            yield f"{name}.{table}.csv", as_bytes([_NOTE, *supplied_lines(table, rows)])
        return
    form = Form(screen=case.form == "screen")
    pages = [*user_pages(users, form), *channel_pages(channels, form)]
    lines = [line for page in pages for line in page] if form.screen else with_control(pages)
    yield f"{name}.{case.run.begin + zone():%Y-%m-%d}.txt", as_bytes([LABEL, *lines])


def _flood(flood: Flood, seed: int) -> tuple[str, bytes]:
    rows = samples(flood, seed)
    name = f"ztpf/{flood.run.name}.{flood.run.system}"
    match flood.form:
        case "jsonl":
            return f"{name}.jsonl", as_bytes(_json(row) for row in rows)
        case "panel":
            cells = (";".join(f'"{_cell(row[column])}"' for column in _PANEL.values()) for row in rows)
            return f"{name}.csv", as_bytes(["sep=;", ";".join(f'"{title}"' for title in _PANEL), *cells])
        case _:
            return f"{name}.csv", as_bytes([_NOTE, *supplied_lines("ztpf_series", rows)])


def _json(row: Mapping[str, Any]) -> str:
    told = {name: value for name, value in row.items() if name != "sample_utc"}
    return json.dumps({"time": _cell(row["sample_utc"]), **told})


def _cell(value: Any) -> str:  # noqa: ANN401 - a moment or a number
    return f"{value:%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z" if hasattr(value, "tzinfo") else str(value)


def _run(run: Run) -> Iterable[str]:
    yield "[[run]]"
    for key, value in (("name", run.name), ("system", run.system), ("role", run.role)):
        yield f'{key} = "{value}"'
    yield f"from = {run.begin:%Y-%m-%dT%H:%M:%SZ}"
    yield f"to = {run.end:%Y-%m-%dT%H:%M:%SZ}"
    yield "synthetic = true"
    if run.tags:
        yield "[run.tags]"
        yield from (f"{key} = {json.dumps(value)}" for key, value in sorted(run.tags.items()))


def _readme() -> str:
    return f"""{LABEL}

What can be measured of TLS beside the connections of z/OS: MQ channels, an RSCS link of z/VM, floods of TLS
session starts on z/TPF. The figures follow the published ones, so that each of these can be filled, and one
was chosen not to: agreement shows that the arithmetic is right, and nothing about the figures.

All clocks are an hour ahead of UTC. To load the folder into a store and name the runs in it:

  zscope ingest FOLDER --timezone +01:00
  zscope runs import FOLDER/{RUNS}

mq/{_REQUESTER[1]}.smf       SMF 115-231 and 116-10 of queue manager {_REQUESTER[0]}
mq/formatter/     what the public formatter makes of such records: CSV of {_REPLIER[0]}, JSON of {_OTHER[0]}
mq/round-trips.csv  round trips that an application measured, for two sizes of message and three ciphers
zvm/              four cases of a link: listings and screens of Performance Toolkit, and CSVs in their place
ztpf/             samples of floods before and with PJ48040: CSV, a chart's export, JSON lines
{RUNS}         the runs that these are, with their tags
manifest.json     how it was made, and the known answers
"""
