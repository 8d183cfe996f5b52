"""Measure the dashboard with many readers at once during loads: `make bench-readers`.

Readers are clients of the server without a browser: they open pages with and without a filter, and wait until
the server has sent the whole page. Meanwhile a day is loaded into the store each minute. A page
counts as an error if it shows an exception or an error, or is not complete within a minute. `--write-docs`
writes the results into `docs/trust.md`.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import statistics
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from dashboard import served
from figures import aligned, machine, write_between
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol
from working_folder import working_folder

from zscope.app.dashboard.registry import registered_pages
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.settings import Settings
from zscope.pipelines.store import open_reader
from zscope.samples.world import ZONE, WorldRecipe, write_world

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from websockets.asyncio.client import ClientConnection

CHECKOUT = Path(__file__).resolve().parents[1]
DOCUMENT = CHECKOUT / "docs" / "trust.md"
BEGIN, END = "<!-- begin of the report of the load -->\n", "<!-- end of the report of the load -->\n"
READERS, SECONDS, CONNECTIONS_PER_HOUR = 30, 300, 240
LONGEST_S = 60.0
LOAD_EVERY_S = 60
POINTS = 12
"""Rows of the curve of memory."""
FIRST_DAYS = 3
_PROTOCOL = [Subprotocol("streamlit")]
_PROGRAM = Path(sys.executable).with_name("zscope")


@dataclass
class Report:
    """What the readers have seen."""

    longest_s: float
    """A page that takes longer is an error."""
    pause_s: float
    """How long a reader looks at a page."""
    took: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    loads: int = 0
    memory: list[tuple[float, float, int]] = field(default_factory=list)
    """Minutes since the start, memory of the server in MB, and pages shown until then."""


def main() -> None:
    """Run the readers and the loads, and print; the exit code is 1 after an error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=READERS, metavar="N")
    parser.add_argument("--seconds", type=int, default=SECONDS, metavar="N")
    parser.add_argument("--connections-per-hour", type=int, default=CONNECTIONS_PER_HOUR, metavar="N")
    parser.add_argument("--longest", type=float, default=LONGEST_S, metavar="SECONDS")
    parser.add_argument(
        "--pause", type=float, default=0.0, metavar="SECONDS", help="how long each page is read (default: 0)"
    )
    parser.add_argument("--write-docs", action="store_true", help="write the results into docs/trust.md")
    options = parser.parse_args()
    with working_folder() as folder:
        recipe = WorldRecipe(days=FIRST_DAYS, runs="none", connections_per_hour=options.connections_per_hour)
        store, nights = folder / "readers-store", folder / "readers-nights"
        for old in (store, nights, folder / "readers-world"):
            shutil.rmtree(old, ignore_errors=True)
        load(recipe, folder / "readers-world", store)
        days = write_days(recipe, nights, max(1, options.seconds // LOAD_EVERY_S))
        with open_reader(store) as connection:
            found = connection.execute("SELECT DISTINCT system FROM handshake_hour ORDER BY system")
            systems = [row[0] for row in found.fetchall()]
        with served(store, folder / "readers.log") as address:
            asyncio.run(first_page(address))
            until = time.monotonic() + options.seconds
            report = Report(options.longest, options.pause)
            loads = load_days(days, store, until, report)
            asyncio.run(read(address, systems, options.readers, until, report, loads))
    text = described(report, options.readers, options.seconds)
    print(f"{machine()}\n\n{text}")
    print(times_of_pages(report))
    for error in dict.fromkeys(report.errors):
        print(f"- {error}", file=sys.stderr)
    if options.write_docs:
        write_between(DOCUMENT, BEGIN, END, text)
    sys.exit(bool(report.errors))


def load(recipe: WorldRecipe, folder: Path, store: Path) -> None:
    """Write a world and load it."""
    write_world(recipe, folder, lambda _: None)
    ingest(store, [folder], IngestOptions(selection=row_selection(None), settings=Settings().merge([ZONE])))


async def read(
    address: str,
    systems: list[str],
    readers: int,
    until: float,
    report: Report,
    loads: Coroutine[None, None, None],
) -> None:
    """Let readers read while days are loaded."""
    reading = (reader(number, address, systems, until, report) for number in range(readers))
    await asyncio.gather(*reading, loads, watch_memory(until, report))


async def watch_memory(until: float, report: Report) -> None:
    """Add points to the curve of memory, the first before the readers begin."""
    start = time.monotonic()
    step = (until - start) / POINTS
    for number in range(POINTS + 1):
        await asyncio.sleep(max(0.0, start + number * step - time.monotonic()))
        pages = sum(map(len, report.took.values()))
        minutes = (time.monotonic() - start) / 60
        report.memory.append((minutes, await asyncio.to_thread(memory_mb), pages))


def write_days(recipe: WorldRecipe, folder: Path, count: int) -> list[Path]:
    """Write the days after those of the store, so that this takes no time from the readers."""
    days = []
    for number in range(count):
        start = recipe.start + timedelta(days=recipe.days + number)
        further = WorldRecipe(
            seed=number + 2, start=start, days=1, runs="none",
            connections_per_hour=recipe.connections_per_hour,
        )  # fmt: skip
        days.append(folder / f"{start:%Y-%m-%d}")
        write_world(further, days[-1], lambda _: None)
    return days


async def load_days(days: list[Path], store: Path, until: float, report: Report) -> None:
    """Load one day after the other at equal distances, each by the command."""
    start = time.monotonic()
    for number, day in enumerate(days):
        due = start + number * (until - start) / len(days)
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        words = [str(_PROGRAM), "ingest", str(day), "--store", str(store), "--timezone", ZONE]
        loading = await asyncio.create_subprocess_exec(
            *words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        _, said = await loading.communicate()
        if loading.returncode not in (0, 4):
            report.errors.append(f"load: {said.decode()[-300:]}")
            return
        report.loads += 1


async def first_page(address: str) -> None:
    """Open a page, so that the server loads its libraries."""
    async with connect(stream_of(address), subprotocols=_PROTOCOL, max_size=None) as connection:
        await opened(connection, "", registered_pages()[0].title, "")


def stream_of(address: str) -> str:
    """Return the address of the WebSocket of the server."""
    return f"{address.replace('http', 'ws', 1)}/_stcore/stream"


async def reader(number: int, address: str, systems: list[str], until: float, report: Report) -> None:
    """Open pages until the time is over, each with the filter of one system or none."""
    choice = random.Random(number)
    pages = {page.address: page.title for page in registered_pages()}
    async with connect(stream_of(address), subprotocols=_PROTOCOL, max_size=None) as connection:
        await asyncio.sleep(report.pause_s * choice.random())  # readers do not all begin in the same second
        while time.monotonic() < until:
            name, system = choice.choice(list(pages)), choice.choice(["", *systems])
            start = time.perf_counter()
            try:
                problems = await asyncio.wait_for(
                    opened(connection, name, pages[name], system), report.longest_s
                )
            except TimeoutError:
                report.errors.append(f"{name or 'overview'}: not complete after {report.longest_s:g} s")
                return
            report.took.setdefault(name or "overview", []).append(time.perf_counter() - start)
            report.errors += [f"{name or 'overview'}: {problem}" for problem in problems]
            await asyncio.sleep(report.pause_s * choice.uniform(0.5, 1.5))


async def opened(connection: ClientConnection, name: str, title: str, system: str) -> list[str]:
    """Open a page and return the errors on it."""
    asked = BackMsg()
    asked.rerun_script.page_name = name
    asked.rerun_script.query_string = urlencode({"system": system} if system else {})
    await connection.send(asked.SerializeToString())
    problems: list[str] = []
    headings: list[str] = []
    begun = False
    async for data in connection:
        assert isinstance(data, bytes)
        message = ForwardMsg()
        message.ParseFromString(data)
        kind = message.WhichOneof("type")
        begun |= kind == "new_session"
        if kind == "delta":
            element = message.delta.new_element
            if element.HasField("heading") and element.heading.tag == "h1":
                headings.append(element.heading.body)
            if element.HasField("exception"):
                problems.append(element.exception.message)
            elif element.HasField("alert") and element.alert.format == element.alert.ERROR:
                problems.append(element.alert.body)
        if (
            begun
            and kind == "script_finished"
            and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
        ):
            if headings[:1] != [title]:
                problems.append(f"shows {headings} instead of {title}")
            return problems
    return [*problems, "the server closed the connection"]


def memory_mb() -> float:
    """Return the memory of the server, with its children, in MB; loads run at the same time."""
    [server] = [each for each in _children(str(_own_pid())) if b"dashboard" in _command_line(each)]
    return sum(map(_resident_mb, [server, *_descendants(server)]))


def _own_pid() -> int:
    return int(Path("/proc/self").readlink().name)


def _children(of: str) -> list[str]:
    children = []
    for task in Path(f"/proc/{of}/task").iterdir():
        with suppress(FileNotFoundError):  # a thread that has ended meanwhile
            children += (task / "children").read_text(encoding="ascii").split()
    return children


def _descendants(of: str) -> Iterator[str]:
    for child in _children(of):
        yield child
        yield from _descendants(child)


def _command_line(process: str) -> bytes:
    return Path(f"/proc/{process}/cmdline").read_bytes()


def _resident_mb(process: str) -> float:
    for line in Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def described(report: Report, readers: int, seconds: int) -> str:
    """Return the figures of all pages together, and the curve of memory, as Markdown."""
    every = [took for times in report.took.values() for took in times] or [float("nan")]
    rows = "".join(
        f"| {minutes:.1f} | {pages:,} | {memory:,.0f} |\n" for minutes, memory, pages in report.memory
    )
    most = sorted(every)[round(0.95 * (len(every) - 1))]
    pause = f"each reads a page for {report.pause_s:g} s" if report.pause_s else "without a pause"
    return (
        f"| minutes | pages shown | memory of the server, MB |\n|---:|---:|---:|\n{rows}\n"
        f"- {datetime.now(UTC):%Y-%m-%d}: {readers} readers for {seconds / 60:g} minutes, {pause}, "
        f"and {report.loads} days loaded meanwhile\n"
        f"- {sum(map(len, report.took.values())):,} pages, {len(report.errors)} errors; "
        f"a page took {statistics.median(every):.2f} s "
        f"(median), {most:.2f} s (95 of 100 took less), {max(every):.2f} s "
        "(longest)\n"
    )


def times_of_pages(report: Report) -> str:
    """Return the median and the longest time of each page."""
    rows = [
        (name, f"{len(times):,}", f"{statistics.median(times):.2f}", f"{max(times):.2f}")
        for name, times in sorted(report.took.items())
    ]
    return aligned([("page", "pages", "median s", "longest s"), *rows])


if __name__ == "__main__":
    main()
