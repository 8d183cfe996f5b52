"""Write the data of other systems: MQ dumps and formatter output, z/VM listings, z/TPF time series.

A manifest contains what a reader should find in them.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from zscope.parsers.text.capture_writer import as_bytes, with_control
from zscope.parsers.text.csv_and_json.table_reader import supplied_lines
from zscope.parsers.text.mq_formatter.formatter_files import JSON_FILE, csv_files, json_lines
from zscope.parsers.text.zvm.zvm_write import ZvmPrintForm, channel_pages, user_pages
from zscope.samples.declaration_files import declared_text
from zscope.samples.reports.files import LABEL, write_files
from zscope.samples.reports.runs_file import RUNS, SystemRun, runs_toml
from zscope.samples.systems.mq import UNITS_PER_US, QueueManager, dump, round_trip_rows
from zscope.samples.systems.plan import PLAN, floods, link_cases, mq_run, round_trips, zone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from zscope.samples.systems.plan import DeclaredFlood, DeclaredLinkCase, RoundTrips


_QUIET_STEPS = 4
"""Samples before and after the flood."""
_NOISE = 0.02


def samples(run: SystemRun, flood: DeclaredFlood, seed: int) -> list[dict[str, Any]]:
    """Return the rows of one z/TPF series: a rise, a level with some noise, and a fall."""
    high = round(flood.lasts_s / flood.step_s)
    # Half of the climb and half of the fall are above the threshold as well, nearly.
    noise = np.random.default_rng([seed, flood.sessions, flood.peak_ecbs]).uniform(-_NOISE, 0, high)
    level = flood.idle_ecbs + (flood.peak_ecbs - flood.idle_ecbs) * (1 + noise)
    level[high // 2] = flood.peak_ecbs
    quiet = [flood.idle_ecbs] * _QUIET_STEPS
    ecbs = [*quiet, *(round(value) for value in level.tolist()), *quiet]
    done = [round(flood.sessions * step / high) for step in range(1, high + 1)]
    starts = [*[0] * _QUIET_STEPS, *done, *[flood.sessions] * _QUIET_STEPS]
    starting = [*[0] * _QUIET_STEPS, *[PLAN.ztpf.threads_starting] * high, *[0] * _QUIET_STEPS]
    first = run.begin - timedelta(seconds=_QUIET_STEPS * flood.step_s)
    return [
        {
            "run": run.name,
            "system": run.system,
            "sample_utc": first + timedelta(seconds=number * flood.step_s),
            "ecbs_in_use": in_use,
            "tls_starts_completed": completed,
            "worker_threads": PLAN.ztpf.worker_threads,
            "threads_starting": threads,
            "sessions_requested": flood.sessions,
        }
        for number, (in_use, completed, threads) in enumerate(zip(ecbs, starts, starting, strict=True))
    ]


_OTHERS_S = {"OPERATOR": 0.012, "MAINT": 1.31, "PERFSVM": 4.02, "LINUX01": 120.4}
_CP_SHARE = 0.25
"""Approximate share of CP in the CPU time of a virtual machine."""


def user_rows(run: SystemRun, case: DeclaredLinkCase) -> list[dict[str, Any]]:
    """Return the CPU time of each virtual machine, including some that do not use the link."""
    period = PLAN.zvm.period_s
    used = {**_OTHERS_S, **case.tcpu_s}
    return [
        _common(run)
        | {
            "period_s": float(period),
            "userid": name,
            "cpu_pct": round(100 * seconds / period, 2),
            "tcpu_s": round(seconds, 2 if seconds >= 1 else 3),
            "vcpu_s": round(seconds * (1 - _CP_SHARE), 2 if seconds >= 1 else 3),
            "tv_ratio": round(1 / (1 - _CP_SHARE), 1),
        }
        for name, seconds in sorted(used.items())
    ]


def channel_rows(run: SystemRun, case: DeclaredLinkCase) -> list[dict[str, Any]]:
    """Return the channel path of the link, and one of disks that other partitions share."""
    plan = PLAN.zvm
    link = (plan.chpid, True, case.write_bytes_per_s, case.read_bytes_per_s)
    return [
        _common(run)
        | {
            "period_s": float(plan.period_s),
            "chpid": chpid,
            "shared": shared,
            "write_bytes_per_s": float(written),
            "read_bytes_per_s": float(read),
        }
        for chpid, shared, written, read in (("32", True, 1_200_000, 3_400_000), link)
    ]


def _common(run: SystemRun) -> dict[str, Any]:
    local = (run.begin + zone()).replace(tzinfo=None)
    return {"system": run.system, "run": run.name, "interval_start_local": local}


README = "README.txt"
_REQUESTER, _REPLIER, _OTHER = (PLAN.mq.requester, PLAN.mq.replier, PLAN.mq.other)
"""Queue managers: records of the first, formatter output of the others."""
SYSTEMS = sorted(each.system for each in (_REQUESTER, _REPLIER, _OTHER, PLAN.zvm, PLAN.ztpf))
_INTERVALS_AS_JSON = 2
_PANEL = {"Time": "sample_utc", "ECBs in use": "ecbs_in_use", "TLS session starts": "tls_starts_completed"}
"""Columns of a chart export, with the titles of the series."""
_NOTE = f"# {LABEL.lower()}"


def systems_files(seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield every file with its name in the folder."""
    yield from _mq(seed)
    for run, case in link_cases():
        yield from _link(run, case)
    for run, flood in floods():
        yield _flood(run, flood, seed)
    runs = [mq_run(_REQUESTER.system), *(run for run, _ in [*link_cases(), *floods()])]
    yield RUNS, f"{runs_toml(runs)}\n".encode()
    text = declared_text("systems/readme.txt")
    yield (
        README,
        text.format(label=LABEL, requester=_REQUESTER, replier=_REPLIER, other=_OTHER).encode(),
    )


