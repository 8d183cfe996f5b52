"""Measure what TLS alone costs: schedule, client, listener and result of test connections."""

from __future__ import annotations

import ssl
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode, NothingDoneError, RefusedError, print_message
from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.runs_file import changing_runs
from zscope.app.cli.stop_signal import StopSignal
from zscope.app.cli.store_option import (
    open_session,
    prepare_metric,
    query_table,
    settings_option,
    store_option,
)
from zscope.app.experiment.load_client import MOST_MB, MOST_RATE, USUAL_MB, USUAL_RATE
from zscope.pipelines.quantities import counted

if TYPE_CHECKING:
    from zscope.app.experiment.load_client import Server
    from zscope.pipelines.experiment.client_log import LogLine
    from zscope.pipelines.experiment.schedule import Slot
    from zscope.pipelines.settings import Settings

_QUARTERS_OF_HOUR = 4
_HOURS_OF_DAY = 24
_HOURS_OF_WEEK = 7 * _HOURS_OF_DAY


@click.group()
def command() -> None:
    """Measure what TLS alone costs, by test connections in random quarter hours.

    No statistics on ordinary data can tell TLS from what a server does with a connection. Test connections
    with and without TLS to a listener of their own can. docs/benchmarks.md describes what to do.

    \b
    Examples:
      zscope experiment plan --from 2026-12-02T00:00+01:00 -o schedule.jsonl
      zscope experiment listen --plain-port 4400 --tls-port 4443 --certificate cert.pem --key key.pem
      zscope experiment client --schedule schedule.jsonl --target sysa.example.com --plain-port 4400 \\
        --tls-port 4443 --ca ca.pem -o log.jsonl
      zscope experiment add log.jsonl --system SYSA
      zscope experiment result
    """


@command.command("plan")
@click.option(
    "--from", "begin", required=True, metavar="TIME",
    help="Start of the first quarter hour, with the offset from UTC: 2026-12-02T00:00+01:00.",
)  # fmt: skip
@click.option(
    "--hours", type=click.IntRange(1, _HOURS_OF_WEEK), default=_HOURS_OF_DAY, show_default=True, metavar="N",
    help="Length of the schedule. Each 90 minutes contain all six arms.",
)  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), metavar="N",
    help="Number that determines the order. Default: a number from the start.",
)  # fmt: skip
@row_options
def plan_command(*, begin: str, hours: int, seed: int | None, output: Output) -> None:
    """Print the schedule of a day: the arm of each quarter hour, in random order within 90 minutes.

    Test connections begin 10 seconds after the start of a quarter hour and end 10 seconds before its end.
    The six arms are: nothing, plain connections, full handshakes, resumed handshakes, bytes with TLS and
    bytes without TLS. The same start and seed give the same order. `client` reads the schedule as JSON lines.

    \b
    Examples:
      zscope experiment plan --from 2026-12-02T00:00+01:00
      zscope experiment plan --from 2026-12-02T00:00+01:00 --seed 7 -o schedule.jsonl
    """
    from zscope.pipelines.experiment.schedule import (
        ScheduleError,
        draw,
        schedule_table,
        usual_seed,
    )

    start = _moment(begin)
    seed = usual_seed(start) if seed is None else seed
    try:
        slots = draw(start, hours * _QUARTERS_OF_HOUR, seed)
    except ScheduleError as error:
        raise click.UsageError(f"--from: {error}") from error
    output.write(Rows.of(schedule_table(slots)))
    print_message(f"{_span(slots)}; seed {seed}")


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise click.UsageError(f"--from: {text!r} is not a time such as 2026-12-02T00:00+01:00") from error
    if moment.tzinfo is None:
        raise click.UsageError(f"--from: {text!r} has no offset from UTC, such as 2026-12-02T00:00+01:00")
    return moment


def _span(slots: list[Slot]) -> str:
    return (
        f"{len(slots)} quarter hours, {slots[0].start:%Y-%m-%d %H:%M} to {slots[-1].end:%Y-%m-%d %H:%M} UTC"
    )


