"""Write a synthetic world: several systems over days, with benchmark runs and known answers."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zscope.app.made_folder import make_room

if TYPE_CHECKING:
    from zscope.parsers.synthetic.world import CostModel

RUN_CHOICES = ("all", "few", "none")
PACKINGS = ("none", "gzip")


def day(text: str) -> datetime:
    """A day, which begins at midnight UTC."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is no day such as 2026-03-09") from error


@click.command("world")
@click.argument("folder", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path))
@click.option("--days", metavar="N", type=click.IntRange(1, 366), help="Days of traffic. Default: 7.")
@click.option("--start", metavar="DAY", type=day, help="The first of them. Default: 2026-03-09.")
@click.option(
    "--seed", metavar="N", type=click.IntRange(min=0), help="The same seed gives the same bytes. Default: 1."
)
@click.option(
    "--connections-per-hour", metavar="N", type=click.IntRange(4, 1_000_000),
    help="Between all systems, on the average of a working day. Default: 240.",
)  # fmt: skip
@click.option(
    "--runs",
    type=click.Choice(RUN_CHOICES),
    help="Which of the planned benchmark runs take place, in the nights after the traffic. Default: all.",
)
@click.option(
    "--run-minutes", metavar="N", type=click.IntRange(5, 20), help="How long each run lasts. Default: 12."
)
@click.option(
    "--cost", "costs", metavar="FILE|NAME=US,...", multiple=True,
    help="Other costs than the default: a TOML file, or such as full_us=20000,noise=0.02.",
)  # fmt: skip
@click.option(
    "--correlated",
    is_flag=True,
    default=None,
    help="Each full handshake is followed by one resumption, so that nobody can tell what each costs.",
)
@click.option("--packing", type=click.Choice(PACKINGS), help="What the dumps are packed with. Default: none.")
def world(folder: Path, *, costs: tuple[str, ...], **shape: Any) -> None:  # noqa: ANN401 - fields of a recipe
    """Write a synthetic world: several systems over days, with benchmark runs and known answers.

    Two clients call two servers behind a distributor. Into FOLDER go SMF dumps of each system, RMF reports,
    NETSTAT and GSKSRVR displays, all of which agree, a list of benchmark runs, counts of transactions, and a
    manifest with the cost model that the CPU time follows and with everything that a reader should find.
    FOLDER is made; one that has a world in it gets the new one instead.

    \b
    Examples:
      zscope generate world world
      zscope generate world small --days 1 --connections-per-hour 40 --run-minutes 8 --packing gzip
      zscope generate world cheap --cost full_us=5000,resumed_us=900 --seed 3
      zscope ingest world --timezone +01:00
    """
    from zscope.parsers.synthetic.world import RecipeError, WorldRecipe, write_world

    given = {name: value for name, value in shape.items() if value is not None}
    try:
        recipe = WorldRecipe(cost=_model(costs), **given)
        make_room(folder, "world", "cost_model")
        manifest = write_world(recipe, folder, lambda text: click.echo(text, err=True))
    except RecipeError as error:
        raise click.UsageError(str(error)) from error
    records = sum(manifest["records_by_type"].values())
    click.echo(f"{folder}: {records:,} records of {len(manifest['systems'])} systems", err=True)


def _model(costs: tuple[str, ...]) -> CostModel:
    from zscope.parsers.synthetic.world import CostModel, read_costs

    model = CostModel()
    for text in costs:
        model = model.changed(read_costs(text))
    return model