def _mq(seed: int) -> Iterator[tuple[str, bytes]]:
    setups = round_trips()
    requester, replier, other = (QueueManager(manager, seed) for manager in (_REQUESTER, _REPLIER, _OTHER))
    yield f"mq/{requester.system}.smf", dump(requester, setups)
    for name, lines in csv_files(_blocks(replier, setups)).items():
        yield f"mq/formatter/{name}", as_bytes(lines)
    yield f"mq/formatter/{JSON_FILE}", as_bytes(json_lines(_blocks(other, setups[:_INTERVALS_AS_JSON])))
    measured = (row for setup in setups for row in round_trip_rows(setup, requester.system, seed))
    yield "mq/round-trips.csv", as_bytes([_NOTE, *supplied_lines("mq_round_trip", measured)])


def _blocks(manager: QueueManager, setups: Sequence[RoundTrips]) -> dict[str, list[dict[str, Any]]]:
    """Return tasks and channels of all intervals, with durations in whole microseconds."""
    tasks = [_in_us(row) for setup in setups for row in manager.tasks(setup)]
    channels = [_in_us(row) for setup in setups for row in manager.channels(setup)]
    return {"mq_task": tasks, "mq_channel": channels}


def _in_us(row: Mapping[str, Any]) -> dict[str, Any]:
    spans = {
        f"{name.removesuffix('_tod')}_us": value // UNITS_PER_US
        for name, value in row.items()
        if name.endswith("_tod")
    }
    return {"queue_sharing_group": None, **row, **spans}


def _link(run: SystemRun, case: DeclaredLinkCase) -> Iterator[tuple[str, bytes]]:
    users, channels = user_rows(run, case), channel_rows(run, case)
    name = f"zvm/{run.name}.{run.system}"
    if case.form == "csv":
        for table, rows in (("zvm_user", users), ("zvm_channel", channels)):
            yield f"{name}.{table}.csv", as_bytes([_NOTE, *supplied_lines(table, rows)])
        return
    form = ZvmPrintForm(screen=case.form == "screen")
    pages = [*user_pages(users, form), *channel_pages(channels, form)]
    lines = [line for page in pages for line in page] if form.screen else with_control(pages)
    yield f"{name}.{run.begin + zone():%Y-%m-%d}.txt", as_bytes([LABEL, *lines])


def _flood(run: SystemRun, flood: DeclaredFlood, seed: int) -> tuple[str, bytes]:
    rows = samples(run, flood, seed)
    name = f"ztpf/{run.name}.{run.system}"
    match flood.form:
        case "jsonl":
            return f"{name}.jsonl", as_bytes(_json(row) for row in rows)
        case "panel":
            cells = (";".join(f'"{_cell(row[column])}"' for column in _PANEL.values()) for row in rows)
            return f"{name}.csv", as_bytes(["sep=;", ";".join(f'"{title}"' for title in _PANEL), *cells])
        case _:
            return f"{name}.csv", as_bytes([_NOTE, *supplied_lines("ztpf_series", rows)])


def _json(row: Mapping[str, Any]) -> str:
    values = {name: value for name, value in row.items() if name != "sample_utc"}
    return json.dumps({"time": _cell(row["sample_utc"]), **values})


def _cell(value: Any) -> str:  # noqa: ANN401 - a moment or a number
    return f"{value:%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z" if hasattr(value, "tzinfo") else str(value)


MANIFEST = "manifest.json"


def write_systems(seed: int, folder: Path, progress: Callable[[str], None]) -> dict[str, Any]:
    """Write the files into a folder and return the manifest; `progress` gets a line for each file."""
    files = write_files(folder, systems_files(seed), progress)
    manifest = {
        "synthetic": True,
        "notes": ["synthetic data, made by zscope; no figure comes from a real system"],
        "zscope_version": version("zscope"),
        "seed": seed,
        "systems": SYSTEMS,
        "files": files,
        "mq": _expected_mq(seed),
        "zvm": [_expected_link(case) for _, case in link_cases()],
        "ztpf": [
            {
                "run": run.name,
                "sessions": flood.sessions,
                "peak_ecbs": flood.peak_ecbs,
                "idle_ecbs": flood.idle_ecbs,
            }
            for run, flood in floods()
        ],
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="ascii")
    return manifest


def _expected_mq(seed: int) -> dict[str, Any]:
    """Return the mean round trips by configuration, and totals of the tasks and channels of one queue
    manager.
    """
    manager = QueueManager(_REQUESTER, seed)
    requests: Counter[str] = Counter()
    messages: Counter[str] = Counter()
    for setup in round_trips():
        for task in manager.tasks(setup):
            requests[task["task_type"]] += task["requests"]
        for channel in manager.channels(setup):
            messages[f"{channel['cipher_code']:04X}"] += channel["messages"]
    return {
        "round_trips": [
            {
                "message_bytes": setup.message_bytes,
                "cipher": setup.cipher,
                "sslrkeyc": setup.sslrkeyc,
                "round_trip_us": round(setup.round_trip_us, 3),
            }
            for setup in round_trips()
        ],
        "requests_by_task": dict(requests),
        "messages_by_cipher": dict(messages),
    }


def _expected_link(case: DeclaredLinkCase) -> dict[str, Any]:
    return {
        "run": case.run,
        "etr": case.transactions_per_s,
        "tcpu_s": {name: round(s, 3) for name, s in case.tcpu_s.items()},
    }
