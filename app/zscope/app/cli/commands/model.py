"""Simulate a system: a flood of TLS session starts on z/TPF."""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.output.output_options import OUTPUT_ARGUMENTS, OutputFormat
from zscope.pipelines.flood_model import (
    MOST_SAMPLES,
    NUMBERS,
    USUAL_SAMPLES,
    Arrivals,
    Flood,
    FloodError,
    Mode,
    Network,
    Order,
    Simulation,
    curve_table,
    figure_table,
    reproduction,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from enum import StrEnum

BOTH = "both"
ESSENTIAL = ("figure", "unit", "blocking", "non_blocking", "change_pct", "basis")
ESSENTIAL_OF_SERIES = (
    "mode", "since_start_s", "ecbs_in_use", "threads_in_use", "sessions_started", "waiting", "basis",
)  # fmt: skip
_LABEL = "MODEL: computed by a simulation, not measured on a system"
_REPRODUCE_OPTIONS = ("reproducing", *OUTPUT_ARGUMENTS)
_CHOICES: dict[str, tuple[type[StrEnum], str]] = {
    "arrivals": (Arrivals, "Distribution of the requests over the burst."),
    "network": (Network, "Distribution of the network waits: all equal, or random with the same mean."),
    "order": (Order, "With PJ48040: whether handshakes in progress are served before new ones."),
}
FigureRow = dict[str, Any]

_WIDEST = 100
_NARROWEST = 30
_MARGIN = 24
_ZERO = 1e-9
"""Smaller differences come from binary floating point."""


@click.group()
def command() -> None:
    """Simulate a system, such as a flood of TLS session starts on z/TPF.

    The results come from a model, not from a measurement; the column `basis` of every row shows this.

    \b
    Examples:
      zscope model flood
      zscope model flood --series -o curves.csv
    """


def _parameter_options(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Add an option for each parameter of a flood."""
    defaults = {field.name: field.default for field in fields(Flood)}
    ecb_help = "With PJ48040: whether a session that waits for a thread has an ECB."
    command = click.option(
        "--ecb-in-queue/--no-ecb-in-queue", default=defaults["ecb_in_queue"], show_default=True, help=ecb_help
    )(command)
    for name, (kind, meaning) in reversed(_CHOICES.items()):
        choice = click.Choice([str(value) for value in kind])
        command = click.option(
            f"--{name}", type=choice, default=str(defaults[name]), show_default=True, help=meaning
        )(command)
    for number in reversed(NUMBERS):
        value = defaults[number.name]
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


@command.command("flood")
@_parameter_options
@click.option(
    "--mode", type=click.Choice([BOTH, *map(str, Mode)]), default=BOTH, show_default=True,
    help="blocking: without PJ48040, a thread is busy while a handshake waits for the network; non-blocking: "
    "with PJ48040, the thread is free.",
)  # fmt: skip
@click.option("--series", "as_series", is_flag=True, help="Print the time series instead of the figures.")
@click.option(
    "--samples", metavar="N", type=click.IntRange(1, MOST_SAMPLES),
    help=f"Number of samples of each time series. Default: {USUAL_SAMPLES}.",
)  # fmt: skip
@click.option(
    "--reproduce", "reproducing", is_flag=True,
    help="Print parameters that reproduce the published figures, the difference of each figure, and the "
    "effect of each parameter.",
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
    """Simulate many TLS sessions that start at once on z/TPF, without and with APAR PJ48040.

    A discrete-event simulation, not a measurement. Requests arrive in a burst at shared SSL daemons; at most
    half of their worker threads start sessions. Without PJ48040 a thread and the ECB of the connection are
    busy while a handshake waits for the network; with it both are free. Prints one row for each figure, with
    its value without and with PJ48040 and the change. The end of a name is its unit. docs/benchmarks.md
    describes the model, its assumptions, and what reproduces the published figures.

    \b
    Examples:
      zscope model flood
      zscope model flood --sessions 20000 --burst-s 0 --connections 0 --cpu-ms 1 --network-ms 0.23
      zscope model flood --daemons 2 --workers 8 --background-per-s 2000 --format json
      zscope model flood --series --samples 500 -o curves.csv
      zscope model flood --mode non-blocking --network exponential --seed 7
      zscope model flood --reproduce -o reproduced.csv

    The exit code is 12 if the parameters cannot be simulated.
    """
    if samples is not None and not as_series:
        raise click.UsageError("--samples needs --series")
    if reproducing:
        _no_parameters(context)
        _reproduce(output)
        return
    for name, (kind, _) in _CHOICES.items():
        parameters[name] = kind(parameters[name])
    try:
        modes = list(Mode) if mode == BOTH else [Mode(mode)]
        simulations = [Simulation(Flood(**parameters), each) for each in modes]
    except FloodError as error:
        raise click.UsageError(str(error)) from error
    if as_series:
        output.write(Rows.of(curve_table(simulations, samples or USUAL_SAMPLES), ESSENTIAL_OF_SERIES))
    else:
        output.write(_figures(simulations))
    click.echo(_LABEL, err=True)


def _figures(simulations: list[Simulation]) -> Rows:
    table = figure_table(simulations)
    return Rows.of(table, tuple(name for name in ESSENTIAL if name in table.column_names))


def _no_parameters(context: click.Context) -> None:
    """Raise an error for parameters together with --reproduce."""
    given = [
        option.opts[0]
        for option in context.command.params
        if option.name not in _REPRODUCE_OPTIONS
        and context.get_parameter_source(str(option.name)) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(f"--reproduce has parameters of its own: omit {', '.join(given)}")


def _reproduce(output: Output) -> None:
    table = reproduction()
    if output.format is OutputFormat.TABLE:
        output.write_all(as_tables(table.to_pylist(), on_terminal=output.on_terminal))
    else:
        output.write(Rows.of(table))
    click.echo(_LABEL, err=True)


def as_tables(rows: Sequence[FigureRow], *, on_terminal: bool) -> Iterator[Rows]:
    """Yield for each published test its remarks, parameters, figures, and the effect of each parameter."""
    width = min(_WIDEST, shutil.get_terminal_size().columns - _MARGIN) if on_terminal else _WIDEST
    for test in dict.fromkeys(row["test"] for row in rows):
        of_test = [row for row in rows if row["test"] == test]
        parts = {
            part: [row for row in of_test if row["part"] == part]
            for part in ("remark", "parameter", "figure", "sensitivity")
        }
        yield _paragraphs(parts["remark"], max(_NARROWEST, width))
        yield _columns(
            [
                {
                    "test": test,
                    "parameter": row["name"],
                    "value": row["text"] or _number(row["value"]),
                    "unit": row["unit"],
                    "basis": row["basis"],
                }
                for row in parts["parameter"]
            ]
        )
        yield _columns(
            [
                {
                    "test": test,
                    "figure": row["name"],
                    "unit": row["unit"],
                    "published": _number(row["published"]),
                    "model": _number(row["value"]),
                    "difference": _number(row["difference"], "+"),
                    "difference_pct": _number(row["difference_pct"], "+"),
                    "note": row["text"],
                }
                for row in parts["figure"]
            ]
        )
        yield _columns(_wide(parts["sensitivity"]))


def _wide(rows: Sequence[FigureRow]) -> list[FigureRow]:
    """Return a row for each change of a parameter, with a column for each figure."""
    changes: dict[tuple[str, str], FigureRow] = {}
    for row in rows:
        key = (row["parameter"], row["set_to"])
        line = changes.setdefault(
            key, {"test": row["test"], "changed": key[0], "to": key[1], "basis": row["basis"]}
        )
        change = _number(row["change_pct"], "+")
        line[row["name"]] = _number(row["value"]) + (f" ({change} %)" if change else "")
    return list(changes.values())


def _paragraphs(rows: Sequence[FigureRow], width: int) -> Rows:
    """Wrap long texts over several rows, so that a terminal does not cut them."""
    return _columns(
        [
            {"test": "" if number else row["test"], "remark": text}
            for row in rows
            for number, text in enumerate(textwrap.wrap(row["text"], width))
        ]
    )


def _columns(rows: Sequence[FigureRow]) -> Rows:
    import pyarrow as pa

    names = list(dict.fromkeys(name for row in rows for name in row))
    return Rows.of(pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in names}))


def _number(value: float | None, sign: str = "") -> str:
    """Format a number with four significant digits.

    >>> _number(15.275504), _number(2.5, "+"), _number(-3e-14, "+"), _number(20000), _number(None)
    ('15.28', '+2.5', '0', '20,000', '')
    """
    if value is None:
        return ""
    if abs(value) < _ZERO:
        return "0"
    return f"{value:{sign},.0f}" if abs(value) >= 1000 else f"{value:{sign}.4g}"