_File = click.Path(path_type=Path, exists=True, dir_okay=False)
_PORT = click.IntRange(1, 65_535)
_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


@command.command("client")
@click.option(
    "--schedule", required=True, type=_File, metavar="FILE",
    help="Schedule of `plan` as JSON lines.",
)  # fmt: skip
@click.option(
    "--target", "host", required=True, metavar="HOST",
    help="Name or address of the one system with the listener. There is no default.",
)  # fmt: skip
@click.option("--plain-port", required=True, type=_PORT, metavar="PORT", help="Port without TLS.")
@click.option("--tls-port", required=True, type=_PORT, metavar="PORT", help="Port with TLS.")
@click.option(
    "--plain-source", metavar="ADDRESS",
    help="Own address of connections without TLS, if the AT-TLS rules tell them apart by address. The two "
    "ports can then be the same.",
)  # fmt: skip
@click.option(
    "--ca", type=_File, metavar="FILE",
    help="Certificates (PEM) that verify that of the listener. Default: those of this machine.",
)  # fmt: skip
@click.option(
    "--server-name", metavar="NAME", help="Name in the certificate of the listener. Default: the target."
)
@click.option(
    "--certificate", type=_File, metavar="FILE", help="Certificate of the client (PEM), if one is required."
)
@click.option("--key", type=_File, metavar="FILE", help="Its private key (PEM).")
@click.option(
    "--tls-version", "version", type=click.Choice(list(_VERSIONS)), default="TLSv1.3", show_default=True,
    help="The only version that is offered. Sessions are resumed by session (TLSv1.2) or ticket (TLSv1.3).",
)  # fmt: skip
@click.option(
    "--ciphers", metavar="LIST", help="Cipher suites of TLSv1.2 that are offered, in OpenSSL's format."
)
@click.option(
    "--rate", type=click.FloatRange(0.01, MOST_RATE), default=USUAL_RATE, show_default=True, metavar="X",
    help=f"Connections a second, at most {MOST_RATE:g}.",
)  # fmt: skip
@click.option(
    "--mb", type=click.FloatRange(0.01, MOST_MB), default=USUAL_MB, show_default=True, metavar="X",
    help=f"Megabytes a second in both directions together, at most {MOST_MB:g}.",
)  # fmt: skip
@click.option(
    "-o", "--output", "log", default="-", type=click.Path(allow_dash=True, dir_okay=False), metavar="FILE",
    help="Append the log to FILE instead of printing it.",
)  # fmt: skip
def client_command(  # noqa: PLR0913 - one argument for each option
    *,
    schedule: Path,
    host: str,
    plain_port: int,
    tls_port: int,
    plain_source: str | None,
    ca: Path | None,
    server_name: str | None,
    certificate: Path | None,
    key: Path | None,
    version: str,
    ciphers: str | None,
    rate: float,
    mb: float,
    log: str,
) -> ExitCode:
    """Open the test connections of a schedule to one listener, and log what was done as JSON lines.

    Connections are opened one after the other and never after the end of the schedule; quarter hours that
    are over are left out. After ten failures in a row the rest of a quarter hour is left out. Ctrl-C or
    SIGTERM ends the client with the log line of the current quarter hour. The exit code is 4 if a connection
    failed or the schedule was not followed to its end, 12 if nothing was done.

    \b
    Example:
      zscope experiment client --schedule schedule.jsonl --target sysa.example.com --plain-port 4400 \\
        --tls-port 4443 --ca ca.pem --rate 10 -o log.jsonl
    """
    from zscope.app.experiment.load_client import Limits, LoadClient, Server, SystemClock, client_context
    from zscope.pipelines.experiment.client_log import log_text

    if (certificate is None) != (key is None):
        raise click.UsageError("--certificate and --key belong together")
    if plain_port == tls_port and plain_source is None:
        raise click.UsageError("--plain-port and --tls-port are the same; use two ports, or --plain-source")
    slots = _read_schedule(schedule)
    identity = (str(certificate), str(key)) if certificate else None
    try:
        context = client_context(str(ca) if ca else None, _VERSIONS[version], ciphers, identity)
    except (ssl.SSLError, ValueError) as error:
        raise NothingDoneError(f"the TLS settings cannot be used: {error}") from error
    target = _resolved(Server(host, tls_port, plain_port, context, server_name or host, plain_source))
    lines: list[LogLine] = []
    stop = StopSignal()
    with stop.handled(), click.open_file(log, "a", encoding="utf-8") as file:

        def write(line: LogLine) -> None:
            lines.append(line)
            file.write(f"{log_text(line)}\n")
            file.flush()
            if line.ended_early:
                print_message(f"{line.arm}, {line.start_utc:%H:%M:%S} UTC: ended early: {line.ended_early}")

        client = LoadClient(target, Limits(rate, mb), SystemClock(stop), write)
        if slots[-1].end <= client.clock.now():
            raise NothingDoneError(f"the schedule is over since {slots[-1].end:%Y-%m-%d %H:%M:%S} UTC")
        print_message(f"{_span(slots)}; target {host} ({target.name}), ports {plain_port} and {tls_port}")
        client.follow(slots)
    return _done(lines, len(slots))


