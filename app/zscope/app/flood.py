"""Play through many TLS sessions that start at once on z/TPF, before and with APAR PJ48040."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from zscope.app.output import Output, Rows, row_options
from zscope.app.output.options import Format
from zscope.pipelines.flood.parameters import (
    MOST_SAMPLES,
    NUMBERS,
    USUAL_SAMPLES,
    Arrivals,
    Flood,
    FloodError,
    Mode,
    Network,
    Order,
)

if TYPE_CHECKING:
    from zscope.pipelines.flood.trace import Trace

BOTH = "both"
ESSENTIAL = ("figure", "unit", "blocking", "non_blocking", "change_pct", "basis")
ESSENTIAL_OF_SERIES = (
    "mode", "since_start_s", "ecbs_in_use", "threads_in_use", "sessions_started", "waiting", "basis",
)  # fmt: skip
_LABEL = "MODEL: played through by a simulation; nothing here was measured on a system"
_OF_REPRODUCE = ("reproducing", "form", "path", "raw")
_CHOICES: dict[str, tuple[type[StrEnum], str]] = {
    "arrivals": (Arrivals, "How the requests are spread over the burst."),
    "network": (Network, "Whether all waits for the network are alike or random with this mean."),
    "order": (Order, "Whether handshakes that have begun come before new ones, with PJ48040."),
}


def _parameter_options(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Give a command an option for each parameter of a flood."""
    usual = {field.name: field.default for field in fields(Flood)}
    told = "Whether a session that waits for a thread has an ECB with PJ48040."
    command = click.option(
        "--ecb-in-queue/--no-ecb-in-queue", default=usual["ecb_in_queue"], show_default=True, help=told
    )(command)
    for name, (kind, meaning) in reversed(_CHOICES.items()):
        choice = click.Choice([str(value) for value in kind])
        command = click.option(
            f"--{name}", type=choice, default=str(usual[name]), show_default=True, help=meaning
        )(command)
    for number in reversed(NUMBERS):
        value = usual[number.name]
        whole = isinstance(value, int)
        kind_of = click.IntRange(int(number.low), int(number.high)) if whole else None
        command = click.option(
            f"--{number.name.replace('_', '-')}",
            metavar="N" if whole else "X",
            type=kind_of or click.FloatRange(number.low, number.high),
            default=value,
            show_default=True,
            help=number.meaning,
        )(command)
    return command


@click.command("flood")
@_parameter_options
@click.option(
    "--mode", type=click.Choice([BOTH, *map(str, Mode)]), default=BOTH, show_default=True,
    help="blocking: before PJ48040 a thread is held while a handshake waits for the network; non-blocking: "
    "with PJ48040 it is free.",
)  # fmt: skip
@click.option("--series", "as_series", is_flag=True, help="Print the curves instead of the figures.")
@click.option(
    "--samples", metavar="N", type=click.IntRange(1, MOST_SAMPLES),
    help=f"Steps that each curve is sampled in. Default: {USUAL_SAMPLES}.",
)  # fmt: skip
@click.option(
    "--reproduce", "reproducing", is_flag=True,
    help="Look for parameters that lead to the published figures, and tell how near each comes and what each "
    "parameter does to it. Takes half a minute.",
)  # fmt: skip
@row_options
@click.pass_context
def flood(
    context: click.Context,
    /,
    *,
    mode: str,
    as_series: bool,
    samples: int | None,
    reproducing: bool,
    output: Output,
    **parameters: Any,  # noqa: ANN401 - the fields of a flood
) -> None:
    """Play through many TLS sessions that start at once on z/TPF, before and with APAR PJ48040.

    A discrete-event model, not a measurement. Requests arrive in a burst at shared SSL daemons, of whose
    worker threads at most half start sessions. Before PJ48040 a thread, and the ECB of the connection, is
    held while a handshake waits for the network; with it both are free. One row for each figure, with its
    value before and with PJ48040, and the change. Times are in the unit at the end of a name.
    docs/flood-model.md tells what is modelled, what is assumed, and what the published figures take.

    \b
    Examples:
      zscope model flood
      zscope model flood --sessions 20000 --burst-s 0 --connections 0 --cpu-ms 1 --network-ms 0.23
      zscope model flood --daemons 2 --workers 8 --background-per-s 2000 --format json
      zscope model flood --series --samples 500 -o curves.csv
      zscope model flood --mode non-blocking --network exponential --seed 7
      zscope model flood --reproduce -o reproduced.csv

    The exit code is 12 if the parameters describe no flood that can be played through.
    """
    if samples is not None and not as_series:
        raise click.UsageError("--samples is about the curves: add --series")
    if reproducing:
        _nothing_said(context)
        _reproduce(output)
        return
    for name, (kind, _) in _CHOICES.items():
        parameters[name] = kind(parameters[name])
    try:
        played = Flood(**parameters)
        modes = list(Mode) if mode == BOTH else [Mode(mode)]
        rows = _series(played, modes, samples) if as_series else _figures(played, modes)
    except FloodError as error:
        raise click.UsageError(str(error)) from error
    output.write(rows)
    click.echo(_LABEL, err=True)


def _figures(played: Flood, modes: list[Mode]) -> Rows:
    from zscope.pipelines.flood.figures import compare
    from zscope.pipelines.flood.rows import compared

    table = compared(compare(played, modes))
    if len(modes) == 1:
        table = table.drop_columns(
            ["change_pct", *(str(mode).replace("-", "_") for mode in Mode if mode not in modes)]
        )
    return Rows.of(table, tuple(name for name in ESSENTIAL if name in table.column_names))


def _series(played: Flood, modes: list[Mode], samples: int | None) -> Rows:
    from zscope.pipelines.flood.series import series
    from zscope.pipelines.flood.simulate import simulate

    traces: list[Trace] = [simulate(played, mode) for mode in modes]
    return Rows.of(series(traces, samples or USUAL_SAMPLES), ESSENTIAL_OF_SERIES)


def _nothing_said(context: click.Context) -> None:
    """The parameters of a flood are not for the one who looks for them."""
    said = [
        option.opts[0]
        for option in context.command.params
        if option.name not in _OF_REPRODUCE
        and context.get_parameter_source(str(option.name)) is ParameterSource.COMMANDLINE
    ]
    if said:
        raise click.UsageError(f"--reproduce looks for the parameters itself: leave out {', '.join(said)}")


def _reproduce(output: Output) -> None:
    from zscope.app.flood_tables import as_tables
    from zscope.pipelines.flood.attempts import ATTEMPTS
    from zscope.pipelines.flood.rows import about, reproduced

    rows: list[dict[str, Any]] = []
    for attempt in ATTEMPTS:
        click.echo(f"{attempt.name}: looking for parameters", err=True)
        rows += about(attempt)
    if output.format is Format.TABLE:
        output.write_all(as_tables(rows, on_terminal=output.on_terminal))
    else:
        output.write(Rows.of(reproduced(rows)))
    click.echo(_LABEL, err=True)
