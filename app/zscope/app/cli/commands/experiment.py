"""Measure what TLS alone costs: draw the schedule of a day of test connections."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import print_message
from zscope.app.cli.output import Output, Rows, row_options

if TYPE_CHECKING:
    from zscope.pipelines.experiment.schedule import Slot

_QUARTERS_OF_HOUR = 4
_HOURS_OF_DAY = 24
_HOURS_OF_WEEK = 7 * _HOURS_OF_DAY


@click.group()
def command() -> None:
    """Measure what TLS alone costs, by test connections in random quarter hours.

    No statistics on ordinary data can tell TLS from what a server does with a connection. Test connections
    with and without TLS to a listener of their own can. docs/experiment.md describes what to do.

    \b
    Examples:
      zscope experiment plan --from 2026-12-02T00:00+01:00 -o schedule.jsonl
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
