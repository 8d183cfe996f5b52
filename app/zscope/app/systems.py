"""Write synthetic data of the other measured systems: MQ channels, a z/VM link, floods on z/TPF."""

from __future__ import annotations

from pathlib import Path

import click

from zscope.app.made_folder import make_room


@click.command("systems")
@click.argument("folder", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--seed", metavar="N", type=click.IntRange(min=0), default=1, show_default=True,
    help="The same seed gives the same bytes.",
)  # fmt: skip
def systems(folder: Path, *, seed: int) -> None:
    """Write synthetic data of MQ channels, of a z/VM link and of floods on z/TPF.

    Into FOLDER go SMF 115 and 116 records of a queue manager, what the public formatter makes of such
    records, round trips as an application would have measured them, listings of Performance Toolkit, time
    series of floods, a list of the runs these are, and a manifest. The figures follow the published ones.
    FOLDER is made; one that has such data in it gets the new ones instead.

    \b
    Examples:
      zscope generate systems systems
      zscope ingest systems --timezone +01:00
      zscope runs import systems/runs.toml
    """
    from zscope.parsers.synthetic.systems import write_systems

    make_room(folder, "sample of other systems", "systems")
    manifest = write_systems(seed, folder, lambda text: click.echo(text, err=True))
    click.echo(f"{folder}: {len(manifest['files'])} files of {len(manifest['systems'])} systems", err=True)