def _read_schedule(path: Path) -> list[Slot]:
    from zscope.pipelines.experiment.schedule import ScheduleError, parse_schedule

    lines = _lines(path, "use the file that zscope experiment plan wrote")
    try:
        return parse_schedule(lines)
    except ScheduleError as error:
        raise RefusedError(f"{path}: {error}") from error


def _lines(path: Path, remedy: str) -> list[str]:
    """Return the lines of a file that this command wrote; refuse another kind of file."""
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise RefusedError(f"{path}: not text in UTF-8 (byte {error.start}); {remedy}") from error


def _resolved(target: Server) -> Server:
    try:
        return target.resolved()
    except (OSError, UnicodeError) as error:
        raise NothingDoneError(f"--target: {target.name} has no address: {error}") from error


def _done(lines: list[LogLine], quarters: int) -> ExitCode:
    """Print what the client did and return the exit code."""
    if not lines:
        raise NothingDoneError("ended before the first quarter hour")
    connections, full, resumed, failed = (
        sum(getattr(line, name) for line in lines) for name in ("connections", "full", "resumed", "failed")
    )
    print_message(
        f"{len(lines)} of {quarters} quarter hours: {connections:,} connections, {full:,} full and "
        f"{resumed:,} resumed handshakes, {failed:,} failed"
    )
    whole = len(lines) == quarters and not failed and not any(line.ended_early for line in lines)
    return ExitCode.OK if whole else ExitCode.WARNINGS


@command.command("add")
@click.argument("log", type=_File)
@click.option("--system", required=True, metavar="NAME", help="System with the listener.")
@store_option
@settings_option
def add_command(*, log: Path, system: str, store: Path, settings: Settings) -> None:
    """Store the log of the client beside the benchmark runs of a store, in its file runs.toml.

    Each quarter hour is a run with the role tls-test. Its time is then left out of all figures of
    production, and `result` knows the arms and the ports. Lines that are stored already stay unchanged.

    \b
    Example:
      zscope experiment add log.jsonl --system SYSA
    """
    from zscope.pipelines.experiment.client_log import LogError, parse_log, runs_of_log
    from zscope.pipelines.runs.edit import import_runs
    from zscope.pipelines.runs.read import RunsFile, read_runs
    from zscope.schemas.errors import SettingsError

    lines = _lines(log, "use the log that zscope experiment client wrote")
    try:
        runs = runs_of_log(parse_log(lines), system)
    except (LogError, SettingsError) as error:
        raise RefusedError(f"{log}: {error}") from error
    with changing_runs(store) as folder:
        added = import_runs(
            folder, settings, print_message, RunsFile(tuple(runs), kb_bytes=read_runs(store).kb_bytes)
        )
    print_message(f"{counted(added, 'quarter hour')} added, {len(runs) - added:,} already there")


ESSENTIAL = (
    "system",
    "test_port",
    "item",
    "unit",
    "status",
    "value",
    "low",
    "high",
    "in_stack",
    "in_listener",
)


