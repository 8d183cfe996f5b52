"""What a command line says about figures that people supply: the run, names of columns, forms of times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from zscope.parsers.inputs import Options

Command = Callable[..., int | None]


@dataclass(frozen=True, slots=True)
class Supplied:
    """What a command line says about figures that people supply and that a formatter wrote."""

    run: str | None
    mapping: tuple[tuple[str, str], ...]
    time_format: str | None
    formatter_zone: str | None

    def added_to(self, options: Options) -> Options:
        """Options of reading with these."""
        return replace(
            options,
            run=self.run,
            mapping=self.mapping,
            time_format=self.time_format,
            formatter_zone=self.formatter_zone,
        )


def supplied_options(command: Command) -> Command:
    """Give a command the options of supplied figures; it gets one argument `supplied` made from them."""

    @click.option(
        "--run", metavar="NAME",
        help="The benchmark run (runs.toml) that supplied figures and reports without a column run are of.",
    )  # fmt: skip
    @click.option(
        "--map", "mapping", metavar="COLUMN=NAME", multiple=True,
        help="What a supplied CSV or JSON calls a column: ecbs_in_use='ECBs in use', or for JSON a path such "
        "as ecbs_in_use=data.ecb.inUse. May be repeated.",
    )  # fmt: skip
    @click.option(
        "--time-format", metavar="FORMAT",
        help="How a supplied series writes its times: seconds, milliseconds, or a format such as "
        "'%m/%d/%Y %H:%M:%S'. Default: ISO 8601 or a number, as is seen.",
    )  # fmt: skip
    @click.option(
        "--formatter-zone", metavar="ZONE",
        help="Zone in which the MQ SMF formatter wrote times of the channel initiator: that of the machine "
        "it ran on, or UTC. Default: such times stay empty.",
    )  # fmt: skip
    @wraps(command)
    def with_supplied(
        run: str | None,
        mapping: tuple[str, ...],
        time_format: str | None,
        formatter_zone: str | None,
        **options: object,
    ) -> int | None:
        supplied = Supplied(run, _mapping(mapping), time_format or None, formatter_zone or None)
        _check(supplied)
        return command(supplied=supplied, **options)

    return with_supplied


def _mapping(texts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    if not texts:
        return ()
    from zscope.parsers.text.supplied.mapping import MappingError, mapping_of

    try:
        return mapping_of(texts)
    except MappingError as error:
        raise click.BadParameter(str(error), param_hint="'--map'") from error


def _check(supplied: Supplied) -> None:
    """Refuse a name of a run, a format of times and a zone that cannot be used."""
    from zscope.pipelines.runs.entry import RunError, run_name
    from zscope.schemas.zones import ZoneError, zone_of

    if supplied.run is not None:
        try:
            run_name(supplied.run)
        except RunError as error:
            raise click.BadParameter(error.problem, param_hint="'--run'") from error
    if supplied.time_format:
        from zscope.parsers.text.supplied.times import TimeFormatError, check_time_format

        try:
            check_time_format(supplied.time_format)
        except TimeFormatError as error:
            raise click.BadParameter(str(error), param_hint="'--time-format'") from error
    if supplied.formatter_zone:
        try:
            zone_of(supplied.formatter_zone)
        except ZoneError as error:
            raise click.BadParameter(str(error), param_hint="'--formatter-zone'") from error