@command.command("result")
@store_option
@row_options
def result_command(*, store: Path, output: Output) -> ExitCode:
    """Print what TLS alone costs, from the test connections of the experiments of a store.

    Needs SMF 30 intervals of the TCP/IP stack and of the job of the listener, SMF 119-11, and the log of the
    client (`zscope experiment add`). Prints the cost of a full handshake, of a resumed one and of a megabyte
    with 95 % intervals, for the kind of handshake that was tested, and the TLS CPU cost in a day of the real
    traffic. The exit code is 4 if a system has no price that is an estimate or conditional.

    \b
    Examples:
      zscope experiment result
      zscope experiment result --format json
    """
    from zscope.pipelines.experiment.result import result_table, sentences

    with open_session(store) as session:
        for name in ("experiment_interval", "experiment_kind"):
            prepare_metric(session, name)
        intervals = query_table(session, "SELECT * FROM experiment_interval")
        kinds = query_table(session, "SELECT * FROM experiment_kind")
    if not intervals.num_rows:
        raise NothingDoneError(
            "no experiment with records: add the log with zscope experiment add, and load SMF 30 and 119-11"
        )
    table = result_table(intervals, kinds)
    output.write(Rows.of(table, ESSENTIAL))
    rows = table.to_pylist()
    for sentence in sentences(rows):
        print_message(sentence)
    systems = {row["system"] for row in rows}
    with_price = {
        row["system"] for row in rows if row["item"] == "TLS" and row["status"] in ("estimate", "conditional")
    }
    return ExitCode.OK if with_price == systems else ExitCode.WARNINGS


@command.command("listen")
@click.option(
    "--address", default="127.0.0.1", show_default=True, metavar="ADDRESS",
    help="Address to listen on; 0.0.0.0 stands for all of this system.",
)  # fmt: skip
@click.option("--plain-port", required=True, type=_PORT, metavar="PORT", help="Port without TLS.")
@click.option("--tls-port", required=True, type=_PORT, metavar="PORT", help="Port with TLS.")
@click.option(
    "--certificate", type=_File, metavar="FILE",
    help="Certificate chain of the port with TLS (PEM). Do not use one of production.",
)  # fmt: skip
@click.option("--key", type=_File, metavar="FILE", help="Its private key (PEM).")
@click.option(
    "--client-ca", type=_File, metavar="FILE",
    help="Require certificates of clients, which these certificates (PEM) verify.",
)  # fmt: skip
@click.option(
    "--at-tls",
    is_flag=True,
    help="AT-TLS of z/OS does the TLS, below this program; no certificate is needed.",
)
def listen_command(
    *,
    address: str,
    plain_port: int,
    tls_port: int,
    certificate: Path | None,
    key: Path | None,
    client_ca: Path | None,
    at_tls: bool,
) -> None:
    """Listen for test connections and return what they send, until Ctrl-C or SIGTERM.

    At most 64 connections are open at once; a connection without data for a minute is closed. Where zscope
    cannot be installed, such as on z/OS, the one file echo_listener.py does the same (docs/benchmarks.md).

    \b
    Example:
      zscope experiment listen --plain-port 4400 --tls-port 4443 --certificate cert.pem --key key.pem
    """
    import asyncio

    from zscope.app.experiment.echo_listener import ListenerOptions, serve, tls_context

    if plain_port == tls_port:
        raise click.UsageError("--plain-port and --tls-port are the same; use two ports")
    if (certificate is None) != (key is None):
        raise click.UsageError("--certificate and --key belong together")
    if at_tls == (certificate is not None):
        raise click.UsageError("use --certificate and --key, or --at-tls")
    context = None
    if certificate is not None:
        try:
            context = tls_context(str(certificate), str(key), str(client_ca) if client_ca else None)
        except ssl.SSLError as error:
            raise NothingDoneError(f"{certificate}, {key}: cannot be used: {error}") from error
    options = ListenerOptions(address, plain_port, tls_port, context)
    print_message(str(asyncio.run(serve(options, print_message))))
